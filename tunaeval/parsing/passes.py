"""A whole text, read in one pass."""

from __future__ import annotations

from tunaeval.limits import MAX_TEXT
from tunaeval.types import Level, ParseResult, Tools
from tunaeval.window import Window

from .collect import Collector
from .finder import Finder
from .judged import Objects
from .lost_calls import report_lost_calls
from .plain import Plain
from .scanner import Scanner
from .tiling import Tiling


def read_text(
    finder: Finder, text: str, tools: Tools | None, level: Level, known: Objects | None
) -> ParseResult:
    """A text that is all there; `known` keeps what was read of objects, for another level."""
    plain = Plain(text, known)
    begun = finder.prompted is not None and finder.prompted.found(text)
    if len(text) <= MAX_TEXT and not begun and plain.read(finder, tools, level):
        result = plain.result(finder)
        if result is not None and not (plain.lost and tools):
            return result
    return read_whole(finder, text, tools, level, objects=known, plain=plain)[0]


def read_whole(
    finder: Finder,
    text: str,
    tools: Tools | None,
    level: Level,
    *,
    fast: bool = True,
    objects: Objects | None = None,
    plain: Plain | None = None,
) -> tuple[ParseResult, Tiling]:
    """A text that is all there, and what each stretch of it is. Without `fast`, step by step.

    `objects` keeps what recovering readers have read, for another level; `plain` has read the
    beginning.
    """
    window, collector = Window(text[:MAX_TEXT], final=True), Collector(listened=False)
    scanner = Scanner(
        finder, window, collector, tools=tools, level=level, fast=fast, objects=objects
    )
    if plain is not None:
        scanner.begin(plain)
    for _ in scanner.run():  # pragma: no cover - a final window is never waited for
        raise AssertionError("the engine asked for more than the whole text")
    if len(text) > MAX_TEXT:
        collector.too_long(len(text))
    report_lost_calls(collector, finder, text, tools)
    return collector.result(text), collector.pieces
