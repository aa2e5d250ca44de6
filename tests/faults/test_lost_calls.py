"""A server that says that the model called, and sends no call, has lost one: nobody's answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.faults import Answer, FaultServer
from tests.faults.runs import asked, small_suite
from tunaeval.runs.options import RunOptions

MARKED = '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>'


def reply(reason: str, **message: Any) -> Answer:
    choice = {"finish_reason": reason, "message": {"role": "assistant", **message}}
    return Answer(json.dumps({"choices": [choice]}).encode())


@pytest.mark.parametrize("content", [None, "", "Let me look."])
@pytest.mark.parametrize("reason", ["tool_calls", "function_call"])
def test_a_lost_call_is_in_no_score(tmp_path: Path, reason: str, content: str | None) -> None:
    with FaultServer(then=reply(reason, content=content)) as server:
        report = asked(small_suite(tmp_path, 3), server, RunOptions())
    assert (report.passed, report.total) == (0, 0)
    assert report.summary.infrastructure_failures == 3
    assert all("it lost one" in (result.error or "") for result in report.results)


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("stop", {"content": "Let me look."}),
        ("tool_calls", {"content": MARKED}),
        ("tool_calls", {"content": None, "tool_calls": [{"function": {"name": "f"}}]}),
    ],
    ids=["an answer", "a call left in the text", "a call that is broken"],
)
def test_what_is_there_is_an_answer(tmp_path: Path, reason: str, message: dict[str, Any]) -> None:
    with FaultServer(then=reply(reason, **message)) as server:
        report = asked(small_suite(tmp_path, 3), server, RunOptions())
    assert report.summary.infrastructure_failures == 0
    assert report.total == 3
