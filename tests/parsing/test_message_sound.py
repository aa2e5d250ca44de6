"""Structured calls, sound and odd ones: each counts, or has its reason."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parsing.test_law_alike import KEYS, TOOLS, calls
from tunaeval import parse, parse_message
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools
from tunaeval.types.parsing import LEVELS, ParseResult

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
def test_a_structured_call_counts_or_has_a_reason(
    item: JsonObject, tools: Tools | None, level: Any
) -> None:
    found = parse_message({"content": "Hm.", "tool_calls": [item]}, tools=tools, level=level)
    assert found.content == "Hm."
    assert len(found.calls) == (found.outcome == "calls")
    assert found.calls or found.diagnoses
    assert all(call.span is None and call.format == "structured" for call in found.calls)
    assert all(repair.span is None for call in found.calls for repair in call.repairs)


@given(made=st.lists(items(), max_size=3), tools=st.sampled_from([None, TOOLS]))
def test_structured_calls_are_judged_one_by_one(
    made: list[JsonObject], tools: Tools | None
) -> None:
    """Calls with one id are another matter: equal ones are one call."""
    for at, item in enumerate(made):
        if item.get("id") in ("c1", "x"):
            item["id"] = f"{item['id']}-{at}"
    together = parse_message({"tool_calls": made}, tools=tools)
    alone = [parse_message({"tool_calls": [item]}, tools=tools).calls for item in made]
    assert repr(list(together.calls)) == repr([call for calls in alone for call in calls])


@pytest.mark.parametrize("id_", [None, "c1", ""])
@pytest.mark.parametrize(
    "arguments", [{"s": "a", "n": 3}, {}, {"l": [1], "o": {"a": {"b": "ä\n"}}}]
)
def test_what_most_servers_send_is_read_without_repair(
    id_: str | None, arguments: JsonObject
) -> None:
    for given_ in (arguments, json.dumps(arguments), json.dumps(arguments, ensure_ascii=False)):
        item = {"id": id_, "type": "function", "function": {"name": "f", "arguments": given_}}
        call = ToolCall("f", arguments, id_, "structured")
        for tools in (TOOLS, None):
            found = parse_message({"tool_calls": [item]}, tools=tools)
            assert found == ParseResult((call,), outcome="calls")


@pytest.mark.parametrize(
    "arguments",
    ['{"s": "a", "s": "b"}', '{"s": "\\u0000"}', '{"s": "\\ud83d"}',
     '{"s": "a"} x', '{"n": "3"}', '{"s": NaN}', '{"properties": {}}'],
)  # fmt: skip
def test_what_is_odd_in_arguments_is_reported_or_repaired(arguments: str) -> None:
    item = {"function": {"name": "f", "arguments": arguments}}
    found = parse_message({"tool_calls": [item]}, tools=TOOLS)
    assert found.diagnoses or found.calls[0].repairs


class Talker:
    """A parser that has something to say of every text."""

    name = "talker"

    def parse(self, text: str, **_: object) -> ParseResult:
        return ParseResult(content=f"read {text!r}")


@pytest.mark.parametrize("content", [None, "", [], [{"type": "image_url"}]])
def test_where_there_is_no_text_no_text_is_read(content: JsonValue) -> None:
    assert parse_message({"content": content}, Talker()) == parse("")
    assert parse_message({"content": "a"}, Talker()).content == "read 'a'"
