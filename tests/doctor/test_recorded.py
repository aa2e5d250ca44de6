"""Recorded pairs are blamed without a model, as an engine's unit test needs it."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.doctor.test_bad_servers import JSON
from tunaeval.doctor import replay
from tunaeval.doctor.report import markdown, show_examination
from tunaeval.errors import TunaevalError

ADD = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
RAW = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'


def pair(**fields: Any) -> dict[str, Any]:
    return {"id": "one", "raw": RAW, "tools": [ADD], **fields}


def message(arguments: str = '{"a": 1}', content: str | None = None) -> dict[str, Any]:
    call = {"id": "c", "type": "function", "function": {"name": "add", "arguments": arguments}}
    return {"role": "assistant", "content": content, "tool_calls": [call]}


def stream(*pieces: str) -> list[dict[str, Any]]:
    first = {"index": 0, "id": "c", "type": "function", "function": {"name": "add"}}
    later = [{"index": 0, "function": {"arguments": piece}} for piece in pieces]
    deltas = [{"tool_calls": [one]} for one in (first, *later)]
    ends = [None] * (len(deltas) - 1) + ["tool_calls"]
    return [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
        for delta, end in zip(deltas, ends, strict=True)
    ]


NAMELESS = {"tool_calls": [{**message()["tool_calls"][0], "id": None}]}
_STREAM = stream('{"a"', ": 1}")
_END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
_LAST = {"choices": [{**_STREAM[-1]["choices"][0], "finish_reason": None}]}
LATE = [_STREAM[0], _END, _STREAM[1], _LAST]
"""A stream whose finish reason comes before its arguments."""


@pytest.mark.parametrize(
    ("made", "ids"),
    [
        ({"message": message()}, []),
        ({"message": message(), "stream": stream('{"a"', ": 1}")}, []),
        ({"message": message('{"a": "1"}')}, ["one/whole/value-changed"]),
        ({"message": {"content": RAW}}, ["one/whole/calls-in-content"]),
        ({"response": {"choices": [{"message": message(), "finish_reason": "tool_calls"}]}}, []),
        ({"response": {"choices": [{"message": message()}]}}, ["one/whole/finish-reason"]),
        (
            {"response": {"choices": [{"message": NAMELESS, "finish_reason": "stop"}]}},
            ["one/whole/call-ids", "one/whole/finish-reason"],
        ),
        ({"message": NAMELESS}, []),
        ({"stream": LATE}, ["one/streamed/frame-after-finish"]),
        ({"stream": LATE[:1] + LATE[2:]}, ["one/streamed/finish-reason"]),
        (
            {"message": message(), "stream": stream('{"a"', ": 1")},
            ["one/streamed/arguments-broken", "one/both/stream-differs"],
        ),
    ],
)
def test_a_pair_is_blamed_as_a_servers_answer_is(made: dict[str, Any], ids: list[str]) -> None:
    found = replay([pair(**made)])
    assert [finding.id for finding in found.findings] == ids
    assert found.exit == bool(ids)
    assert found.passed == (() if ids else (("replay", "one"),))


def test_a_fixture_of_canitoolcall_is_read() -> None:
    """Where no engine's answer is beside it, its published reading is compared with the text."""
    fixture = {"id": "qwen3/one", "family": "qwen3", "tools": [ADD], "raw_output": RAW}
    reading = {"content": None, "reasoning_content": None}
    right = {**reading, "tool_calls": [{"name": "add", "arguments": {"a": 1}}]}
    wrong: dict[str, Any] = {**reading, "tool_calls": []}
    cut = {"raw_output": RAW[:40], "expected_error": {"reason": "cut"}, "tags": ["truncated"]}
    assert replay([{**fixture, "expected": right}, {**fixture, "id": "two", **cut}]).exit == 0
    assert replay([{**fixture, "expected": wrong}]).findings[0].verdict == "server"
    by_engine = replay([{**fixture, "expected": right, "message": {"content": RAW}}])
    assert by_engine.findings[0].id == "qwen3/one/whole/calls-in-content"


def test_an_answer_that_cannot_be_read_is_no_pass() -> None:
    assert replay([pair(response={"error": "busy"})]).exit == 1
    empty = replay([pair(stream=[])])
    assert empty.exit == 3
    page = StringIO()
    show_examination(empty, page)
    assert "no frame in the stream: it has [DONE] alone" in page.getvalue()


def test_an_id_is_that_of_one_pair() -> None:
    with pytest.raises(TunaevalError, match="one: this is the id of two pairs"):
        replay([pair(message=message())] * 2)


def test_ids_are_decoded_by_what_is_given() -> None:
    recorded = {"token_ids": [*RAW.encode()], "tools": [ADD], "message": message()}
    assert replay([recorded], decode=lambda ids: bytes(ids).decode()).exit == 0
    with pytest.raises(TunaevalError, match="give --tokenizer FILE"):
        replay([recorded])


@pytest.mark.parametrize(
    ("recorded", "words"),
    [
        ({}, "pair 1: wanted the model's text as 'raw'"),
        ({"raw": ""}, "'tools' is None; wanted the list"),
        ({"raw": "", "tools": [3]}, "pair 1: tools"),
        (pair(message="hi"), "one: 'message' is 'hi'; wanted an object"),
        (pair(stream={}), "one: 'stream' is {}; wanted a list of chunks"),
        ({"raw": "", "tools": []}, "nothing says what the server made of the text"),
    ],
)
def test_what_is_no_pair_is_a_sentence(recorded: dict[str, Any], words: str) -> None:
    with pytest.raises(TunaevalError, match=words):
        replay([recorded])


@given(made=st.dictionaries(st.sampled_from(["message", "response", "expected", "tags"]), JSON))
def test_no_pair_raises_anything_else(made: dict[str, Any]) -> None:
    try:
        json.dumps(replay([pair(**made)]).as_json())
    except TunaevalError:
        answers = [made[key] for key in ("message", "response") if key in made]
        assert not answers or not all(isinstance(one, dict) for one in answers)


def test_a_name_with_markup_stays_text_in_a_report() -> None:
    made = markdown(replay([pair(id="a\x1b[31m<script>", message={"content": RAW})]))
    (heading,) = [line for line in made.splitlines() if line.startswith("## ")]
    assert heading.startswith("## server: replay / `a")
    assert "\x1b" not in made
