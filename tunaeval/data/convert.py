"""Conversion of texts and data set rows from one wire format to another.

A reply is converted as a whole, or its calls are taken out or put in. Text around the calls stays
unchanged and in place; reasoning gets the markers of the new format. Each conversion is parsed
again: if that gives other calls, content or reasoning, the result is an `Unconvertible` with the
reason. So nothing is converted wrongly, and what a format cannot express is refused (a string "5",
in a format that writes values as bare text, without a schema).

The replies of a row are found by its shape:

    "..."                                           a reply
    {"text": "..."}, {"completion": "..."}, ...     a reply in a field (`TEXT_KEYS`)
    {"role": "assistant", "content": ...}           a message; only a model's are converted
    {"messages": [...]}, {"conversations": [...]}   a conversation
    {"prompt": [...], "completion": [...]}          a conversation of TRL, in lists
    {"message": {...}}, {"choices": [...]}          a chat completion

Structured calls are put beside the text of a message or a field, as `tool_calls` in OpenAI's shape;
a row that is only a text becomes a message for them. If no tools are given, a row's own `tools`
decide what may be called, and the types of arguments. All other fields are kept, and a row without
anything to convert is returned unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from tunaeval.errors import ToolsError, UsageError
from tunaeval.grammar import THINK, Reasoning
from tunaeval.grammar.format import Format
from tunaeval.parsing.api import format_named, formats, reader_named
from tunaeval.parsing.collect import Kind
from tunaeval.parsing.message import read_message
from tunaeval.parsing.read_back import lost_call, misread
from tunaeval.parsing.reader import AnyTools, Reader, known_tools, reader_of
from tunaeval.parsing.templates import check_template, turn_by
from tunaeval.parsing.write import render_calls
from tunaeval.showing import brief
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import STRUCTURED, JsonObject, JsonValue, ToolCall, Tools, openai_call
from tunaeval.types.parsing import Level, ParseResult

from .rows import results_in, written_arguments


@dataclass(frozen=True, slots=True)
class Unconvertible:
    """The reason why a text or a row was not converted."""

    reason: str


class _RefusedError(ValueError):
    """What a text or a row cannot be converted for; its text is an `Unconvertible`'s reason."""


@dataclass(frozen=True, slots=True)
class Route:
    """A conversion between two formats; None means structured calls, which are not in the text."""

    source: Reader | None
    target: Format | None
    tools: Tools | None = None
    level: Level = "standard"
    arguments: str = "object"
    """How structured calls write their arguments: "object", or "text" (JSON text)."""
    template: str = ""
    """A chat template, which writes a whole reply in place of the target; that reads it back."""


def route_by_template(
    source: str | Format | Reader, template: str, tools: AnyTools = None, level: Level = "standard"
) -> Route:
    """Return the route from a format (or "structured") to what a chat template writes.

    Raises `UsageError` for a template whose calls no format reads back.
    """
    found = check_template(template)
    if found.format is None:
        raise UsageError(f"what the template writes is not read back: {found.fault}")
    return replace(route_between(source, found.format, tools, level), template=template)


def route_between(
    source: str | Format | Reader,
    target: str | Format,
    tools: AnyTools = None,
    level: Level = "standard",
    arguments: str | None = None,
) -> Route:
    """Return the route between two formats, for `convert_text` and `convert_row`.

    "structured" (alias "openai") on one side means structured calls, which are in messages. The
    wire format that vLLM calls "openai" is "harmony" here. Structured calls are written with
    `arguments` as "object" (the default), as "text" (JSON text), or as a chat template (its text)
    wants them. Structured calls on both sides are a UsageError, unless `arguments` are given.
    """
    if isinstance(source, str):
        formats.refuse_clash(source)
    target_format = None if target in _STRUCTURED else format_named(target)
    reader = None if source in _STRUCTURED else reader_named(source)
    if target_format is None and reader is None and arguments is None:
        raise UsageError(
            f"{source!r} and {target!r} both mean structured calls, so there is nothing to "
            "convert; name a wire format on one side, or how to write arguments (object or text)"
        )
    kind = written_arguments(arguments or "object")
    return Route(reader, target_format, known_tools(tools), level, kind)


_STRUCTURED = (STRUCTURED, "openai")
"""The names of structured calls in `route_between`."""


