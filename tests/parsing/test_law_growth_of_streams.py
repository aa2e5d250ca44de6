"""Law 5 for what only streams have: chunks of any size, a server's deltas, and its events.

Only growth is measured, as in `test_growth`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from time import process_time

import pytest

from tests.parsing.test_law_growth import BOUND, uncollected
from tunaeval import parse, parse_message, stream
from tunaeval.types.calls import JsonObject, JsonValue

Read = Callable[[int], object]


def seconds(read: Read, size: int) -> float:
    with uncollected():
        start = process_time()
        read(size)
        return process_time() - start


def check(read: Read, size: int, bound: float = BOUND) -> None:
    """Twice the size takes at most `bound` times as long; a doubtful figure is taken again."""
    found = 0.0
    for _ in range(3):
        found = seconds(read, 2 * size) / max(seconds(read, size), 0.0005)
        if found <= bound:
            return
    raise AssertionError(f"grows {found:.1f} a doubling")


def deltas_of(fragments: list[JsonObject]) -> None:
    reader = stream("hermes")
    for each in fragments:
        reader.feed_delta({"tool_calls": [each]})
    reader.finish()


def sse_of(body: str, size: int) -> None:
    """Read the body of a server's answer in pieces of this size."""
    reader = stream("hermes")
    for at in range(0, len(body), size):
        reader.feed_sse(body[at : at + size])
    reader.finish()


def arguments_of(first: str, piece: str) -> Read:
    """Reads one call whose arguments begin with `first` and go on in so many pieces."""

    def read(pieces: int) -> None:
        head: JsonObject = {"index": 0, "id": "a", "function": {"name": "f", "arguments": first}}
        rest: JsonObject = {"index": 0, "function": {"arguments": piece}}
        deltas_of([head, *[rest] * pieces])

    return read


@pytest.mark.parametrize("first", ["", "{}", "x", "{", '{"a":', '{"a": "', "/*", '{"a": "b"} '])
@pytest.mark.parametrize("piece", [" " * 64, '{"a": 1}, ' * 6, "x" * 64, '"a": 1, ' * 8])
def test_fragments_of_arguments(first: str, piece: str) -> None:
    """White space; what comes behind arguments that ended, or that make no sense; and the rest."""
    check(arguments_of(first, piece), 1000)


@pytest.mark.parametrize("arguments", [None, ""])
def test_fragments_of_a_name(arguments: JsonValue) -> None:
    def read(pieces: int) -> None:
        names = [f"{number % 10:064}" for number in range(pieces)]
        named = [{"function": {"name": name, "arguments": arguments}} for name in names]
        deltas_of([{"index": 0, "id": "a", **each} for each in named])

    check(read, 4000)


@pytest.mark.parametrize(
    "delta",
    [
        {"function_call": {"name": "f", "arguments": '{"a": 1}'}},
        {"function_call": {"arguments": '{"a": [ '}},
        {"function_call": 7},
        {"tool_calls": ["ping"] * 4},
        {"tool_calls": {"name": "f", "arguments": '{"a": 1}'}},
        {"tool_calls": [{"id": "a"}, {"id": "b"}]},
        {"content": "a\ud83d"},
        {"reasoning_content": "\ude00\ud83d"},
        {"choices": [{"delta": {"content": "<tool_call>{"}}]},
        {"error": "busy"},
    ],
)
def test_odd_deltas(delta: JsonObject) -> None:
    def read(deltas: int) -> None:
        reader = stream("hermes")
        for _ in range(deltas):
            reader.feed_delta(delta)
        reader.finish()

    check(read, 2000)


@pytest.mark.parametrize("numbers", ["own", "zero", "none"])
def test_many_calls_of_a_server(numbers: str) -> None:
    """More than are read, too."""

    def read(calls: int) -> None:
        function: JsonValue = {"name": "f", "arguments": '{"a": 1}'}
        made: list[JsonObject] = [{"id": f"c{n}", "function": function} for n in range(calls)]
        if numbers != "none":
            made = [{**call, "index": n * (numbers == "own")} for n, call in enumerate(made)]
        deltas_of(made)

    check(read, 500)
    check(read, 2000)


