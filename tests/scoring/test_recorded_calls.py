"""What a recorder saw counts, whatever the transcript says: as a call, and as forbidden."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.scoring.made_up import TRANSCRIPTS
from tests.scoring.transcripts import FINE, batches, call, ran, said, scored, yes
from tunaeval.types.messages import Message, ToolExecution

ASKED = {"role": "user", "content": "do it"}
SPOKEN = [ASKED, said("done")]
HARM = {"name": "bash", "arguments": {"command": {"$regex": "rm -rf"}}}


def bash(command: str) -> str:
    del command
    return ""


def seen(command: str, **more: Any) -> ToolExecution:
    return ran("bash", arguments={"command": command}, **more)


# --- forbidden -----------------------------------------------------------------------------------


def test_an_execution_of_a_forbidden_tool_makes_the_total_nothing() -> None:
    recorder = tunaeval.Recorder()
    tunaeval.wrap_tool(bash, recorder)("rm -rf .")
    result = scored(SPOKEN, check=yes, forbid=["bash"], executions=recorder.take())
    assert (result.weighted_total, result.goal_completion) == (0.0, 0.0)
    assert result.details.reasoning.startswith(
        "0.00: forbidden: 'bash' was called (seen by the recorder)"
    )


@pytest.mark.parametrize(("command", "total"), [("rm -rf .", 0.0), ("ls", 1.0)])
def test_an_execution_is_forbidden_by_its_arguments(command: str, total: float) -> None:
    result = scored(SPOKEN, check=yes, forbid=[HARM], executions=[seen(command)])
    assert result.weighted_total == total


@pytest.mark.parametrize("call_id", [None, "c0", "c7"])
def test_it_does_not_matter_whether_a_call_was_found_for_it(call_id: str | None) -> None:
    messages = [*batches([("shell", FINE)]), said("done")]
    result = scored(messages, check=yes, forbid=["bash"], executions=[seen("ls", call_id=call_id)])
    assert result.weighted_total == 0.0


def test_a_call_and_its_execution_are_said_once() -> None:
    messages = batches([("bash", FINE)])
    execution = seen("ls", call_id="c0")
    reasoning = scored(messages, forbid=["bash"], executions=[execution]).details.reasoning
    assert reasoning == "0.00: forbidden: 'bash' was called"


@given(messages=TRANSCRIPTS, call_id=st.sampled_from([None, "c1", "c9"]))
def test_no_transcript_with_a_forbidden_execution_is_worth_anything(
    messages: list[Message], call_id: str | None
) -> None:
    result = scored(messages, check=yes, forbid=["rm"], executions=[ran("rm", call_id)])
    assert result.weighted_total == 0.0


# --- expected ------------------------------------------------------------------------------------


def test_whoever_ran_a_tool_has_not_abstained() -> None:
    result = scored(SPOKEN, expect={"none": True}, executions=[seen("ls")])
    assert result.weighted_total == 0.0
    reason = result.categories["goal-completion"].reason
    assert reason.startswith("not as expected (strict): wanted no call, got 'bash'")
    assert "1 execution without a call: 'bash' (seen by the recorder)" in reason


def test_executions_without_a_call_count_behind_the_calls_as_they_began() -> None:
    messages = [*batches([("plan", FINE)]), said("done")]
    executions = [ran("b", started_at=2.0), ran("a", started_at=1.0), ran("plan", "c0")]
    for order, total in ((["plan", "a", "b"], 1.0), (["plan", "b", "a"], 0.0)):
        result = scored(messages, expect={"tools": order}, executions=executions)
        assert result.weighted_total == total, order


def test_an_execution_that_a_call_may_have_made_is_no_second_call() -> None:
    messages = [*batches([("read a", FINE)], [("read b", FINE)]), said("done")]
    expect = {"tools": ["read", "read"]}
    one = ran("read", arguments={"on": "b"})
    for executions in ([], [one], [one, ran("read", arguments={"on": "a"})]):
        assert scored(messages, expect=expect, executions=executions).weighted_total == 1.0
    more = [one, ran("read", arguments={"on": "a"}), ran("read", arguments={"on": "c"})]
    assert scored(messages, expect=expect, executions=more).weighted_total == 0.0
    third = {"calls": [*({"name": "read", "arguments": {"on": on}} for on in "abc")]}
    assert scored(messages, expect=third, executions=more).weighted_total == 1.0


def test_the_expected_trajectory_counts_the_same_calls() -> None:
    result = scored(
        SPOKEN, expect={"none": True}, executions=[seen("ls")], categories=["expected-trajectory"]
    )
    assert result.categories["expected-trajectory"].value == 0.0


def test_nothing_was_done_is_never_said_where_something_ran() -> None:
    result = scored([ASKED], check=yes, executions=[seen("ls")])
    assert result.goal_completion == 1.0
    words = " ".join(score.reason for score in result.categories.values())
    assert "nothing was done" not in words
    assert "no work was tried" not in words


# --- attempts ------------------------------------------------------------------------------------

FAILED: dict[str, Any] = {"ok": False, "ok_reason": "exception", "error": "OSError: busy"}
READ = [*batches([("read", "what it says")]), said("done")]


@pytest.mark.parametrize("last_fails", [True, False])
def test_the_last_execution_of_a_call_decides(last_fails: bool) -> None:
    endings: list[dict[str, Any]] = [{}, FAILED] if last_fails else [FAILED, {}]
    executions = [ran("read", "c0", started_at=at, **end) for at, end in enumerate(endings)]
    result = scored(READ, check=yes, executions=executions)
    assert result.details.failed_calls == int(last_fails)
    assert "without a call" not in result.details.reasoning
    wanted = scored(READ, expect={"tools": ["read"]}, executions=executions)
    assert wanted.goal_completion == float(not last_fails)


def test_calls_that_share_an_id_have_an_execution_each() -> None:
    answer = {"role": "tool", "tool_call_id": "c0", "content": "x"}
    asked = {"role": "assistant", "content": None, "tool_calls": [call(0, "read")]}
    executions = [ran("read", "c0", started_at=0.0, **FAILED), ran("read", "c0", started_at=1.0)]
    result = scored([ASKED, asked, answer, asked, answer], executions=executions)
    assert (result.details.tool_calls, result.details.failed_calls) == (2, 1)


# --- a host that waits for a human ---------------------------------------------------------------

WAITS: dict[str, Any] = {"ok_reason": "interrupted"}


@pytest.mark.parametrize("call_id", ["c0", None])
def test_waiting_for_a_human_is_no_failure_and_no_answer(call_id: str | None) -> None:
    waits = ran("read", call_id, started_at=0.0, **WAITS)
    answered = scored(
        READ, expect={"tools": ["read"]}, executions=[waits, ran("read", call_id, started_at=1.0)]
    )
    assert (answered.weighted_total, answered.details.failed_calls) == (1.0, 0)
    unanswered = scored(batches([("read", None)]), executions=[waits])
    assert unanswered.details.dangling_calls == 1
