"""One structured call as a value of ours, whatever its framework made of its arguments.

A call whose arguments are no JSON object was made all the same, and a score that left it out would
flatter whoever made it. It stands in the conversation without arguments, marked with the mend
`invalid-arguments`, and its result counts as an error unless it says otherwise.
"""

from __future__ import annotations

import json
from typing import NoReturn

from tunaeval.parsing import parse_message
from tunaeval.repair import not_json
from tunaeval.types import (
    JsonObject,
    JsonValue,
    Level,
    ParseResult,
    Repair,
    ToolCall,
    Tools,
)

from .fields import identifier, json_words

INVALID = "invalid-arguments"

_STRUCTURED = "structured"
_SHOWN = 60


class _Prose:
    """A parser that takes every text as content."""

    name = "prose"

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        del tools, level
        return ParseResult(content=text)


PROSE = _Prose()


def call_of(name: JsonValue, arguments: JsonValue, call_id: JsonValue) -> ToolCall:
    """The call; its arguments are an object, JSON text of one, or nothing."""
    called = name if isinstance(name, str) else ""
    known = identifier(call_id)
    read = _arguments(arguments)
    if read is not None:
        return ToolCall(called, read, known, _STRUCTURED)
    mended = _mended(arguments) if isinstance(arguments, str) else None
    if mended is not None:
        return ToolCall(called, mended.arguments, known, _STRUCTURED, repairs=mended.repairs)
    return invalid_call(called, arguments, known)


def invalid_call(
    name: str, arguments: JsonValue, call_id: str | None, why: JsonValue = None
) -> ToolCall:
    """A call that could not have been run; `why` is what its framework says of it."""
    said = arguments if isinstance(arguments, str) else json_words(arguments)
    words = f"its arguments are no JSON object: {said[:_SHOWN]!r}"
    if isinstance(why, str) and why:
        words = f"its arguments could not be read: {why[:_SHOWN]}"
    repair = Repair(INVALID, words, level="lenient")
    return ToolCall(name, {}, call_id, _STRUCTURED, repairs=(repair,))


def is_invalid(call: ToolCall) -> bool:
    return any(repair.code == INVALID for repair in call.repairs)


def _arguments(arguments: JsonValue) -> JsonObject | None:
    """Arguments that need no mend; None for others."""
    if arguments is None or arguments == "":
        return {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments, parse_constant=_refuse)
        except (ValueError, RecursionError):
            return None
    if not isinstance(arguments, dict) or not_json(arguments):
        return None
    return arguments if all(isinstance(key, str) for key in arguments) else None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value")


def _mended(arguments: str) -> ToolCall | None:
    """What the parser makes of arguments that are not JSON as they stand."""
    item = {"function": {"name": "_", "arguments": arguments}}
    read = parse_message({"role": "assistant", "tool_calls": [item]}, format=PROSE)
    return read.calls[0] if read.calls else None