def test_many_calls_of_a_message() -> None:
    def read(calls: int) -> None:
        call: JsonValue = {"id": "a", "function": {"name": "f", "arguments": '{"a": [1]}'}}
        parse_message({"tool_calls": [call] * calls})

    check(read, 500)


@pytest.mark.parametrize("text", ["word ", '<tool_call>{"name": "f", "arguments": {}}</tool_call>'])
def test_many_events_of_a_server(text: str) -> None:
    event = json.dumps({"choices": [{"delta": {"content": text}}]})

    def read(events: int) -> None:
        reader = stream("hermes")
        for _ in range(events):
            reader.feed_sse(f"data: {event}\n\n")
        reader.finish()

    check(read, 500)


EVENT = json.dumps({"choices": [{"delta": {"content": "word "}}]})
LINES = [
    f"data: {EVENT}\n\n", f"data: {EVENT}\n", f"data: {EVENT}\r", 'data: {"error": 1}\n\n',
    "data: x\n", "data: x\n\n", "data\n", "data: [\n", "data: {}\n", "data: [DONE]\n",
    'data: {\ndata: "a"\n', "data: {\ndata: }\ndata: {\n\n", ": word\n", "event: x\n",
    "<p>word</p>\n", '{"a":\n', "x", "{", "\n", "\r",
]  # fmt: skip


@pytest.mark.parametrize("size", [64, 1 << 30], ids=["small pieces", "one piece"])
@pytest.mark.parametrize("before", ["", "data: {\n"])
@pytest.mark.parametrize("line", LINES)
def test_lines_of_a_server(line: str, before: str, size: int) -> None:
    """Events, parts of events, and what is none."""
    check(lambda lines: sse_of(before + line * lines, size), 4000)


@pytest.mark.parametrize("size", [64, 1 << 30], ids=["small pieces", "one piece"])
def test_an_answer_that_is_not_streamed(size: int) -> None:
    def read(words: int) -> None:
        message: JsonObject = {"content": "word " * words, "tool_calls": [{}] * words}
        sse_of(json.dumps({"choices": [{"message": message}]}, indent=1), size)

    check(read, 2000)


@pytest.mark.parametrize("flood", ["</think>\n", ">>>", "<function=", "```json\n{", "to=\n"])
def test_one_chunk_does_not_take_many_times_as_long(flood: str) -> None:
    """Of the marker after the next one, a stream asks nothing: that took 45 times as long."""

    def in_one_chunk(size: int) -> None:
        reader = stream("auto")
        reader.feed(flood * (size // len(flood)))
        reader.finish()

    def whole(size: int) -> None:
        parse(flood * (size // len(flood)), "auto")

    whole(1000)
    found = [seconds(in_one_chunk, 30_000) / seconds(whole, 30_000) for _ in range(3)]
    assert min(found) < 20


@pytest.mark.parametrize("size", [1, 7])
def test_one_long_event_in_small_pieces(size: int) -> None:
    def read(words: int) -> None:
        reader = stream("hermes")
        delta = json.dumps({"choices": [{"delta": {"content": "word " * words}}]})
        sent = f"data: {delta}\n\n".encode()
        for at in range(0, len(sent), size):
            reader.feed_sse(sent[at : at + size])
        reader.finish()

    check(read, 8000)


def test_one_chunk_with_many_members() -> None:
    """A tighter bound: what was wrong here grew by 2.8, and by 2 since."""

    def read(members: int) -> None:
        reader = stream("hermes")
        reader.feed('<tool_call>{"name": "f", "arguments": {' + '"a":1,' * members)
        reader.finish()

    check(read, 100_000, 2.5)
