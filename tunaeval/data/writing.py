"""Writing rows as messages in OpenAI's shape, which TRL and most trainers read.

Arguments and tools are JSON text. Arrow would make columns of objects and give every row every key
that any row has: `{"city": "Oslo"}` becomes `{"city": "Oslo", "days": None}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from tunaeval.types.calls import JsonObject, ToolCall
from tunaeval.types.messages import Message

from .rows import Row

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
