"""Calls and results made cheaply: slots of a twin class are filled, then it becomes the real one.

A frozen dataclass fills its slots by `object.__setattr__`, one call for each; that alone would cost
as much as finding and decoding a short call. The twins have the same `__slots__`, so an instance
may change its class, and is frozen from then on.
"""

from __future__ import annotations

from typing import Any

from tunaeval.types import (
    Diagnosis,
    JsonObject,
    Outcome,
    ParseResult,
    Repair,
    Span,
    ToolCall,
)

_new_tuple = tuple.__new__


class Call:
    """The slots of `ToolCall`."""

    __slots__ = ToolCall.__slots__
    name: str
    arguments: JsonObject
    id: str | None
    format: str
    span: Span | None
    repairs: tuple[Repair, ...]


class Result:
    """The slots of `ParseResult`."""

    __slots__ = ParseResult.__slots__
    calls: tuple[ToolCall, ...]
    content: str
    reasoning: str | None
    diagnoses: tuple[Diagnosis, ...]
    truncated: bool
    outcome: str


def call_of(
    name: str,
    arguments: JsonObject,
    format_name: str,
    where: tuple[int, int] | None,
    id_: str | None,
    *,
    repairs: tuple[Repair, ...] = (),
) -> ToolCall:
    """A call from one offset to another, or nowhere in a text."""
    call: Any = Call()
    call.name = name
    call.arguments = arguments
    call.id = id_
    call.format = format_name
    call.span = _new_tuple(Span, where) if where else None
    call.repairs = repairs
    call.__class__ = ToolCall
    return call  # type: ignore[no-any-return]  # its class is ToolCall by now


def result_of(
    calls: tuple[ToolCall, ...],
    content: str,
    reasoning: str | None,
    diagnoses: tuple[Diagnosis, ...] = (),
    outcome: Outcome | None = None,
    *,
    truncated: bool = False,
) -> ParseResult:
    """A result, cheaply; without a word on the outcome, what the calls say of it."""
    result: Any = Result()
    result.calls = calls
    result.content = content
    result.reasoning = reasoning
    result.diagnoses = diagnoses
    result.truncated = truncated
    result.outcome = outcome or ("calls" if calls else "no_call")
    result.__class__ = ParseResult
    return result  # type: ignore[no-any-return]  # its class is ParseResult by now
