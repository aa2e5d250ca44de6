"""Replies in pieces: the message they make, when it came, and what becomes of a stream cut off."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clients.asking import HELLO, ask, failure
from tests.faults import Answer, FaultServer, chat
from tunaeval.clients.answers import MAX_BODY_BYTES, Gathered
from tunaeval.types.exchange import Reply

SSE = {"content-type": "text/event-stream"}
DONE = "data: [DONE]\n\n"


def event(delta: dict[str, Any] | None = None, **choice: Any) -> str:
    choices = [{"index": 0, "delta": delta or {}, **choice}]
    return f"data: {json.dumps({'choices': choices})}\n\n"


def call(index: int | None, name: str | None = None, arguments: str = "", **more: Any) -> Any:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    numbered = {} if index is None else {"index": index}
    return {"tool_calls": [{**numbered, "function": function, **more}]}


USAGE = 'data: {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 5}}\n\n'
WHOLE = (
    ": a comment\n\n" + event({"role": "assistant"}) + event({"content": "I "})
    + event({"content": "look."}) + event(call(0, "ls", '{"pa', id="c0"))
    + event(call(0, arguments='th": "."}')) + event(call(1, "cat", "{}", id="c1"))
    + event(finish_reason="tool_calls") + USAGE + DONE
)  # fmt: skip


def streamed(text: str, **options: Any) -> Reply:
    with FaultServer(Answer(text.encode(), headers=SSE)) as server:
        reply = ask(server, stream=True, **options)
    assert server.seen[0].json["stream"] is True
    return reply


def names(reply: Reply) -> list[tuple[str, str]]:
    functions = [one["function"] for one in reply.message["tool_calls"]]
    return [(function["name"], function["arguments"]) for function in functions]


def test_pieces_make_the_message_they_are_pieces_of() -> None:
    reply = streamed(WHOLE)
    assert reply.message["content"] == "I look."
    assert names(reply) == [("ls", '{"path": "."}'), ("cat", "{}")]
    assert (reply.finish_reason, reply.usage.completion_tokens) == ("tool_calls", 5)
    assert reply.streamed is not None
    assert reply.streamed.notes == ()


def test_it_is_said_when_the_first_piece_came_and_how_fast_the_rest() -> None:
    slow = Answer(WHOLE.encode(), headers=SSE, seconds_per_byte=0.0005)
    with FaultServer(slow) as server:
        reply = ask(server, stream=True)
    assert reply.streamed is not None
    assert reply.latency_seconds is not None
    first, rate = reply.streamed.first_token_seconds, reply.streamed.tokens_per_second
    assert first is not None
    assert 0.02 < first < reply.latency_seconds
    assert rate == pytest.approx(4 / (reply.latency_seconds - first))


@pytest.mark.parametrize("cut", range(0, len(WHOLE.encode()) - 80, 41))
def test_a_stream_that_was_cut_is_never_a_reply(cut: int) -> None:
    body = WHOLE.encode()[:cut]
    failed = failure(then=Answer(body, headers=SSE), stream=True, max_retries=0)
    assert failed.kind == "body"


def test_a_cut_stream_is_asked_again() -> None:
    with FaultServer(
        Answer(WHOLE.encode()[:300], headers=SSE), Answer(WHOLE.encode(), headers=SSE)
    ) as server:
        assert ask(server, stream=True).retries == 1


def test_an_error_in_a_stream_is_told_in_the_servers_words() -> None:
    text = event({"content": "I"}) + 'data: {"error": {"message": "out of memory"}}\n\n' + DONE
    failed = failure(then=Answer(text.encode(), headers=SSE), stream=True)
    assert "out of memory" in str(failed)


def test_a_server_that_does_not_stream_is_read_as_ever() -> None:
    with FaultServer(chat("hello")) as server:
        reply = ask(server, stream=True)
    assert (reply.message["content"], reply.streamed) == ("hello", None)


def test_a_stream_without_end_is_ended() -> None:
    piece = event({"content": "x" * 60_000}).encode()
    endless = replace(Answer(piece, headers=SSE), times=MAX_BODY_BYTES // len(piece) + 2)
    failed = failure(then=endless, stream=True, max_retries=0)
    assert "larger than" in str(failed)


def test_calls_are_put_in_order_and_it_is_said_that_they_were_not() -> None:
    reply = streamed(event(call(1, "b", "{}", id="1")) + event(call(0, "a", "{}", id="0")) + DONE)
    assert [name for name, _ in names(reply)] == ["a", "b"]
    assert reply.streamed is not None
    assert reply.streamed.notes == ("the calls did not come in the order of their indices",)


def test_a_new_id_under_one_index_is_a_new_call() -> None:
    reply = streamed(event(call(0, "a", "{}", id="x")) + event(call(0, "b", "{}", id="y")) + DONE)
    assert [name for name, _ in names(reply)] == ["a", "b"]
    assert reply.streamed is not None
    assert reply.streamed.notes == ("several calls have one index",)


def test_the_final_message_is_compared_with_what_was_streamed() -> None:
    def message(arguments: str) -> dict[str, Any]:
        return {
            "role": "assistant",
            "tool_calls": [{"function": {"name": "a", "arguments": arguments}}],
        }

    pieces = event(call(0, "a", '{"n": 1}', id="x"))
    same = streamed(pieces + event(message=message('{"n":1}'), finish_reason="stop") + DONE)
    other = streamed(pieces + event(message=message('{"n":2}'), finish_reason="stop") + DONE)
    assert same.streamed is not None
    assert same.streamed.notes == ()
    assert other.streamed is not None
    [note] = other.streamed.notes
    assert "[('a', {'n': 1})], the final message [('a', {'n': 2})]" in note


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["choices", "delta", "index", "tool_calls", "function", "name", "id",
                         "arguments", "content", "message", "usage", "error", "finish_reason"]),
        inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(st.one_of(json_values.map(json.dumps), st.text(max_size=8), st.just("[DONE]"))))
def test_no_stream_raises_anything_but_a_failed_try(chunks: list[str]) -> None:
    from tunaeval.clients.pace import TryFailed

    gathered = Gathered(lambda: 0.5)
    try:
        for chunk in chunks:
            gathered.take(chunk)
        reply = gathered.reply("text")
    except TryFailed:
        return
    assert isinstance(reply.message, dict)


def test_requests_are_otherwise_as_ever() -> None:
    with FaultServer(Answer(WHOLE.encode(), headers=SSE)) as server:
        ask(server, replace(HELLO, max_tokens=9), stream=True)
    body = server.seen[0].json
    assert (body["max_tokens"], body["stream_options"]) == (9, {"include_usage": True})
