"""Which messages are a model's reply in a readable shape, and why any other is refused.

A call in a shape that is not read would count as no call at all, so unknown shapes raise an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tunaeval.errors import UsageError
from tunaeval.showing import shown

_CONTENT = ("content", "tool_calls", "function_call")
_BESIDE = frozenset({"role", "name", "id", "refusal", "reasoning", "reasoning_content"})
"""Fields that a message may have without content, as in a dump that leaves empty fields out."""

_NO_MODEL = frozenset({"user", "human", "tool", "function", "system", "developer"})
"""Roles (types, in frameworks that have those in place of roles) whose messages make no calls."""

_TEXTS = frozenset({"text", "output_text", "input_text"})
_SILENT = frozenset(
    {
        "refusal", "thinking", "redacted_thinking", "reasoning", "image", "image_url",
        "input_image", "audio", "input_audio", "output_audio", "file", "document",
    }
)  # fmt: skip
"""Types of content parts that contain neither text nor a call."""
_CALLS_AS_READ = "give the calls as ToolCalls, or as OpenAI-style tool_calls"


def wanted_reply(message: object) -> object:
    """Return the message. Raise UsageError if it is no reply of a model in a readable shape."""
    role = _field(message, "role") or _field(message, "type")
    if isinstance(role, str) and role in _NO_MODEL:
        raise UsageError(f"a {role} message makes no calls; wanted the message of a model")
    if not _has_content(message):
        raise UsageError(
            f"{shown(message)} has no content and no tool_calls; wanted an OpenAI-style message; "
            f"of another API's, {_CALLS_AS_READ}"
        )
    calls = _field(message, "tool_calls")
    if not isinstance(calls, list | tuple | None):
        raise UsageError(f"tool_calls is a {type(calls).__name__}; wanted a list of calls, or None")
    content = _field(message, "content")
    if not isinstance(content, str | list | tuple | None):
        raise UsageError(f"content is {shown(content)}; wanted text, a list of parts or None")
    if isinstance(content, list | tuple):
        for fault in _faults(content, {one for call in calls or () for one in _ids(call)}):
            raise UsageError(fault)
    return message


def _has_content(message: object) -> bool:
    if isinstance(message, Mapping):
        return any(key in message for key in _CONTENT) or message.keys() <= _BESIDE
    return any(hasattr(message, key) for key in _CONTENT)


def _faults(parts: Sequence[object], ids: set[str]) -> Iterator[str]:
    """Yield a message for each part that is not read; repeated calls of `tool_calls` are fine."""
    for index, part in enumerate(parts):
        kind = _field(part, "type")
        if isinstance(part, str) or (isinstance(kind, str) and kind in _SILENT):
            continue
        if not ids.isdisjoint(_ids(part)):
            continue
        if isinstance(kind, str) and kind not in _TEXTS:
            yield (
                f"content[{index}] is a {kind!r} part, which is not read; wanted text parts; for a "
                f"call of another API, {_CALLS_AS_READ}"
            )
        elif not _is_text(part):
            yield (
                f"content[{index}] is {shown(part)}; wanted a text, or a text part; for a "
                f"call of another API, {_CALLS_AS_READ}"
            )


def _is_text(part: object) -> bool:
    """Whether a part is text: by its type (others were refused before), or by its only field."""
    if isinstance(_field(part, "type"), str):
        return True
    alone = len(part) == 1 if isinstance(part, Mapping) else True
    return alone and isinstance(_field(part, "text"), str)


def _ids(call: object) -> list[str]:
    found = (_field(call, key) for key in ("id", "call_id"))
    return [one for one in found if isinstance(one, str)]


def _field(thing: object, key: str) -> object:
    return thing.get(key) if isinstance(thing, Mapping) else getattr(thing, key, None)
