"""What a block hands to the collector, in the order of the text.

A call waits until what follows it is known, because a missing or doubled closer is a mend of it
that the level may not allow.
"""

from __future__ import annotations

from dataclasses import replace

from tunaeval.types import Level, Repair, Span, ToolCall
from tunaeval.window import Window

from .collect import Collector


class Ledger:
    """Accounts for every character of one block, from offset `start` on."""

    def __init__(self, window: Window, collector: Collector, start: int, level: Level) -> None:
        self.accepted = 0
        self._window = window
        self._collector = collector
        self._done = start
        self._level = level
        self._waiting: ToolCall | None = None

    def markup(self, end: int) -> None:
        """What has not been accounted for up to `end` frames calls."""
        self._collector.piece("markup", self._done, end)
        self._done = end

    def content(self, end: int) -> None:
        """It is text like any other."""
        self._collector.piece("content", self._done, end)
        self._done = end

    def accept(self, call: ToolCall, span: Span) -> None:
        """A call at `span`, behind markup; it waits for what follows."""
        self.markup(span.start)
        self.accepted += 1
        self._waiting = call
        self._done = span.end

    def mend(self, code: str, message: str) -> None:
        """A mend of the frame here, told of the call that waits."""
        if self._waiting:
            repairs = (*self._waiting.repairs, self.repair(code, message))
            self._waiting = replace(self._waiting, repairs=repairs)

    def repair(self, code: str, message: str) -> Repair:
        """A mend of level "standard" at the window's position."""
        at = self._window.offset
        return Repair(code, message, Span(at, at + 1))

    def settle(self) -> None:
        """Nothing can change the call that waits any more."""
        call, self._waiting = self._waiting, None
        if call is None or call.span is None:
            return
        if self._level == "strict" and call.repairs:
            first, span = call.repairs[0], call.span
            code = first.code if first.code == "unclosed" else "invalid-json"
            self.refuse(code, f"{first.code}: {first.message} (not at level 'strict')", span)
            self._collector.piece("content", *span)
        else:
            self._collector.call(call)

    def refuse(self, code: str, message: str, span: Span, *, cut: bool = False) -> None:
        """An attempt that gives no call, and why."""
        self._collector.diagnose(code, message, *span)
        self._collector.attempt(span.start, cut=cut)

    def close(self, end: int) -> None:
        """The block ends: its rest is markup if there were calls in it, else content."""
        self.settle()
        if self.accepted:
            self.markup(end)
        else:
            self.content(end)