def convert_text(text: str, route: Route) -> str | Unconvertible:
    """Return the reply with its calls written in the target format; without calls, unchanged.

    Raises UsageError if either side of the route is structured calls, which are not in texts.
    """
    if route.source is None or route.target is None:
        raise UsageError(
            "structured calls are in messages, not in a text; name two wire formats for a text"
        )
    try:
        return _convert(text, route.source, route.target, route)
    except _RefusedError as error:
        return Unconvertible(str(error))


def _convert(text: str, source: Reader, target: Format, route: Route) -> str:
    result, parts = _read_parts(text, source, route)
    if not result.calls or route.template:
        return _confirmed(text, result, target, route)
    try:
        return _confirmed(_written_parts(parts, target, ""), result, target, route)
    except _RefusedError:  # some formats are only read at the beginning of a line
        with suppress(_RefusedError):
            return _confirmed(_written_parts(parts, target, "\n"), result, target, route)
        raise


def _confirmed(text: str, expected: ParseResult, target: Format, route: Route) -> str:
    """Return the text if the target format reads it as `expected`; a template writes all anew."""
    if route.template and expected.calls:
        thought = (expected.reasoning or "").strip()
        fields = {"content": expected.content.strip(), "reasoning_content": thought}
        try:
            text = turn_by(route.template, expected.calls, route.tools, fields=fields)
        except UsageError as error:
            raise _RefusedError(str(error)) from error
    back = reader_of(target).parse(text, tools=route.tools, level=route.level)
    if why := misread(back, expected.calls, ordered=True):
        retyped = (
            not route.tools and misread(back, expected.calls, ordered=True, by_schema=True) is None
        )
        hint = "; with tools, the types of arguments are known" if retyped else ""
        raise _RefusedError(f"in {target.name}, {why}{hint}")
    if expected.reasoning is not None and not target.reasoning:
        return text
    if _stripped(expected.content, expected.reasoning) != _stripped(back.content, back.reasoning):
        raise _RefusedError(f"the words around the calls are read differently in {target.name}")
    return text


def _stripped(content: str, reasoning: str | None) -> tuple[str, str]:
    """Return content and reasoning without white space."""
    return "".join(content.split()), "".join((reasoning or "").split())


class _Thought(NamedTuple):
    """Reasoning, its markers if they are known, and whether each of the two was written."""

    text: str
    markers: Reasoning | None
    opened: bool
    closed: bool


_Part = str | list[ToolCall] | _Thought
_Run = tuple[str, int, int, list[ToolCall]]


def _read_parts(text: str, source: Reader, route: Route) -> tuple[ParseResult, list[_Part]]:
    result, tiles = source.read_tiled(text, route.tools, route.level)
    if lost := lost_call(result.diagnoses):
        raise _RefusedError(lost)
    return result, [*_parts(text, _runs(tiles, result), source)]


def _runs(tiles: Iterable[tuple[Kind, int, int]], result: ParseResult) -> list[_Run]:
    """Merge adjacent tiles into runs of content, of reasoning, or of markup with its calls."""
    waiting = iter(result.calls)
    runs: list[_Run] = []
    kept = {"content", "reasoning"}
    for kind, group in groupby(tiles, key=lambda tile: tile[0] if tile[0] in kept else "frame"):
        run = list(group)
        calls = [next(waiting) for tile in run if tile[0] == "call"]
        runs.append((kind, run[0][1], run[-1][2], calls))
    return runs


def _parts(text: str, runs: list[_Run], source: Reader) -> Iterator[_Part]:
    """Yield content, reasoning and calls in order.

    Of the markup around messages and calls only the calls and white space are kept.
    """
    markers = [one for fmt in source.formats for one in fmt.reasoning]
    around = ["", *(text[start:end] if kind == "frame" else "" for kind, start, end, _ in runs), ""]
    for index, (kind, start, end, calls) in enumerate(runs):
        if kind == "content":
            yield text[start:end]
        elif kind == "reasoning":
            before, after = around[index], around[index + 2]
            own = [m for m in markers if _opens(before, m) or after.startswith(m.close)]
            yield _Thought(text[start:end], own[0] if own else None, bool(before), bool(after))
        else:
            yield from _frame(text[start:end], calls, markers)


def _frame(text: str, calls: list[ToolCall], markers: list[Reasoning]) -> Iterator[_Part]:
    """Yield the calls in a run of markup, and the white space before and after the markup."""
    bare = next((text[len(m.close) :] for m in markers if text.startswith(m.close)), text)
    opened = next((m for m in markers if _opens(bare, m)), None)
    bare = bare.rstrip()[: -len(opened.open)] if opened else bare
    inner = bare.strip()
    before, after = bare.partition(inner)[::2] if inner else (bare, "")
    yield before
    if calls:
        yield calls
    yield after


