"""Messages of the real LangChain, as objects and in each of its dumps."""

from __future__ import annotations

from typing import Any

import pytest

from tunaeval.data.adapters.documents import read_conversation
from tunaeval.types.messages import Usage

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    messages_to_dict,
)
from langchain_core.tools import tool

REPLY = AIMessage(
    content=[
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}},
    ],
    tool_calls=[
        {"name": "read", "args": {"path": "a"}, "id": "c1", "type": "tool_call"},
        {"name": "read", "args": {"path": "missing"}, "id": "c2", "type": "tool_call"},
    ],
    invalid_tool_calls=[
        {"name": "read", "args": "{broken", "id": "c3", "error": "no JSON",
         "type": "invalid_tool_call"},
    ],
    usage_metadata={"input_tokens": 9, "output_tokens": 4, "total_tokens": 13},
)  # fmt: skip


@tool
def read(path: str) -> str:
    """Read a file."""
    if path == "missing":
        raise ValueError("File not found")
    return f"text of {path}"


def an_agents_loop() -> list[BaseMessage]:
    """A bare loop with a scripted model: what it was asked, said and was answered."""
    read.handle_tool_error = True
    model = GenericFakeChatModel(messages=iter([REPLY, AIMessage("done")]))
    said: list[BaseMessage] = [SystemMessage("sys"), HumanMessage("Read a.")]
    reply = model.invoke(said)
    assert isinstance(reply, AIMessage)
    said.append(reply)
    for call in reply.tool_calls:
        try:
            said.append(read.invoke(call))
        except ValueError as error:
            said.append(ToolMessage(str(error), tool_call_id=call["id"], status="error"))
    return [*said, model.invoke(said)]


DUMPS = {
    "objects": lambda messages: messages,
    "messages_to_dict": messages_to_dict,
    "dumpd": lambda messages: [dumpd(message) for message in messages],
    "model_dump": lambda messages: [message.model_dump() for message in messages],
    "a graph's state": lambda messages: {"messages": messages},
}


@pytest.mark.parametrize("form", DUMPS)
def test_all_that_a_loop_did_arrives(form: str) -> None:
    dump: Any = DUMPS[form]
    told = read_conversation(dump(an_agents_loop()))
    assert told.shape == "langchain"
    assert [m.role for m in told.messages] == [
        "system", "user", "assistant", "tool", "tool", "assistant",
    ]  # fmt: skip
    reply = told.messages[2]
    assert (reply.content, reply.reasoning, reply.usage) == ("I look.", "hm", Usage(9, 4))
    assert [(call.id, call.arguments) for call in reply.tool_calls] == [
        ("c1", {"path": "a"}), ("c2", {"path": "missing"}), ("c3", {}),
    ]  # fmt: skip
    assert [(m.tool_call_id, m.content, m.is_error) for m in told.messages[3:5]] == [
        ("c1", "text of a", False),
        ("c2", "File not found", True),
    ]
    assert [notice.code for notice in told.warnings] == ["invalid-arguments", "dangling-call"]


def test_a_chunk_is_a_message() -> None:
    chunk = AIMessageChunk(
        content="x", tool_call_chunks=[
            {"name": "read", "args": '{"path": "a"}', "id": "c", "index": 0,
             "type": "tool_call_chunk"}],
    )  # fmt: skip
    for form in ([chunk], [chunk.model_dump()]):
        (message,) = read_conversation(form).messages
        assert [call.arguments for call in message.tool_calls] == [{"path": "a"}]


def test_a_removed_message_holds_nothing() -> None:
    told = read_conversation([HumanMessage("hi"), RemoveMessage(id="m")])
    assert [m.content for m in told.messages] == ["hi"]
    assert [(notice.code, notice.source) for notice in told.warnings] == [("removed-message", 1)]
