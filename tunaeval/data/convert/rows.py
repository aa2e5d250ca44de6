"""Rows of data sets: where replies are in them, and how these are converted.

    "..."                                           a reply
    {"text": "..."}, {"completion": "..."}, ...     a reply in a field (`TEXT_KEYS`)
    {"role": "assistant", "content": ...}           a message; only a model's are converted
    {"messages": [...]}, {"conversations": [...]}   a conversation
    {"prompt": [...], "completion": [...]}          a conversation of TRL, in two lists
    {"message": {...}}, {"choices": [...]}          a chat completion

Structured calls are put beside the text of a message or a field, as `tool_calls` in OpenAI's shape;
a row that is only a text becomes a message for them. If no tools are given, a row's own `tools`
decide what may be called, and the types of arguments. All other fields are kept, and a row without
anything to convert is returned unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from tunaeval.errors import ToolsError
from tunaeval.parsing.collect import arguments_text
from tunaeval.parsing.message import read_message
from tunaeval.parsing.write import lost_call
from tunaeval.showing import brief
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall
from tunaeval.types.parsing import ParseResult

from .replies import Route, Unconvertible, calls_put_in, calls_taken_out, convert_text

TEXT_KEYS = ("content", "text", "completion", "response", "output", "value")
"""The fields that may contain a reply."""

_CONVERSATIONS = ("messages", "conversations", "conversation", "choices")
_SPEAKER = ("role", "from")
_MODELS = frozenset({"assistant", "model", "gpt", "ai"})
_STRUCTURED = ("tool_calls", "function_call")

_Converted: TypeAlias = JsonValue | Unconvertible


def convert_row(row: JsonValue, route: Route, *, field: str | None = None) -> _Converted:
    """Return the row with its replies converted. `field` names the field of the reply."""
    if isinstance(row, str):
        return _alone(row, route)
    if not isinstance(row, dict):
        return Unconvertible(f"a row is a text or an object, not {type(row).__name__}")
    if route.tools is None and isinstance(row.get("tools"), list | str) and row["tools"]:
        try:
            route = replace(route, tools=to_tools(row["tools"]))
        except ToolsError as error:
            return Unconvertible(f"its own tools cannot be understood: {error}")
    if field is not None:
        if field not in row and route.source is not None:
            return Unconvertible(f"it has no field {field[:40]!r}")
        return _reply(row, field, route, ())
    return _found(row, route, ())


def _alone(text: str, route: Route) -> _Converted:
    if route.source is None:
        return text
    if route.target is not None:
        return convert_text(text, route)
    message = {"role": "assistant", "content": text}
    made = _reply(message, "content", route, ())
    return text if made is message else made


def _found(row: JsonObject, route: Route, ids: Sequence[str]) -> _Converted:
    """Convert a row by its shape: conversation, completion, message, or reply in a field."""
    for key in _CONVERSATIONS:
        if isinstance(row.get(key), list):
            return _with(row, key, _each(row[key], key, route))
    if isinstance(row.get("completion"), list):
        return _of_trl(row, route)
    if isinstance(row.get("message"), dict):
        return _with(row, "message", _found(row["message"], route, ids))
    speaker = next((row[key] for key in _SPEAKER if key in row), None)
    if not isinstance(speaker, str | None):
        return Unconvertible(f"its role is {brief(speaker, 40)}, wanted a text")
    if speaker is not None and speaker not in _MODELS:
        return row
    keys = [key for key in TEXT_KEYS if key in row]
    if not keys and any(row.get(key) for key in _STRUCTURED):
        keys = ["content"]
    if len(keys) == 1:
        return _reply(row, keys[0], route, ids)
    found = ", ".join(repr(str(key)[:40]) for key in [*row][:8]) or "nothing"
    return Unconvertible(f"found {found}; wanted messages, or one of {', '.join(TEXT_KEYS)}")


def _of_trl(row: JsonObject, route: Route) -> _Converted:
    made: JsonObject = row
    for key in ("prompt", "completion"):
        if isinstance(row.get(key), list):
            found = _with(made, key, _each(row[key], key, route))
            if isinstance(found, Unconvertible):
                return found
            made = found
    return made


def _each(rows: Sequence[JsonValue], name: str, route: Route) -> _Converted:
    """Convert each message or choice; a model's calls get the ids of the results that follow."""
    made: list[JsonValue] = []
    for index, row in enumerate(rows):
        found: _Converted = Unconvertible("this is no object")
        if isinstance(row, dict):
            found = _found(row, route, [*_answered(rows[index + 1 :]), f"call_{index}"])
        if isinstance(found, Unconvertible):
            return Unconvertible(f"{name}[{index}]: {found.reason}")
        made.append(found)
    return made if any(new is not old for new, old in zip(made, rows, strict=True)) else rows


