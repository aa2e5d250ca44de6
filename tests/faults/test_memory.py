"""A run takes little memory for its suite, and no more for ten times the results."""

from __future__ import annotations

import subprocess
import sys
from copy import deepcopy
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import environment
from tunaeval.types.runs import Expectation, PackedScenarios, Scenario

PROGRAM = """
import asyncio, json, sys
from pathlib import Path
from tunaeval import RunOptions, load_report, load_suite
from tunaeval.runs.runner import SuiteRun
from tunaeval.parsing.api import parser_for
from tunaeval.types import Reply

REPLY = '{"name": "read_file", "arguments": {"filepath": "a.py"}}' + "So it is. " * 2000

class Client:
    name = "client"
    async def complete(self, request):
        return Reply({"role": "assistant", "content": REPLY[:]}, "stop")
    async def close(self): ...

def peak():
    words = Path("/proc/self/status").read_text().split()
    return int(words[words.index("VmHWM:") + 1])

folder, scenarios, repeats = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
REPLY = REPLY if repeats > 1 else REPLY[:60]
with (folder / "s.jsonl").open("w") as file:
    for n in range(scenarios):
        print(json.dumps({"id": f"s{n}", "prompt": f"Read the file number {n}, and say what is "
              "in it.", "expected_tool": "read_file", "expected_args": {"filepath": "a.py"},
              "tags": ["files", "easy"]}), file=file)
suite = load_suite(folder / "s.jsonl")
run = SuiteRun(suite, Client(), parser_for("auto"), RunOptions(repeats=repeats, concurrency=4),
               out=folder / "runs")
report = asyncio.run(run.run())
assert len(report.results) == scenarios * repeats == sum(1 for _ in report.results)
assert load_report(run.directory).summary == report.summary
print(peak())
"""


def peak(folder: Path, scenarios: int, repeats: int) -> int:
    """Kilobytes of a process that runs so many."""
    folder = folder / f"{scenarios}-{repeats}"
    folder.mkdir()
    command = [sys.executable, "-c", PROGRAM, str(folder), str(scenarios), str(repeats)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment(), check=True, timeout=300
    )
    return int(done.stdout)


pytestmark = pytest.mark.skipif(
    not Path("/proc").exists(), reason="Linux says how much memory it was"
)


def test_ten_times_the_results_take_no_more_memory(tmp_path: Path) -> None:
    """20 KB each: 2,000 of them in memory would be 40 MB and more."""
    assert peak(tmp_path, 50, 40) < 1.2 * peak(tmp_path, 50, 4)


def test_ten_thousand_scenarios_take_a_fifth_more_memory_than_one_thousand(tmp_path: Path) -> None:
    """By what each further one takes, of 5,000: as objects they took 56 % more."""
    few = peak(tmp_path, 1_000, 1)
    each = (peak(tmp_path, 6_000, 1) - few) / 5_000
    assert 9_000 * each < 0.2 * few


def test_packed_scenarios_are_those_that_were_packed() -> None:
    values: tuple[Any, ...] = (
        2**70, 1.5, -0.0, True, None, "\ud800", [[{}]], float("nan"), date(2026, 1, 1), (1, 2),
        {1: 2}, "\x00é漢😀",
    )  # fmt: skip
    odd = [{"calls": [{"name": "f", "arguments": {"a": value}}]} for value in values]
    made = [
        Scenario.model_validate({"id": str(at), "prompt": "x", "expect": one})
        for at, one in enumerate(odd)
    ]
    made.append(Scenario(
        id="all", prompt="p", expect=Expectation(none=True), tags=("a", "b"), group="g", weight=0.5,
        difficulty="hard", sources=("s",), notes="n", metadata={"k": [1]},
        messages=({"role": "user", "content": "hi"},),
    ))  # fmt: skip
    packed = PackedScenarios(made)
    assert [repr(one) for one in packed] == [repr(one) for one in made]
    assert [repr(one) for one in packed[3:7]] == [repr(one) for one in made[3:7]]
    assert repr(packed[-1]) == repr(made[-1])
    again = deepcopy(packed)  # by what a process would send to another
    assert [repr(one) for one in again] == [repr(one) for one in made]
    assert packed[8:] == PackedScenarios(made[8:])
    assert PackedScenarios(made[8:]) != PackedScenarios(made[9:])
