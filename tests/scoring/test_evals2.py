"""The formulas of `evals2`, one row each, and what is told beside them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

import tunaeval
from tests.scoring.transcripts import FINE, GONE, call, ran, transcript


def alternating(number: int) -> list[tuple[str, str]]:
    return [("ab"[index % 2], FINE) for index in range(number)]


def scored(messages: Sequence[object], **more: Any) -> Any:
    return tunaeval.score(messages, "do it", preset="evals2", **more)


@pytest.mark.parametrize(
    ("steps", "value"),
    [([], 0.3), ([("a", FINE)], 0.3), ([("done_tool", FINE)], 0.8), ([("done_tool", None)], 0.8)],
)
def test_goal_completion(steps: list[tuple[str, str | None]], value: float) -> None:
    assert scored(transcript(*steps)).goal_completion == value


@pytest.mark.parametrize(
    ("steps", "value"),
    [
        ([], 0),
        ([("a", FINE)], 0.5),
        ([("planner_tool", FINE), ("a", FINE)], 0.7),
        ([("classification_tool", FINE)], 0.7),
        (alternating(20), 0.5),
        (alternating(21), 0.3),
        ([("planner_tool", FINE), *alternating(20)], 0.3),
    ],
)
def test_plan_correctness(steps: list[tuple[str, str | None]], value: float) -> None:
    assert scored(transcript(*steps)).plan_correctness == value


@pytest.mark.parametrize(
    ("steps", "value"),
    [
        ([], 1.0),
        ([("a", FINE), ("b", FINE)], 1.0),
        ([("a", FINE), ("a", FINE)], 1 - 0.05),
        ([("a", FINE), ("b", GONE)], 0.5 - 0.10),
        ([("a", GONE), ("a", FINE)], 0.5 - 0.05 - 0.10),
        ([("a", GONE)] * 5, 0.0),
        ([("a", FINE), ("b", None)], 0.5),
        ([("a", FINE), ("b", "Exit Code: 3")], 1.0),
        ([("a", "[]"), ("b", "null")], 1.0),
    ],
)
def test_success_ratio(steps: list[tuple[str, str | None]], value: float) -> None:
    assert scored(transcript(*steps)).success_ratio == pytest.approx(value)


@pytest.mark.parametrize(
    ("tokens", "value"),
    [
        (0.25, 1.0), (32_000, 1.0), (32_000.25, 0.8), (64_000, 0.8), (64_000.25, 0.6),
        (128_000, 0.6), (128_000.25, 0.4), (256_000, 0.4), (256_000.25, 0.2),
    ],
)  # fmt: skip
def test_context_efficiency(tokens: float, value: float) -> None:
    messages = [{"role": "user", "content": "x" * round(tokens * 4)}]
    assert scored(messages).context_efficiency == value


def test_the_total_is_the_weighted_sum() -> None:
    result = scored(transcript(("planner_tool", FINE), ("a", GONE), ("done_tool", FINE)))
    ratio = 2 / 3 - 0.10
    assert result.weighted_total == pytest.approx(0.4 * 0.8 + 0.3 * 0.7 + 0.15 * ratio + 0.15)
    weights = {name: score.weight for name, score in result.categories.items()}
    assert weights == {
        "goal-completion": 0.40,
        "plan-correctness": 0.30,
        "success-ratio": 0.15,
        "context-efficiency": 0.15,
    }


def test_an_empty_transcript_gets_what_the_formulas_say_and_is_told_so() -> None:
    result = scored([])
    assert result.weighted_total == pytest.approx(0.4 * 0.3 + 0.15 + 0.15)
    assert all("empty" in score.reason for score in result.categories.values())


def test_details_count_the_calls() -> None:
    steps = [("a", GONE), ("a", FINE), ("b", None), ("c", "Error: no")]
    result = scored(transcript(*steps))
    details = result.details
    counted = (details.tool_calls, details.failed_calls, details.dangling_calls, details.retries)
    assert counted == (4, 1, 1, 1)
    assert details.reasoning.startswith(f"{result.weighted_total:.2f} = 0.40 x 0.30")
    assert "1 of the succeeded read like a failure" in result.categories["success-ratio"].reason


def test_evidence_points_at_the_messages() -> None:
    messages = transcript(("a", GONE), ("b", None), ("done_tool", FINE))
    result = scored(messages)
    assert result.categories["success-ratio"].evidence == (2, 3)
    assert result.categories["goal-completion"].evidence == (5,)


def test_a_task_begins_where_it_is_said_to() -> None:
    messages = transcript(("a", GONE), ("a", GONE), ("b", GONE))
    result = scored(messages, start=5)
    assert (result.details.tool_calls, result.details.failed_calls) == (1, 1)
    assert result.categories["success-ratio"].evidence == (6,)


@pytest.mark.parametrize("call_id", ["c0", None])
def test_what_the_wrapper_saw_goes_first(call_id: str | None) -> None:
    failed = ran("a", call_id, ok=False, ok_reason="exception", error="ValueError: no")
    messages = transcript(("a", FINE), ("b", FINE))
    assert scored(messages, executions=[failed]).details.failed_calls == 1


def test_a_dangling_call_that_ran_is_none() -> None:
    assert scored(transcript(("a", None)), executions=[ran("a")]).details.dangling_calls == 0


def test_executions_are_joined_only_where_it_is_sure() -> None:
    failed = ran("a", ok=False, ok_reason="exception")
    result = scored(transcript(("a", FINE), ("a", FINE)), executions=[failed])
    assert result.details.failed_calls == 0
    assert "1 execution without a call" in result.details.reasoning


def test_a_recorder_and_a_transcript_make_a_score() -> None:
    def read(path: str) -> str:
        raise FileNotFoundError(path)

    recorder = tunaeval.Recorder()
    tool = tunaeval.wrap_tool(read, recorder)
    with pytest.raises(FileNotFoundError):
        tool("a")
    result = scored(transcript(("read", "it was not there")), executions=recorder.executions)
    assert result.details.failed_calls == 1


def test_what_a_result_declares_is_heard() -> None:
    messages = transcript(("a", "boom"), ("b", "boom"), ("c", "boom"))
    messages[2]["is_error"] = True
    messages[4]["status"] = "error"
    assert scored(messages).details.failed_calls == 2


def test_parallel_calls_and_reused_ids_are_joined_in_order() -> None:
    batch = [call(1, "a"), call(1, "b"), call(2, "c")]
    messages = [
        {"role": "tool", "tool_call_id": "c2", "content": GONE},
        {"role": "assistant", "content": "", "tool_calls": batch},
        {"role": "tool", "tool_call_id": "c1", "content": FINE},
        {"role": "tool", "tool_call_id": "c1", "content": GONE},
        {"role": "tool", "tool_call_id": "c9", "content": GONE},
    ]
    result = scored(messages)
    assert result.categories["success-ratio"].evidence == (0, 3)
    assert "1 result without a call" in result.details.reasoning


def test_a_result_survives_a_file() -> None:
    result = scored(transcript(("a", GONE)))
    again = type(result).model_validate(json.loads(result.model_dump_json()))
    assert again == result
    assert again.goal_completion == result.goal_completion
