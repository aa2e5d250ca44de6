"""What a stream tells while a text arrives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tunaeval.types import Diagnosis, Span, ToolCall

EventKind: TypeAlias = Literal[
    "content",
    "reasoning",
    "markup",
    "call_started",
    "arguments",
    "call_finished",
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
    - "call_started": call number `index` of tool `name` begins; "arguments": a piece of its
      arguments as JSON text (the pieces of one call concatenate to the whole); "call_finished":
      `call`, at `span`.
    - "reclassified": what stood in `span` turned out to be reasoning; calls in it are taken back.
    - "diagnosis": `diagnosis`.
    """

    kind: EventKind
    span: Span
    text: str = ""
    index: int | None = None
    name: str | None = None
    call: ToolCall | None = None
    diagnosis: Diagnosis | None = None
