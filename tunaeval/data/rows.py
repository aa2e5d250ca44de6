"""A row of a data set as a conversation, or why it cannot be read; and how a row is written.

It is written as messages in OpenAI's shape, which TRL and most trainers read. Arguments and tools
are JSON text. Arrow would make columns of objects and give every row every key that any row has:
`{"city": "Oslo"}` becomes `{"city": "Oslo", "days": None}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools
from tunaeval.types.messages import Message
from tunaeval.types.parsing import Diagnosis


@dataclass(frozen=True, slots=True)
class Row:
    """A conversation: messages with their calls as values, and the tools that were offered.

    `number` counts from 1; `shape` names how the row was written. `notes` are diagnoses of calls,
    each with the index of its message. `raw` is the row as read, `line` its bytes in the file.
    """

    number: int
    shape: str
    messages: tuple[Message, ...]
    tools: Tools | None = None
    notes: tuple[tuple[int, Diagnosis], ...] = ()
    raw: JsonValue = field(default=None, repr=False)
    line: bytes | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Fault:
    """A row that cannot be read, with the reason; the other fields are those of `Row`."""

    number: int
    reason: str
    raw: JsonValue = field(default=None, repr=False)
    line: bytes | None = field(default=None, repr=False, compare=False)


class UnreadableRowError(ValueError):
    """A row that is no conversation; `read_row` catches it and returns a `Fault`."""


_USED = frozenset({
    "messages", "conversations", "conversation", "system", "tools", "functions", "query", "answers",
    "chat", "prompt", "completion", "chosen", "chosen_response", "question", "correct_answer",
})  # fmt: skip
"""Fields of a row from which messages are made; all other fields are kept."""


def as_openai(row: Row) -> JsonObject:
    """Return the row as `{"messages": [...], "tools": "..."}`, with its other fields.

    Examples:
        >>> from tunaeval.data import read_rows
        >>> answers = '[{"name": "f", "arguments": {"a": 1}}]'
        >>> row = next(read_rows([{"query": "?", "answers": answers}]))
        >>> as_openai(row)["messages"][1]["tool_calls"][0]["function"]["arguments"]
        '{"a": 1}'
    """
    raw = row.raw if isinstance(row.raw, dict) else {}
    kept = {key: value for key, value in raw.items() if key not in _USED}
    made: JsonObject = {**kept, "messages": [*_messages(row.messages)]}
    if row.tools is not None:
        made["tools"] = json.dumps(row.tools.as_openai(), ensure_ascii=False)
    return made


def _messages(messages: Sequence[Message]) -> Iterator[JsonObject]:
    waiting: list[str] = []
    for index, message in enumerate(messages):
        made: JsonObject = {"role": message.role, "content": message.content}
        if message.reasoning:
            made["reasoning_content"] = message.reasoning
        if message.tool_calls:
            ids = [*_ids(messages[index + 1 :], message.tool_calls, index)]
            made["tool_calls"] = [*map(_call, message.tool_calls, ids)]
            waiting = ids
        elif message.is_result:
            made["role"] = "tool"
            made["tool_call_id"] = message.tool_call_id or (waiting.pop(0) if waiting else "call")
        yield made


def _ids(following: Sequence[Message], calls: Sequence[ToolCall], index: int) -> Iterator[str]:
    """Yield for each call its own id, else that of its result, else a new one."""
    results = []
    for message in following:
        if not message.is_result:
            break
        results.append(message.tool_call_id)
    for number, call in enumerate(calls):
        known = results[number] if number < len(results) else None
        yield call.id or known or f"call_{index}_{number}"


def _call(call: ToolCall, id_: str) -> JsonObject:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {
        "id": id_,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }
