"""Server-sent events as bytes: how lines make an event, and streams that are none or are cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parsing.samples import LS, codes, said
from tests.parsing.test_message_streams import sse
from tunaeval import parse, parse_message, stream
from tunaeval.testing.strategies import chunkings
from tunaeval.types.calls import JsonObject
from tunaeval.types.parsing import ParseResult

HI = {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}
DONE = "data: [DONE]\n\n"


def read(*pieces: str | bytes) -> ParseResult:
    reader = stream("hermes")
    for piece in pieces:
        reader.feed_sse(piece)
    return reader.finish()


def event(chunk: object) -> str:
    return f"data: {json.dumps(chunk)}\n\n"


# --- lines and events -----------------------------------------------------------------------------


@given(data=st.data())
def test_an_event_of_several_lines_is_one(data: st.DataObject) -> None:
    """In any chunks, with any line ends, and a byte order mark."""
    text = "One.\n\nTwo: é."
    chunks = [{"choices": [{"delta": {"content": p}}]} for p in data.draw(chunkings(text))]
    lines = [
        "".join(f"data:{line}\n" for line in json.dumps(chunk, indent=1).split("\n")) + "\n"
        for chunk in chunks
    ]
    end = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    mark = data.draw(st.sampled_from(["", "\ufeff"]))
    sent = (mark + "".join([": hello\n", *lines, "event: x\nid: 7\n", DONE])).replace("\n", end)
    cuts = data.draw(chunkings(sent.encode().decode("latin-1")))
    assert read(*[cut.encode("latin-1") for cut in cuts]) == parse(text, "hermes")


def test_lines_without_blank_ones_between_are_events() -> None:
    """As servers send them that do not know the standard; a line that is broken is one of them."""
    hi = event(HI).strip()
    assert read(f"{hi}\n{hi}\n{DONE}") == ParseResult(content="HiHi")
    result = read(f'{hi}\ndata: {{"choices"\ndata: [\n{hi}\n{hi}\n{DONE}')
    assert (result.content, codes(result)) == ("HiHiHi", ["invalid-chunk"])


def test_an_event_is_reported_when_it_is_over() -> None:
    reader = stream("hermes")
    assert not reader.feed_sse(event(HI)[:-1])
    assert [e.text for e in reader.feed_sse("\n")] == ["Hi"]


def test_choices_beside_the_answer_are_said_once() -> None:
    other = {"index": 1, "delta": {"content": "Ho"}}
    result = read(event({"choices": [other, *HI["choices"]]}), event({"choices": [other]}), DONE)
    assert (result.content, codes(result)) == ("Hi", ["other-choices"])
    assert (result.outcome, result.truncated) == ("no_call", False)


# --- streams that are none ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "", "\n\n", "\ufeff", ": waiting\n\n: waiting\n\n", "event: ping\nid: 7\n\n", "no data",
        "<!DOCTYPE html>\n<html><body>502 Bad Gateway</body></html>\n", "null", "[]", "{}", '{"a',
        '{"detail": "Not Found"}', "data\n\n", "data:\n\n", '{"choices": []}',
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 100])
def test_a_stream_without_an_event_is_cut(body: str, size: int) -> None:
    result = read(*[body[at : at + size] for at in range(0, len(body) or 1, size)])
    assert codes(result) == ["stream-cut"]
    assert result.truncated
    assert (result.outcome, result.content) == ("truncated", "")


def test_what_came_in_place_of_a_stream_is_shown() -> None:
    message = read(b"<html>\n<body>502 Bad").diagnoses[0].message
    assert message == "there is no event in the stream, which begins with '<html>\\n<body>502 Bad'"


@pytest.mark.parametrize("indent", [None, 2])
def test_a_response_that_is_not_streamed_is_read(indent: int | None) -> None:
    function = {"name": "bash", "arguments": '{"a": 1}'}
    calls = [{"id": id_, "type": "function", "function": function} for id_ in "ab"]
    message = {"content": "Well.", "reasoning_content": "So.", "tool_calls": calls}
    response = {"object": "chat.completion", "choices": [{"index": 0, "message": message}]}
    body = json.dumps(response, indent=indent).encode()
    assert read(*[body[at : at + 7] for at in range(0, len(body), 7)]) == parse_message(
        message, "hermes"
    )


# --- errors ---------------------------------------------------------------------------------------

ERRORS: list[JsonObject] = [
    {"error": {"message": "busy", "code": 503}},
    {"error": "busy"},
    {"object": "error", "message": "busy", "code": 503},
    {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
    {"error": {"message": "busy"}, "choices": [{"delta": {}, "finish_reason": "error"}]},
]


@pytest.mark.parametrize("end", ["", DONE, event({"choices": [], "usage": {}}) + DONE])
@pytest.mark.parametrize("error", ERRORS)
def test_a_stream_that_ends_in_an_error_is_cut(error: JsonObject, end: str) -> None:
    result = read(event(HI), event(error), end)
    assert codes(result) == ["invalid-chunk", "stream-cut"]
    assert all("busy" in diagnosis.message for diagnosis in result.diagnoses)
    assert result.truncated
    assert (result.outcome, result.content) == ("truncated", "Hi")


def test_a_call_that_an_error_cuts_is_truncated() -> None:
    cut = {"choices": [{"delta": {"content": f"<tool_call>{LS[:-5]}"}}]}
    assert read(event(cut), event({"error": "busy"})).outcome == "truncated"
    whole = {"choices": [{"delta": {"content": f"<tool_call>{LS}</tool_call>"}}]}
    assert said(read(event(whole), event({"error": "busy"}))) == [("bash", {"command": "ls"})]


def test_an_error_after_the_end_cuts_nothing() -> None:
    finished = {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}
    result = read(event(finished), event({"error": "busy"}))
    assert (codes(result), result.truncated) == (["invalid-chunk"], False)


def test_a_stream_that_goes_on_after_an_error_is_not_cut() -> None:
    assert codes(read(event({"error": "busy"}), sse([{"content": "Hi"}]))) == ["invalid-chunk"]


def test_an_error_in_place_of_a_stream_is_reported() -> None:
    result = read('{"error": {"message": "no such model"}}')
    assert codes(result) == ["invalid-chunk", "stream-cut"]
    assert all("no such model" in diagnosis.message for diagnosis in result.diagnoses)


def test_words_that_are_no_json_are_in_the_end_that_they_cause() -> None:
    result = read(event(HI), "event: error\ndata: overloaded\n\n")
    assert codes(result) == ["invalid-chunk", "stream-cut"]
    assert "overloaded" in result.diagnoses[1].message


def test_a_flood_of_faults_is_capped() -> None:
    found = codes(read("data: 7\n\n" * 2000))
    assert found == ["invalid-chunk"] * 1024 + ["stream-cut"]
