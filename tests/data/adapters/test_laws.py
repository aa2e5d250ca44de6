"""What holds for every shape: what is written is read back, pointed to, told alike, and soon."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tunaeval
from tests.data.adapters.writers import (
    SHAPE_OF,
    WRITERS,
    Answered,
    Asked,
    Called,
    Step,
    as_object,
    conversations,
)
from tunaeval.data.adapters.documents import DOCUMENT_SHAPES, read_conversation, read_conversations
from tunaeval.data.adapters.documents import read_file as read_bytes
from tunaeval.data.adapters.reading import NOTICES
from tunaeval.errors import UsageError
from tunaeval.testing.strategies import fragments, json_values
from tunaeval.types.conversations import Conversation


def every_shape(law: Callable[..., None]) -> Callable[..., None]:
    """The law is checked for each shape, on half of the usual examples: the shapes are many."""
    fewer = settings(max_examples=settings().max_examples // 2)(law)
    each: Callable[..., None] = pytest.mark.parametrize("name", WRITERS)(fewer)
    return each


def told_calls(steps: Sequence[Step]) -> list[tuple[str, Any, str]]:
    return [call for step in steps if isinstance(step, Called) for call in step.calls]


def told_results(steps: Sequence[Step]) -> list[tuple[str, str, bool]]:
    return [result for step in steps if isinstance(step, Answered) for result in step.results]


def calls_in(read: Conversation) -> list[tuple[str, Any, str | None]]:
    return [(c.name, c.arguments, c.id) for m in read.messages for c in m.tool_calls]


def results_in(read: Conversation) -> list[tuple[str | None, str, bool]]:
    return [
        (m.tool_call_id, m.content, bool(m.is_error)) for m in read.messages if m.role == "tool"
    ]


@every_shape
@given(steps=conversations())
def test_no_call_and_no_result_is_lost(name: str, steps: list[Step]) -> None:
    read = read_conversation(WRITERS[name](steps))
    assert read.shape == SHAPE_OF[name]
    assert calls_in(read) == told_calls(steps)
    assert results_in(read) == told_results(steps)
    said = [m.content for m in read.messages if m.role == "user" and m.content]
    assert said == [step.text for step in steps if isinstance(step, Asked) and step.text]


@every_shape
@given(steps=conversations())
def test_a_call_without_a_result_is_told_and_nothing_else(name: str, steps: list[Step]) -> None:
    read = read_conversation(WRITERS[name](steps))
    unanswered = len(told_calls(steps)) - len(told_results(steps))
    assert [notice.code for notice in read.warnings] == ["dangling-call"] * unanswered


@every_shape
@given(steps=conversations())
def test_every_message_points_to_the_one_it_was_read_from(name: str, steps: list[Step]) -> None:
    written = WRITERS[name](steps)
    read = read_conversation(written)
    assert len(read.sources) == len(read.messages)
    assert list(read.sources) == sorted(read.sources)
    assert set(read.sources) <= set(range(read.length))
    if name != "otel":  # spans repeat themselves
        assert read.length == len(written)
        for source, message in zip(read.sources, read.messages, strict=True):
            for call in message.tool_calls[:1]:
                assert json.dumps(call.id) in json.dumps(written[source])


@every_shape
@given(steps=conversations())
def test_objects_say_what_their_dumps_say(name: str, steps: list[Step]) -> None:
    written = WRITERS[name](steps)
    objects = written if name == "langchain serialised" else as_object(written)
    assert read_conversation(objects) == read_conversation(written)


@every_shape
@given(steps=conversations())
def test_reading_twice_gives_the_same_and_changes_nothing(name: str, steps: list[Step]) -> None:
    written = WRITERS[name](steps)
    before = json.dumps(written)
    assert read_conversation(written) == read_conversation(written)
    assert json.dumps(written) == before


@every_shape
@given(steps=conversations())
def test_files_say_what_their_messages_say(name: str, steps: list[Step]) -> None:
    written = WRITERS[name](steps)
    wanted = read_conversation(json.loads(json.dumps(written)))
    lines = "\n".join(map(json.dumps, written))
    for data in (json.dumps(written), json.dumps(written, indent=1), lines + "\n"):
        assert read_bytes(data.encode()) == (wanted,)


@every_shape
@given(steps=conversations(), data=st.data())
def test_a_task_is_what_follows_its_start(
    name: str, steps: list[Step], data: st.DataObject
) -> None:
    read = read_conversation(WRITERS[name](steps))
    start = data.draw(st.integers(0, read.length))
    task = read.since(start)
    kept = [m for s, m in zip(read.sources, read.messages, strict=True) if s >= start]
    assert list(task.messages) == kept
    assert all(source >= start for source in task.sources)


@every_shape
@given(steps=conversations())
def test_evidence_points_into_the_messages_that_were_given(name: str, steps: list[Step]) -> None:
    written = WRITERS[name](steps)
    length = read_conversation(written).length
    score = tunaeval.score(written, "do it", preset="evals2")
    evidence = score.categories["success-ratio"].evidence
    assert set(evidence) <= set(range(length))
    failed = {i for i, _, is_error in told_results(steps) if is_error}
    if name in {"openai-chat", "langchain", "tinyagent"}:  # a message for each result
        shown = {written[index].get("tool_call_id") for index in evidence}
        assert failed <= shown


_WORDS = (
    "role", "content", "type", "parts", "kind", "part_kind", "tool_calls", "function", "name",
    "data", "attributes", "events", "messages", "samples", "epoch", "session_id", "output", "lc",
    "kwargs", "id", "input", "spans", "resourceSpans", "usage", "timestamp", "tool_call_id",
    "arguments", "args", "status", "text", "request", "response", "ai", "tool", "function_call",
    "tool_use", "tool_result", "tool_call", "reasoning", "gen_ai.input.messages", "gen_ai.choice",
    "assistant", "user", "thinking", "source", "generate", "action", "value", "arrayValue",
    "attachments", "error", "thought", "trace_id", "tool-return", "invalid_tool_calls", "mcp_call",
)  # fmt: skip
_LEAVES = st.one_of(
    st.sampled_from(_WORDS),
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
)
_ODD = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(_WORDS), inner, max_size=6)
    ),
    max_leaves=30,
)


class _Hostile:
    """An object that raises whatever it is asked."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError("repr")


