"""Chunks and contents in other shapes: read where that is plain, else reported, never lost."""

from __future__ import annotations

import pytest

from tests.parsing.samples import LS, codes, said, tagged
from tests.parsing.test_message_events import DONE, HI, event, read
from tests.parsing.test_message_servers import fragment
from tunaeval import parse, parse_message, stream
from tunaeval.errors import UsageError
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.parsing import ParseResult

C = tagged(LS)
CALLED = parse(C, "hermes")


def deltas(*given: JsonObject) -> ParseResult:
    reader = stream("hermes")
    for delta in given:
        reader.feed_delta(delta)
    return reader.finish()


# --- shapes that are read -------------------------------------------------------------------------

CHOICES: list[JsonObject] = [
    {"text": C, "finish_reason": "stop"}, {"text": C, "delta": None}, {"message": {"content": C}},
    {"delta": None, "message": {"content": C}}, {"delta": {"content": {"text": C}}},
    {"delta": {"content": {"type": "text", "text": C}}},
]  # fmt: skip


@pytest.mark.parametrize("choice", CHOICES)
def test_a_choice_is_read_wherever_its_words_are(choice: JsonObject) -> None:
    chunk: JsonObject = {"choices": [choice]}
    assert read(event(chunk), DONE) == CALLED
    assert read(event(chunk)[len("data: ") :]) == CALLED  # a body that is not streamed
    assert deltas(choice) == deltas(chunk) == CALLED
    assert parse_message(chunk, "hermes") == CALLED


def test_a_stream_of_completions_is_read() -> None:
    chunks = [{"object": "text_completion", "choices": [{"text": p, "index": 0}]} for p in C]
    assert read(*map(event, chunks), DONE) == CALLED


def test_a_content_that_is_one_part_is_read() -> None:
    assert deltas({"content": {"text": C}}) == CALLED
    assert parse_message({"content": {"text": C}}, "hermes") == CALLED


@pytest.mark.parametrize("nothing", [{}, {"text": None}, {"delta": {}}, {"finish_reason": "stop"}])
def test_a_choice_without_words_is_silent(nothing: JsonObject) -> None:
    assert read(event({"choices": [nothing]}), DONE) == ParseResult()


# --- shapes that are reported ---------------------------------------------------------------------

ODD: list[JsonObject] = [
    {"choices": "x"}, {"choices": 5}, {"choices": {}}, {"choices": [5]}, {"choices": [None]},
    {"choices": [{"delta": "x"}]}, {"choices": [{"message": [1]}]}, {"choices": [{"text": 5}]},
    {"choices": [{"delta": "x", "finish_reason": "stop"}]}, {"foo": 1}, {"message": {"content": C}},
    {"type": "response.output_text.delta", "delta": 5}, {"id": "a", "content": C},
]  # fmt: skip


@pytest.mark.parametrize("chunk", ODD)
def test_a_chunk_of_another_shape_is_told(chunk: JsonObject) -> None:
    alone = read(event(chunk), DONE)
    assert (codes(alone), alone.outcome, alone.truncated) == (["invalid-chunk"], "truncated", True)
    result = read(event(HI), event(chunk), event(HI), DONE)
    assert (codes(result), result.content) == (["invalid-chunk"], "HiHi")


def test_words_beside_calls_take_no_call_away() -> None:
    given: JsonObject = {"text": "Hi", "tool_calls": [fragment("bash", '{"command": "ls"}')]}
    assert said(deltas(given)) == [("bash", {"command": "ls"})]


@pytest.mark.parametrize("key", ["tool_calls", "function_call"])
def test_deep_calls_do_not_raise(key: str) -> None:
    deep = "[" * 1000 + "]" * 1000
    result = read(f'data: {{"choices": [{{"delta": {{"{key}": {deep}}}}}]}}\n\n', DONE)
    assert (result.outcome, codes(result)) == ("malformed", ["invalid-name"])


@pytest.mark.parametrize("key", ["choices", "error", "object", "foo"])
def test_deep_values_do_not_raise(key: str) -> None:
    deep = "[" * 1000 + "]" * 1000
    assert "invalid-chunk" in codes(read(f'data: {{"{key}": {deep}, "foo": 1}}\n\n', DONE))
    assert "invalid-chunk" in codes(read(f'data: {{"choices": [{{"delta": {deep}}}]}}\n\n', DONE))


