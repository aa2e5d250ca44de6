"""Calls that a server left in the text, although it was to parse them: a repair, or none at all."""

from __future__ import annotations

from dataclasses import replace

from tunaeval.types import (
    LEAKED_CALL,
    LEVELS,
    STRUCTURED,
    Diagnosis,
    Level,
    ParseResult,
    Repair,
    ToolCall,
)

_LEAKED_LEVEL: Level = "standard"


def served(result: ParseResult, level: Level) -> ParseResult:
    """A message's result where the server was to parse the calls, as it was given the tools.

    A call that it left in the text is there all the same, by a repair of what the server did.
    """
    if all(call.source == STRUCTURED for call in result.calls):
        return result
    if LEVELS.index(level) < LEVELS.index(_LEAKED_LEVEL):
        return structured_only(result)
    return replace(result, calls=tuple(map(_leaked, result.calls)))


def structured_only(result: ParseResult) -> ParseResult:
    """The result with none but the calls that a server had parsed; each other has a diagnosis."""
    left = [call for call in result.calls if call.source != STRUCTURED]
    if not left:
        return result
    calls = tuple(call for call in result.calls if call.source == STRUCTURED)
    notes = (Diagnosis(LEAKED_CALL, f"{call.name!r}: {_left_in(call)}", call.span) for call in left)
    return replace(
        result,
        calls=calls,
        diagnoses=(*result.diagnoses, *notes),
        outcome="calls" if calls else "malformed",
    )


def _leaked(call: ToolCall) -> ToolCall:
    if call.source == STRUCTURED:
        return call
    repair = Repair(LEAKED_CALL, _left_in(call), call.span, _LEAKED_LEVEL)
    return replace(call, repairs=(*call.repairs, repair))


def _left_in(call: ToolCall) -> str:
    how = f" (as {call.format})" if call.format else ""
    return f"the server left the call in the text{how}"
