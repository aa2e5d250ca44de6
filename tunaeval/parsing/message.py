"""OpenAI-style messages: structured calls first, then the text.

Where the server has parsed calls, those are the calls, and the text is read for its content and
reasoning only, so that a call which a server left in the text is not counted twice. When none of
the structured calls stands, the text is read as if there had been none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tunaeval.errors import UsageError
from tunaeval.grammar import CallObject, Format, Literal
from tunaeval.repair import Note, Read, Unreadable, not_json, read_json
from tunaeval.types import (
    Diagnosis,
    JsonValue,
    Level,
    Outcome,
    ParseResult,
    Span,
    ToolCall,
    Tools,
)

from .collect import MAX_CALLS
from .judge import Verdict, judge

STRUCTURED = "structured"
"""The `format` of a call that the server had parsed."""

_CALL = CallObject()
_STRUCTURED = Format(STRUCTURED, (Literal(STRUCTURED), _CALL))
"""Never read as text: it gives structured calls their name and keys."""

_FIELDS = ("role", "content", "tool_calls", "function_call")
_WANTED = "role, content and tool_calls"
_REASONING_KEYS = ("reasoning_content", "reasoning")


def read_message(
    message: object, read: Callable[[str], ParseResult], tools: Tools | None, level: Level
) -> ParseResult:
    """Read a message (a dict or an object with the same attributes); `read` reads its text."""
    if not isinstance(message, Mapping) and not any(hasattr(message, key) for key in _FIELDS):
        raise UsageError(
            f"{message!r:.60} is no message: wanted a dict or an object with {_WANTED}"
        )
    structured = [*_listed(_get(message, "tool_calls")), *_legacy(message)]
    text = read(_text(_get(message, "content")))
    reasoning = next(filter(None, (_get(message, key) for key in _REASONING_KEYS)), None)
    if isinstance(reasoning, str):
        text = replace(text, reasoning=reasoning + (text.reasoning or ""))
    return _joined(_structured(structured, tools, level), text) if structured else text


def _joined(structured: ParseResult, text: ParseResult) -> ParseResult:
    """What the server parsed, with what the text says beside it."""
    diagnoses = structured.diagnoses
    if structured.calls:
        told = () if text.calls else text.diagnoses
        outcome, calls = structured.outcome, structured.calls
    else:
        told, calls = text.diagnoses, text.calls
        outcome = text.outcome if text.outcome != "no_call" else structured.outcome
    return replace(
        text,
        calls=calls,
        diagnoses=(*diagnoses, *told),
        truncated=text.truncated or structured.truncated,
        outcome=outcome,
    )


def _structured(items: list[object], tools: Tools | None, level: Level) -> ParseResult:
    """The calls that a server had parsed, and why some of them are none."""
    calls: list[ToolCall] = []
    diagnoses: list[Diagnosis] = []
    truncated = False
    for index, item in enumerate(items[:MAX_CALLS]):
        verdict = _judged(item, tools, level)
        where = f"tool_calls[{index}]: "
        diagnoses += [Diagnosis(note.code, where + note.message) for note in verdict.notes]
        truncated = truncated or verdict.truncated
        if verdict.call:
            repairs = tuple(replace(repair, span=None) for repair in verdict.call.repairs)
            calls.append(replace(verdict.call, span=None, repairs=repairs))
    if len(items) > MAX_CALLS:
        diagnoses.append(Diagnosis("too-many-calls", f"more than {MAX_CALLS} calls"))
    outcome: Outcome = "calls" if calls else "truncated" if truncated else "malformed"
    return ParseResult(tuple(calls), "", None, tuple(diagnoses), truncated, outcome)


def _judged(item: object, tools: Tools | None, level: Level) -> Verdict:
    """One structured call. Its arguments are text by the API's rule: to read them is no mend."""
    function = _get(item, "function")
    source = function if function is not None and not isinstance(function, str) else item
    arguments = _get(source, "arguments")
    if arguments is None and function is None:
        arguments = _get(source, "args")
    read = _read_arguments(arguments)
    if isinstance(read, Note):
        return Verdict(None, (read,))
    call = {"name": _get(source, "name"), "arguments": read.value, "id": _get(item, "id")}
    return judge(
        read._replace(value=call),
        word=_CALL,
        form=_STRUCTURED,
        span=Span(0, 0),
        tools=tools,
        level=level,
    )


def _read_arguments(arguments: JsonValue) -> Read | Note:
    if isinstance(arguments, str) and arguments.strip():
        read = read_json(arguments)
        if isinstance(read, Unreadable):
            return Note("invalid-arguments", read.message)
        return read
    if fault := not_json(arguments):
        return Note("invalid-arguments", fault)
    return Read(arguments)


def _legacy(message: object) -> list[object]:
    function = _get(message, "function_call")
    return [function] if function is not None and not _get(message, "tool_calls") else []


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _text(content: JsonValue) -> str:
    """The text of a message's content: a string, null, or a list of parts."""
    if isinstance(content, str):
        return content
    parts = [_get(part, "text") if not isinstance(part, str) else part for part in _listed(content)]
    return "".join(part for part in parts if isinstance(part, str))


def _get(thing: object, key: str) -> JsonValue:
    """A field of a dictionary or an object; None if it has none."""
    if isinstance(thing, Mapping):
        return thing.get(key)
    return getattr(thing, key, None)
