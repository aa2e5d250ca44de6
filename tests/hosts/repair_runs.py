"""TunaCode of both eras, untouched, over all of `repair-tasks` by scripted models.

    python -m tests.hosts.repair_runs [NAME ...]

runs each that is installed (`python tests/hosts/environments.py NAME`), as a command in the
directory of each task: by the reference solutions, and by the shortcuts. It exits with 1 unless
all of the first pass and none of the second.
"""

from __future__ import annotations

import os
import sys
from time import monotonic

import tunaeval
from tests.hosts.environments import ROOT, hosts, interpreter
from tests.hosts.retold import Retell, as_written, by_hash_lines
from tests.tasks.repair_scripts import SCRIPTS
from tunaeval.runs.options import RunOptions
from tunaeval.types.runs import Report

RETOLD: dict[str, Retell] = {"tunacode-0.2.3": by_hash_lines, "tunacode-0.1.19": as_written}
WANTED = {"reference": 12, "shortcut": 0}
OPTIONS = RunOptions(concurrency=2, deadline_seconds=120.0)


def ran(name: str, python: str, kind: str) -> Report:
    """The report of all tasks, their models scripted by the `kind` of script."""
    program = ROOT / "tests" / "hosts" / "untouched" / hosts()[name].untouched
    command = f"{python} {program} {{base_url}} {{prompt}}"
    script = {task: RETOLD[name](getattr(one, kind)) for task, one in SCRIPTS.items()}
    os.environ["PYTHONPATH"] = str(ROOT)
    client = tunaeval.CommandClient(command, script=script, pass_env=["PYTHONPATH"])
    return tunaeval.run("repair-tasks", client=client, options=OPTIONS, out=None)


def main(names: list[str]) -> int:
    is_right = True
    for name in names or RETOLD:
        python = interpreter(hosts()[name])
        if python is None:
            print(f"{name}: not installed; python tests/hosts/environments.py {name}")
            is_right = False
            continue
        for kind, wanted in WANTED.items():
            began = monotonic()
            report = ran(name, python, kind)
            took = f"{monotonic() - began:.0f} s"
            print(f"{name}, {kind}: {report.passed} of {report.total} passed, in {took}")
            for one in report.results:
                if one.ok != (wanted > 0):
                    print(f"  {one.scenario}: {one.reason}")
            is_right = is_right and report.passed == wanted
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
