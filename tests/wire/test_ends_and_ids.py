"""How an answer ended is said: cut at its limit of tokens, refused; an id in pieces is one id."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tunaeval import parse_message, stream
from tunaeval.types.messages import OTHER_ROLES
from tunaeval.types.parsing import ParseResult

CALL = '<tool_call>{"name": "ls", "arguments": {}}</tool_call>'


def chat(message: Any, reason: str) -> dict[str, Any]:
    message = {"role": "assistant", **message}
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def blocks(*content: Any, stop: str) -> dict[str, Any]:
    head = {"type": "message", "role": "assistant", "model": "m"}
    return {**head, "content": [*content], "stop_reason": stop}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def gemini(said: str, reason: str) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": [{"text": said}]}, "finishReason": reason}]}


def responses(said: str, reason: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": said}
    output = [{"type": "message", "role": "assistant", "content": [part]}]
    how = {"status": "incomplete", "incomplete_details": {"reason": reason}}
    return {"object": "response", "output": output, **how}


def streamed(*events: Any) -> ParseResult:
    reader = stream("hermes")
    for event in events:
        reader.feed_sse(f"data: {json.dumps(event)}\n\n")
    return reader.finish()


def both(document: Any) -> list[ParseResult]:
    """The results of an answer, whole, and as a server that does not stream sends it."""
    return [parse_message(document, "hermes"), streamed(document)]


CUT = {
    "chat": chat({"content": "I will"}, "length"),
    "responses": responses("I will", "max_output_tokens"),
    "messages": blocks(text("I will"), stop="max_tokens"),
    "gemini": gemini("I will", "MAX_TOKENS"),
}


@pytest.mark.parametrize("api", CUT)
def test_a_text_that_the_limit_of_tokens_ended_is_truncated(api: str) -> None:
    for result in both(CUT[api]):
        assert (result.truncated, result.outcome, result.content) == (True, "no_call", "I will")
        assert [one.code for one in result.diagnoses] == ["length"]


def test_calls_before_the_limit_stand() -> None:
    for result in both(chat({"content": f"{CALL} and"}, "length")):
        assert (len(result.calls), result.outcome, result.truncated) == (1, "calls", True)


REFUSED = {
    "chat": chat({"content": None, "refusal": "I cannot."}, "stop"),
    "chat, filtered": chat({"content": "x"}, "content_filter"),
    "messages": blocks(text("x"), stop="refusal"),
    "gemini": gemini("x", "SAFETY"),
    "responses": responses("x", "content_filter"),
}


@pytest.mark.parametrize("api", REFUSED)
def test_a_refusal_is_said(api: str) -> None:
    for result in both(REFUSED[api]):
        assert (result.outcome, result.detail, result.truncated) == ("no_call", "refusal", False)
        assert [one.code for one in result.diagnoses] == ["refusal"]


def test_a_message_alone_says_that_it_refuses() -> None:
    result = parse_message({"role": "assistant", "content": None, "refusal": "I cannot."})
    assert (result.detail, "I cannot." in result.diagnoses[0].message) == ("refusal", True)


@pytest.mark.parametrize("document", [chat({"content": "Yes."}, "stop"), gemini("Yes.", "STOP")])
def test_an_answer_that_ended_has_no_remark(document: Any) -> None:
    assert [result.diagnoses for result in both(document)] == [(), ()]


USE = {"type": "tool_use", "id": "c", "name": "write", "input": {}}


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded"])
def test_an_empty_call_at_the_limit_was_cut_off(stop: str) -> None:
    before = {"type": "tool_use", "id": "b", "name": "ls", "input": {"a": 1}}
    events = [
        {"type": "message_start", "message": {"role": "assistant"}},
        {"type": "content_block_start", "index": 0, "content_block": USE},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}},
        {"type": "message_stop"},
    ]
    alone = [*both(blocks(text("a"), USE, stop=stop)), streamed(*events)]
    for result in alone:
        assert (result.calls, result.outcome, result.truncated) == ((), "truncated", True)
        assert {one.code for one in result.diagnoses} == {"truncated", "length"}
    for result in both(blocks(before, USE, stop=stop)):
        assert [one.name for one in result.calls] == ["ls"]
        assert result.truncated
    (whole,) = parse_message(blocks(USE, stop="tool_use")).calls
    assert whole.arguments == {}
    assert parse_message(blocks(USE, text("x"), stop=stop)).calls == (whole,)


@pytest.mark.parametrize("role", OTHER_ROLES)
def test_another_turn_is_never_read_as_a_call(role: str) -> None:
    calls = [{"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]
    for message in ({"content": CALL}, {"content": CALL, "tool_calls": calls}):
        result = parse_message({"role": role, "tool_call_id": "c", **message}, "hermes")
        assert (result.calls, result.outcome, result.content) == ((), "no_call", CALL)
        assert [one.code for one in result.diagnoses] == ["later-turn"]


def delta(**call: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **call}]}}]}


END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


@pytest.mark.parametrize(
    "pieces", [("call_", "9f", "8e7"), ("call_", "9f8e7"), ("chatcmpl-", "ab")]
)
def test_an_id_in_pieces_beside_arguments_is_joined(pieces: tuple[str, ...]) -> None:
    arguments = json.dumps({"path": "a"})
    size = len(arguments) // len(pieces) + 1
    texts = [arguments[at : at + size] for at in range(0, len(arguments), size)]
    first, *rest = zip(pieces, texts, strict=True)
    events = [delta(id=first[0], function={"name": "ls", "arguments": first[1]})]
    events += [delta(id=id_, function={"arguments": said}) for id_, said in rest]
    result = streamed(*events, END)
    assert [(one.id, one.arguments) for one in result.calls] == [("".join(pieces), {"path": "a"})]


@pytest.mark.parametrize("ids", [("call_aa", "call_bb"), ("9f8e7d", "1a2b3c")])
def test_a_new_id_for_each_piece_is_no_piece_of_one(ids: tuple[str, str]) -> None:
    events = [
        delta(id=ids[0], function={"name": "ls", "arguments": '{"path"'}),
        delta(id=ids[1], function={"arguments": ': "a"}'}),
    ]
    assert [one.id for one in streamed(*events, END).calls] == [ids[0]]