@pytest.mark.parametrize("chunk", [chunk for chunk in ODD if "choices" in chunk])
def test_a_chunk_of_another_shape_is_told_where_it_is_handed_over(chunk: JsonObject) -> None:
    assert codes(deltas(chunk)) == ["invalid-chunk"]
    with pytest.raises(UsageError, match="the response has no message: "):
        parse_message(chunk)


@pytest.mark.parametrize("response", [
    {"choices": []}, {"choices": [{"finish_reason": "stop"}]}, {"foo": 1}, {"output": "f()"},
    {"id": "a", "object": "response"}, {"id": "a", "object": "response", "output": None},
    {"candidates": []}, {"usageMetadata": {}}, {"object": "response", "error": {"message": "no"}},
])  # fmt: skip
def test_what_is_no_message_is_refused(response: JsonObject) -> None:
    """An answer without its output, say: it is no answer without a call."""
    with pytest.raises(UsageError, match="no message"):
        parse_message(response)


@pytest.mark.parametrize(
    "chunk",
    [
        {}, {"choices": []}, {"choices": None}, {"choices": [], "usage": {"total_tokens": 7}},
        {"id": "a", "object": "chat.completion.chunk", "usage": {}, "x_groq": {"id": "b"}},
        {"type": "ping"}, {"error": None}, {"timings": {"predicted_n": 1}},
        {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
    ],
)  # fmt: skip
def test_a_chunk_that_has_no_words_to_bring_is_silent(chunk: JsonObject) -> None:
    assert read(event(HI), event(chunk), DONE) == ParseResult(content="Hi")


@pytest.mark.parametrize("content", [5, 0.5, True, b"Hi", {"parts": ["Hi"]}])
def test_a_content_that_is_no_text_is_malformed(content: JsonValue) -> None:
    result = deltas({"content": content})
    assert (result.outcome, result.detail, codes(result)) == ("malformed", "not-text", ["not-text"])
    assert result == parse_message({"content": content}, "hermes")


@pytest.mark.parametrize("nothing", [None, "", [], {}, 0, False])
def test_a_content_that_is_nothing_is_silent(nothing: JsonValue) -> None:
    assert deltas({"content": nothing}) == parse_message({"content": nothing}) == ParseResult()


def test_calls_beside_a_content_that_is_no_text_count() -> None:
    called = fragment("bash", '{"command": "ls"}', index=0)
    message: JsonObject = {"content": 5, "tool_calls": [called]}
    for result in (deltas(message), parse_message(message, "hermes")):
        assert (said(result), codes(result)) == ([("bash", {"command": "ls"})], ["not-text"])


# --- a failure of the server is no answer ---------------------------------------------------------


def test_a_stream_of_nothing_that_is_understood_is_truncated() -> None:
    result = read("event: error\ndata: overloaded\n\n")
    assert (result.outcome, codes(result)) == ("truncated", ["invalid-chunk", "stream-cut"])


def test_a_stream_that_merely_ends_is_as_its_words_are() -> None:
    result = read(event(HI))
    assert (result.outcome, result.truncated, codes(result)) == ("no_call", True, ["stream-cut"])


def test_an_attempt_before_an_error_stays_one() -> None:
    chunk = {"choices": [{"delta": {"content": "<tool_call>{]}</tool_call>"}}]}
    assert read(event(chunk), event({"error": "busy"})).outcome == "malformed"


# --- bytes ----------------------------------------------------------------------------------------

LATIN = event({"choices": [{"delta": {"content": "caf\xe9"}}]}).replace("\\u00e9", "\xe9")


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_bytes_that_are_no_utf_8_are_told_once(size: int) -> None:
    sent = (LATIN + LATIN + event({"foo": 1}) + DONE).encode("latin-1")
    result = read(*[sent[at : at + size] for at in range(0, len(sent), size)])
    assert (codes(result), result.content) == (["invalid-chunk"] * 2, "caf\ufffd" * 2)
    assert result.diagnoses[1].message == "bytes that are no UTF-8 were replaced"


def test_a_body_that_is_no_utf_8_is_told() -> None:
    result = read(LATIN[len("data: ") :].encode("latin-1"))
    assert (codes(result), result.content) == (["invalid-chunk"], "caf\ufffd")


def test_the_sign_of_a_replacement_may_be_sent() -> None:
    sent = (LATIN.replace("\xe9", "\ufffd") + DONE).encode()
    assert read(*[bytes([byte]) for byte in sent]) == ParseResult(content="caf\ufffd")
