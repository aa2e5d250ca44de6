"""Which structured calls of one message are one: those with equal id, name and arguments."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parsing.samples import codes, said
from tunaeval import parse_message, stream
from tunaeval.rewards import Gold, Recipe, reward
from tunaeval.testing.strategies import json_values
from tunaeval.types.calls import JsonObject, JsonValue, json_key
from tunaeval.types.parsing import LEVELS, Level, ParseResult

CALL = ("c1", "f", {"a": 1})
OTHERS = [("c1", "f", {"a": 2}), ("c1", "g", {"a": 1}), ("c1", "f", {"a": True}), ("c1", "f", {})]
APART = [("c2", "f", {"a": 1}), ("", "f", {"a": 1}), (None, "f", {"a": 1})]


def message(*calls: tuple[JsonValue, str, JsonValue]) -> JsonObject:
    functions = [(id_, {"name": name, "arguments": json.dumps(args)}) for id_, name, args in calls]
    items = [{"type": "function", "function": one} | ({} if id_ is None else {"id": id_})
             for id_, one in functions]  # fmt: skip
    return {"role": "assistant", "content": None, "tool_calls": items}


def streamed(given_: JsonObject, level: Level) -> list[ParseResult]:
    """The message as deltas and as events of a server, each call under an index of its own."""
    heads = [{**item, "index": at} for at, item in enumerate(given_["tool_calls"])]
    deltas = [{"tool_calls": [head]} for head in heads]
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    lines = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    fed, read = stream(level=level), stream(level=level)
    for delta in deltas:
        fed.feed_delta(delta)
    read.feed_sse(lines)
    return [fed.finish(), read.finish()]


def everywhere(given_: JsonObject, level: Level) -> list[ParseResult]:
    return [parse_message(given_, level=level), *streamed(given_, level)]


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("level", ["standard", "lenient"])
def test_a_call_that_is_there_again_is_one_call(times: int, level: Level) -> None:
    for result in everywhere(message(*[CALL] * times), level):
        assert said(result) == [("f", {"a": 1})]
        assert [repair.code for repair in result.calls[0].repairs] == ["repeated-call"]
        assert result.outcome == "calls"
        assert not result.diagnoses


def test_at_strict_both_stand_with_that_diagnosis() -> None:
    for result in everywhere(message(CALL, CALL), "strict"):
        assert said(result) == [("f", {"a": 1})] * 2
        assert codes(result) == ["repeated-call"]
        assert not any(call.repairs for call in result.calls)
        assert not result.diagnoses[0].is_attempt


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("level", LEVELS)
def test_an_id_with_other_content_is_another_call(
    other: tuple[str, str, JsonValue], level: Level
) -> None:
    for result in everywhere(message(CALL, other, (*other[:2], {"b": 1})), level):
        assert len(result.calls) == 3
        assert codes(result) == ["id-shared"]  # once, whatever their number
        assert not result.diagnoses[0].is_attempt


@pytest.mark.parametrize("apart", APART)
@pytest.mark.parametrize("level", LEVELS)
def test_calls_without_an_id_or_with_two_are_two(
    apart: tuple[JsonValue, str, JsonValue], level: Level
) -> None:
    first = CALL if apart[0] == "c2" else apart
    for result in everywhere(message(first, apart), level):
        assert len(result.calls) == 2
        assert not result.diagnoses
        assert not any(call.repairs for call in result.calls)


def test_the_order_of_keys_and_the_spelling_of_numbers_do_not_count() -> None:
    first = message(("c1", "f", {"a": {"x": 1, "y": [2.0]}}))
    second = message(("c1", "f", {"a": {"y": [2], "x": 1.0}}))
    both = {**first, "tool_calls": first["tool_calls"] + second["tool_calls"]}
    assert len(parse_message(both).calls) == 1


@given(json_values(), json_values())
def test_a_key_of_json_is_equal_for_equal_values_alone(one: JsonValue, two: JsonValue) -> None:
    assert json_key(one) == json_key(json.loads(json.dumps(one)))
    assert (json_key(one) == json_key(two)) == (json_key(two) == json_key(one))
    assert (json_key([one]) == json_key([two])) == (json_key(one) == json_key(two))
    assert json_key([one, two]) != json_key([one])


@given(st.lists(st.sampled_from([CALL, *OTHERS, *APART]), max_size=6), st.sampled_from(LEVELS))
def test_streams_and_messages_have_the_same_calls(
    calls: list[tuple[JsonValue, str, JsonValue]], level: Level
) -> None:
    whole, *streams = everywhere(message(*calls), level)
    assert all(
        (result.calls, result.diagnoses, result.outcome)
        == (whole.calls, whole.diagnoses, whole.outcome)
        for result in streams
    )
    if level == "strict":
        assert len(whole.calls) == len(calls)


def test_the_events_of_a_call_that_is_there_again_are_dropped() -> None:
    reader = stream()
    kinds = []
    for at in range(2):
        item = {**message(CALL)["tool_calls"][0], "index": at}
        kinds += [event.kind for event in reader.feed_delta({"tool_calls": [item]})]
    reader.finish()
    kinds += [event.kind for event in reader.last_events()]
    assert (kinds.count("call_started"), kinds.count("call_dropped")) == (2, 1)
    assert kinds.count("call_finished") == 1


GOLD = Gold.of([{"name": "f", "arguments": {"a": 1}}])


def test_a_reward_is_for_one_call_that_is_there_again_as_for_a_repaired_one() -> None:
    found = reward([message(CALL, CALL)], GOLD)
    assert (found.attempts, found.broken, found.outcome) == (1, 0, "calls")
    assert 0.5 <= found.value <= reward([message(CALL)], GOLD).value


def test_at_strict_a_reward_is_for_two_calls() -> None:
    strict = Recipe(level="strict")
    assert reward([message(CALL, CALL)], GOLD, recipe=strict).attempts == 2


def test_a_call_that_is_there_again_hides_no_hedge() -> None:
    item = message(CALL)["tool_calls"][0]
    hedged = {**item, "function": {"name": "f", "arguments": '{"a": 2, "a": 1}'}}
    once, twice = ({"role": "assistant", "tool_calls": [hedged] * count} for count in (1, 2))
    assert reward([twice], GOLD).value <= reward([once], GOLD).value < reward(
        [message(CALL)], GOLD
    ).value  # fmt: skip


def test_a_broken_call_beside_one_that_is_there_again_is_broken() -> None:
    given_ = message(CALL, CALL, ("c3", "f", {}))
    given_["tool_calls"][2]["function"]["arguments"] = "{nope"
    assert reward([given_], GOLD).broken == 1
