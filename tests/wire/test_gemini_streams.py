"""What Google's servers send beside server-sent events: one JSON list, calls in pieces, blocks."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clients.asking import ask
from tests.faults import Answer, FaultServer
from tunaeval import model_endpoint, parse_message, stream
from tunaeval.errors import UsageError
from tunaeval.types.parsing import ParseResult
from tunaeval.wire.gemini import GEMINI

END: dict[str, Any] = {"finishReason": "STOP"}


def event(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"candidates": [{"index": 0, "content": {"role": "model", "parts": [*parts]}, **more}]}


def read(body: str, *cuts: int) -> ParseResult:
    """The result of a stream, cut at these places."""
    reader = stream("hermes")
    places = [0, *sorted(cuts), len(body)]
    for start, end in pairwise(places):
        reader.feed_sse(body[start:end])
    return reader.finish()


def as_list(*events: Any, **how: Any) -> str:
    return json.dumps([*events], ensure_ascii=False, **how)


def as_events(*events: Any) -> str:
    return "".join(f"data: {json.dumps(one)}\n\n" for one in events)


EVENTS = (
    event({"text": 'Hi }]["\\" 🙂'}),
    event({"functionCall": {"name": "ls", "args": {"a": ["{", '"', "\\"]}}}, **END),
)


@pytest.mark.parametrize("indent", [None, 2])
@given(data=st.data())
def test_a_list_is_read_as_the_events_are(indent: int | None, data: st.DataObject) -> None:
    body = as_list(*EVENTS, indent=indent)
    cuts = data.draw(st.lists(st.integers(0, len(body)), max_size=6))
    found = read(body, *cuts)
    assert found == read(as_events(*EVENTS))
    assert (found.outcome, found.diagnoses) == ("calls", ())


def test_events_of_a_list_come_as_they_are_complete() -> None:
    reader = stream("hermes")
    events = reader.feed_sse(as_list(*EVENTS).partition('"functionCall"')[0])
    assert [one.kind for one in events if one.text] == ["content"] * len(events)
    assert events


def test_a_list_that_breaks_off_is_cut() -> None:
    found = read(as_list(*EVENTS)[:-30])
    assert [one.code for one in found.diagnoses] == ["stream-cut"]
    assert (found.content, found.truncated) == ('Hi }]["\\" 🙂', True)


def test_a_body_that_is_no_list_of_events_is_named() -> None:
    (fault,) = read("[ERROR] no model is loaded").diagnoses
    assert "begins with '[ERROR] no model" in fault.message


def test_a_client_reads_the_list_of_a_server() -> None:
    with FaultServer(then=Answer(as_list(*EVENTS).encode())) as server:
        reply = ask(server, stream=True)
    assert reply.finish_reason == "tool_calls"


def piece(**call: Any) -> dict[str, Any]:
    return event({"functionCall": call})


def partial(path: str, more: bool = True, **value: Any) -> dict[str, Any]:
    return {"jsonPath": path, **value, **({"willContinue": True} if more else {})}


def test_arguments_in_pieces_are_one_call() -> None:
    """As Vertex streams them with `streamFunctionCallArguments`."""
    events = [
        piece(name="light", id="c1", willContinue=True),
        piece(partialArgs=[partial("$.brightness", more=False, numberValue=50)], willContinue=True),
        piece(partialArgs=[partial("$.colour", stringValue="wa")], willContinue=True),
        piece(partialArgs=[partial("$.colour", more=False, stringValue="rm")], willContinue=True),
        piece(
            partialArgs=[
                partial("$.rooms[0].name", more=False, stringValue="hall"),
                partial("$['rooms'][1]['is on']", more=False, boolValue=False),
                partial("$.when", more=False, nullValue="NULL_VALUE"),
            ],
            willContinue=True,
        ),
        piece(),
        event({"functionCall": {"name": "ls", "args": {}}}, **END),
    ]
    found = read(as_events(*events))
    first, second = found.calls
    assert first.arguments == {
        "brightness": 50,
        "colour": "warm",
        "rooms": [{"name": "hall"}, {"is on": False}],
        "when": None,
    }
    assert (first.name, first.id, second.name) == ("light", "c1", "ls")
    assert found.diagnoses == ()


@pytest.mark.parametrize(
    "pieces",
    [
        5, [5], [{}], [{"jsonPath": 5}], [{"jsonPath": "$"}], [{"jsonPath": "$..a"}],
        [{"jsonPath": "$.a[99999999]", "numberValue": 1}],
        [{"jsonPath": "$.a", "numberValue": 1}, {"jsonPath": "$.a.b[2]", "stringValue": "x"}],
    ],
)  # fmt: skip
def test_odd_pieces_of_arguments_never_raise(pieces: Any) -> None:
    first = piece(name="f", willContinue=True)
    assert read(as_events(first, piece(partialArgs=pieces), event(**END))).outcome == "calls"


BLOCKED = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}}


def test_a_blocked_prompt_is_an_error_and_no_answer() -> None:
    answer = GEMINI.read_reply(BLOCKED)
    assert (answer.message, answer.error) == (None, "the prompt was blocked: SAFETY")
    with pytest.raises(UsageError, match="the prompt was blocked: SAFETY"):
        parse_message(BLOCKED)
    found = read(as_events(BLOCKED))
    assert (found.outcome, found.truncated) == ("truncated", True)
    assert "blocked: SAFETY" in str(found.diagnoses)


WORDS = f"Malformed function call: print(default_api.ls(path='{'x' * 500}'"


def test_what_a_malformed_call_was_is_kept_whole() -> None:
    document = event(finishReason="MALFORMED_FUNCTION_CALL", finishMessage=WORDS)
    for found in (parse_message(document), read(as_events(document))):
        (fault,) = found.diagnoses
        assert (found.outcome, fault.code) == ("malformed", "invalid-json")
        assert WORDS in fault.message.replace("\\'", "'")


@pytest.mark.parametrize(
    ("candidates", "words"),
    [
        (5, "candidates are a list, not int"), ("x", "a list, not str"), ({}, "a list, not dict"),
        ([5], "a candidate is an object, not int"), ([None], "an object, not NoneType"),
        ([{"content": 5}], "a content is an object, not int"),
        ([{"content": {"parts": 5}}], "parts are a list, not int"),
        ([{"index": "x", "content": {"parts": []}}], "the index 'x'"),
    ],
)  # fmt: skip
def test_odd_candidates_are_diagnosed(candidates: Any, words: str) -> None:
    reader = stream("hermes")
    reader.feed_delta({"candidates": candidates})
    result = reader.finish()
    assert [one.code for one in result.diagnoses] == ["invalid-chunk"]
    assert words in result.diagnoses[0].message
    assert result.outcome == "malformed"


@pytest.mark.parametrize("candidates", [None, [], [{}], [{"finishReason": "STOP"}]])
def test_candidates_without_content_are_not_odd(candidates: Any) -> None:
    reader = stream("hermes")
    reader.feed_delta({"candidates": candidates})
    assert reader.finish().diagnoses == ()


def test_the_endpoint_passes_on_what_a_malformed_call_was() -> None:
    document = event(finishReason="MALFORMED_FUNCTION_CALL", finishMessage=WORDS)
    body = {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}]}
    with (
        FaultServer(then=Answer(json.dumps(document).encode())) as server,
        model_endpoint(upstream=server.base_url) as model,
        httpx2.Client(verify=False, timeout=60) as client,
    ):
        reply = client.post(f"{model.google_url}/v1beta/models/m:generateContent", json=body).json()
    (candidate,) = reply["candidates"]
    assert candidate["finishReason"] == "MALFORMED_FUNCTION_CALL"
    assert candidate["finishMessage"] == WORDS
    assert (model.calls, [one.invalid for one in model.turns[0].lost]) == ((), [WORDS])
