"""What a stream tells while a text arrives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tunaeval.types import Diagnosis, Span, ToolCall

EventKind: TypeAlias = Literal[
    "content",
    "reasoning",
    "markup",
    "call_started",
    "arguments",
    "call_finished",
    "call_dropped",
    "reclassified",
    "diagnosis",
]

TILES: frozenset[EventKind] = frozenset({"content", "reasoning", "markup", "call_finished"})
"""The kinds whose spans tile the text: every character lies in exactly one of them."""

TEXTS: frozenset[EventKind] = frozenset({"content", "reasoning", "markup", "reclassified"})
"""The kinds that carry the text of their span."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that became certain.

    - "content", "reasoning", "markup": `text` at `span`.
    - "call_started": call number `index` of tool `name` begins, as soon as the name is known.
    - "arguments": a piece of its arguments as JSON text; the pieces of one call concatenate to
      the whole, with the values as they are after repair and fitting.
    - "call_finished": `call`, at `span`.
    - "call_dropped": what was started is no call after all (a broken end, a repair that the level
      does not allow); the number will be used again.
    - "reclassified": what was in `span` turned out to be reasoning; calls in it are taken back.
    - "diagnosis": `diagnosis`.

    Examples:
        >>> reader = tunaeval.stream("hermes")
        >>> events = reader.feed('<tool_call>{"name": "ls", "arguments": {}}</tool_call>')
        >>> [event.kind for event in events]
        ['call_started', 'markup', 'arguments', 'call_finished', 'markup']
    """

    kind: EventKind
    span: Span
    text: str = ""
    index: int | None = None
    name: str | None = None
    call: ToolCall | None = None
    diagnosis: Diagnosis | None = None


class _Fresh:
    """The same slots as `Event`, cheap to fill; becomes one by its `__class__`."""

    __slots__ = Event.__slots__
    kind: EventKind
    span: Span
    text: str
    index: int | None
    name: str | None
    call: ToolCall | None
    diagnosis: Diagnosis | None


def event(
    kind: EventKind,
    start: int,
    end: int,
    text: str = "",
    *,
    index: int | None = None,
    name: str | None = None,
    call: ToolCall | None = None,
    diagnosis: Diagnosis | None = None,
) -> Event:
    """An event at a quarter of the price: streams make one a chunk."""
    fresh: Any = _Fresh()
    fresh.kind = kind
    fresh.span = _new_tuple(Span, (start, end))
    fresh.text = text
    fresh.index = index
    fresh.name = name
    fresh.call = call
    fresh.diagnosis = diagnosis
    fresh.__class__ = Event
    made: Event = fresh
    return made


_new_tuple = tuple.__new__
