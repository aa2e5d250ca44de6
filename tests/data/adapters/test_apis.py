"""Transcripts of OpenAI's Responses API and of Anthropic's, as their references show them."""

from __future__ import annotations

from typing import Any

from tunaeval.data.adapters.documents import read_conversation
from tunaeval.types.messages import Usage

ITEMS: list[dict[str, Any]] = [
    {"role": "user", "content": "Read a and b."},
    {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}]},
    {"type": "function_call", "id": "f1", "call_id": "c1", "name": "read",
     "arguments": '{"path": "a"}', "status": "completed"},
    {"type": "function_call", "id": "f2", "call_id": "c2", "name": "read",
     "arguments": '{"path": "b"}', "status": "completed"},
    {"type": "function_call_output", "call_id": "c2", "output": "text of b"},
    {"type": "function_call_output", "call_id": "c1",
     "output": [{"type": "input_text", "text": "text of a"}]},
    {"type": "web_search_call", "id": "ws", "status": "failed",
     "action": {"type": "search", "query": "tuna"}},
    {"type": "mcp_call", "id": "mcp", "name": "roll", "arguments": "{}", "output": "4"},
    {"type": "reasoning", "id": "rs2", "summary": []},
    {"type": "message", "role": "assistant", "status": "completed",
     "content": [{"type": "output_text", "text": "done", "annotations": []}]},
]  # fmt: skip


def test_a_run_of_items_is_read() -> None:
    told = read_conversation(ITEMS)
    assert told.shape == "openai-responses"
    asked, batch = told.messages[:2]
    assert asked.content == "Read a and b."
    assert (batch.reasoning, [call.id for call in batch.tool_calls]) == ("hm", ["c1", "c2"])
    assert told.sources[1] == 2  # where the first of the calls stands
    assert [(m.tool_call_id, m.content) for m in told.messages[2:4]] == [
        ("c2", "text of b"), ("c1", "text of a"),
    ]  # fmt: skip
    assert told.messages[4].tool_calls[0].name == "web_search"
    assert (told.messages[5].tool_call_id, told.messages[5].is_error) == ("ws", True)
    assert [call.name for call in told.messages[6].tool_calls] == ["roll"]
    assert told.messages[7].content == "4"
    assert told.messages[-1].content == "done"
    assert told.warnings == ()


def test_a_response_is_a_document() -> None:
    response = {"object": "response", "input": "Read a and b.", "output": ITEMS[1:]}
    assert read_conversation(response).messages == read_conversation(ITEMS).messages


def test_a_kind_of_item_that_is_not_known_is_left_out_and_told() -> None:
    told = read_conversation([*ITEMS, {"type": "mcp_list_tools", "tools": []}])
    assert told.messages == read_conversation(ITEMS).messages
    assert [(notice.code, notice.source) for notice in told.warnings] == [("unknown-part", 10)]


BLOCKS: list[dict[str, Any]] = [
    {"role": "user", "content": "Read a and b."},
    {"role": "assistant", "type": "message", "stop_reason": "tool_use",
     "usage": {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 3},
     "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "?"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}},
        {"type": "tool_use", "id": "c2", "name": "read", "input": {"path": "b"}}]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "c2", "content": "no b", "is_error": True},
        {"type": "tool_result", "tool_use_id": "c1",
         "content": [{"type": "text", "text": "text of a"}, {"type": "image", "source": {}}]},
        {"type": "text", "text": "Go on."}]},
    {"role": "assistant", "type": "message", "usage": {"output_tokens": 4}, "content": [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1",
         "content": [{"type": "web_search_result", "url": "u"}]},
        {"type": "text", "text": "done"}]},
]  # fmt: skip


def test_blocks_are_read_with_results_in_the_users_turn() -> None:
    told = read_conversation(BLOCKS)
    assert told.shape == "anthropic"
    reply = told.messages[1]
    assert (reply.content, reply.reasoning, reply.usage) == ("I look.", "hm", Usage(7, 3))
    assert [(m.role, m.content, m.is_error) for m in told.messages[2:5]] == [
        ("tool", "no b", True), ("tool", "text of a[image]", None), ("user", "Go on.", None),
    ]  # fmt: skip
    assert [m.role for m in told.messages[5:]] == ["assistant", "tool", "assistant"]
    assert told.sources == (0, 1, 2, 2, 2, 3, 3, 3)
    assert [m.usage for m in told.messages[5:]] == [Usage(None, 4), None, None]  # told once
    assert told.query == "Read a and b."
    assert told.warnings == ()


def test_reasoning_is_none_of_the_content_where_no_tool_gives_the_shape_away() -> None:
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "hi"}]
    (message,) = read_conversation([{"role": "assistant", "content": blocks}]).messages
    assert (message.content, message.reasoning) == ("hi", "hm")


def test_a_reply_of_anthropics_is_no_item_of_openais() -> None:
    reply = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "hi"}]}
    assert read_conversation([reply]).messages[0].content == "hi"
    assert read_conversation([reply, *BLOCKS]).shape == "anthropic"


def test_a_whole_answer_is_a_transcript_of_one_message() -> None:
    blocks = [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "c1", "name": "ls", "input": {}},
    ]
    usage = {"input_tokens": 4, "cache_read_input_tokens": 120, "output_tokens": 3}
    answer = {
        "type": "message", "role": "assistant", "model": "m", "content": blocks,
        "stop_reason": "tool_use", "usage": usage,
    }  # fmt: skip
    (message,) = read_conversation(answer).messages
    assert (message.content, [call.name for call in message.tool_calls]) == ("I look.", ["ls"])
    assert message.usage is not None
    assert (message.usage.prompt_tokens, message.usage.completion_tokens) == (124, 3)


def test_of_several_candidates_the_answer_is_read() -> None:
    several = [
        {"index": at, "content": {"role": "model", "parts": [{"text": f"candidate {at}"}]}}
        for at in (1, 0)
    ]
    (message,) = read_conversation({"candidates": several}).messages
    assert message.content == "candidate 0"
