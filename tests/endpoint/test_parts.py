"""Anthropic's and Google's APIs as they are on the wire, without their SDKs."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tunaeval
from tests.endpoint.asking import READ, sent
from tests.endpoint.test_strangers import GEMINI, MESSAGES
from tunaeval import ToolCall
from tunaeval.types.faults import Cut, Fault, RepeatId

WHOLE = MESSAGES | {"stream": False}
GENERATE, STREAM = (
    "/v1beta/models/m:generateContent",
    "/v1beta/models/m:streamGenerateContent?alt=sse",
)


def post(model: Any, path: str, body: Any, **headers: str) -> httpx2.Response:
    with httpx2.Client(verify=False, timeout=10) as client:
        return client.post(f"{model.anthropic_url}{path}", json=body, headers=headers)


def test_a_stream_of_gemini_is_a_list_unless_events_are_asked_for() -> None:
    with tunaeval.model_endpoint(["A longer answer, in pieces."] * 2) as model:
        events = post(model, STREAM, GEMINI).text.removeprefix("data: ").split("\n\ndata: ")
        listed = post(model, STREAM.partition("?")[0], GEMINI).json()
    texts = [
        "".join(one["candidates"][0]["content"]["parts"][0]["text"] for one in chunks)
        for chunks in (map(json.loads, events), listed)
    ]
    assert texts == ["A longer answer, in pieces."] * 2
    assert len(listed) == len(events) > 1


def test_a_request_of_anthropics_is_read_as_chat_messages() -> None:
    with tunaeval.model_endpoint(["Done."]) as model:
        assert post(model, "/v1/messages?beta=true", WHOLE).status_code == 200
    (request,) = model.requests
    assert request.api == "messages"
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"a": 1}'}}
    said = {"role": "assistant", "content": "x", "reasoning_content": "t", "tool_calls": [call]}
    assert request.messages == (
        {"role": "system", "content": "s"},
        {"role": "user", "content": "x"},
        said,
        {"role": "tool", "tool_call_id": "c", "content": "r", "is_error": True},
        {"role": "user", "content": "x"},
    )
    assert tunaeval.score(list(request.messages), "x").details.failed_calls == 1


@pytest.mark.parametrize("is_snake", [False, True])
def test_a_request_of_gemini_is_read_as_chat_messages(is_snake: bool) -> None:
    """Fields may be in snake case, and calls without ids are joined with results by their name."""
    text = json.dumps(GEMINI)
    for name, snake in (
        ("systemInstruction", "system_instruction"),
        ("functionDeclarations", "function_declarations"),
        ("functionCall", "function_call"),
        ("functionResponse", "function_response"),
    ):
        text = text.replace(name, snake) if is_snake else text
    with tunaeval.model_endpoint(["Done."]) as model:
        assert post(model, GENERATE, json.loads(text)).status_code == 200
    (request,) = model.requests
    assert (request.api, request.model, request.results) == ("gemini", "m", ("r",))
    assert [one["role"] for one in request.messages] == ["system", "user", "assistant", "tool"]
    *_, said, result = request.messages
    assert said["reasoning_content"] == "t"
    assert result["tool_call_id"] == said["tool_calls"][0]["id"]
    assert request.tools is not None
    assert request.tools["bash"].parameters == {"type": "object"}


def test_tools_that_anthropic_defines_and_the_agent_runs_are_offered() -> None:
    tools = [
        {"type": "bash_20250124", "name": "bash"},
        {"type": "web_search_20250305", "name": "web_search"},
        {"name": "read", "input_schema": {"type": "object"}},
    ]
    with tunaeval.model_endpoint(["Done."]) as model:
        post(model, "/v1/messages", WHOLE | {"tools": tools})
    assert list(model.requests[0].tools or ()) == ["bash", "read"]


_ARGUMENTS = st.dictionaries(st.text(max_size=5), st.text(max_size=40) | st.integers(), max_size=3)
_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
_REPLIES = st.fixed_dictionaries({
    "content": _TEXTS,
    "reasoning_content": _TEXTS,
    "tool_calls": st.lists(
        st.builds(
            lambda arguments: {
                "id": "c",
                "type": "function",
                "function": {"name": "bash", "arguments": json.dumps(arguments)},
            },
            _ARGUMENTS,
        ),
        max_size=3,
    ),
})  # fmt: skip


def added(events: list[Any]) -> list[Any]:
    """The blocks of a stream of Anthropic's, as a client adds them."""
    blocks: list[Any] = []
    for event in events:
        match event:
            case {"type": "content_block_start", "index": index, "content_block": block}:
                assert index == len(blocks)
                blocks.append(block | ({"input": ""} if block["type"] == "tool_use" else {}))
            case {"type": "content_block_delta", "index": index, "delta": delta}:
                assert index == len(blocks) - 1
                kind = delta.pop("type")
                field = {"input_json_delta": "input"}.get(kind, kind.removesuffix("_delta"))
                blocks[index][field] += delta.popitem()[1]
    for block in blocks:
        if block["type"] == "tool_use":
            block["input"] = json.loads(block["input"])
    return blocks


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(reply=_REPLIES)
def test_streams_add_up_to_the_whole(reply: dict[str, Any]) -> None:
    with tunaeval.model_endpoint([reply] * 4) as model:
        whole = post(model, "/v1/messages", WHOLE).json()
        events = sent(post(model, "/v1/messages", MESSAGES))
        google = post(model, GENERATE, GEMINI).json()
        chunks = sent(post(model, f"{STREAM}?alt=sse", GEMINI))
    assert added(events) == whole["content"]
    assert events[0]["type"] == "message_start"
    assert events[-1]["type"] == "message_stop"
    assert events[-2]["delta"]["stop_reason"] == whole["stop_reason"]
    assert whole["stop_reason"] == ("tool_use" if reply["tool_calls"] else "end_turn")
    joined: list[Any] = []
    for chunk in chunks:
        (part,) = chunk["candidates"][0]["content"]["parts"]
        last = joined[-1] if joined else {}
        if "text" in part and last.keys() == part.keys():
            last["text"] += part["text"]
        else:
            joined.append(part)
    assert joined == google["candidates"][0]["content"]["parts"]
    assert [one["candidates"][0].get("finishReason") for one in chunks][-1] == "STOP"