def _opens(markup: str, markers: Reasoning) -> bool:
    return markup.rstrip().endswith(markers.open)


def _written_parts(parts: list[_Part], target: Format | None, gap: str) -> str:
    """Return the parts as text in the target format; without a target, leave out the calls."""
    out: list[str] = []
    for part in parts:
        if isinstance(part, str):
            out.append(part)
        elif isinstance(part, _Thought):
            markers = _markers_for(part, target)
            out += [markers.open] * part.opened + [part.text] + [markers.close] * part.closed
        elif target is not None:
            out += [gap, render_calls(part, target), gap]
    return "".join(out)


def _markers_for(thought: _Thought, target: Format | None) -> Reasoning:
    """Return the reasoning's own markers if the target writes them, else the target's first.

    `<think>` is read in every format, but written only if it is the target's first.
    """
    own = thought.markers or THINK
    if target is None or not target.reasoning or (own in target.reasoning and own != THINK):
        return own
    return target.reasoning[0]


TEXT_KEYS = ("content", "text", "completion", "response", "output", "value")
"""The fields that may contain a reply."""

_CONVERSATIONS = ("messages", "conversations", "conversation", "choices")
_OF_TRL = ("prompt", "completion", "chosen", "rejected")
_SPEAKER = ("role", "from")
_MODELS = frozenset({"assistant", "model", "gpt", "ai"})
_CALL_KEYS = ("tool_calls", "function_call")


def convert_row(
    row: JsonValue, route: Route, *, field: str | None = None
) -> JsonValue | Unconvertible:
    """Return the row with its replies (or the one in `field`) converted, or why that failed."""
    try:
        return _row(row, route, field)
    except _RefusedError as error:
        return Unconvertible(str(error))


def _row(row: JsonValue, route: Route, field: str | None) -> JsonValue:
    if isinstance(row, str):
        if route.source is not None and route.target is not None:
            return _convert(row, route.source, route.target, route)
        message = {"role": "assistant", "content": row}
        made = _reply(message, "content", route, ())
        return row if made is message else made
    if not isinstance(row, dict):
        raise _RefusedError(f"a row is a text or an object, not {type(row).__name__}")
    if route.tools is None and isinstance(row.get("tools"), list | str) and row["tools"]:
        try:
            route = replace(route, tools=to_tools(row["tools"]))
        except ToolsError as error:
            raise _RefusedError(f"its own tools cannot be understood: {error}") from error
    if field is None:
        return _found(row, route, ())
    if field not in row and route.source is not None:
        raise _RefusedError(f"it has no field {field[:40]!r}")
    return _reply(row, field, route, ())


def _found(row: JsonObject, route: Route, ids: Sequence[str]) -> JsonObject:
    """Convert a row by its shape: conversation, completion, message, or reply in a field."""
    lists = [key for key in _CONVERSATIONS if isinstance(row.get(key), list)][:1]
    lists = lists or [key for key in _OF_TRL if isinstance(row.get(key), list)]
    for key in lists:
        row = _with(row, key, _each(row[key], key, route))
    if lists:
        return row
    if isinstance(row.get("message"), dict):
        return _with(row, "message", _found(row["message"], route, ids))
    speaker = next((row[key] for key in _SPEAKER if key in row), None)
    if speaker == "tool" and route.target is None and isinstance(row.get("content"), str):
        (first, *more) = results_in(row["content"])
        return row if more or first == row["content"] else {**row, "content": first}
    if not isinstance(speaker, str | None):
        raise _RefusedError(f"its role is {brief(speaker, 40)}, wanted a text")
    if speaker is not None and speaker not in _MODELS:
        return row
    keys = [key for key in TEXT_KEYS if key in row]
    if not keys and any(row.get(key) for key in _CALL_KEYS):
        keys = ["content"]
    if len(keys) == 1:
        return _reply(row, keys[0], route, ids)
    found = ", ".join(repr(str(key)[:40]) for key in [*row][:8]) or "nothing"
    raise _RefusedError(f"found {found}; wanted messages, or one of {', '.join(TEXT_KEYS)}")


