"""How an upstream's answer ended, what it cost and what it thought are in the endpoint's turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

import tunaeval
from tests.endpoint.asking import question
from tests.faults import Answer, FaultServer

ASKED = {
    "chat/completions": question(),
    "responses": {"model": "m", "input": "Hi."},
    "messages": {"model": "m", "messages": [{"role": "user", "content": "Hi."}]},
    "models/m:generateContent": {"contents": [{"parts": [{"text": "Hi."}]}]},
}
GEMINI = "models/m:generateContent"
CALL = {"type": "tool_use", "id": "c", "name": "ls", "input": {}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def items(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    said = {"type": "message", "id": "msg_1", "role": "assistant", "content": list(parts)}
    return {"object": "response", "output": [said], "status": "completed", **more}


def blocks(*content: Any, stop: str = "end_turn", **usage: int) -> dict[str, Any]:
    return {"type": "message", "content": list(content), "stop_reason": stop, "usage": usage}


def candidate(*parts: Any, reason: str = "STOP", **usage: int) -> dict[str, Any]:
    content = {"content": {"role": "model", "parts": list(parts)}} if parts else {}
    return {"candidates": [{**content, "finishReason": reason}], "usageMetadata": usage}


class Case(NamedTuple):
    """What an upstream of an API answers, and what of the turn it becomes."""

    path: str
    document: dict[str, Any]
    finish: str
    message: dict[str, Any] | None = None
    tokens: tuple[int | None, int | None] = (None, None)


INCOMPLETE = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
SAID = {"type": "output_text", "text": "Yes.", "annotations": []}
CASES = {
    "a refusal of Anthropic's": Case(
        "messages", blocks(text("No."), stop="refusal"), "content_filter", {"content": "No."}
    ),
    "a context that is full": Case(
        "messages", blocks(text("No"), stop="model_context_window_exceeded"), "length"
    ),
    "a reason of its own": Case("messages", blocks(text("x"), stop="pause_turn"), "pause_turn"),
    "cached tokens": Case(
        "messages",
        blocks(CALL, stop="tool_use", input_tokens=4, cache_read_input_tokens=120, output_tokens=9),
        "tool_calls",
        tokens=(124, 9),
    ),
    "an answer that is blocked for safety": Case(
        GEMINI, candidate({"text": "I"}, reason="SAFETY"), "content_filter", {"content": "I"}
    ),
    "an answer without content": Case(
        GEMINI, candidate(reason="PROHIBITED_CONTENT"), "content_filter", {"content": None}
    ),
    "an empty answer": Case(GEMINI, candidate(), "stop", {"content": None}),
    "tokens of thoughts": Case(
        GEMINI,
        candidate({"text": "Hm.", "thought": True}, {"text": "Yes."}, promptTokenCount=10,
                  candidatesTokenCount=5, thoughtsTokenCount=30),
        "stop",
        {"content": "Yes.", "reasoning_content": "Hm."},
        (10, 35),
    ),
    "a response that is filtered": Case("responses", items(SAID, **INCOMPLETE), "content_filter"),
    "a response that is cut": Case("responses", items(SAID, **CUT), "length", {"content": "Yes."}),
    "a response that ended for another reason": Case(
        "responses",
        items(SAID, status="incomplete", incomplete_details={"reason": "max_tool_calls"}),
        "max_tool_calls",
    ),
    "a refusal of the Responses API": Case(
        "responses", items({"type": "refusal", "refusal": "No."}), "stop", {"refusal": "No."}
    ),
    "reasoning of the Responses API": Case(
        "responses",
        {"output": [{"type": "reasoning", "id": "rs_1",
                     "summary": [{"type": "summary_text", "text": "Hm."}]},
                    *items(SAID)["output"]],
         "status": "completed"},
        "stop",
        {"content": "Yes.", "reasoning_content": "Hm."},
    ),
    "a filter of chat completions": Case(
        "chat/completions",
        {"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]},
        "content_filter",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_turn_has_how_its_answer_ended(name: str, tmp_path: Path) -> None:
    """Also where it is played again, and asked for as a stream."""
    case, cassette = CASES[name], tmp_path / "c.jsonl"
    body = ASKED[case.path]
    with (
        FaultServer(Answer(json.dumps(case.document).encode())) as server,
        tunaeval.model_endpoint(
            upstream=server.base_url, cassette=cassette, record=True
        ) as recorded,
    ):
        first = httpx2.post(f"{recorded.url}/{case.path}", json=body)
    with tunaeval.model_endpoint(cassette=cassette) as played:
        again = httpx2.post(f"{played.url}/{case.path}", json=body)
    assert (first.status_code, again.json()) == (200, first.json())
    ended = ("status", "incomplete_details")
    assert {key: first.json().get(key) for key in ended if key in case.document} == {
        key: case.document[key] for key in ended if key in case.document
    }
    for model in (recorded, played):
        (turn,) = model.turns
        assert turn.finish_reason == case.finish
        assert turn.message is not None
        assert {key: turn.message.get(key) for key in case.message or ()} == (case.message or {})
        assert (turn.usage.prompt_tokens, turn.usage.completion_tokens) == case.tokens


def test_reasoning_of_earlier_turns_is_in_the_messages() -> None:
    """Items of one reply are one message, as they are in the reply's own turn."""
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}
    call = {"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c", "output": "a.py"}
    given = [{"role": "user", "content": "Hi."}, thought, *items(SAID)["output"], call, result]
    with tunaeval.model_endpoint(["Done."]) as model:
        httpx2.post(f"{model.url}/responses", json={"model": "m", "input": given})
    user, said, answered = model.requests[0].messages
    assert (said["reasoning_content"], said["content"]) == ("Hm.", "Yes.")
    assert said["tool_calls"][0]["function"]["name"] == "ls"
    assert (user["role"], answered["content"]) == ("user", "a.py")


