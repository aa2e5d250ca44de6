"""The one shortcut: a text that is exactly one sound block of a format, decoded at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from tunaeval.grammar import Format
from tunaeval.limits import MAX_FAST
from tunaeval.types import Level, ParseResult, ToolCall, Tools

from .fast.made import result_of
from .fast.whole import Refused, decoder, ends_of

if TYPE_CHECKING:
    from .known import Objects

TextReader: TypeAlias = "Callable[[str, Tools | None, Level, Objects], ParseResult | None]"
"""Reads a whole text, or answers None."""


def text_reader(form: Format) -> TextReader:
    """Make the reader of texts that are one sound block of a format, and nothing else."""
    ends, decode = ends_of(form), decoder(form)
    if ends is None or decode is None:
        return nothing
    (beginning, ending), first, behind = ends, len(ends.beginning) - 1, len(ends.ending) - 1

    def read(text: str, tools: Tools | None, _: Level, __: Objects) -> ParseResult | None:
        if not text.startswith(beginning) or not text.endswith(ending):
            return None
        last = text.find(ending, first) + 1
        if last + behind != len(text) or last - first > MAX_FAST:
            return None
        try:
            call = decode(text, first, last, tools)
        except Refused:
            return None
        return result_of((call,), "", None, (), "calls") if type(call) is ToolCall else None

    return read


def nothing(*_: object) -> None:
    """Answer None, as no text is one block of such a format."""
