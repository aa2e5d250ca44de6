"""ToolACE's rows: a list of tools in a system prompt, calls as `[Get Weather(city="Oslo")]`.

Names of tools may contain spaces, which no wire format allows. They are replaced by identifiers
before the text is parsed, and put back afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tunaeval.errors import ToolsError
from tunaeval.parsing.api import parse
from tunaeval.parsing.repair.values import Unreadable, scan
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import JsonObject, Tools, ToolSpec

from .rows import UnreadableRowError

_QUOTES = "\"'"


def tools_in(system: str) -> list[Any] | None:
    """Return the tools that a prompt contains as JSON objects, or lists of them; None if none."""
    found: list[Any] = []
    at = 0
    for _ in range(_MOST_TRIES):
        starts = [place for mark in "[{" if (place := system.find(mark, at)) >= 0]
        if not starts:
            break
        at = min(starts)
        read = scan(system, at)
        if isinstance(read, Unreadable):
            at += 1
            continue
        value, at = read[0], read[1]
        items = value if isinstance(value, list) else [value]
        if items and all(isinstance(one, Mapping) and _is_tool(one) for one in items):
            found += items
    return found or None


_MOST_TRIES = 1_000
"""How many brackets are tried: a prompt of only brackets would take quadratic time."""


def _is_tool(value: Mapping[str, Any]) -> bool:
    inner = value.get("function", value)
    return isinstance(inner, Mapping) and "name" in inner and "parameters" in inner


def pythonic_calls(turns: Iterable[JsonObject], listed: list[Any] | None) -> Iterator[JsonObject]:
    """Yield the messages, with the calls in the model's text as `ToolCall`s."""
    try:
        tools = to_tools(listed) if listed else None
    except ToolsError as error:
        raise UnreadableRowError(f"its tools cannot be understood: {error}") from error
    names = {name: f"tool_{index}" for index, name in enumerate(tools or ())}
    odd = {name: short for name, short in names.items() if not name.isidentifier()}
    for index, message in enumerate(turns):
        content = message.get("content")
        if message.get("role") != "assistant" or not isinstance(content, str):
            yield message
            continue
        if not content.lstrip().startswith("["):
            yield message
            continue
        yield _called(content, tools, odd, index)


def _called(content: str, tools: Tools | None, odd: Mapping[str, str], index: int) -> JsonObject:
    text = _renamed(content, odd)
    known = None if tools is None else _with_called(_also(tools, odd), text)
    result = parse(text, "llama4-pythonic", known)
    if not result.calls:
        if result.outcome == "no_call" and "(" not in content:
            return {"role": "assistant", "content": content}
        why = result.diagnoses[0].message if result.diagnoses else "its calls cannot be read"
        raise UnreadableRowError(f"message {index}, {content!r:.60}: {why}")
    if result.content.lstrip()[:1] == ",":
        raise UnreadableRowError(f"message {index}: {result.content!r:.60} is no call")
    own = {short: name for name, short in odd.items()}
    calls = [replace(call, name=own.get(call.name, call.name)) for call in result.calls]
    return {"role": "assistant", "content": result.content, "tool_calls": calls}


def _also(tools: Tools, odd: Mapping[str, str]) -> Tools:
    short = [replace(tools[name], name=one) for name, one in odd.items()]
    kept: list[ToolSpec] = [spec for name, spec in tools.items() if name not in odd]
    return Tools([*kept, *short])


def _with_called(tools: Tools, text: str) -> Tools:
    """Return the tools and all others that the text calls, so that no call is taken for prose."""
    called = {call.name for call in parse(text, "llama4-pythonic").calls} - tools.keys()
    return Tools([*tools.values(), *(ToolSpec(name) for name in sorted(called))])


def _renamed(text: str, odd: Mapping[str, str]) -> str:
    """Return the text with odd names replaced before a parenthesis, outside of quotes."""
    if not odd:
        return text
    names = sorted(odd, key=len, reverse=True)
    parts, at, start = [], 0, 0
    quote = ""
    while at < len(text):
        character = text[at]
        if quote:
            at += 1 + (character == "\\")
            quote = "" if character == quote else quote
            continue
        found = next((name for name in names if text.startswith(f"{name}(", at)), None)
        if found is not None and text[:at].rstrip()[-1:] in {"[", ",", ""}:
            parts += [text[start:at], odd[found]]
            at = start = at + len(found)
            continue
        quote = character if character in _QUOTES else ""
        at += 1
    return "".join([*parts, text[start:]])
