"""The preset `default`: how the categories beside the goal read a transcript."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

import tunaeval
from tests.scoring.transcripts import FINE, GONE, batches, call, ran, said, transcript
from tunaeval import ScoreSettings
from tunaeval.types.calls import ToolCall
from tunaeval.types.messages import Message, Usage
from tunaeval.types.runs import ScoreResult

Steps = list[tuple[str, str | None]]

WORK: Steps = [("read", FINE)]
DONE: Steps = [("done_tool", None)]


def scored(messages: Sequence[object], **settings: Any) -> ScoreResult:
    return tunaeval.score(messages, "do it", settings=ScoreSettings(**settings))


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "user", "content": "x"}],
        [said("abc")],
        batches([("done_tool", FINE)]),
        [*batches([("planner", FINE)]), said("DONE: planned")],
    ],
)
def test_without_work_the_formulas_about_work_do_not_apply(messages: list[Any]) -> None:
    result = scored(messages)
    assert (result.plan_correctness, result.success_ratio, result.context_efficiency) == (
        None,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("steps", "value"),
    [
        ([DONE], None),
        ([WORK], 1.0),
        ([[("planner", FINE)], WORK], 1.0),
        ([[("planner", FINE)]], None),
        ([[(f"read {n}", FINE) for n in range(40)]], 1.0),
        ([[(f"read {n}", FINE)] for n in range(20)], 1.0),
        ([[(f"read {n}", FINE)] for n in range(40)], 0.5),
    ],
)
def test_a_plan_is_judged_by_its_steps_and_a_planner_earns_nothing(
    steps: list[Steps], value: float | None
) -> None:
    assert scored(batches(*steps)).plan_correctness == value


def test_calls_of_no_tool_take_from_the_plan() -> None:
    tools = tunaeval.to_tools([{"name": "read", "description": "", "parameters": {}}])
    steps = batches(WORK, [("raed", GONE)])
    assert scored(steps, tools=tools).plan_correctness == 0.5
    assert scored(steps, tools=tools).categories["plan-correctness"].evidence == (4,)
    assert scored(batches(WORK, WORK), tools=tunaeval.to_tools([])).plan_correctness == 0


@pytest.mark.parametrize(
    ("steps", "value"),
    [
        ([WORK], 1),
        ([[("a", FINE), ("b", GONE)]], 0.5 - 0.10),
        ([[("a", FINE)], [("b", None)]], 0.5),
        ([[("a", FINE), ("b", "Exit Code: 3")]], 0.5 - 0.10),
        ([[("a x", GONE)], [("b", FINE)], [("a x", FINE)]], 2 / 3 - 0.05 - 0.10),
        ([[("a x", GONE)], [("a y", FINE)]], 0.5 - 0.10),
        ([[("a x", GONE)] * 3], 0),
        ([WORK, DONE], 1),
        ([DONE, WORK], 0.5),
        ([DONE], None),
    ],
)
def test_success_ratio(steps: list[Steps], value: float | None) -> None:
    assert scored(batches(*steps)).success_ratio == (value and pytest.approx(value))


@pytest.mark.parametrize(
    ("steps", "retries"),
    [
        ([[("status", "1")], [("status", "2")], [("status", "3")]], 0),
        ([[("read a", FINE), ("read a", FINE)]], 0),
        ([[("read a", GONE), ("read a", GONE)]], 0),
        ([[("read a", GONE)], [("read a", FINE)], [("read a", FINE)]], 1),
        ([[("read a", GONE)], [("read a", GONE)], [("read a", FINE)]], 2),
        ([[("read a", GONE), ("read b", FINE)], [("read b", FINE)]], 0),
        ([[("read a", None)], [("read a", FINE)]], 0),
    ],
)
def test_a_retry_is_an_equal_call_after_a_failure(steps: list[Steps], retries: int) -> None:
    assert scored(batches(*steps)).details.retries == retries


def test_polling_is_no_retry_where_a_host_says_so() -> None:
    steps = batches([("wait", GONE)], [("wait", GONE)], [("wait", FINE)])
    assert scored(steps).details.retries == 2
    assert scored(steps, polling_tools={"wait"}).details.retries == 0


def test_equal_arguments_are_equal_in_any_order() -> None:
    messages = [
        Message("assistant", "", (ToolCall("a", {"x": 1, "y": 2**70}, "c1"),)),
        Message("tool", GONE, tool_call_id="c1"),
        Message("assistant", "", (ToolCall("a", {"y": 2**70, "x": 1}, "c2"),)),
        Message("tool", FINE, tool_call_id="c2"),
    ]
    assert scored(messages).details.retries == 1


def test_parallel_calls_may_stand_in_messages_of_their_own() -> None:
    one, other = ({"role": "assistant", "tool_calls": [call(n, "read")]} for n in (1, 2))
    gone = [{"role": "tool", "tool_call_id": f"c{n}", "content": GONE} for n in (1, 2)]
    assert scored([one, other, *gone]).details.retries == 0
    assert scored([one, gone[0], other, gone[1]]).details.retries == 1


def test_evidence_points_at_the_messages() -> None:
    result = scored(batches([("read", GONE)], [("read", FINE)], DONE))
    assert result.categories["goal-completion"].evidence == (5,)  # the claim
    assert result.categories["success-ratio"].evidence == (2, 4)


@pytest.mark.parametrize(
    ("messages", "value", "reason"),
    [
        ([("read", "x" * 128_004)], 0.8, r"about 3200\d tokens \(characters / 4\)"),
        ([("read " + "x" * 128_004, "")], 0.8, "characters / 4"),
    ],
)
def test_an_estimate_counts_results_and_arguments(
    messages: Steps, value: float, reason: str
) -> None:
    score = scored(transcript(*messages)).categories["context-efficiency"]
    assert score.value == value
    assert re.search(reason, score.reason)


def used(prompt: int | None, completion: int | None = None, content: str = "") -> Message:
    return Message("assistant", content, usage=Usage(prompt, completion))


@pytest.mark.parametrize(
    ("more", "value", "reason"),
    [
        ([used(64_000)], 0.8, "about 64000 tokens (reported)"),
        ([used(64_000, 1)], 0.6, "about 64001 tokens (reported)"),
        ([used(200_000), used(10)], 0.4, "about 200000 tokens (reported)"),
        ([used(31_999), said("x" * 40)], 0.8, "reported, and 10 after that by characters / 4"),
        ([used(None, 9)], 1.0, "characters / 4"),
        ([used(-5)], 1.0, "characters / 4"),
    ],
)
def test_reported_usage_goes_before_estimates(more: list[Any], value: float, reason: str) -> None:
    score = scored([*batches(WORK), *more]).categories["context-efficiency"]
    assert (score.value, reason in score.reason) == (value, True)


def test_the_systems_text_is_not_the_tasks() -> None:
    system = {"role": "system", "content": "x" * 400_000}
    assert scored([system, *batches(WORK)]).context_efficiency == 1


def test_what_the_wrapper_saw_goes_first() -> None:
    failed = ran("read", "c0", ok=False, ok_reason="exception", error="ValueError: no")
    result = tunaeval.score(batches(WORK), "do it", executions=[failed])
    assert (result.details.failed_calls, result.success_ratio) == (1, 0)


def passed(messages: Sequence[object]) -> float:
    total = tunaeval.score([*messages, said("ok")], "do it", check=lambda _: True).weighted_total
    assert total is not None
    return total


def test_calls_side_by_side_are_not_free() -> None:
    work: list[Steps] = [[(one, FINE)] for one in ("list", "read", "fix", "test")]
    mistyped = passed(batches([("read tpyo", "Error: none")], *work))
    for number in (100, 1000):
        reads: Steps = [(f"read {at}", "x") for at in range(number)]
        waste = batches(reads, [("fix", FINE)])
        plan = scored(waste).categories["plan-correctness"]
        assert plan.value == pytest.approx(60 / (number + 1))
        assert plan.reason == f"steps: 2; calls: {number + 1}, more than 60"
        assert passed(waste) < mistyped


def test_calls_of_polling_tools_are_not_too_many() -> None:
    polls: Steps = [(f"poll {at}", "x") for at in range(100)]
    assert scored(batches(polls), polling_tools=("poll",)).plan_correctness == 1.0
    assert scored(batches(polls), many_calls=100).plan_correctness == 1.0