def test_broken_arguments_are_sent_as_the_api_can_send_them() -> None:
    """Never as `{}`: a stream of Anthropic's has the model's text, an object has it in a field."""
    function = {"name": "bash", "arguments": '{"command": "ls'}
    item = {"tool_calls": [{"id": "c", "type": "function", "function": function}]}
    with tunaeval.model_endpoint([item] * 3) as model:
        (block,) = post(model, "/v1/messages", WHOLE).json()["content"]
        deltas = [one["delta"] for one in sent(post(model, "/v1/messages", MESSAGES))[2:-3]]
        reply = post(model, GENERATE, GEMINI).json()
    assert block["input"] == {"INVALID_JSON": function["arguments"]}
    assert "".join(one["partial_json"] for one in deltas) == function["arguments"]
    (part,) = reply["candidates"][0]["content"]["parts"]
    assert part["functionCall"]["args"] == {"INVALID_JSON": function["arguments"]}
    assert all(call.invalid for call in model.calls)


def test_faults_of_replies_hit_every_api() -> None:
    call = [ToolCall("bash", {}, id="again")]
    faults: list[Fault] = [Cut(at=1, by="length"), Cut(at=2, by="length"), RepeatId(at=4)]
    with tunaeval.model_endpoint(["0123456789", call, call], faults=faults) as model:
        whole = post(model, "/v1/messages", WHOLE).json()
        google = post(model, GENERATE, GEMINI).json()
        post(model, "/v1/messages", WHOLE)
        again = post(model, "/v1/messages", WHOLE).json()
    assert (whole["content"][0]["text"], whole["stop_reason"]) == ("01234", "max_tokens")
    assert google["candidates"][0]["finishReason"] == "MAX_TOKENS"
    assert again["content"][0]["id"] == "again"


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/v1/messages", {}, "'messages' is None; wanted a list"),
        ("/v1/messages", {"messages": [3]}, "'messages[0]' is 3; wanted an object"),
        ("/v1/messages", {"messages": [{"content": 3}]}, "'messages[0].content' is 3; wanted"),
        ("/v1/messages", WHOLE | {"tools": 3}, "'tools' is 3; wanted a list"),
        ("/v1/messages", WHOLE | {"tools": [3]}, "'tools' cannot be read"),
        ("/v1/messages/count_tokens", [], "the body is list; wanted a JSON object"),
        ("/v1/messages/else", {}, "there is no POST /v1/messages/else"),
        (GENERATE, {}, "'contents' is None; wanted a list"),
        (GENERATE, GEMINI | {"tools": [{"functionDeclarations": 3}]}, "is 3; wanted a list"),
        (STREAM, {"contents": [{"parts": "x" * 9}, {}]}, "'contents[1].parts' is None; wanted"),
        ("/v1beta/models/m:else", {}, "there is no POST /v1beta/models/m:else"),
    ],
)
def test_bad_requests_get_an_error_as_their_api_writes_it(path: str, body: Any, words: str) -> None:
    with tunaeval.model_endpoint(["Done."]) as model:
        reply = post(model, path, body)
        foreign = post(model, path, body, host="evil.example")
    for one, kind in ((reply, "invalid_request"), (foreign, "permission")):
        error = one.json()["error"]
        if path.startswith("/v1beta"):
            assert error.keys() == {"code", "message", "status"}
            assert error["code"] == one.status_code
        else:
            assert one.json()["type"] == "error"
            assert error["type"] == f"{kind}_error" or one.status_code in (404, 405)
    assert words in reply.json()["error"]["message"]
    assert model.turns == ()
    assert model.left == 1


def test_the_second_v1_of_a_base_url_is_left_out() -> None:
    with tunaeval.model_endpoint([READ]) as model:
        reply = post(model, "/v1/v1/messages", WHOLE).json()
    assert reply["content"] == [{"type": "text", "text": READ}]
