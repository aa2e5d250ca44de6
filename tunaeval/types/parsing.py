"""What comes out of parsing a text: calls, content, reasoning, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .calls import Span, ToolCall

Level: TypeAlias = Literal["strict", "standard", "lenient"]
"""Which mends are allowed: none; those that change no value; also those that lose or guess."""

Outcome: TypeAlias = Literal["calls", "no_call", "malformed", "truncated"]

LEVELS: tuple[Level, ...] = ("strict", "standard", "lenient")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why something that looked like a call is none, or what is odd about one that is."""

    code: str
    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class ParseResult:
    """A text, read.

    `calls` are all calls in order; `content` is what the model said besides calls and reasoning;
    `reasoning` what stood between reasoning markers, None if there were none.
    `outcome` is "calls" when there is at least one, else "truncated" when an attempt was cut off
    by the end of the text, else "malformed" when there was an attempt, else "no_call".
    `truncated` tells of a cut beside any outcome.
    """

    calls: tuple[ToolCall, ...] = ()
    content: str = ""
    reasoning: str | None = None
    diagnoses: tuple[Diagnosis, ...] = ()
    truncated: bool = False
    outcome: Outcome = "no_call"
