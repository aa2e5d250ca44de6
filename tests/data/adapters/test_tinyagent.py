"""What a real agent of tinyagent leaves behind, and TunaCode's session files of both eras."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.data.adapters.test_pydantic_ai import OLD
from tunaeval.data.adapters.documents import read_conversation, read_file
from tunaeval.types.messages import Usage

tinyagent = pytest.importorskip("tinyagent", reason="needs the extra tinyagent")
shapes = pytest.importorskip("tinyagent.agent_types")

USAGE = {
    "input": 10, "output": 5, "cache_read": 2, "cache_write": 0, "total_tokens": 17,
    "cost": {"input": 0.004, "output": 0.006, "total": 0.01},
}  # fmt: skip


class _Reply:
    """A stream of one event, the whole message."""

    def __init__(self, message: Any) -> None:
        self.message, self.sent = message, False

    def __aiter__(self) -> _Reply:
        return self

    async def __anext__(self) -> Any:
        if self.sent:
            raise StopAsyncIteration
        self.sent = True
        return shapes.AssistantMessageEvent(type="done", message=self.message, partial=self.message)

    async def result(self) -> Any:
        return self.message


async def _run() -> list[Any]:
    call = shapes.ToolCallContent
    replies = [
        shapes.AssistantMessage(
            content=[
                shapes.ThinkingContent(thinking="hm"),
                shapes.TextContent(text="I look."),
                call(id="c1", name="read", arguments={"path": "a"}),
                None,
                call(id="c2", name="read", arguments={"path": "missing"}),
                call(id="c3", name="nope", arguments={}),
            ],
            stop_reason="tool_use",
            usage=USAGE,
        ),
        shapes.AssistantMessage(content=[shapes.TextContent(text="done")], stop_reason="complete"),
    ]

    async def stream(*_: object) -> _Reply:
        return _Reply(replies.pop(0))

    async def execute(_id: str, arguments: dict[str, str], *_: object) -> Any:
        if arguments["path"] == "missing":
            raise RuntimeError("File not found")
        text = shapes.TextContent(text=f"text of {arguments['path']}")
        return shapes.AgentToolResult(content=[text])

    agent = tinyagent.Agent(tinyagent.AgentOptions(stream_fn=stream))
    agent.set_tools([shapes.AgentTool(name="read", execute=execute)])
    agent.set_model(shapes.Model(provider="none", id="scripted"))
    await agent.prompt("Read a.")
    return list(agent.state.messages)


@pytest.fixture(scope="module")
def messages() -> list[Any]:
    return asyncio.run(_run())


def dumped(messages: list[Any]) -> list[Any]:
    return [message.model_dump(exclude_none=True) for message in messages]


@pytest.mark.parametrize("form", ["objects", "dumped"])
def test_all_that_an_agent_did_arrives(messages: list[Any], form: str) -> None:
    told = read_conversation(messages if form == "objects" else dumped(messages))
    assert (told.shape, told.query) == ("tinyagent", "Read a.")
    reply = told.messages[1]
    assert (reply.content, reply.reasoning) == ("I look.", "hm")
    assert reply.usage == Usage(12, 5, 0.01)
    assert [(call.id, call.arguments) for call in reply.tool_calls] == [
        ("c1", {"path": "a"}), ("c2", {"path": "missing"}), ("c3", {}),
    ]  # fmt: skip
    assert [(m.role, m.tool_call_id, m.is_error) for m in told.messages[2:5]] == [
        ("tool", "c1", False), ("tool", "c2", True), ("tool", "c3", True),
    ]  # fmt: skip
    assert told.messages[3].content == "File not found"
    assert told.warnings == ()


def test_a_machines_clock_is_never_a_time(messages: list[Any]) -> None:
    assert any(message.timestamp for message in messages)
    assert {message.at for message in read_conversation(messages).messages} == {None}
    texts = [{"role": "user", "content": "hi", "timestamp": 1_767_225_600_000}]
    assert read_conversation(texts).messages[0].at is None  # who writes it is not known


def test_an_empty_item_and_a_thought_are_kept_in_place(messages: list[Any]) -> None:
    told = read_conversation([None, {"thought": "hm"}, *dumped(messages)])
    assert told.messages[0].reasoning == "hm"
    assert told.sources[:2] == (1, 2)
    assert [(notice.code, notice.source) for notice in told.warnings] == [("empty-item", 0)]


@pytest.mark.parametrize(
    "reply",
    [
        {"content": [{"type": "text", "text": "[INTERRUPTED]\n\nI wa"}]},
        {"content": [], "stop_reason": "aborted"},
        {"content": [], "stop_reason": "error", "error_message": "no more money"},
    ],
)
def test_a_reply_that_ended_early_is_told(messages: list[Any], reply: dict[str, Any]) -> None:
    told = read_conversation([*dumped(messages), {"role": "assistant", **reply}])
    assert [(notice.code, notice.source) for notice in told.warnings] == [("failed-reply", 6)]


def session(messages: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "version": 1, "session_id": "s1", "project_id": "p", "created_at": "2026-03-01T10:00:00",
        "last_modified": "2026-03-01T11:00:00", "working_directory": "w", "current_model": "m",
        "messages": messages, **more,
    }  # fmt: skip


def test_a_session_of_today_is_read(messages: list[Any]) -> None:
    file = session(
        dumped(messages), session_total_usage=USAGE, thoughts=[], compaction={"summary": "Did x."}
    )
    (told,) = read_file(json.dumps(file).encode())
    assert (told.shape, told.name, told.usage) == ("tunacode", "s1", Usage(12, 5, 0.01))
    assert [len(m.tool_calls) for m in told.messages] == [0, 3, 0, 0, 0, 0]
    assert [(notice.code, notice.source) for notice in told.warnings] == [("compacted", None)]


def test_a_session_of_the_first_era_is_read() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "cost": 0.5}
    file = session(OLD, session_total_usage=usage, total_tokens=12, todos=[], tool_ignore=[])
    (told,) = read_file(json.dumps(file, indent=2).encode())
    assert (told.shape, told.usage) == ("tunacode", Usage(9, 3, 0.5))
    assert [call.name for m in told.messages for call in m.tool_calls] == ["glob", "bash"]


def test_a_session_of_texts_alone_has_no_times() -> None:
    (told,) = read_file(
        json.dumps(session([{"role": "user", "content": "hi", "created_at": 1.8e9}])).encode()
    )
    assert (told.query, told.messages[0].at) == ("hi", None)
