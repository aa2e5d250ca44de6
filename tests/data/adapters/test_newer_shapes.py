"""ATIF, Gemini and ADK, Claude Code, Bedrock, the AI SDK and tau2, as each of them writes."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tunaeval
from tunaeval.data.adapters.documents import read_conversation, read_file
from tunaeval.types.conversations import Conversation

TRAJECTORY: dict[str, Any] = {
    "schema_version": "ATIF-v1.7",
    "session_id": "s1",
    "agent": {"name": "cook", "version": "1.0", "model_name": "tuna-1"},
    "steps": [
        {"step_id": 1, "source": "system", "message": "You cook."},
        {"step_id": 2, "source": "user", "message": "Read a and b.",
         "timestamp": "2026-10-01T10:00:00Z"},
        {"step_id": 3, "source": "agent", "message": "I look.", "reasoning_content": "hm",
         "tool_calls": [
             {"tool_call_id": "c1", "function_name": "read", "arguments": {"path": "a"}},
             {"tool_call_id": "c2", "function_name": "read", "arguments": {"path": "b"}}],
         "observation": {"results": [
             {"source_call_id": "c2", "content": "text of b"},
             {"source_call_id": "c1", "content": [{"type": "text", "text": "text of a"}]}]},
         "metrics": {"prompt_tokens": 9, "completion_tokens": 4, "cached_tokens": 3,
                     "cost_usd": 0.01}},
        {"step_id": 4, "source": "agent", "message": "Done."},
    ],
}  # fmt: skip
CONTENTS: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"text": "Read a and b."}]},
    {"role": "model", "parts": [
        {"text": "hm", "thought": True}, {"text": "I look."},
        {"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "eA=="},
        {"functionCall": {"name": "list", "args": {}}},
        {"functionCall": {"name": "read", "args": {"path": "b"}}}]},
    {"role": "user", "parts": [
        {"functionResponse": {"name": "list", "response": {"result": ["a", "b"]}}},
        {"functionResponse": {"name": "read", "response": {"output": "text of a"}}},
        {"functionResponse": {"name": "read", "response": {"error": "no b"}}}]},
    {"role": "model", "parts": [{"text": "Done."}]},
]  # fmt: skip


def results(read: Conversation) -> dict[str | None, tuple[str, bool | None]]:
    return {m.tool_call_id: (m.content, m.is_error) for m in read.messages if m.role == "tool"}


def calls(read: Conversation) -> list[tuple[str, dict[str, Any], str | None]]:
    return [(one.name, one.arguments, one.id) for m in read.messages for one in m.tool_calls]


def test_a_trajectory_is_a_document() -> None:
    read = read_conversation(TRAJECTORY)
    assert (read.shape, read.query, read.warnings) == ("atif", "Read a and b.", ())
    assert [m.role for m in read.messages] == [
        "system", "user", "assistant", "tool", "tool", "assistant",
    ]  # fmt: skip
    reply = read.messages[2]
    assert (reply.content, reply.reasoning) == ("I look.", "hm")
    assert reply.usage is not None
    assert (reply.usage.prompt_tokens, reply.usage.cost_usd) == (9, 0.01)
    assert results(read) == {"c1": ("text of a", None), "c2": ("text of b", None)}
    assert read.messages[1].at == 1790848800.0


def test_what_a_trajectory_has_elsewhere_is_told() -> None:
    steps = json.loads(json.dumps(TRAJECTORY))
    steps["steps"][3]["observation"] = {
        "results": [{"content": "see there", "subagent_trajectory_ref": [{"session_id": "s2"}]}]
    }
    read = read_conversation(steps)
    assert [notice.code for notice in read.warnings] == ["side-conversation"]
    assert read.messages[-1].content == "see there"


def test_a_trajectory_is_what_its_schema_says() -> None:
    atif = pytest.importorskip("atif", reason="needs the package atif, its schema")
    assert atif.Trajectory.model_validate({**TRAJECTORY, "schema_version": "ATIF-v1.7"})


def test_calls_without_ids_are_joined_by_name_and_order() -> None:
    read = read_conversation(CONTENTS)
    assert (read.shape, read.warnings) == ("gemini", ())
    first, second, third = calls(read)
    found = results(read)
    assert found[first[2]] == ("text of a", None)
    assert found[second[2]] == ('["a", "b"]', None)
    assert found[third[2]] == ("no b", True)
    assert read.messages[1].reasoning == "hm"


def test_requests_responses_and_sessions_hold_contents() -> None:
    request = {"contents": CONTENTS, "systemInstruction": {"parts": [{"text": "You cook."}]}}
    read = read_conversation(request)
    assert (read.messages[0].role, read.messages[0].content) == ("system", "You cook.")
    assert calls(read) == calls(read_conversation(CONTENTS))
    response = {"candidates": [{"content": CONTENTS[1]}], "usageMetadata": {}}
    assert len(calls(read_conversation(response))) == 3
    events = [
        {"author": "user" if one["role"] == "user" else "cook", "invocationId": "i", "content": one}
        for one in CONTENTS
    ]
    empty = {"author": "cook", "invocationId": "i", "actions": {"stateDelta": {"x": 1}}}
    session = {"appName": "a", "userId": "u", "events": [*events, empty]}
    assert calls(read_conversation(session)) == calls(read)


def test_code_that_the_server_ran_is_a_call() -> None:
    parts = [
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
        {"inlineData": {"mimeType": "image/png", "data": ""}},
    ]
    read = read_conversation([CONTENTS[0], {"role": "model", "parts": parts}])
    assert calls(read)[0][:2] == ("code_execution", {"code": "print(1)"})
    assert list(results(read).values()) == [("1\n", False)]
    assert read.messages[-1].content == "[image/png]"


def test_objects_of_the_sdk_are_read_as_their_json() -> None:
    types = pytest.importorskip(
        "google.genai.types", reason="Gemini's SDK: pip install google-genai"
    )
    objects = [types.Content.model_validate(one) for one in CONTENTS]
    read, other = read_conversation(objects), read_conversation(CONTENTS)
    assert (calls(read), results(read)) == (calls(other), results(other))
    assert read.shape == "gemini"


LINES: list[dict[str, Any]] = [
    {"type": "summary", "summary": "Cooking", "leafUuid": "u9"},
    {"type": "user", "uuid": "u1", "sessionId": "s", "timestamp": "2026-10-01T10:00:00Z",
     "message": {"role": "user", "content": "Read a."}},
    {"type": "user", "uuid": "u2", "sessionId": "s", "isMeta": True,
     "message": {"role": "user", "content": "Caveat: made by the host"}},
    {"type": "assistant", "uuid": "u3", "sessionId": "s", "message": {
        "id": "m1", "role": "assistant", "usage": {"input_tokens": 5, "output_tokens": 2},
        "content": [{"type": "thinking", "thinking": "hm", "signature": "x"}]}},
    {"type": "assistant", "uuid": "u4", "sessionId": "s", "message": {
        "id": "m1", "role": "assistant", "usage": {"input_tokens": 5, "output_tokens": 2},
        "content": [{"type": "tool_use", "id": "c1", "name": "Read", "input": {"path": "a"}}]}},
    {"type": "user", "uuid": "u5", "sessionId": "s", "toolUseResult": {"file": {}}, "message": {
        "role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "text of a"}]}},
    {"type": "assistant", "uuid": "u6", "sessionId": "s", "isSidechain": True, "message": {
        "id": "m9", "role": "assistant", "content": [{"type": "text", "text": "elsewhere"}]}},
    {"type": "system", "subtype": "compact_boundary", "uuid": "u7", "sessionId": "s",
     "content": "Conversation compacted"},
    {"type": "assistant", "uuid": "u8", "sessionId": "s", "message": {
        "id": "m2", "role": "assistant", "content": [{"type": "text", "text": "Done."}]}},
]  # fmt: skip


def test_a_session_of_claude_code_is_read() -> None:
    data = "\n".join(map(json.dumps, LINES)).encode()
    (read,) = read_file(data)
    assert read.shape == "claude-code"
    assert [(m.role, m.content) for m in read.messages] == [
        ("user", "Read a."), ("system", "Caveat: made by the host"), ("assistant", ""),
        ("tool", "text of a"), ("system", "Conversation compacted"), ("assistant", "Done."),
    ]  # fmt: skip
    reply = read.messages[2]
    assert (reply.reasoning, calls(read)) == ("hm", [("Read", {"path": "a"}, "c1")])
    assert reply.usage is not None
    assert reply.usage.prompt_tokens == 5
    assert [notice.code for notice in read.warnings] == ["side-conversation", "compacted"]


def test_what_a_page_of_the_ai_sdk_shows_is_a_call_and_its_result() -> None:
    parts = [
        {"type": "step-start"},
        {"type": "reasoning", "text": "hm"},
        {"type": "tool-read", "toolCallId": "c1", "state": "output-available",
         "input": {"path": "a"}, "output": {"text": "x"}},
        {"type": "dynamic-tool", "toolName": "list", "toolCallId": "c2", "state": "output-error",
         "input": {}, "errorText": "no such directory"},
        {"type": "tool-read", "toolCallId": "c3", "state": "input-available", "input": {}},
        {"type": "text", "text": "Done."},
    ]  # fmt: skip
    user = {"id": "1", "role": "user", "parts": [{"type": "text", "text": "Read a."}]}
    read = read_conversation([user, {"id": "2", "role": "assistant", "parts": parts}])
    assert read.shape == "ai-sdk"
    assert [call[0] for call in calls(read)] == ["read", "list", "read"]
    assert results(read) == {"c1": ('{"text": "x"}', None), "c2": ("no such directory", True)}
    assert [notice.code for notice in read.warnings] == ["dangling-call"]
    assert read.query == "Read a."


def test_bedrock_loses_no_json_and_no_media() -> None:
    content = [{"json": {"n": 1}}, {"text": "!"}, {"image": {"format": "png"}}]
    read = read_conversation([
        {"role": "user", "content": [{"text": "Go."}]},
        {"role": "assistant", "content": [
            {"reasoningContent": {"reasoningText": {"text": "hm"}}}, {"cachePoint": {}},
            {"toolUse": {"toolUseId": "c1", "name": "n", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": content}}]},
        {"role": "assistant", "content": [{"strange": 1}]},
    ])  # fmt: skip
    assert results(read) == {"c1": ('{"n": 1}![image]', None)}
    assert read.messages[1].reasoning == "hm"
    assert [notice.code for notice in read.warnings] == ["unknown-part"]
    assert read.messages[-1].content == '{"strange": 1}'


def test_calls_of_tau2_s_user_are_none_of_the_agent_s() -> None:
    call = {"id": "u1", "name": "toggle", "arguments": {"on": True}, "requestor": "user"}
    read = read_conversation([
        {"role": "user", "content": None, "tool_calls": [call]},
        {"role": "tool", "id": "u1", "content": "on", "requestor": "user", "error": False},
        {"role": "assistant", "content": "Good."},
    ])  # fmt: skip
    assert calls(read) == []
    assert read.messages[0].content == '[toggle {"on": true}]'
    assert (read.messages[1].role, read.messages[1].content) == ("user", "on")
    assert [notice.code for notice in read.warnings] == ["call-of-user"]


@pytest.mark.parametrize("messages", [TRAJECTORY, CONTENTS, LINES])
def test_what_is_read_is_scored(messages: Any) -> None:
    score = tunaeval.score(messages, "Read a.", expect={"max_calls": 9})
    assert score.details.tool_calls >= 1


def test_a_session_of_claude_code_that_ends_in_an_error_of_the_api_is_a_failed_run() -> None:
    """Observed in 2.1.197: in a session file, and as `--output-format stream-json`."""
    words = [{"type": "text", "text": "API Error: 500 Overloaded"}]
    asked = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "Hi"}}
    message = {"id": "m", "model": "<synthetic>", "role": "assistant", "content": words}
    error = {"type": "assistant", "sessionId": "s", "message": message}
    reply = {
        **error,
        "message": {**message, "id": "n", "content": [{"type": "text", "text": "Hi"}]},
    }
    result = {"type": "result", "is_error": True, "session_id": "s", "api_error_status": 500}
    result |= {"subtype": "success", "result": "API Error: 500 Overloaded"}
    for ending in ({**error, "isApiErrorMessage": True}, {**error, "error": "unknown"}, result):
        failed = tunaeval.score([asked, ending], "Hi", check=lambda _: True)
        assert (failed.weighted_total, failed.details.outcome) == (None, "run_failure")
        assert "the run ended in an error: API Error: 500 Overloaded" in failed.details.reasoning
    repaired = [asked, {**error, "isApiErrorMessage": True}, reply]
    assert tunaeval.score(repaired, "Hi", check=lambda _: True).details.outcome == "scored"
