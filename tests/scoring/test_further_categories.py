"""The categories beside the presets: expected, valid, in circles, timed, paid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import tunaeval
from tests.scoring.transcripts import FINE, GONE, batches, call, ran, transcript
from tunaeval import ScoreSettings
from tunaeval.scoring.settings import Price
from tunaeval.tools.recorder import busy_seconds
from tunaeval.types.messages import Message, ToolExecution, Usage
from tunaeval.types.runs import WeightedScore

Steps = list[tuple[str, str | None]]

READ = {
    "name": "read",
    "parameters": {
        "type": "object",
        "properties": {"on": {"type": "string"}, "lines": {"type": "integer"}},
        "required": ["on"],
    },
}
TOOLS = tunaeval.to_tools([READ])


def asked(
    category: str,
    messages: Sequence[object],
    executions: Sequence[ToolExecution] = (),
    **settings: Any,
) -> WeightedScore:
    result = tunaeval.score(
        messages,
        "do it",
        executions=executions,
        preset="none",
        categories=[category],
        settings=ScoreSettings(**settings),
    )
    assert list(result.categories) == [category]
    assert result.weighted_total == result.categories[category].value
    return result.categories[category]


A, B, C = ("a", FINE), ("b", FINE), ("c", FINE)


@pytest.mark.parametrize(
    ("expect", "value"),
    [
        ({"tools": ["a", "b"]}, 1),
        ({"tools": ["a", "c"]}, 1 / 2),
        ({"tools": ["a"]}, 1 / 2),
        ({"tools": ["a"], "match": "in_order"}, 1),
        ({"tools": ["b", "a"]}, 0),
        ({"tools": ["b", "a"], "match": "any_order"}, 1),
        ({"tools": ["a", "b", "c", "d"], "match": "superset"}, 1 / 2),
        ({"tools": ["a", "c"], "match": "subset"}, 1 / 2),
        ({"calls": [{"name": "a"}, {"name": "b", "arguments": {"on": "x"}}]}, 1 / 2),
        ({"none": True}, 0),
        ({"tools": ["a"], "match": "in_order", "forbid": ["b"]}, 0),
        ({"max_calls": 1}, 0),
        ({"expected_tool_sequence": ["a", "b"]}, 1),
    ],
)
def test_a_trajectory_is_held_against_what_was_expected(
    expect: dict[str, Any], value: float
) -> None:
    assert asked("expected-trajectory", transcript(A, B), expect=expect).value == value


def test_evidence_of_a_trajectory_are_calls_that_nobody_asked_for() -> None:
    score = asked("expected-trajectory", transcript(A, B, C), expect={"tools": ["a", "c"]})
    assert score.evidence == (4, 6)


def test_arguments_are_held_against_their_schemas() -> None:
    good, bent = call(1, "read", on="x", lines=3), call(2, "read", on="x", lines="3")
    missing, unknown = call(3, "read", lines=1), call(4, "raed", on="x")
    messages = [
        {"role": "assistant", "tool_calls": [one]} for one in (good, bent, missing, unknown)
    ]
    score = asked("argument-validity", messages, tools=TOOLS)
    assert (score.value, score.evidence) == (0.25, (1, 2, 3))
    assert score.reason.startswith("1 of 4 calls are as their tool's schema wants; first: read: ")


def written(arguments: object, name: str = "look") -> dict[str, Any]:
    """A call whose arguments are written in this way."""
    function = {"name": name, "arguments": arguments}
    return {"role": "assistant", "tool_calls": [{"id": "c", "function": function}]}


def test_arguments_that_are_no_json_object_are_invalid_and_not_empty() -> None:
    tools = tunaeval.to_tools([{"name": "look", "parameters": {"type": "object"}}])
    messages = [written("{}"), written("[1]"), written("look here"), written(""), written([])]
    score = asked("argument-validity", messages, tools=tools)
    assert (score.value, score.evidence) == (2 / 5, (1, 2, 4))
    assert score.reason.endswith("first: look: its arguments are no JSON object: '[1]'")


@pytest.mark.parametrize("arguments", ["[1]", "look here", 3])
@pytest.mark.parametrize("match", ["exactly", "superset", "any_order", "in_order"])
def test_arguments_that_are_no_json_object_meet_no_wish_for_none(
    arguments: object, match: str
) -> None:
    expect = {"calls": [{"name": "look", "arguments": {}}], "match": match}
    score = asked("expected-trajectory", [written(arguments)], expect=expect)
    assert (score.value, score.evidence) == (0, (0,))
    assert "its arguments are no JSON object" in score.reason


def test_a_call_that_could_not_be_read_is_no_repetition_of_another() -> None:
    messages = [*map(written, ("{}", "[1]", "[2]")), written("[2]")]
    assert asked("repetition", messages).value == 3 / 4


@pytest.mark.parametrize(
    ("steps", "value"),
    [
        ([[A], [B], [C]], 1),
        ([[A], [A]], 1 / 2),
        ([[A, A], [B]], 2 / 3),
        ([[A] * 20], 1 / 20),
        ([[A]] * 20, 1 / 20),
        ([[A, B], [B, A]], 1 / 2),
        ([[A, B], [A, B, B]], 4 / 5),
        ([[A], [B], [A]], 1),
        ([[A], [B], [A], [B]], 1 / 2),
        ([[A], [B], [C], [A], [B], [C], [A]], 3 / 7),
        ([[("a", "1")], [("a", "2")], [("a", "3")]], 1),
        ([[("a", GONE)], [("a", GONE)], [("a", GONE)]], 1 / 3),
        ([[("a", None)], [("a", None)]], 1 / 2),
        ([[("a x", FINE)], [("a y", FINE)]], 1),
    ],
)
def test_loops_repeat_calls_and_answers(steps: list[Steps], value: float) -> None:
    assert asked("repetition", batches(*steps)).value == pytest.approx(value)


def test_polling_is_no_loop_where_a_host_says_so() -> None:
    messages = batches([A], [A], [B])
    assert asked("repetition", messages, polling_tools=("a",)).value == 1


@pytest.mark.parametrize(
    ("intervals", "seconds"),
    [
        ([], 0),
        ([(0, None)], None),
        ([(0, 1), (5, None)], None),
        ([(0, -1)], None),
        ([(0, float("nan"))], None),
        ([(float("inf"), 1)], None),
        ([(0, 0)], 0),
        ([(0, 2), (0, 2)], 2),
        ([(0, 2), (1, 2)], 3),
        ([(3, 1), (0, 1)], 2),
        ([(0, 9), (1, 1), (2, 1)], 9),
    ],
)
def test_parallel_runs_count_once_and_unknown_ones_never(
    intervals: list[tuple[float, float | None]], seconds: float | None
) -> None:
    runs = [ran("a", started_at=start, duration_seconds=took) for start, took in intervals]
    assert busy_seconds(runs) == seconds


def test_latency_tells_what_was_not_timed() -> None:
    timed = [ran("a", "c0", duration_seconds=45.0)]
    score = asked("latency", transcript(A, B), timed)
    assert (score.value, score.evidence) == (0.9, (2,))
    assert score.reason == "tools ran for 45.000 s, parallel runs counted once; 1 call not timed"


def reply(**usage: Any) -> Message:
    return Message("assistant", "x", usage=Usage(**usage))


CHEAP = Price(prompt_usd_per_million=1.0, completion_usd_per_million=10.0)


@pytest.mark.parametrize(
    ("replies", "price", "value"),
    [
        ([], None, None),
        ([reply(cost_usd=0.004), reply(cost_usd=0.006)], None, 1.0),
        ([reply(cost_usd=0.006), reply(cost_usd=0.006)], None, 0.8),
        ([reply(cost_usd=0.0)], None, 1.0),
        ([reply(cost_usd=float("nan"))], None, None),
        ([reply(prompt_tokens=9, completion_tokens=9)], None, None),
        ([reply(prompt_tokens=1_000_000, completion_tokens=0)], CHEAP, 0.6),
        ([reply(prompt_tokens=0, completion_tokens=1_000_000)], CHEAP, 0.4),
        ([reply(cost_usd=0.5), reply(prompt_tokens=9)], CHEAP, None),
    ],
)
def test_a_cost_is_known_in_full_or_not_at_all(
    replies: list[Message], price: Price | None, value: float | None
) -> None:
    assert asked("cost", replies, price=price).value == value


@pytest.mark.parametrize("name", ["expected-trajectory", "argument-validity", "latency", "cost"])
def test_a_category_without_what_it_needs_does_not_apply(name: str) -> None:
    score = asked(name, transcript(A))
    assert (score.value, score.share) == (None, None)
    assert score.reason