def _answered(following: Sequence[JsonValue]) -> Iterator[str]:
    """Yield the ids of the calls that are answered before any other message."""
    for message in following:
        if not isinstance(message, dict) or not isinstance(message.get("tool_call_id"), str):
            return
        yield message["tool_call_id"]


def _with(row: JsonObject, key: str, value: _Converted) -> _Converted:
    if isinstance(value, Unconvertible):
        return value
    return row if value is row.get(key) else {**row, key: value}


def _reply(row: JsonObject, key: str, route: Route, ids: Sequence[str]) -> _Converted:
    """Convert the reply in the field `key`, and the structured calls beside it."""
    if route.source is None:
        return _put_in(row, key, route)
    if route.target is None:
        return _taken_out(row, key, route, ids)
    return _with(row, key, _through(row.get(key), lambda text: convert_text(text, route)))


def _put_in(row: JsonObject, key: str, route: Route) -> _Converted:
    structured = {name: row[name] for name in _STRUCTURED if row.get(name)}
    if not structured:
        return row
    read = read_message(structured, lambda _: ParseResult(), route.tools, route.level)
    if lost := lost_call(read.diagnoses):
        return Unconvertible(lost)
    content = _through(row.get(key), lambda text: text)
    if isinstance(content, Unconvertible):
        return content
    text = calls_put_in(content if isinstance(content, str) else "", read.calls, route)
    if isinstance(text, Unconvertible):
        return text
    made = [*content, {"type": "text", "text": text}] if isinstance(content, list) else text
    return {**{name: row[name] for name in row if name not in structured}, key: made}


def _taken_out(row: JsonObject, key: str, route: Route, ids: Sequence[str]) -> _Converted:
    calls: list[ToolCall] = []

    def take(text: str) -> str | Unconvertible:
        found = calls_taken_out(text, route)
        if isinstance(found, Unconvertible):
            return found
        calls.extend(found[1])
        return found[0]

    content = _through(row.get(key), take)
    if isinstance(content, Unconvertible) or not calls:
        return content if isinstance(content, Unconvertible) else row
    if any(row.get(name) for name in _STRUCTURED):
        return Unconvertible("there are structured calls already beside those in the text")
    nothing = None if key == "content" else ""
    return {**row, key: content or nothing, "tool_calls": [*_openai(calls, ids)]}


def _openai(calls: Sequence[ToolCall], ids: Sequence[str]) -> Iterator[JsonObject]:
    """Yield calls in OpenAI's shape, with the ids of their results, their own, or new ones."""
    *answered, made = ids or ("call",)
    for index, call in enumerate(calls):
        own = answered[index] if index < len(answered) else call.id or f"{made}_{index}"
        function = {"name": call.name, "arguments": arguments_text(call.arguments)}
        yield {"id": own, "type": "function", "function": function}


def _through(content: JsonValue, change: Callable[[str], str | Unconvertible]) -> _Converted:
    """Return a message's content (a text, parts, or None) with `change` applied to every text."""
    if content is None:
        return None
    if isinstance(content, str):
        new = change(content)
        return content if new == content else new
    if not isinstance(content, list):
        return Unconvertible(f"content is a text or a list, not {type(content).__name__}")
    made: list[JsonValue] = []
    for part in content:
        found: _Converted = part
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            found = _with(part, "text", _through(part["text"], change))
        if isinstance(found, Unconvertible):
            return found
        made.append(found)
    return made if any(new is not old for new, old in zip(made, content, strict=True)) else content
