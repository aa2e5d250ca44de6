"""A server under test: does this endpoint call tools correctly, and if not, whose fault is it?

examination = asyncio.run(examine("http://127.0.0.1:8000/v1", Settings(model="my-model")))
examination.exit        # 0 nothing wrong with the server, 1 a server fault, 2 not tested
examination.findings    # what did not pass: check, group, verdict, evidence, remedy
"""

from .checks import CHECKS, Check
from .examination import FINE, SERVER_FAULT, UNTESTED, Examination, examine
from .report import markdown, show_examination
from .runner import REPEATS, REQUESTS, Settings
from .values import GROUPS, Answer, Finding

__all__ = [
    "CHECKS",
    "FINE",
    "GROUPS",
    "REPEATS",
    "REQUESTS",
    "SERVER_FAULT",
    "UNTESTED",
    "Answer",
    "Check",
    "Examination",
    "Finding",
    "Settings",
    "examine",
    "markdown",
    "show_examination",
]
