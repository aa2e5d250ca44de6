"""What is wanted, in every shape that data sets have it in."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.rewards.table import TOOLS, call, written
from tunaeval import to_tools
from tunaeval.errors import ToolsError, UsageError
from tunaeval.rewards.gold import Gold
from tunaeval.rewards.scored import reward, rewards
from tunaeval.testing.strategies import json_values
from tunaeval.types.calls import ToolCall

PARIS = call(city="Paris")
OPENAI = {"id": "c1", "type": "function", "function": {**PARIS, "arguments": '{"city": "Paris"}'}}


@pytest.mark.parametrize("gold", [None, "null", [], "[]", {"none": True}, '"[]"'])
def test_nothing_wanted_is_no_call(gold: object) -> None:
    assert Gold.of(gold).wants_none


@pytest.mark.parametrize(
    "gold",
    [
        PARIS,
        [PARIS],
        (PARIS,),
        json.dumps(PARIS),
        json.dumps([PARIS]),
        json.dumps(json.dumps([PARIS])),
        [json.dumps(PARIS)],
        [OPENAI],
        {"role": "assistant", "content": None, "tool_calls": [OPENAI]},
        {"role": "assistant", "content": None, "function_call": OPENAI["function"]},
        {"name": "get_weather", "parameters": {"city": "Paris"}},
        {"calls": [PARIS]},
        {"query": "?", "answers": json.dumps([PARIS])},
        {"role": "assistant", "content": f"So: {written(PARIS)}", "tool_calls": []},
        {"type": "function", "function": {"name": "get_weather"}, "arguments": PARIS["arguments"]},
        [{**PARIS, "argument": None, "status": "completed", "server": "weather"}],
        tunaeval.parse(written(PARIS)),
        ToolCall("get_weather", {"city": "Paris"}),
    ],
)
def test_every_shape_wants_the_same_call(gold: object) -> None:
    assert Gold.of(gold) == Gold.of([PARIS])
    assert hash(Gold.of(gold)) == hash(Gold.of([PARIS]))
    assert reward(written(PARIS), gold).value == 1.0


def test_a_message_without_calls_wants_none() -> None:
    assert Gold.of({"role": "assistant", "content": "No."}).wants_none
    assert Gold.of({"role": "assistant", "content": "No.", "tool_calls": []}).wants_none


@pytest.mark.parametrize("call", [{"name": "now"}, {"name": "now", "id": "c1", "argument": None}])
def test_a_call_may_have_no_arguments(call: object) -> None:
    assert Gold.of([call]) == Gold.of([{"name": "now", "arguments": {}}])


@pytest.mark.parametrize(
    ("call", "piece"),
    [
        (
            {"argument": {"city": "Paris"}},
            "no key for them is called 'argument'; did you mean 'arg",
        ),
        ({"kwargs": {}}, "no key for them is called 'kwargs'; did you mean 'args'?"),
        ({"city": "Paris"}, "no key for them is called 'city'; known: args, arguments, input"),
    ],
)
def test_a_mistyped_key_of_arguments_is_refused(call: dict[str, object], piece: str) -> None:
    named = {"name": "get_weather", **call}
    for gold in ([named], [{"type": "function", "function": named}], json.dumps([named])):
        with pytest.raises(UsageError) as caught:
            Gold.of(gold)
        assert str(caught.value).startswith(f"gold[0] has no arguments: {piece}")


def test_the_match_of_a_gold_counts() -> None:
    calls = [PARIS, call(city="Oslo")]
    assert Gold.of({"calls": calls, "match": "exactly"}).match == "exactly"
    assert Gold.of({"calls": calls, "match": None}, match="superset").match == "superset"
    with pytest.raises(UsageError, match="no match is called 'exact'; did you mean 'exactly'"):
        Gold.of({"calls": calls, "match": "exact"})


@pytest.mark.parametrize(
    ("gold", "piece"),
    [
        ("call it", "gold is 'call it', which is no sound JSON"),
        ("", "gold is '', which is no sound JSON"),
        (" ", "gold is ' ', which is no sound JSON"),
        ({}, "{}, which has no name; wanted calls such as"),
        ("{}", "{}, which has no name; wanted calls such as"),
        (["weather"], "gold[0] is 'weather', which is no sound JSON"),
        ([PARIS, "x"], "gold[1] is 'x', which is no sound JSON"),
        (
            '[{"name": "f", "arguments": {"a": 1, "a": 2}}]',
            "which is no sound JSON (more than once: 'a')",
        ),
        ('[{"name": "f", "arguments": {"a": NaN}}]', "which is no sound JSON"),
        ("[{'name': 'f'}]", "which is no sound JSON"),
        (json.dumps(json.dumps(json.dumps([PARIS]))), "; wanted calls such as"),
        ({"role": "assistant", "content": "<tool_call>{"}, "that cannot be read"),
        ('{"role": "assistant", "content": "<tool_call>{"}', "that cannot be read"),
        ([{"role": "assistant", "content": written(PARIS)}], "which has no name"),
        ([call(city=object())], "gold[0].arguments is {'city': <object"),
        ([call(city=b"Paris")], "gold[0].arguments is {'city': b'Paris'}, which no call can have"),
        ([call(days=[1, float("nan")])], "gold[0].arguments is {'days': [1, nan]}, which no call"),
        ([call(days={"least": float("inf")})], "gold[0].arguments is {'days': {'least': inf}}, wh"),
        ({"role": "assistant", "content": [{"type": "tool_use", "name": "ls"}]}, "has no name"),
        (7, "gold is 7"),
        ([7], "gold[0] is 7"),
        ([PARIS, {"city": "Paris"}], "gold[1] is"),
        ([{"name": "f", "arguments": "x"}], "no sound JSON"),
        ([{"name": "f", "arguments": [1]}], "gold[0].arguments is [1]"),
        (b"[]", "gold is b'[]'; wanted calls such as"),
        (b"[]", "decode bytes"),
        (bytearray(b"[]"), "decode bytes"),
    ],
)
def test_what_is_no_gold_is_refused_with_its_place(gold: object, piece: str) -> None:
    with pytest.raises(UsageError) as caught:
        Gold.of(gold)
    assert piece in str(caught.value)


@given(json_values())
def test_a_gold_is_read_or_refused(gold: Any) -> None:
    with suppress(UsageError):
        assert Gold.of(gold).key


def test_a_dollar_is_data_unless_matchers_are_asked_for() -> None:
    query = {"q": {"$gt": 5}, "r": {"$regex": "^a"}}
    gold = [{"name": "find", "arguments": query}]
    right, wrong = ({"name": "find", "arguments": {**query, **more}} for more in ({}, {"r": "ab"}))
    assert reward(written(right), gold).value == 1.0
    assert reward(written(wrong), gold).value < 1.0
    matching = [{"name": "find", "arguments": {"r": {"$regex": "^a"}}}]
    compiled = Gold.of(matching, literal=False)
    assert reward(written({"name": "find", "arguments": {"r": "ab"}}), compiled).value == 1.0
    with pytest.raises(UsageError, match="there is no matcher '\\$gt'"):
        Gold.of(gold, literal=False)


def test_nulls_that_arrow_has_put_in_are_dropped() -> None:
    filled = [{"name": "get_weather", "arguments": {"city": "Paris", "days": None, "path": None}}]
    assert reward(written(PARIS), filled, TOOLS).value == 1.0
    assert Gold.of(filled, TOOLS) == Gold.of([PARIS], TOOLS)
    assert reward(written(PARIS), filled).value < 1.0, "without tools nobody knows"


def test_a_null_that_the_schema_allows_is_wanted() -> None:
    nested = {"properties": {"a": {"type": "integer"}, "b": {"type": ["integer", "null"]}}}
    tool = {"name": "f", "parameters": {"properties": {"o": {"type": "array", "items": nested}}}}
    gold = Gold.of([{"name": "f", "arguments": {"o": [{"a": None, "b": None}]}}], [tool])
    assert gold.calls[0].arguments == {"o": [{"b": None}]}


def test_numbers_are_compared_as_the_schema_has_them() -> None:
    tool = {"name": "f", "parameters": {"properties": {"x": {"type": "number"}, "n": {}}}}
    wanted = {"name": "f", "arguments": {"x": 1, "n": 1}}
    for arguments, right in (({"x": 1.0, "n": 1}, True), ({"x": 1, "n": True}, False)):
        made = written({"name": "f", "arguments": arguments})
        assert (reward(made, [wanted], [tool]).value == 1.0) is right
    large = {"name": "f", "arguments": {"n": 2**70}}
    assert reward(written(large), [large]).value == 1.0


def test_a_default_may_be_left_out_or_spelled_out() -> None:
    tool = {"name": "f", "parameters": {"properties": {"n": {"type": "integer", "default": 3}}}}
    long, short = ({"name": "f", "arguments": one} for one in ({"n": 3}, {}))
    for wanted, made in ((long, short), (short, long)):
        assert reward(written(made), [wanted], [tool]).value == 1.0


@pytest.mark.parametrize(
    ("match", "made", "right"),
    [
        ("exactly", ["Oslo", "Paris"], False),
        ("any_order", ["Oslo", "Paris"], True),
        ("in_order", ["Paris", "Rome", "Oslo"], True),
        ("in_order", ["Oslo", "Paris"], False),
        ("superset", ["Oslo", "Rome", "Paris"], True),
        ("superset", ["Oslo", "Rome"], False),
    ],
)
def test_how_calls_are_matched_is_the_golds(match: Any, made: list[str], right: bool) -> None:
    gold = Gold.of([PARIS, call(city="Oslo")], TOOLS, match=match)
    text = "\n".join(written(call(city=city)) for city in made)
    assert (reward(text, gold).parts.arguments == 1.0) is right


def test_rows_have_a_gold_and_tools_each() -> None:
    text = json.dumps([{"name": "get_weather", "parameters": {"properties": {"city": {}}}}])
    completions = [written(PARIS), "No.", None]
    found = rewards(completions, ["[" + json.dumps(PARIS) + "]", "[]", "[]"], [text, None, None])
    assert [one.value for one in found] == [1.0, 1.0, 0.0]
    assert [one.value for one in rewards(completions, Gold.of([PARIS]))] == [1.0, 0.0, 0.0]
    with pytest.raises(UsageError, match="3 completions, but 1 golds"):
        rewards(completions, ["[]"])
    with pytest.raises(ToolsError):
        rewards(["x"], ["[]"], ["no tools"])


@given(st.lists(st.sampled_from(["Paris", "Oslo", "Rome"]), max_size=3))
def test_a_gold_is_met_by_its_own_calls(cities: list[str]) -> None:
    gold = Gold.of([call(city=city) for city in cities], to_tools(TOOLS))
    made = [ToolCall("get_weather", {"city": city}) for city in cities]
    assert gold.is_met_by(made)
    assert not gold.is_met_by([*made, ToolCall("get_weather", {})])


def test_tools_of_a_row_count_beside_a_gold_that_is_compiled() -> None:
    gold, other = Gold.of([PARIS]), [{"name": "bash", "parameters": {"properties": {}}}]
    text = written(PARIS)
    assert reward(text, gold, other).value == 0.0
    for golds in (gold, [gold]):
        assert [one.value for one in rewards([text], golds, [other])] == [0.0]
        assert [one.value for one in rewards([text], golds, to_tools(other))] == [0.0]
    assert [one.value for one in rewards([text], gold, TOOLS)] == [1.0]
    assert gold.with_tools(other) == Gold.of([PARIS], other) != gold
    assert gold.with_tools(None) is gold
