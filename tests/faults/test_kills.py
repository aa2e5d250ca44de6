"""SIGKILL at random moments, and on again: nothing that was acknowledged is lost or doubled.

Six kills here, for each costs the start of a process, 0.7 s of CPU; `benchmarks/RESULTS.md` has
more.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

KILL = Path(__file__).parents[2] / "benchmarks" / "kill.py"


def test_kills_lose_nothing_and_leave_the_report_of_an_unbroken_run() -> None:
    command = [sys.executable, str(KILL), "--kills", "6", "--scenarios", "80", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["kills"] == 6
    assert found["acknowledged"] == 80 * found["runs"]
    assert (found["lost"], found["doubled"], found["unequal"]) == (0, 0, [])