@given(thing=st.one_of(_ODD, json_values()), name=st.sampled_from([None, *DOCUMENT_SHAPES]))
def test_whatever_is_given_a_usage_error_is_the_worst(thing: Any, name: str | None) -> None:
    assert_read_or_refused(thing, name)


def assert_read_or_refused(thing: Any, name: str | None) -> None:
    for given_ in (thing, [thing], {"messages": thing}, as_object(thing), [_Hostile(), thing]):
        try:
            found = read_conversations(given_, shape=name)
        except UsageError:
            continue
        for read in found:
            assert {notice.code for notice in read.warnings} <= NOTICES.keys()
            assert all(isinstance(message.content, str) for message in read.messages)


_KEYS = (
    "type", "role", "kind", "source", "requestor", "event", "status", "subtype", "author", "name",
    "parts", "content", "message", "tool_calls", "state", "part_kind", "item_type",
)  # fmt: skip


@pytest.mark.parametrize("key", _KEYS)
@pytest.mark.parametrize("value", [[], {}, [[]], 0, None])
def test_a_word_may_be_anything(key: str, value: Any) -> None:
    for thing in ({key: value}, {"tool_calls": [{key: value}]}, {"parts": [{key: value}]}):
        for name in (None, *DOCUMENT_SHAPES):
            assert_read_or_refused(thing, name)


@given(
    data=st.one_of(
        st.binary(max_size=60), fragments().map(lambda text: text.encode("utf-8", "surrogatepass"))
    )
)
def test_a_file_holds_transcripts_or_is_refused_by_its_name(data: bytes) -> None:
    for bytes_ in (data, b"PK\x03\x04" + data, b"[" * 100_000 + data):
        try:
            assert read_bytes(bytes_, file="t.json")
        except UsageError as error:
            assert str(error).startswith("t.json")  # noqa: PT017 - it may be read, too


def rounds(count: int) -> Iterator[Step]:
    for number in range(count):
        yield Called("I read.", (("read_file", {"path": "a" * 20}, f"c{number}"),))
        yield Answered(((f"c{number}", "text", False),))


BOUND = 8.0
"""What four times the messages may cost; the real figure is about 4, squares give 16."""


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "otel"])
def test_four_times_the_messages_take_about_four_times_the_time(name: str) -> None:
    small, large = (WRITERS[name](list(rounds(count))) for count in (250, 1_000))
    assert any(seconds(large) / seconds(small) < BOUND for _ in range(3))


def test_spans_take_time_by_their_size() -> None:
    """Each repeats what was said before, so a trace's size is the square of its length."""
    small, large = (
        [span for trace in range(count) for span in one_trace(trace)] for count in (10, 40)
    )
    assert any(seconds(large) / seconds(small) < BOUND for _ in range(3))


def one_trace(number: int) -> list[dict[str, Any]]:
    context = {"trace_id": f"0x{number}"}
    return [{**span, "context": context} for span in WRITERS["otel"](list(rounds(10)))]


def seconds(messages: list[dict[str, Any]]) -> float:
    best = float("inf")
    for _ in range(3):
        start = process_time()
        read_conversations(messages)
        best = min(best, process_time() - start)
    return best
