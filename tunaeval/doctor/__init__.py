"""A server under test: does this endpoint call tools correctly, and if not, whose fault is it?

examination = asyncio.run(examine("http://127.0.0.1:8000/v1", DoctorSettings(model="my-model")))
examination.exit      # 0 nothing wrong with the server, 1 a server fault, 2 not tested
examination.findings  # what did not pass: check, group, verdict, evidence, remedy
"""

from .examination import examine as examine
from .recorded import replay as replay