@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("chat/completions", {"choices": []}),
        ("responses", {"status": "completed"}),
        ("messages", {"stop_reason": "end_turn"}),
        (GEMINI, {"usageMetadata": {}}),
    ],
)
def test_an_answer_without_a_place_for_a_message_is_a_fault_of_the_upstream(
    path: str, document: Any
) -> None:
    with (
        FaultServer(Answer(json.dumps(document).encode())) as server,
        tunaeval.model_endpoint(upstream=server.base_url) as model,
    ):
        reply = httpx2.post(f"{model.url}/{path}", json=ASKED[path])
    assert reply.status_code == 502
    assert "the upstream's answer has no /" in reply.text


@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("chat/completions", {"error": {"message": "too busy"}}),
        ("responses", {"output": [], "status": "failed", "error": {"message": "too busy"}}),
        (
            "messages",
            {"type": "error", "error": {"type": "overloaded_error", "message": "too busy"}},
        ),
        (GEMINI, {"error": {"code": 503, "message": "too busy", "status": "UNAVAILABLE"}}),
    ],
)
def test_an_error_of_the_upstream_is_one_whatever_its_status(path: str, document: Any) -> None:
    with (
        FaultServer(Answer(json.dumps(document).encode())) as server,
        tunaeval.model_endpoint(upstream=server.base_url) as model,
    ):
        reply = httpx2.post(f"{model.url}/{path}", json=ASKED[path])
    assert reply.status_code == 502
    assert "the upstream says: too busy" in reply.text
    assert model.turns[0].error == "the upstream says: too busy"


def test_a_prompt_that_is_blocked_is_an_error_and_no_answer() -> None:
    document = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}}
    with (
        FaultServer(then=Answer(json.dumps(document).encode())) as server,
        tunaeval.model_endpoint(upstream=server.base_url) as model,
    ):
        reply = httpx2.post(f"{model.url}/{GEMINI}", json=ASKED[GEMINI])
    assert (reply.status_code, reply.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert "the prompt was blocked: SAFETY" in reply.json()["error"]["message"]
    assert (model.turns[0].message, model.calls) == (None, ())


COUNTED = {
    "chat/completions": {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8,
                         "prompt_tokens_details": {"cached_tokens": 4}, "cost": 0.1},
    "responses": {"input_tokens": 5, "output_tokens": 3, "total_tokens": 8,
                  "input_tokens_details": {"cached_tokens": 4},
                  "output_tokens_details": {"reasoning_tokens": 2}},
    "messages": {"input_tokens": 1, "cache_read_input_tokens": 4, "output_tokens": 3,
                 "cache_creation_input_tokens": 0, "service_tier": "standard"},
    GEMINI: {"promptTokenCount": 5, "candidatesTokenCount": 1, "thoughtsTokenCount": 2,
             "cachedContentTokenCount": 4, "totalTokenCount": 8},
}  # fmt: skip
SAID_BY = {
    "chat/completions": {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]},
    "responses": items(SAID),
    "messages": blocks(text("x"), stop="end_turn"),
    GEMINI: candidate({"text": "x"}),
}


@pytest.mark.parametrize("path", COUNTED)
def test_usage_is_passed_on_as_the_upstream_counted_it(path: str, tmp_path: Path) -> None:
    """Also where it is streamed, and played from a cassette."""
    key = "usageMetadata" if path == GEMINI else "usage"
    document = {**SAID_BY[path], key: COUNTED[path]}
    body, cassette = ASKED[path], tmp_path / "c.jsonl"
    with (
        FaultServer(then=Answer(json.dumps(document).encode())) as server,
        tunaeval.model_endpoint(upstream=server.base_url, cassette=cassette, record=True) as model,
    ):
        whole = httpx2.post(f"{model.url}/{path}", json=body).json()
        streams = path if path != GEMINI else path.replace(":g", ":streamG") + "?alt=sse"
        more = {"stream": True, "stream_options": {"include_usage": True}}
        streamed = httpx2.post(
            f"{model.url}/{streams}", json=body | (more if path != GEMINI else {})
        )
    with tunaeval.model_endpoint(cassette=cassette) as played:
        again = httpx2.post(f"{played.url}/{path}", json=body).json()
    assert whole[key] == again[key] == COUNTED[path]
    assert json.dumps(COUNTED[path], separators=(",", ":")) in streamed.text
    assert (model.usage.prompt_tokens, model.usage.completion_tokens) == (10, 6)
