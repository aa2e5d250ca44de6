"""What a real agent of pydantic-ai leaves, as objects and dumped; and what older ones left."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

import tunaeval
from tunaeval.data.adapters.documents import read_conversation, read_file
from tunaeval.types.conversations import Conversation
from tunaeval.types.messages import Usage

pytest.importorskip("pydantic_ai", reason="needs the extra pydantic-ai")

from pydantic_ai import Agent, AgentRunResult, ModelRetry
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

CALLS = [
    ToolCallPart("read", {"path": "a"}, tool_call_id="c1"),
    ToolCallPart("read", '{"path": "missing"}', tool_call_id="c2"),
    ToolCallPart("nope", {}, tool_call_id="c3"),
    ToolCallPart("read", '{"bad": 1}', tool_call_id="c4"),
    ToolCallPart("read", "{broken", tool_call_id="c5"),
]


def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    del info
    if len(messages) > 1:
        return ModelResponse(parts=[TextPart("done")])
    return ModelResponse(parts=[ThinkingPart("hm"), TextPart("I look."), *CALLS])


def read(path: str) -> str:
    if path == "missing":
        raise ModelRetry("File not found")
    return f"text of {path}"


@pytest.fixture(scope="module")
def run() -> AgentRunResult[str]:
    agent = Agent(FunctionModel(scripted), system_prompt="sys", retries=3, tools=[read])
    return asyncio.run(agent.run("Read a."))


@pytest.mark.parametrize("form", ["objects", "the run itself", "dumped"])
def test_all_that_an_agent_did_arrives(run: AgentRunResult[str], form: str) -> None:
    told = {
        "objects": lambda: read_conversation(run.all_messages()),
        "the run itself": lambda: read_conversation(run),
        "dumped": lambda: read_file(run.all_messages_json())[0],
    }[form]()
    assert told.query == "Read a."
    assert [m.role for m in told.messages] == [
        "system", "user", "assistant", *["tool"] * 5, "assistant",
    ]  # fmt: skip
    assert told.sources == (0, 0, 1, *[2] * 5, 3)
    reply = told.messages[2]
    assert (reply.reasoning, reply.content) == ("hm", "I look.")
    assert [(call.id, call.name, call.arguments) for call in reply.tool_calls] == [
        ("c1", "read", {"path": "a"}),
        ("c2", "read", {"path": "missing"}),
        ("c3", "nope", {}),
        ("c4", "read", {"bad": 1}),
        ("c5", "read", {}),
    ]
    assert [(m.tool_call_id, m.is_error) for m in told.messages[3:8]] == [
        ("c1", False), ("c2", True), ("c3", True), ("c4", True), ("c5", True),
    ]  # fmt: skip
    assert told.messages[4].content == "File not found"
    assert "Field required" in told.messages[6].content
    assert [notice.code for notice in told.warnings] == ["invalid-arguments"]


def test_usage_and_times_are_those_of_the_replies(run: AgentRunResult[str]) -> None:
    told = read_conversation(run.all_messages())
    response = run.all_messages()[1]
    assert isinstance(response, ModelResponse)
    spent = response.usage
    assert told.messages[2].usage == Usage(spent.input_tokens, spent.output_tokens)
    assert told.messages[2].at == response.timestamp.timestamp()
    (dumped,) = read_file(run.all_messages_json())
    assert dumped.messages[2].at == pytest.approx(told.messages[2].at)


def test_a_run_is_scored_in_one_line(run: AgentRunResult[str]) -> None:
    score = tunaeval.score(run, "Read a.", preset="evals2")
    assert score.details.tool_calls == 5
    assert score.details.failed_calls == 4
    assert score.categories["success-ratio"].evidence == (2,)


def test_a_test_model_calls_every_tool() -> None:
    told = read_conversation(asyncio.run(Agent(TestModel(), tools=[read]).run("go")))
    assert [call.name for m in told.messages for call in m.tool_calls] == ["read"]
    assert [m.content for m in told.messages if m.role == "tool"] == ["text of a"]
    assert told.warnings == ()


OLD: list[dict[str, Any]] = [
    {"kind": "request", "parts": [
        {"part_kind": "user-prompt", "content": ["Look at ", {"kind": "image-url", "url": "x"}],
         "timestamp": "2025-12-01T10:00:00Z"}]},
    {"kind": "response", "timestamp": "2025-12-01T10:00:01+00:00",
     "usage": {"request_tokens": 9, "response_tokens": 3}, "parts": [
        {"part_kind": "tool-call", "tool_name": "glob", "args": "{}", "tool_call_id": "a"},
        {"part_kind": "tool-call", "tool_name": "bash", "args": '{"command": "ls"}',
         "tool_call_id": "b"}]},
    {"kind": "request", "parts": [
        {"part_kind": "retry-prompt", "tool_name": "bash", "tool_call_id": "b",
         "content": [{"type": "missing", "loc": ["x"], "msg": "Field required"}]},
        {"part_kind": "tool-return", "tool_name": "glob", "tool_call_id": "a",
         "content": {"files": ["a"]}}]},
    {"kind": "request", "parts": [
        {"part_kind": "retry-prompt", "tool_name": None, "tool_call_id": "zz",
         "content": "Plain text responses are not permitted"}]},
]  # fmt: skip


def test_the_first_version_is_read_too() -> None:
    told: Conversation = read_conversation(OLD)
    assert told.query == "Look at [image-url]"
    assert told.messages[1].usage == Usage(9, 3)
    assert told.messages[1].at == datetime.fromisoformat("2025-12-01T10:00:01Z").timestamp()
    assert [(m.tool_call_id, m.is_error) for m in told.messages[2:4]] == [("b", True), ("a", None)]
    assert told.messages[3].content == '{"files": ["a"]}'
    assert told.messages[4].role == "user"
    assert told.warnings == ()


def test_a_summary_in_place_of_messages_is_told() -> None:
    summary = {"kind": "request", "parts": [{"part_kind": "compaction", "content": "Did a."}]}
    told = read_conversation([summary, *OLD])
    assert [notice.code for notice in told.warnings] == ["compacted"]
    assert told.messages[0].role == "system"
