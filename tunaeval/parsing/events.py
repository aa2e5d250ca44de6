"""What a stream reports: events, and which kinds of them carry text or tile it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tunaeval.types.calls import Span, ToolCall
from tunaeval.types.parsing import Diagnosis

EventKind: TypeAlias = Literal[
    "content", "reasoning", "markup", "call_started", "arguments", "call_finished", "call_dropped",
    "reclassified", "diagnosis",
]  # fmt: skip

TILES: frozenset[EventKind] = frozenset({"content", "reasoning", "markup", "call_finished"})
"""The kinds whose spans tile the text: every character lies in exactly one of them."""

TEXTS: frozenset[EventKind] = frozenset({"content", "reasoning", "markup", "reclassified"})
"""The kinds that carry the text of their span."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a stream reports once it is certain. Its `kind` is one of:

    - "content", "reasoning", "markup": `text` at `span`.
    - "call_started": call number `index` of tool `name` begins, as soon as the name is certain:
      by what follows its closing quote in JSON, or by the word after it in markup.
    - "arguments": a piece of its arguments as JSON text; the pieces of one call concatenate to
      the whole, with the values as they are after repair and fitting.
    - "call_finished": `call`, at `span`.
    - "call_dropped": the call of this number, started or finished, is no call after all (a broken
      end, a repair that the level does not allow, or text that turned out to be reasoning).
    - "reclassified": the text at `span` turned out to be what `name` says, "reasoning", or "markup"
      or "content" where another's turn began; calls in it were dropped before.
    - "diagnosis": `diagnosis`.

    No number is given twice; a call that is started anew has a new one. In the order of their
    numbers, the calls that were not dropped are those of the result.

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
