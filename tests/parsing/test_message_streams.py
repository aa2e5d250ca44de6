"""Streams of OpenAI-compatible servers: chunks as lines, text and structured calls in fragments."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.parsing.samples import TOOLS, codes
from tunaeval import parse, parse_message, stream
from tunaeval.parsing.events import Event
from tunaeval.testing.strategies import chunkings, json_values
from tunaeval.types.calls import JsonObject

CALL = '<tool_call>\n{"name": "bash", "arguments": {"command": "ls é"}}\n</tool_call>'


def sse(deltas: Sequence[JsonObject]) -> str:
    """The deltas as a server sends them."""
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return ": comment\n\n" + "".join(lines) + "data: [DONE]\n\n"


def fragments(name: str, arguments: str, cuts: Sequence[str], index: int = 0) -> list[JsonObject]:
    """One structured call as servers stream it: the head first, then the arguments in pieces."""
    assert "".join(cuts) == arguments
    head = {"index": index, "id": f"c{index}", "function": {"name": name, "arguments": ""}}
    rest = [{"index": index, "function": {"arguments": cut}} for cut in cuts]
    return [{"tool_calls": [fragment]} for fragment in (head, *rest)]


def arguments_of(events: Sequence[Event], index: int = 0) -> object:
    return json.loads("".join(e.text for e in events if e.kind == "arguments" and e.index == index))


@given(data=st.data(), text=st.sampled_from([CALL, f"One. {CALL} Two. {CALL}", "No call, é.", ""]))
def test_content_in_lines_is_read_as_the_text_is(data: st.DataObject, text: str) -> None:
    deltas: list[JsonObject] = [{"content": piece} for piece in data.draw(chunkings(text))]
    sent = sse([{"role": "assistant", "content": None}, *deltas])
    reader = stream("hermes")
    for piece in data.draw(chunkings(sent)):
        reader.feed_sse(piece)
    assert reader.finish() == parse(text, "hermes")


def test_bytes_may_end_inside_a_letter() -> None:
    reader = stream("hermes")
    for byte in sse([{"content": CALL}]).replace("\\u00e9", "é").encode():
        reader.feed_sse(bytes([byte]))
    assert reader.finish() == parse(CALL, "hermes")


@given(data=st.data(), arguments=st.dictionaries(st.text(max_size=8), json_values(), max_size=4))
def test_structured_fragments_are_told_and_read_as_the_message_is(
    data: st.DataObject, arguments: JsonObject
) -> None:
    written = json.dumps(arguments)
    reader = stream("hermes")
    events = [
        event
        for delta in fragments("bash", written, data.draw(chunkings(written)))
        for event in reader.feed_delta(delta)
    ]
    result = reader.finish()
    events += reader.last_events()
    call = {"id": "c0", "function": {"name": "bash", "arguments": written}}
    assert result == parse_message({"tool_calls": [call]}, "hermes")
    # Not `arguments`: two halves of a surrogate pair side by side are one character in JSON.
    assert arguments_of(events) == result.calls[0].arguments == json.loads(written)
    assert [e.kind for e in events if e.kind.startswith("call")] == [
        "call_started",
        "call_finished",
    ]


def test_several_calls_side_by_side_keep_their_fragments_apart() -> None:
    first = fragments("bash", '{"command": "ls"}', ['{"command": ', '"ls"}'])
    second = fragments("grep", '{"pattern": "x"}', ['{"pattern"', ': "x"}'], index=1)
    reader = stream("auto")
    events = reader.feed_sse(sse([d for pair in zip(first, second, strict=True) for d in pair]))
    result = reader.finish()
    events += reader.last_events()
    assert [(call.name, call.id) for call in result.calls] == [("bash", "c0"), ("grep", "c1")]
    assert arguments_of(events, 1) == {"pattern": "x"}


def test_the_name_is_told_before_the_arguments_are_there() -> None:
    head, *rest = fragments("bash", '{"command": "ls"}', ['{"command": "l', 's"}'])
    reader = stream("auto", tools=TOOLS)
    assert [(e.kind, e.name) for e in reader.feed_delta(head)] == [("call_started", "bash")]
    assert [e.text for e in reader.feed_delta(rest[0])] == ['{"command":"l']


def test_an_unknown_tool_and_broken_arguments_are_dropped_and_told() -> None:
    for name, written in (("nope", "{}"), ("bash", '{"command": "l')):
        reader = stream("auto", tools=TOOLS)
        events = reader.feed_sse(sse(fragments(name, written, [written])))
        result = reader.finish()
        kinds = [e.kind for e in (*events, *reader.last_events())]
        assert not result.calls
        assert kinds.count("call_started") == kinds.count("call_dropped")
        assert "call_finished" not in kinds


def test_a_chunk_that_is_none_loses_nothing_else() -> None:
    good = sse([{"content": CALL}])
    reader = stream("hermes")
    reader.feed_sse('data: {"choices": [\n\ndata: 7\n\ndata: {"error": {"message": "busy"}}\n\n')
    reader.feed_sse(good)
    result = reader.finish()
    assert [call.name for call in result.calls] == ["bash"]
    assert codes(result) == ["invalid-chunk"] * 3
    assert "busy" in result.diagnoses[2].message


def test_reasoning_that_comes_beside_the_text_is_reasoning() -> None:
    reader = stream("hermes")
    events = reader.feed_sse(sse([{"reasoning_content": "Let me "}, {"reasoning_content": "see."}]))
    events += reader.feed_sse(sse([{"content": CALL}]))
    result = reader.finish()
    assert result.reasoning == "Let me see."
    assert "".join(e.text for e in events if e.kind == "reasoning") == "Let me see."
