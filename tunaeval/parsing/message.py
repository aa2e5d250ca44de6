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
from tunaeval.repair import Read
from tunaeval.types import (
    Diagnosis,
    JsonValue,
    Level,
    Outcome,
    ParseResult,
    Repair,
    Span,
    ToolCall,
    Tools,
)

from .collect import MAX_CALLS
from .judge import judge

STRUCTURED = "structured"
"""The `format` of a call that the server had parsed."""

_STRUCTURED = Format(STRUCTURED, (Literal(STRUCTURED), CallObject()))
"""Never read as text: it gives structured calls their name and keys."""

_REASONING_KEYS = ("reasoning_content", "reasoning")


def read_message(
    message: object, read: Callable[[str], ParseResult], tools: Tools | None, level: Level
) -> ParseResult:
    """Read a message (a dict or an object with the same attributes); `read` reads its text."""
    if message is None or isinstance(message, str | bytes | list):
        raise UsageError(f"a message is a dict or an object, not {message!r:.60}")
    structured = [*_listed(_get(message, "tool_calls")), *_legacy(message)]
    calls, diagnoses = _structured(structured[:MAX_CALLS], tools, level)
    text = read(_text(_get(message, "content")))
    reasoning = next(filter(None, (_get(message, key) for key in _REASONING_KEYS)), None)
    if isinstance(reasoning, str):
        text = replace(text, reasoning=reasoning + (text.reasoning or ""))
    if not structured:
        return text
    if not calls:
        outcome: Outcome = "malformed" if text.outcome == "no_call" else text.outcome
        return replace(text, diagnoses=(*diagnoses, *text.diagnoses), outcome=outcome)
    return replace(
        text,
        calls=tuple(calls),
        diagnoses=(*diagnoses, *(d for d in text.diagnoses if not text.calls)),
        outcome="calls",
    )


def _structured(
    items: list[object], tools: Tools | None, level: Level
) -> tuple[list[ToolCall], list[Diagnosis]]:
    calls: list[ToolCall] = []
    diagnoses: list[Diagnosis] = []
    for index, item in enumerate(items):
        function = _get(item, "function")
        source = function if function is not None and not isinstance(function, str) else item
        value = {"name": _get(source, "name"), "arguments": _get(source, "arguments")}
        if value["arguments"] is None and function is None:
            value["arguments"] = _get(source, "args")
        value["id"] = _get(item, "id")
        verdict = judge(
            Read(value),
            word=_STRUCTURED.call,
            form=_STRUCTURED,
            span=Span(0, 0),
            tools=tools,
            level="standard" if level == "strict" else level,
        )
        where = f"tool_calls[{index}]: "
        diagnoses += [Diagnosis(note.code, where + note.message) for note in verdict.notes]
        if verdict.call:
            calls.append(_without_encoding(verdict.call))
    return calls, diagnoses


def _without_encoding(call: ToolCall) -> ToolCall:
    """A structured call's arguments are text by the API's own rule: reading them is no mend."""
    repairs = tuple(r for r in call.repairs if r.code != "encoded-arguments")
    return replace(call, span=None, repairs=tuple(_unplaced(r) for r in repairs))


def _unplaced(repair: Repair) -> Repair:
    return replace(repair, span=None)


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
