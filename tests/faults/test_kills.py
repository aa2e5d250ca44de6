"""SIGKILL at random moments, and on again: nothing that was acknowledged is lost or doubled.

Few kills here, for each costs the start of a process, 0.7 s of CPU; `benchmarks/RESULTS.md` has
more.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

KILL = Path(__file__).parents[2] / "benchmarks" / "kill.py"


def found_by(*options: str, seconds: float = 180) -> dict[str, Any]:
    """What the kills came to; that the program checks itself is checked here, too."""
    command = [sys.executable, str(KILL), "--json", "--check", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    assert done.returncode == 0, done.stderr or done.stdout
    found: dict[str, Any] = json.loads(done.stdout)
    assert (found["lost"], found["doubled"], found["unequal"]) == (0, 0, [])
    assert 0 <= found["asked_again"] <= 8 * found["kills"]
    return found


def test_kills_lose_nothing_and_leave_the_report_of_an_unbroken_run() -> None:
    found = found_by("--kills", "6", "--scenarios", "80")
    assert found["kills"] == 6
    assert found["acknowledged"] == 80 * found["runs"]


@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.slow)])
def test_kills_of_a_matrix_lose_nothing_and_leave_all_its_reports(kills: int) -> None:
    """Of four cells; at most what was in flight is asked again."""
    found = found_by("--matrix", "--kills", f"{kills}", "--scenarios", "20", seconds=60 * kills)
    assert found["kills"] == kills
    assert found["acknowledged"] == 4 * 20 * found["runs"]
