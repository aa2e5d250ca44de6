"""A whole text, read in one pass."""

from __future__ import annotations

from tunaeval.limits import MAX_TEXT
from tunaeval.types import Level, ParseResult, Tools
from tunaeval.window import Window

from .audit import audit
from .collect import Collector, Tiling
from .finder import Finder
from .judge import Objects
from .scanner import Scanner


def read_whole(
    finder: Finder,
    text: str,
    tools: Tools | None,
    level: Level,
    *,
    objects: Objects | None = None,
) -> tuple[ParseResult, Tiling]:
    """A text that is all there, and what each stretch of it is.

    `objects` keeps what recovering readers have read, for another level.
    """
    collector = collected(finder, text, tools, level, objects=objects)
    audit(collector, finder, text, tools)
    return collector.result(text), collector.pieces


def collected(
    finder: Finder,
    text: str,
    tools: Tools | None,
    level: Level,
    *,
    objects: Objects | None = None,
) -> Collector:
    """All that one pass over a text finds."""
    window, collector = Window(text[:MAX_TEXT], final=True), Collector(listened=False)
    scanner = Scanner(
        finder.with_tools(tools, text),
        window,
        collector,
        tools=tools,
        level=level,
        objects=objects,
    )
    for _ in scanner.run():  # pragma: no cover - a final window is never waited for
        raise AssertionError("the engine asked for more than the whole text")
    if len(text) > MAX_TEXT:
        collector.too_long(len(text))
    return collector
