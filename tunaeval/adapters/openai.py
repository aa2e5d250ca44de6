"""OpenAI chat messages, dictionaries or objects, as the library's own.

Each message becomes one message, so that indices stay. Only structured calls are calls: a reply's
text is content, whatever it looks like. A call whose arguments are no object is none, as
everywhere; its result then answers no call, which a score tells.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from tunaeval.errors import UsageError
from tunaeval.parsing import parse_message
from tunaeval.types import JsonValue, Level, Message, ParseResult, Tools

_MORE = ("tool_calls", "function_call", "reasoning_content", "reasoning")
"""The keys under which a message holds more than its content."""

_WANTED = "a list of OpenAI-style messages (dicts or objects with a role) or of tunaeval's Message"


class _Prose:
    """A parser that takes every text as content."""

    name = "prose"

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        del tools, level
        return ParseResult(content=text)


_PROSE = _Prose()


def to_messages(messages: Iterable[object]) -> tuple[Message, ...]:
    """The messages, one for one; a `Message` stays as it is. Raises UsageError for what is none."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise UsageError(f"messages is {messages!r:.60}, wanted {_WANTED}")
    return tuple(_message(message, index) for index, message in enumerate(messages))


def _message(message: object, index: int) -> Message:
    if isinstance(message, Message):
        return message
    role = _get(message, "role")
    if not isinstance(role, str) or not role:
        raise UsageError(f"messages[{index}] is {message!r:.60} and has no role; wanted {_WANTED}")
    read = _read(message)
    return Message(
        role=role,
        content=read.content,
        tool_calls=read.calls,
        tool_call_id=_text(_get(message, "tool_call_id")),
        reasoning=read.reasoning,
        is_error=_is_error(message),
    )


def _read(message: object) -> ParseResult:
    content = _get(message, "content")
    if isinstance(content, Mapping):  # a result that a host left undecoded
        return ParseResult(content=json.dumps(content, default=str, ensure_ascii=False))
    if isinstance(content, str) and not any(_get(message, key) for key in _MORE):
        return ParseResult(content=content)
    return parse_message(message, format=_PROSE)


def _is_error(message: object) -> bool | None:
    """Not OpenAI's, but hosts put it there: `is_error`, or LangChain's word."""
    declared = _get(message, "is_error")
    if isinstance(declared, bool):
        return declared
    return {"error": True, "success": False}.get(str(_get(message, "status")))


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _get(thing: object, key: str) -> JsonValue:
    # dict first: the abstract class is slow to ask
    return thing.get(key) if isinstance(thing, (dict, Mapping)) else getattr(thing, key, None)
