"""A fast path for lists of `Message`s and for plain chat completions.

Plain is a list of dicts with nothing but role, text, calls and the id of the answered call, like
most lists. Only chat completions look like this, so the list is read at once, with the same result
as by `openai_chat`; lists with anything else are left to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from tunaeval.types.calls import JsonObject, ToolCall
from tunaeval.types.conversations import Conversation
from tunaeval.types.messages import Message

from .calls import call_of
from .fields import identifier
from .reading import joined

OWN = "tunaeval"
"""The name of the shape of a list of `Message`s."""

CHAT = "openai-chat"

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_FIELDS = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})


def read_plain(thing: object, shape: str | None = None) -> Conversation | None:
    """Return the conversation if `thing` is such a list and no `shape` is given, else None."""
    if shape is not None or not isinstance(thing, list | tuple) or not thing:
        return None
    kinds = set(map(type, thing))
    if kinds == {Message}:
        own = cast("Sequence[Message]", thing)
        return joined(own, range(len(own)), len(own), OWN)
    read = _chat(thing) if kinds == {dict} else None
    return None if read is None else joined(read, range(len(read)), len(read), CHAT)


def _chat(things: Sequence[JsonObject]) -> list[Message] | None:
    messages = []
    for thing in things:
        message = _message(thing)
        if message is None:
            return None
        messages.append(message)
    return messages


def _message(thing: JsonObject) -> Message | None:
    if not (thing.keys() <= _FIELDS or _says_no_more(thing)):
        return None
    role, content = thing.get("role"), thing.get("content")
    if type(role) is not str or role not in _ROLES:
        return None
    if content is None:
        content = ""
    calls = _calls(thing.get("tool_calls"))
    if type(content) is not str or calls is None:
        return None
    return Message(role, content, calls, identifier(thing.get("tool_call_id")))


def _says_no_more(thing: JsonObject) -> bool:
    """Whether all other fields are null, as in the dump of an object."""
    return all(thing[key] is None for key in thing.keys() - _FIELDS)


def _calls(items: object) -> tuple[ToolCall, ...] | None:
    if items is None:
        return ()
    if type(items) is not list:
        return None
    calls = []
    for item in items:
        function = item.get("function") if type(item) is dict else None
        if type(function) is not dict:
            return None
        call = call_of(function.get("name"), function.get("arguments"), item.get("id"))
        if not call.name or call.invalid is not None:
            return None
        calls.append(call)
    return tuple(calls)
