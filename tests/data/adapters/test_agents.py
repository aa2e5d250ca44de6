"""Logs of coding agents: lines that the programs wrote, shortened, and the cases beside them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tunaeval
from tunaeval.data.adapters.documents import read_conversation, read_file
from tunaeval.errors import UsageError
from tunaeval.types.conversations import Conversation
from tunaeval.types.messages import Usage

# codex 0.171.0, `codex exec` against a scripted server
ROLLOUT: list[dict[str, Any]] = [
    {"timestamp": "2026-11-26T11:24:24.896Z", "ordinal": 0, "type": "session_meta", "payload": {
        "id": "01a2", "cwd": "/w", "originator": "codex_exec", "cli_version": "0.171.0",
        "base_instructions": {"text": "You are a coding agent."}}},
    {"timestamp": "2026-11-26T11:24:24.897Z", "type": "event_msg",
     "payload": {"type": "task_started", "turn_id": "t"}},
    {"timestamp": "2026-11-26T11:24:25.000Z", "type": "response_item", "payload": {
        "type": "message", "id": "msg_1", "role": "user", "content": [
            {"type": "input_text", "text": "<environment_context>\n  <cwd>/w</cwd>"}]}},
    {"timestamp": "2026-11-26T11:24:25.002Z", "type": "world_state", "payload": {"full": True}},
    {"timestamp": "2026-11-26T11:24:25.005Z", "type": "turn_context", "payload": {"cwd": "/w"}},
    {"timestamp": "2026-11-26T11:24:25.101Z", "type": "response_item", "payload": {
        "type": "message", "id": "msg_2", "role": "user", "content": [
            {"type": "input_text", "text": "Fix add() in calc.py"}]}},
    {"timestamp": "2026-11-26T11:24:25.341Z", "type": "response_item", "payload": {
        "type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}},
    {"timestamp": "2026-11-26T11:24:25.341Z", "type": "response_item", "payload": {
        "type": "function_call", "status": "completed", "id": "fc_1_0", "name": "exec_command",
        "arguments": '{"cmd": "cat calc.py"}', "call_id": "call_1"}},
    {"timestamp": "2026-11-26T11:24:25.348Z", "type": "response_item", "payload": {
        "type": "function_call", "status": "completed", "id": "fc_1_1", "name": "exec_command",
        "arguments": '{"cmd": "cat nosuch.py"}', "call_id": "call_2"}},
    {"timestamp": "2026-11-26T11:24:25.574Z", "type": "response_item", "payload": {
        "type": "function_call_output", "call_id": "call_1",
        "output": "Wall time: 0.0000 seconds\nProcess exited with code 0\nOutput:\ndef add"}},
    {"timestamp": "2026-11-26T11:24:25.575Z", "type": "response_item", "payload": {
        "type": "function_call_output", "call_id": "call_2",
        "output": "Wall time: 0.0000 seconds\nProcess exited with code 1\nOutput:\ncat: no"}},
    {"timestamp": "2026-11-26T11:24:25.576Z", "type": "event_msg", "payload": {
        "type": "token_count", "info": {
            "total_token_usage": {"input_tokens": 9819, "output_tokens": 71}}}},
    {"timestamp": "2026-11-26T11:24:25.737Z", "type": "compacted",
     "payload": {"message": "So far: read calc.py."}},
    {"timestamp": "2026-11-26T11:24:25.989Z", "type": "response_item", "payload": {
        "type": "message", "id": "msg_3", "role": "assistant", "content": [
            {"type": "output_text", "text": "Repaired.", "annotations": []}]}},
]  # fmt: skip
# the same program, `codex exec --json`, and items from its source (codex-rs/exec/exec_events.rs)
EVENTS: list[dict[str, Any]] = [
    {"type": "thread.started", "thread_id": "01a2"},
    {"type": "item.completed", "item": {"id": "item_0", "type": "error", "message": "No metadata"}},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "item_1", "type": "reasoning", "text": "hm"}},
    {"type": "item.started", "item": {
        "id": "item_2", "type": "command_execution", "command": "cat nosuch.py",
        "aggregated_output": "", "exit_code": None, "status": "in_progress"}},
    {"type": "item.completed", "item": {
        "id": "item_2", "type": "command_execution", "command": "cat nosuch.py",
        "aggregated_output": "cat: nosuch.py\n", "exit_code": 1, "status": "failed"}},
    {"type": "item.completed", "item": {
        "id": "item_3", "type": "mcp_tool_call", "server": "shop", "tool": "buy",
        "arguments": {"n": 1}, "result": {"content": [{"type": "text", "text": "bought"}],
        "structured_content": None}, "error": None, "status": "completed"}},
    {"type": "item.completed", "item": {
        "id": "item_4", "type": "file_change", "status": "completed",
        "changes": [{"path": "calc.py", "kind": "update"}]}},
    {"type": "item.completed", "item": {"id": "item_5", "type": "agent_message", "text": "Done."}},
    {"type": "turn.completed", "usage": {"input_tokens": 40, "output_tokens": 2}},
]  # fmt: skip
# gemini-cli 0.61.0
SESSION: list[dict[str, Any]] = [
    {"sessionId": "f93f", "projectHash": "0b6f", "startTime": "2026-11-26T11:21:09.347Z",
     "kind": "main"},
    {"$set": {"messages": [{"id": "d04", "timestamp": "2026-11-26T11:21:09.348Z", "type": "user",
                            "content": [{"text": "<session_context>\nThis is the Gemini CLI."}]}]}},
    {"id": "b74", "timestamp": "2026-11-26T11:21:09.384Z", "type": "user",
     "content": [{"text": "Fix add() in calc.py"}]},
    {"$set": {"lastUpdated": "2026-11-26T11:21:09.384Z"}},
    {"id": "65e", "timestamp": "2026-11-26T11:21:09.626Z", "type": "gemini", "content": "",
     "thoughts": [{"subject": "Look", "description": "hm"}],
     "tokens": {"input": 11801, "output": 48, "cached": 0, "total": 11849}},
    {"id": "65e", "timestamp": "2026-11-26T11:21:09.626Z", "type": "gemini", "content": "",
     "thoughts": [{"subject": "Look", "description": "hm"}],
     "tokens": {"input": 11801, "output": 48, "cached": 0, "total": 11849},
     "toolCalls": [
        {"id": "read_1", "name": "read_file", "args": {"file_path": "calc.py"}, "result": [
            {"functionResponse": {"id": "read_1", "name": "read_file",
                                  "response": {"output": "def add"}}}], "status": "success"},
        {"id": "run_2", "name": "run", "args": {}, "status": "cancelled", "resultDisplay": "No."},
     ]},
    {"id": "8a2", "timestamp": "2026-11-26T11:21:09.698Z", "type": "user", "content": [
        {"functionResponse": {"id": "read_1", "name": "read_file",
                              "response": {"output": "def add"}}}]},
    {"id": "xxx", "timestamp": "2026-11-26T11:21:10.000Z", "type": "gemini", "content": "Wrong."},
    {"$rewindTo": "xxx"},
    {"id": "f46", "timestamp": "2026-11-26T11:21:09.853Z", "type": "gemini",
     "content": "Repaired.", "thoughts": [], "model": "gemini-2.5-flash"},
]  # fmt: skip


def lines(values: list[dict[str, Any]]) -> bytes:
    return "\n".join(map(json.dumps, values)).encode()


def shown(read: Conversation) -> list[tuple[Any, ...]]:
    return [
        (m.role, m.content, m.tool_call_id, m.is_error)
        if m.is_result
        else (m.role, m.content, *((c.name, c.id) for c in m.tool_calls))
        for m in read.messages
    ]


def test_a_rollout_of_codex_is_read() -> None:
    (read,) = read_file(lines(ROLLOUT))
    assert (read.shape, read.query, read.usage) == (
        "codex", "Fix add() in calc.py", Usage(9819, 71),
    )  # fmt: skip
    assert [(one[0], *one[2:]) for one in shown(read)] == [
        ("system",), ("system",), ("user",),
        ("assistant", ("exec_command", "call_1"), ("exec_command", "call_2")),
        ("tool", "call_1", None), ("tool", "call_2", True), ("system",), ("assistant",),
    ]  # fmt: skip
    assert read.messages[3].reasoning == "hm"
    assert read.messages[6].content == "So far: read calc.py."
    assert [notice.code for notice in read.warnings] == ["compacted"]
    assert read.messages[2].at == 1795692265.101


def test_an_older_rollout_has_bare_items() -> None:
    head = {"id": "s", "timestamp": "2025-06-01T00:00:00Z", "instructions": "Be brief."}
    items = [line["payload"] for line in ROLLOUT if line["type"] == "response_item"]
    (read,) = read_file(lines([head, {"record_type": "state"}, *items]))
    assert (read.shape, read.messages[0].content) == ("codex", "Be brief.")
    assert read.query == "Fix add() in calc.py"


def test_events_of_codex_exec_are_read() -> None:
    (read,) = read_file(lines(EVENTS))
    assert (read.shape, read.usage, read.warnings) == ("codex", Usage(40, 2), ())
    assert shown(read) == [
        ("system", "No metadata"),
        ("assistant", "", ("command_execution", "item_2")),
        ("tool", "cat: nosuch.py\n", "item_2", True),
        ("assistant", "", ("mcp__shop__buy", "item_3")),
        ("tool", "bought", "item_3", False),
        ("assistant", "", ("file_change", "item_4")),
        ("tool", "", "item_4", False),
        ("assistant", "Done."),
    ]
    assert read.messages[1].reasoning == "hm"
    failed = [*EVENTS[:-1], {"type": "turn.failed", "error": {"message": "stream disconnected"}}]
    (read,) = read_file(lines(failed))
    assert read.failure == "stream disconnected"


@pytest.mark.parametrize("whole", [True, False])
def test_a_session_of_gemini_cli_is_read(whole: bool) -> None:
    kept = [SESSION[1]["$set"]["messages"][0], SESSION[2], *SESSION[5:7], SESSION[9]]
    document = json.dumps({**SESSION[0], "messages": kept}, indent=1).encode()
    (read,) = read_file(document if whole else lines(SESSION))
    assert (read.shape, read.query) == ("gemini-cli", "Fix add() in calc.py")
    assert shown(read)[1:] == [
        ("user", "Fix add() in calc.py"),
        ("assistant", "", ("read_file", "read_1"), ("run", "run_2")),
        ("tool", "def add", "read_1", False),
        ("tool", "No.", "run_2", True),
        ("assistant", "Repaired."),
    ]
    assert read.messages[0].role == "system"
    assert (read.messages[2].reasoning, read.messages[2].usage) == ("Look: hm\n", Usage(11801, 48))
    assert read.warnings == ()


def test_messages_of_the_claude_agent_sdk_are_read_as_objects() -> None:
    sdk = pytest.importorskip("claude_agent_sdk", reason="needs claude-agent-sdk")
    blocks = [sdk.ThinkingBlock("hm", "sig"), sdk.ToolUseBlock("c1", "Read", {"path": "a"})]
    messages = [
        sdk.SystemMessage("init", {"tools": ["Read"]}),
        sdk.UserMessage("Read a."),
        sdk.AssistantMessage([blocks[0]], "m", message_id="m1"),
        sdk.AssistantMessage([blocks[1]], "m", message_id="m1", usage={"input_tokens": 3}),
        sdk.UserMessage([sdk.ToolResultBlock("c1", "text of a", is_error=False)]),
        sdk.AssistantMessage([sdk.TextBlock("elsewhere")], "m", parent_tool_use_id="c0"),
        sdk.AssistantMessage([sdk.TextBlock("Done.")], "m", message_id="m2"),
        sdk.ResultMessage("success", 1, 1, False, 2, "s"),
    ]
    read = read_conversation(messages)
    assert read.shape == "claude-agent-sdk"
    assert shown(read) == [
        ("user", "Read a."),
        ("assistant", "", ("Read", "c1")),
        ("tool", "text of a", "c1", False),
        ("assistant", "Done."),
    ]
    assert read.messages[1].reasoning == "hm"
    assert [notice.code for notice in read.warnings] == ["side-conversation"]


CLAUDE = {"sessionId": "s", "uuid": "u"}
ASKED = {**CLAUDE, "type": "user", "message": {"role": "user", "content": "Read a."}}
OVERLOADED = {
    **CLAUDE, "type": "assistant", "isApiErrorMessage": True, "message": {
        "id": "e", "role": "assistant", "model": "<synthetic>",
        "content": [{"type": "text", "text": "API Error: 529 overloaded"}]},
}  # fmt: skip
REPLY = {**CLAUDE, "type": "assistant", "message": {
    "id": "m", "role": "assistant", "content": [{"type": "text", "text": "Here."}]}}  # fmt: skip


def test_a_session_that_ended_in_an_api_error_is_no_answer() -> None:
    read = read_conversation([ASKED, OVERLOADED])
    assert read.failure == "API Error: 529 overloaded"
    score = tunaeval.score(read, "Read a.", check=lambda _: True)
    assert (score.details.outcome, score.weighted_total) == ("run_failure", None)
    assert read_conversation([ASKED, OVERLOADED, REPLY]).failure is None
    result = {"type": "result", "session_id": "s", "subtype": "success", "is_error": True,
              "result": "API Error: 500"}  # fmt: skip
    assert read_conversation([ASKED, REPLY, result]).failure == "API Error: 500"
    turns = {**result, "subtype": "error_max_turns"}
    assert read_conversation([ASKED, REPLY, turns]).failure is None


# software-agent-sdk 1.x (openhands/sdk/event)
OPENHANDS: list[dict[str, Any]] = [
    {"kind": "SystemPromptEvent", "source": "agent",
     "system_prompt": {"type": "text", "text": "You code."},
     "tools": [{"type": "function", "function": {"name": "terminal"}}]},
    {"kind": "MessageEvent", "source": "user", "llm_message": {
        "role": "user", "content": [{"type": "text", "text": "Look."}]},
     "extended_content": [], "activated_skills": []},
    {"kind": "ActionEvent", "source": "agent", "thought": [{"type": "text", "text": "I look."}],
     "reasoning_content": "hm", "thinking_blocks": [], "tool_name": "terminal",
     "tool_call_id": "c1", "llm_response_id": "r1", "action": {"kind": "TerminalAction"},
     "tool_call": {"id": "c1", "name": "terminal", "arguments": '{"command": "ls"}',
                   "origin": "completion"}},
    {"kind": "ActionEvent", "source": "agent", "thought": [], "tool_name": "terminal",
     "tool_call_id": "c2", "llm_response_id": "r1", "action": None,
     "tool_call": {"id": "c2", "name": "terminal", "arguments": "{", "origin": "completion"}},
    {"kind": "ObservationEvent", "source": "environment", "tool_name": "terminal",
     "tool_call_id": "c1", "action_id": "a", "observation": {
        "kind": "TerminalObservation", "content": [{"type": "text", "text": "no ls"}],
        "is_error": False, "exit_code": 127}},
    {"kind": "AgentErrorEvent", "source": "agent", "tool_name": "terminal", "tool_call_id": "c2",
     "error": "Error validating args"},
    {"kind": "Condensation", "source": "environment", "summary": "They looked."},
    {"kind": "ConversationStateUpdateEvent", "source": "environment", "key": "x", "value": 1},
    {"kind": "MessageEvent", "source": "agent", "llm_message": {
        "role": "assistant", "content": [{"type": "text", "text": "Nothing."}]}},
]  # fmt: skip
# OpenHands 0.x (openhands/events/serialization/event.py)
OPENHANDS_0: list[dict[str, Any]] = [
    {"id": 0, "source": "agent", "action": "system", "args": {
        "content": "You code.", "tools": [{"type": "function", "function": {"name": "run"}}]}},
    {"id": 1, "source": "user", "message": "Look.", "action": "message",
     "args": {"content": "Look.", "image_urls": None}},
    {"id": 2, "source": "environment", "observation": "agent_state_changed", "content": "",
     "extras": {"agent_state": "running"}},
    {"id": 3, "source": "agent", "action": "run", "args": {
        "command": "ls", "thought": "I look.", "is_input": False, "hidden": False}},
    {"id": 4, "source": "agent", "observation": "run", "content": "no ls", "cause": 3,
     "success": False, "extras": {"command": "ls", "metadata": {"exit_code": 127}}},
    {"id": 5, "source": "agent", "action": "finish", "args": {"final_thought": "Nothing."},
     "tool_call_metadata": {"function_name": "finish", "tool_call_id": "f1", "model_response": {
        "id": "r2", "choices": [{"message": {"tool_calls": [
            {"id": "f1", "function": {"name": "finish", "arguments": '{"message": "x"}'}}]}}]}}},
]  # fmt: skip


def test_events_of_openhands_are_read() -> None:
    read = read_conversation(OPENHANDS)
    assert (read.shape, read.query, len(read.tools)) == ("openhands", "Look.", 1)
    assert shown(read) == [
        ("system", "You code."),
        ("user", "Look."),
        ("assistant", "I look.", ("terminal", "c1"), ("terminal", "c2")),
        ("tool", "no ls", "c1", True),
        ("tool", "Error validating args", "c2", True),
        ("system", "They looked."),
        ("assistant", "Nothing."),
    ]
    assert read.messages[2].reasoning == "hm"
    assert [one.code for one in read.warnings] == ["invalid-arguments", "compacted"]
    error = {"kind": "ConversationErrorEvent", "source": "environment", "detail": "no budget"}
    assert read_conversation([*OPENHANDS, error]).failure == "no budget"


def test_events_of_the_first_openhands_are_read() -> None:
    read = read_conversation(OPENHANDS_0)
    assert (read.shape, read.query, len(read.tools)) == ("openhands", "Look.", 1)
    assert shown(read) == [
        ("system", "You code."),
        ("user", "Look."),
        ("assistant", "I look.", ("run", "event-3")),
        ("tool", "no ls", "event-3", True),
        ("assistant", "Nothing."),
    ]
    assert read.messages[2].tool_calls[0].arguments == {"command": "ls"}
    state = {"source": "environment", "observation": "agent_state_changed", "content": "",
             "extras": {"agent_state": "error", "reason": "STATUS$LLM_ERROR"}}  # fmt: skip
    assert read_conversation([*OPENHANDS_0[:-1], state]).failure == "STATUS$LLM_ERROR"


def test_a_trajectory_of_swe_agent_is_read() -> None:
    history = [
        {"role": "system", "content": "You fix.", "message_type": "system_prompt"},
        {"role": "user", "content": [{"type": "text", "text": "Fix it."}],
         "message_type": "observation"},
        {"role": "assistant", "content": "I look.\n```\nls\n```", "thought": "I look.",
         "action": "ls\n", "message_type": "action"},
        {"role": "user", "content": "calc.py", "message_type": "observation"},
        {"role": "assistant", "content": "Submit.", "action": "submit", "message_type": "action",
         "tool_calls": [{"id": "c1", "function": {"name": "submit", "arguments": "{}"}}]},
        {"role": "tool", "content": "done", "message_type": "observation",
         "tool_call_ids": ["c1"]},
    ]  # fmt: skip
    run = {"history": history, "trajectory": [], "info": {"exit_status": "submitted"}}
    read = read_conversation(run)
    assert (read.shape, read.query, read.failure) == ("swe-agent", "Fix it.", None)
    assert shown(read)[2:] == [
        ("assistant", "I look.\n```\nls\n```", ("bash", "bash-1")),
        ("tool", "calc.py", "bash-1", None),
        ("assistant", "Submit.", ("submit", "c1")),
        ("tool", "done", "c1", None),
    ]
    assert read_conversation({**run, "info": {"exit_status": "exit_api"}}).failure == "exit_api"


@pytest.mark.parametrize(
    "messages",
    [
        [{"type": "response_item", "payload": None}, *ROLLOUT],
        [*ROLLOUT, {"type": "new_line", "payload": {}}],
        [*EVENTS, {"type": "item.completed", "item": {"type": "dream"}}],
        [*OPENHANDS, {"kind": "DreamEvent", "source": "agent"}],
        [*SESSION, {"id": "z", "type": "dream", "content": "?"}],
    ],
)
def test_what_is_not_known_is_said(messages: list[dict[str, Any]]) -> None:
    read = read_conversation(messages)
    assert "unknown-part" in {notice.code for notice in read.warnings}


def test_a_file_that_is_cut_keeps_the_whole_lines() -> None:
    whole = lines(ROLLOUT)
    (read,) = read_file(whole[:-40])
    assert shown(read) == shown(read_file(lines(ROLLOUT[:-1]))[0])
    assert [notice.code for notice in read.warnings] == ["compacted", "cut-off"]
    session = json.dumps({**SESSION[0], "messages": SESSION[2:3]}).encode()
    with pytest.raises(UsageError, match=r"f.json: not JSON .* cut off"):
        read_file(session[:-10], file="f.json")
    with pytest.raises(UsageError, match=r"f.json, line 2: not JSON"):
        read_file(lines(ROLLOUT[:1]) + b'\n{"a\n' + lines(ROLLOUT[1:]), file="f.json")


@pytest.mark.parametrize("place", [-1, len(ROLLOUT)])
def test_the_tokens_of_a_request_of_codex_belong_to_its_reply(place: int) -> None:
    spent = {"last_token_usage": {"input_tokens": 300000, "output_tokens": 7}}
    note = {"type": "event_msg", "payload": {"type": "token_count", "info": spent}}
    rows = [*ROLLOUT]
    rows.insert(place, note)
    (read,) = read_file(lines(rows), file="r.jsonl")
    known = [one.usage for one in read.messages if one.role == "assistant"]
    assert [one.prompt_tokens for one in known if one] == [300000]
    assert tunaeval.score(read, "").context_efficiency == 0.2
