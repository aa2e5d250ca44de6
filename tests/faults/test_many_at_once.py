"""Many scenarios, 256 in flight, one request in twenty broken: each outcome is the right one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.faults import Answer, FaultServer, Seen, chat
from tests.faults.runs import asked, prompt_of
from tests.runs.whole_runs import lines
from tunaeval.runs.directory import load_report
from tunaeval.runs.options import RunOptions
from tunaeval.tasks.suites.loading import load_suite

AT_ONCE = 256
PASSING = {
    "503": Answer(b"{}", status=503),
    "429": Answer(b"{}", status=429, headers={"retry-after": "0.05"}),
    "cut": Answer(b'{"choices": []}', cut_after=5),
    "reset": Answer(b"{}" * 40, cut_after=9, reset=True),
    "HTML": Answer(b"<html>busy</html>"),
}
"""What a second try sees no more of; five of a hundred scenarios meet one of them."""
LASTING = Answer(b'{"error": "blocked"}', status=400)
"""What no second try changes, for one of a hundred."""
CALL = '<tool_call>{"name": "read_file", "arguments": {"filepath": "%d.py"}}</tool_call>'


class Faulty:
    """The answer to scenario n: right for even numbers, wrong for odd ones, after its fault."""

    def __init__(self) -> None:
        self._met: set[int] = set()

    def __call__(self, seen: Seen) -> Answer:
        number = int(prompt_of(seen).split()[1])
        at = number % 100
        if at == 99:
            return LASTING
        if at < len(PASSING) and number not in self._met:
            self._met.add(number)
            return list(PASSING.values())[at]
        return chat(CALL % (number if number % 2 == 0 else -1))


@pytest.mark.parametrize(
    "count", [600, pytest.param(10_000, marks=pytest.mark.slow)], ids=["600", "10000"]
)
def test_every_outcome_is_right_however_many_are_in_flight(tmp_path: Path, count: int) -> None:
    with (tmp_path / "s.jsonl").open("w") as file:
        for n in range(count):
            arguments = {"filepath": f"{n}.py"}
            row = {"id": f"s{n}", "prompt": f"Read {n} now.", "expected_tool": "read_file",
                   "expected_args": arguments}  # fmt: skip
            print(json.dumps(row), file=file)
    options = RunOptions(concurrency=AT_ONCE, deadline_seconds=60, attempts=1)
    with FaultServer(choose=Faulty()) as server:
        report = asked(
            load_suite(tmp_path / "s.jsonl"), server, options, out=tmp_path / "runs",
            run_id="r", connections=AT_ONCE, attempt_timeout=30,
        )  # fmt: skip
    lasting = count // 100
    assert report.summary.outcomes == {"calls": count - lasting, "transport_failure": lasting}
    assert (report.passed, report.total) == (count // 2, count - lasting)
    for result in report.results:
        number = int(result.scenario[1:])
        assert result.ok == (number % 2 == 0)
        assert (result.outcome == "transport_failure") == (number % 100 == 99)
        if number % 100 < len(PASSING):
            assert result.attempts[0].retries >= 1
    written = Counter(line["scenario"] for line in lines(tmp_path / "runs" / "r"))
    assert len(written) == count == written.total()
    assert load_report(tmp_path / "runs" / "r").summary == report.summary
    # One request for each, and one more for each fault that passed.
    assert len(server.seen) == count + len(PASSING) * count // 100
