"""A text that is one block of a format, as that is written, and nothing else: decoded once.

Calls with nothing unusual about them are made at once. Another object is judged by `unusual`, as it
was decoded or repaired; so is one whose closer is all that is missing. What was read of a text that
is left to the others is kept in the `Objects` that were given.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from tunaeval.grammar import Format
from tunaeval.limits import MAX_FAST
from tunaeval.types import JsonObject, Level, ParseResult, ToolCall, Tools

from .fast import MORE
from .fast.made import result_of
from .fast.whole import Refused, decoder, ends_of

if TYPE_CHECKING:
    from .judged import Objects
    from .unusual import Unusual

TextReader: TypeAlias = "Callable[[str, Tools | None, Level, Objects], ParseResult | None]"
"""Reads a whole text, or answers None."""

UNREAD: JsonObject = {}
"""An object that was not decoded, as it is no sound JSON or was read before."""


def text_reader(form: Format) -> TextReader:
    """The reader of texts that are one such block of a format, and nothing else."""
    ends, decode = ends_of(form), decoder(form)
    if ends is None or decode is None:
        return nothing
    (beginning, ending), first, behind = ends, len(ends.beginning) - 1, len(ends.ending) - 1

    @cache
    def unusual() -> Unusual:
        from .unusual import Unusual  # noqa: PLC0415 - most texts are as their format writes them

        return Unusual(form, first)

    def read(text: str, tools: Tools | None, level: Level, known: Objects) -> ParseResult | None:
        if not text.startswith(beginning):
            return None
        last = text.find(ending, first) + 1
        made: Any = UNREAD
        closed = last + behind == len(text)
        if not closed and not (last := unusual().cut_end(text, last, level)):
            return None
        try:
            if not known and last - first <= MAX_FAST:
                made = decode(text, first, last, tools)
        except Refused as fault:
            if fault.msg.startswith(MORE):
                return None
        if closed and type(made) is ToolCall:
            return result_of((made,), "", None, (), "calls")
        return unusual().read((text, 0, tools, level, known), last, made, closed)

    return read


def nothing(*_: object) -> None:
    """A text that is not one block as its format writes it."""
