"""Sound structured calls are read at once, and as the way for any others would read them."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parsing.test_alike import KEYS, TOOLS, calls
from tunaeval import parse, parse_message
from tunaeval.parsing import message
from tunaeval.parsing.message import _judged, _placeless, _sound
from tunaeval.types import LEVELS, JsonObject, JsonValue, ParseResult, ToolCall, Tools

_PIECES = st.sampled_from(
    ["", " ", "\n", "\u00a0", "\ufeff", ",", "}", "{", "]", '"', "\\", "\\u0000", "\\u0022",
     "\\ud83d", '"f": 1,', '"s": "a", ', '"s": 3, ', "NaN", "1e999", "9" * 21, "-0",
     "1.0", "//x\n", "\x00", "'", '"a": [[[]]],', "null", "true"]
)  # fmt: skip


@st.composite
def written(draw: st.DrawFn, arguments: JsonObject) -> JsonValue:
    """Arguments as servers send them: as text, perhaps with a piece put in, or decoded."""
    if draw(st.integers(0, 5)) == 0:
        return draw(st.sampled_from([arguments, {"x": math.nan}, {"x": [math.inf]}, [], None, 5]))
    indent, ascii_ = draw(st.sampled_from([None, 1])), draw(st.booleans())
    text = json.dumps(arguments, indent=indent, ensure_ascii=ascii_)
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(_PIECES) + text[at + draw(st.integers(0, 1)) :]
    return text


@st.composite
def items(draw: st.DrawFn) -> JsonObject:
    call: ToolCall = draw(calls())
    odd = st.sampled_from([None, "", 5, "properties", ["f"]])
    name = draw(st.one_of(st.just(call.name), st.just(call.name), odd))
    function: JsonObject = {"name": name, "arguments": draw(written(call.arguments))}
    if draw(st.integers(0, 9)) == 0:
        function[draw(st.sampled_from(KEYS))] = draw(odd)
    item: JsonObject = {"type": "function", "function": function}
    if draw(st.booleans()):
        item["id"] = draw(st.sampled_from(["c1", "", None, 7, "x", ["c"]]))
    return item


@given(item=items(), tools=st.sampled_from([None, TOOLS]), level=st.sampled_from(LEVELS))
def test_a_sound_call_is_what_the_judge_makes_of_it(
    item: JsonObject, tools: Tools | None, level: Any
) -> None:
    found = _sound(item, tools)
    if found is not None:
        verdict = _judged(item, tools, level)
        assert verdict.call is not None
        # Texts and not values are compared: 1 equals 1.0 and True.
        assert repr(found) == repr(_placeless(verdict.call))
        assert (verdict.notes, verdict.truncated) == ((), False)


@given(made=st.lists(items(), max_size=3), tools=st.sampled_from([None, TOOLS]))
def test_a_message_is_read_alike_with_and_without_the_short_way(
    made: list[JsonObject], tools: Tools | None
) -> None:
    found = parse_message({"content": "Hm.", "tool_calls": made}, tools=tools)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(message, "_sound", lambda *_: None)
        assert repr(parse_message({"content": "Hm.", "tool_calls": made}, tools=tools)) == repr(
            found
        )


@pytest.mark.parametrize("id_", [None, "c1", ""])
@pytest.mark.parametrize(
    "arguments", [{"s": "a", "n": 3}, {}, {"l": [1], "o": {"a": {"b": "ä\n"}}}]
)
def test_what_most_servers_send_goes_the_short_way(id_: str | None, arguments: JsonObject) -> None:
    for given_ in (arguments, json.dumps(arguments), json.dumps(arguments, ensure_ascii=False)):
        item = {"id": id_, "type": "function", "function": {"name": "f", "arguments": given_}}
        assert _sound(item, TOOLS) == ToolCall("f", arguments, id_, "structured")
        assert _sound(item, None) is not None


@pytest.mark.parametrize(
    "arguments",
    ['{"s": "a", "s": "b"}', '{"n": 18446744073709551616}', '{"s": "\\u0000"}', '{"s": "\\ud83d"}',
     '{"s": "a"} x', '{"n": "3"}', '{"s": NaN}', "[]", "", '{"properties": {}}'],
)  # fmt: skip
def test_what_is_odd_goes_the_long_way(arguments: str) -> None:
    assert _sound({"function": {"name": "f", "arguments": arguments}}, TOOLS) is None


class Talker:
    """A parser that has something to say of every text."""

    name = "talker"

    def parse(self, text: str, **_: object) -> ParseResult:
        return ParseResult(content=f"read {text!r}")


@pytest.mark.parametrize("content", [None, "", [], [{"type": "image_url"}]])
def test_where_there_is_no_text_no_text_is_read(content: JsonValue) -> None:
    assert parse_message({"content": content}, Talker()) == parse("")
    assert parse_message({"content": "a"}, Talker()).content == "read 'a'"
