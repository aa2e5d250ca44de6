"""Deltas of a server that are odd: calls in older or other shapes, whole chunks, cut characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parsing.samples import TOOLS, codes, said
from tests.parsing.test_message_servers import BOTH, LS, PWD, fragment, streamed
from tests.parsing.test_message_streams import arguments_of
from tunaeval import parse_message, stream
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.parsing import JOINED


@pytest.mark.parametrize("index", [{"index": 0}, {"index": 1}, {}])
def test_a_changed_id_begins_a_call_without_a_name_too(index: JsonObject) -> None:
    """Which is none, but spoils nothing of the call before."""
    result = streamed(
        [fragment("bash", LS, index=0, id="a")], [fragment(None, PWD, id="b", **index)]
    )
    assert said(result) == BOTH[:1]
    assert [code for code in codes(result) if code not in JOINED] == ["invalid-name"]


def test_the_older_function_call_is_a_call() -> None:
    reader = stream("auto", tools=TOOLS)
    events = reader.feed_delta({"function_call": {"name": "bash", "arguments": ""}})
    for piece in (LS[:5], LS[5:]):
        events += reader.feed_delta({"function_call": {"arguments": piece}})
    whole = parse_message({"function_call": {"name": "bash", "arguments": LS}}, tools=TOOLS)
    assert reader.finish() == whole
    assert said(whole) == BOTH[:1]
    assert arguments_of([*events, *reader.last_events()]) == {"command": "ls"}


def test_the_older_function_call_does_not_count_beside_others() -> None:
    """As in a message; some servers send both."""
    older: JsonObject = {"function_call": {"name": "bash", "arguments": LS}}
    other: JsonObject = {"tool_calls": [fragment("bash", PWD, index=0, id="a")]}
    reader = stream("auto", tools=TOOLS)
    events = reader.feed_delta(older) + reader.feed_delta(other)
    assert said(reader.finish()) == BOTH[1:]
    kinds = [e.kind for e in (*events, *reader.last_events())]
    assert kinds.count("call_started") == 2
    assert kinds.count("call_dropped") == kinds.count("call_finished") == 1


ODD_CALLS: list[JsonValue] = [
    fragment("bash", LS), {"name": "bash", "arguments": LS}, {"0": fragment("bash", LS)},
    {"name": "bash", "args": {"command": "ls"}}, {"function_call": "ping"}, "ping", 7,
    ["ping"], [7], [None], [["ping"]], [{"function": "ping"}], [{}], [{"id": "a"}],
    [fragment("bash", 7)], [fragment("bash", [1])], [fragment("bash", None)],
]  # fmt: skip


@pytest.mark.parametrize("items", ODD_CALLS)
def test_odd_calls_are_read_as_those_of_a_message(items: JsonValue) -> None:
    """Nothing raises, and nothing is lost without a word."""
    reader = stream("auto", tools=TOOLS)
    reader.feed_delta({"tool_calls": items})
    result = reader.finish()
    whole = parse_message({"tool_calls": items}, tools=TOOLS)
    assert result.calls or result.diagnoses
    assert (said(result), result.outcome) == (said(whole), whole.outcome)


def test_calls_beside_something_odd_stand() -> None:
    result = streamed(["ping", fragment("bash", LS)], [fragment("bash", PWD, index=2)])
    assert said(result) == BOTH
    assert codes(result) == ["invalid-name", "index-missing"]


@given(st.data())
def test_halves_of_a_character_that_come_apart_are_joined(data: st.DataObject) -> None:
    """In the text, the reasoning and the arguments; a half alone stays as it is."""
    letters = st.sampled_from(["a", "\ud83d", "\ude00", ""])
    for key in ("content", "reasoning_content"):
        pieces = data.draw(st.lists(letters))
        reader = stream("hermes")
        events = [e for piece in pieces for e in reader.feed_delta({key: piece})]
        found = reader.finish()
        events += reader.last_events()
        text = "".join(pieces).replace("\ud83d\ude00", "\U0001f600")
        assert (found.content if key == "content" else found.reasoning or "") == text
        assert "".join(e.text for e in events if e.kind in ("content", "reasoning")) == text


def test_halves_of_a_character_in_arguments_are_joined() -> None:
    head = fragment("bash", '{"command": "\ud83d', index=0)
    result = streamed([head], [fragment(None, '\ude00"}', index=0)])
    assert said(result) == [("bash", {"command": "\U0001f600"})]
    assert not result.diagnoses


@pytest.mark.parametrize("role", [{}, {"object": "chat.completion.chunk", "model": "m"}])
def test_a_whole_chunk_is_its_delta(role: JsonObject) -> None:
    delta: JsonObject = {"content": "Hi", "tool_calls": [fragment("bash", LS, index=0)]}
    choice: JsonObject = {"index": 0, "delta": delta, "finish_reason": None}
    results = []
    for given_delta in (delta, choice, {**role, "choices": [choice]}):
        reader = stream("auto", tools=TOOLS)
        events = reader.feed_delta(given_delta)
        results.append((reader.finish(), events))
    assert results[0] == results[1] == results[2]
    assert said(results[0][0]) == BOTH[:1]


def test_an_error_in_place_of_a_delta_is_diagnosed() -> None:
    reader = stream("auto")
    reader.feed_delta({"error": {"message": "busy"}})
    reader.feed_delta({"content": "Hi", "error": None})
    result = reader.finish()
    assert (codes(result), result.content) == (["invalid-chunk"], "Hi")