def _each(rows: list[JsonValue], name: str, route: Route) -> list[JsonValue]:
    """Convert each message or choice; a model's calls get the ids of the results that follow."""
    made: list[JsonValue] = []
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            raise _RefusedError(f"{name}[{index}]: this is no object")
        try:
            made.append(_found(row, route, [*_answered(rows[index + 1 :]), f"call_{index}"]))
        except _RefusedError as error:
            raise _RefusedError(f"{name}[{index}]: {error}") from error
    return made if any(new is not old for new, old in zip(made, rows, strict=True)) else rows


def _answered(following: Sequence[JsonValue]) -> Iterator[str]:
    """Yield the ids of the calls that are answered before any other message."""
    for message in following:
        if not isinstance(message, dict) or not isinstance(message.get("tool_call_id"), str):
            return
        yield message["tool_call_id"]


def _with(row: JsonObject, key: str, value: JsonValue) -> JsonObject:
    return row if value is row.get(key) else {**row, key: value}


def _reply(row: JsonObject, key: str, route: Route, ids: Sequence[str]) -> JsonObject:
    """Convert the reply in the field `key`, and the structured calls beside it."""
    source, target = route.source, route.target
    if source is None:
        return _put_in(row, key, route, ids)
    if target is None:
        return _taken_out(row, key, source, route, ids)
    return _with(
        row, key, _through(row.get(key), lambda text: _convert(text, source, target, route))
    )


def _put_in(row: JsonObject, key: str, route: Route, ids: Sequence[str]) -> JsonObject:
    """Write the structured calls of a message after its text, or in the structure asked for."""
    structured = {name: row[name] for name in _CALL_KEYS if row.get(name)}
    if not structured:
        return row
    read = read_message(structured, lambda _: ParseResult(), route.tools, route.level)
    if lost := lost_call(read.diagnoses):
        raise _RefusedError(lost)
    rest = {name: row[name] for name in row if name not in structured}
    target = route.target
    if target is None:
        return {**rest, "tool_calls": [*_openai(read.calls, ids[-1:], route.arguments)]}
    content = _through(row.get(key), lambda text: text)
    text = content if isinstance(content, str) else ""
    before = reader_of(target).parse(text, tools=route.tools, level=route.level)
    if before.calls:
        raise _RefusedError("the text beside the structured calls contains calls of its own")
    gap = "\n" if text and not text.endswith("\n") else ""
    written = text + gap + render_calls(read.calls, target)
    text = _confirmed(written, replace(before, calls=read.calls), target, route)
    made = [*content, {"type": "text", "text": text}] if isinstance(content, list) else text
    return {**rest, key: made}


def _taken_out(
    row: JsonObject, key: str, source: Reader, route: Route, ids: Sequence[str]
) -> JsonObject:
    """Write the calls in a reply's text as structured calls beside it."""
    calls: list[ToolCall] = []

    def take(text: str) -> str:
        result, parts = _read_parts(text, source, route)
        calls.extend(result.calls)
        return _written_parts(parts, None, "").strip() if result.calls else text

    content = _through(row.get(key), take)
    if not calls:
        return row
    if any(row.get(name) for name in _CALL_KEYS):
        raise _RefusedError("there are structured calls already beside those in the text")
    nothing = None if key == "content" else ""
    written = [*_openai(calls, ids, route.arguments)]
    return {**row, key: content or nothing, "tool_calls": written}


def _openai(calls: Sequence[ToolCall], ids: Sequence[str], kind: str) -> Iterator[JsonObject]:
    """Yield calls in OpenAI's shape, with the ids of their results, their own, or new ones."""
    *answered, made = ids or ("call",)
    for index, call in enumerate(calls):
        own = answered[index] if index < len(answered) else call.id or f"{made}_{index}"
        yield openai_call(call, own, kind)


def _through(content: JsonValue, change: Callable[[str], str]) -> JsonValue:
    """Return a message's content (a text, parts, or None) with `change` applied to every text."""
    if content is None:
        return None
    if isinstance(content, str):
        new = change(content)
        return content if new == content else new
    if not isinstance(content, list):
        raise _RefusedError(f"content is a text or a list, not {type(content).__name__}")
    made: list[JsonValue] = [
        _with(part, "text", _through(part["text"], change))
        if isinstance(part, dict) and isinstance(part.get("text"), str)
        else part
        for part in content
    ]
    return made if any(new is not old for new, old in zip(made, content, strict=True)) else content
