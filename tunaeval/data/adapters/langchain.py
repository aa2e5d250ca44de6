"""Messages of LangChain: objects, their dumps, and both serialized forms.

Calls are in a field beside the content, and may be repeated in the content in the provider's form.
Calls that LangChain could not read are in a separate list.
"""

from __future__ import annotations

from collections.abc import Mapping

from .calls import invalid_call
from .fields import declared, first, get, identifier, listed, usage_of, word
from .openai_chat import KINDS as OPENAI_KINDS
from .openai_chat import read_calls
from .parts import Kinds, Silent, Text, Thought, read_content
from .reading import Reading

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "function",
    "chat": "",  # has its role in a field
    "remove": "",
}

_KINDS: Kinds = {
    **OPENAI_KINDS,
    "reasoning_content": Thought(("reasoning_content", "text")),
    "summary_text": Text(("text",)),
    "tool_use": Silent(),
    "tool_call": Silent(),
    "tool_call_chunk": Silent(),
    "invalid_tool_call": Silent(),
    "function_call": Silent(),
    "input_json_delta": Silent(),
}


def claims(message: object) -> bool:
    inner = _inner(message)
    return _type(inner) in _ROLES and (inner is not message or _is_whole(message))


def read(message: object, reading: Reading) -> None:
    inner = _inner(message)
    kind = _type(inner)
    if kind == "remove":
        reading.notice("removed-message", f"the message {get(inner, 'id')!r} was removed")
        return
    role = _ROLES.get(kind) or word(get(inner, "role")) or "user"
    usage = usage_of(first(inner, ("usage_metadata", "usage")))
    answers = identifier(get(inner, "tool_call_id"))
    is_error = declared(inner) if role == "tool" else None
    reading.begin(role, usage=usage, tool_call_id=answers, is_error=is_error)
    beside = get(inner, "additional_kwargs")
    reasoning = get(beside, "reasoning_content")
    reading.thought(reasoning if isinstance(reasoning, str) else "")
    read_content(get(inner, "content"), _KINDS, reading)
    _read_calls(inner, beside, reading)


def _read_calls(message: object, beside: object, reading: Reading) -> None:
    calls, invalid = (listed(get(message, key)) for key in ("tool_calls", "invalid_tool_calls"))
    for call in calls:
        reading.call(get(call, "name"), get(call, "args"), get(call, "id"))
    for call in invalid:
        name, call_id = word(get(call, "name")), identifier(get(call, "id"))
        reading.made(invalid_call(name, get(call, "args"), call_id))
    if not calls and not invalid:
        read_calls(beside, reading)


def _inner(message: object) -> object:
    """Return the message inside `{type, data}` or `{lc, type, id, kwargs}`."""
    data = get(message, "data")
    if isinstance(data, Mapping) and isinstance(get(message, "type"), str):
        return {"type": get(message, "type"), **data}
    kwargs = get(message, "kwargs")
    if get(message, "lc") is not None and isinstance(kwargs, Mapping):
        path = listed(get(message, "id"))
        return {"type": word(path[-1]) if path else "", **kwargs}
    return message


def _type(message: object) -> str:
    """Return the type in one word: "ai" for "AIMessageChunk" and "AIMessage" as well."""
    kind = word(get(message, "type"))
    return kind.removesuffix("Chunk").removesuffix("Message").lower()


def _is_whole(message: object) -> bool:
    return get(message, "content") is not None or get(message, "type") == "remove"
