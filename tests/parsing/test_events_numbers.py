"""The numbers of calls in events: none is used twice, and the calls kept are the result's."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parsing.samples import LS, TOOLS, WHERE, call_of, call_with, tagged
from tunaeval import Event, ParseResult, Stream, render, stream
from tunaeval.grammar.formats import FORMATS
from tunaeval.testing.strategies import chunkings
from tunaeval.testing.streams import wrong_pieces
from tunaeval.types.calls import JsonValue, ToolCall
from tunaeval.types.parsing import LEVELS, Level

TWO = [ToolCall("bash", {"command": "ls"}), ToolCall("bash", {"command": "pwd"})]
PIECES = [
    tagged(LS), tagged(WHERE), call_with('{"command": "l'), call_of("nope"), LS, f"[{LS}, {WHERE}]",
    call_with('{"command": 7, "timeout": "3"}'), f"[{LS}, {{]", "<think>", "</think>", "Well. ",
    "<|im_start|>user\nGo on.<|im_end|>\n", "<|im_start|>assistant\n", "<tool_call>", "[{",
    "</tool_call>",
    '<tool_call>{"arguments": {"command": "ls"}, "name": "bash"}</tool_call>', "`", "\n",
    '<tool_call>{"name": "nope", "name": "bash", "arguments": {"command": "ls"}}</tool_call>',
    "<function=bash><parameter=command>ls</parameter></function>", render(TWO, "deepseek-v3.1"),
    "[bash(command='ls'), bash(command=)]",
]  # fmt: skip
"""Calls, damaged calls, and what withdraws calls that stood before it."""


def finished(reader: Stream, events: Sequence[Event]) -> tuple[ParseResult, list[Event]]:
    result = reader.finish()
    return result, [*events, *reader.last_events()]


def numbers(events: Sequence[Event], kind: str) -> list[int | None]:
    return [event.index for event in events if event.kind == kind]


@pytest.mark.parametrize("name", ["auto", "hermes", "qwen25", "json", "pythonic", "qwen3-coder"])
@given(data=st.data(), parts=st.lists(st.sampled_from(PIECES), max_size=6))
def test_no_number_is_used_twice_and_the_kept_ones_are_the_result(
    name: str, data: st.DataObject, parts: list[str]
) -> None:
    text, level = "".join(parts), data.draw(st.sampled_from(LEVELS))
    reader = stream(name, tools=data.draw(st.sampled_from([None, TOOLS])), level=level)
    events = [event for piece in data.draw(chunkings(text)) for event in reader.feed(piece)]
    result, events = finished(reader, events)
    assert not wrong_pieces(events, result)


@pytest.mark.parametrize("name", FORMATS)
def test_a_closer_of_reasoning_drops_the_calls_before_it_first(name: str) -> None:
    form = FORMATS[name]
    call = ToolCall("bash", {"command": "ls"})
    tools = None if form.marked and not form.by_tool else TOOLS
    reader = stream(form, tools)
    events = reader.feed(render([call], form) + "\n\n")
    events += reader.feed(f"{form.reasoning[0].close}\nDone.\n")
    result, events = finished(reader, events)
    assert not wrong_pieces(events, result)
    kinds = [event.kind for event in events]
    if "reclassified" in kinds and not result.calls and "call_finished" in kinds:
        assert kinds.index("call_dropped") < kinds.index("reclassified")
        assert numbers(events, "call_dropped") == numbers(events, "call_started")


def test_a_withdrawn_call_is_dropped_by_its_number_before_the_text_is_reasoning() -> None:
    reader = stream("hermes")
    events = reader.feed(f"{tagged(LS)}\n</think>\n{tagged(WHERE)}")
    result, events = finished(reader, events)
    assert [call.arguments for call in result.calls] == [{"command": "pwd"}]
    told = [(e.kind, e.index) for e in events if e.kind.startswith("call") or e.name == "reasoning"]
    assert told == [
        ("call_started", 0), ("call_finished", 0), ("call_dropped", 0), ("reclassified", None),
        ("call_started", 1), ("call_finished", 1),
    ]  # fmt: skip


def test_a_call_that_is_started_anew_has_another_number() -> None:
    reader = stream("hermes", tools=TOOLS)
    call = '{"name": "bash", "arguments": {"command": "ls"}, "name": "read_file"}'
    result, events = finished(reader, [e for letter in tagged(call) for e in reader.feed(letter)])
    assert [call.name for call in result.calls] == ["read_file"]
    assert numbers(events, "call_started") == [0, 1]
    assert numbers(events, "call_dropped") == [0]
    assert numbers(events, "call_finished") == [1]


@given(data=st.data())
def test_calls_of_a_server_are_numbered_so_too(data: st.DataObject) -> None:
    """Whichever arrives first, with calls in the text, with names and arguments that are none."""
    written: JsonValue = data.draw(
        st.lists(
            st.tuples(
                st.integers(0, 3),
                st.sampled_from(["bash", "read_file", "nope", "", None]),
                st.sampled_from(
                    ['{"command": "ls"}', '{"comm', 'and": "ls"}', "", "{}", "nothing"]
                ),
            ),
            max_size=6,
        )
    )
    text, level = (
        data.draw(st.sampled_from(["", tagged(LS), LS])),
        data.draw(st.sampled_from(LEVELS)),
    )
    reader = stream("auto", tools=TOOLS, level=level)
    events = reader.feed_delta({"content": text}) if data.draw(st.booleans()) else []
    for index, name, arguments in written:
        function = {"name": name, "arguments": arguments}
        events += reader.feed_delta({"tool_calls": [{"index": index, "function": function}]})
    events += reader.feed_delta({"content": text})
    result, events = finished(reader, events)
    assert not wrong_pieces(events, result)


@pytest.mark.parametrize("level", LEVELS)
def test_a_call_in_the_text_is_dropped_where_the_server_has_parsed_others(level: Level) -> None:
    reader = stream("hermes", level=level)
    events = reader.feed_delta({"content": tagged(LS)})
    item = {"index": 0, "function": {"name": "bash", "arguments": json.dumps({"command": "pwd"})}}
    events += reader.feed_delta({"tool_calls": [item]})
    result, events = finished(reader, events)
    assert [call.arguments for call in result.calls] == [{"command": "pwd"}]
    assert numbers(events, "call_dropped") == [0]
    assert numbers(events, "call_finished") == [0, 1]
