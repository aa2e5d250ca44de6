"""Structured calls as `ToolCall`s, for arguments in any form.

A call whose arguments are no JSON object was still made, and leaving it out would raise the score
of its model. It is kept without arguments and with the repair `invalid-arguments`, and its result
counts as an error unless the result says otherwise.
"""

from __future__ import annotations

import json
from typing import NoReturn

import orjson

from tunaeval.limits import MAX_FAST
from tunaeval.parsing.api import parse_message
from tunaeval.parsing.repair.values import not_json
from tunaeval.types.calls import (
    INVALID_ARGUMENTS,
    STRUCTURED,
    JsonObject,
    JsonValue,
    Repair,
    ToolCall,
    Tools,
)
from tunaeval.types.parsing import Level, ParseResult

from .fields import identifier, json_words

_SHOWN = 60
_LARGE = float(2**63)
_ATOMS = frozenset({str, int, bool, type(None)})


class _Prose:
    """A parser that reads every text as content."""

    name = "prose"

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        del tools, level
        return ParseResult(content=text)


PROSE = _Prose()


def call_of(name: JsonValue, arguments: JsonValue, call_id: JsonValue) -> ToolCall:
    """Return the call; `arguments` is an object, the JSON text of one, or nothing."""
    called = name if isinstance(name, str) else ""
    known = identifier(call_id)
    read = _arguments(arguments)
    if read is not None:
        return ToolCall(called, read, known, STRUCTURED)
    repaired = _repaired(arguments) if isinstance(arguments, str) else None
    if repaired is not None:
        return ToolCall(called, repaired.arguments, known, STRUCTURED, repairs=repaired.repairs)
    return invalid_call(called, arguments, known)


def invalid_call(
    name: str, arguments: JsonValue, call_id: str | None, why: JsonValue = None
) -> ToolCall:
    """Return a call with unusable arguments; `why` is the framework's reason, if it has one."""
    shown = arguments if isinstance(arguments, str) else json_words(arguments)
    words = f"its arguments are no JSON object: {shown[:_SHOWN]!r}"
    if isinstance(why, str) and why:
        words = f"its arguments could not be read: {why[:_SHOWN]}"
    repair = Repair(INVALID_ARGUMENTS, words, level="lenient")
    return ToolCall(name, {}, call_id, STRUCTURED, repairs=(repair,))


def _arguments(arguments: JsonValue) -> JsonObject | None:
    """Return the arguments if they need no repair, else None."""
    if (plain := plain_arguments(arguments)) is not None:
        return plain
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


def plain_arguments(arguments: JsonValue) -> JsonObject | None:
    """Return arguments in JSON text whose values are all strings, numbers, booleans or null.

    Most are, and orjson reads them faster. It turns integers beyond 64 bits into floats, so texts
    with large floats give None and are left to `json`.
    """
    if type(arguments) is not str or len(arguments) > MAX_FAST:
        return None
    try:
        read = orjson.loads(arguments)
    except ValueError:
        return None
    if type(read) is not dict:
        return None
    for value in read.values():
        kind = type(value)
        if kind not in _ATOMS and not (kind is float and -_LARGE < value < _LARGE):
            return None
    return read


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value")


def _repaired(arguments: str) -> ToolCall | None:
    """Return a call with the arguments as the parser repairs them, or None."""
    item = {"function": {"name": "_", "arguments": arguments}}
    read = parse_message({"role": "assistant", "tool_calls": [item]}, format=PROSE)
    return read.calls[0] if read.calls else None
