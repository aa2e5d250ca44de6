"""Run a suite from Python. The model here is a script; a real client goes in its place.

$ python examples/run_a_suite.py
PASS  bash-pytest-quiet  calls
FAIL  glob-python-files  no_call
1 of 2, at each level: strict 0, standard 1, lenient 1
"""

import tunaeval
from tunaeval import ScriptedClient

REPLIES = [
    "```json\n{'name': 'bash', 'arguments': {'command': 'pytest -q'}}\n```",
    "I cannot do that.",  # no call was found, so it is asked again
    "I really cannot.",
]

smoke = tunaeval.load_suite("smoke")
suite = smoke.model_copy(update={"scenarios": smoke.scenarios[:2]})
report = tunaeval.run(suite, client=ScriptedClient(REPLIES), concurrency=1, out=None)

for result in report.results:
    print("PASS" if result.ok else "FAIL", "", result.scenario, "", result.outcome)
levels = ", ".join(f"{level} {rate.passed}" for level, rate in report.levels.items())
print(f"{report.passed} of {report.total}, at each level: {levels}")
