"""What a block hands to the collector, in the order of the text.

A call waits until what follows it is known, because a missing or doubled closer is a repair of it
that the level may not allow.
"""

from __future__ import annotations

from dataclasses import replace

from tunaeval.types import LEVELS, Level, Repair, Span, ToolCall
from tunaeval.window import Window

from ..collect import Collector


class Ledger:
    """Accounts for every character of one block, from offset `start` on."""

    def __init__(self, window: Window, collector: Collector, start: int, level: Level) -> None:
        self.accepted = 0
        self._window = window
        self._collector = collector
        self._done = start
        self._level = level
        self._waiting: ToolCall | None = None
        self._held: list[ToolCall] = []

    def markup(self, end: int) -> None:
        """What has not been accounted for up to `end` frames calls."""
        self._collector.piece("markup", self._done, end)
        self._done = end

    def content(self, end: int) -> None:
        """It is text like any other."""
        self._release()
        self._collector.piece("content", self._done, end)
        self._done = end

    @property
    def waiting(self) -> bool:
        """Whether a call waits for what follows it."""
        return self._waiting is not None

    @property
    def count(self) -> int:
        """Calls that have not been handed on."""
        return len(self._held) + self.waiting

    def accept(self, call: ToolCall) -> None:
        """A call that waits for what follows its span."""
        self._waiting = call

    def repair(self, code: str, message: str, level: Level = "standard") -> None:
        """A repair of the frame here, listed with the call that waits."""
        if self._waiting:
            repairs = (*self._waiting.repairs, self.repair_here(code, message, level))
            self._waiting = replace(self._waiting, repairs=repairs)

    def repair_here(self, code: str, message: str, level: Level = "standard") -> Repair:
        """A repair at the window's position."""
        at = self._window.offset
        return Repair(code, message, Span(at, at + 1), level)

    def settle(self) -> None:
        """Nothing behind it can change the call that waits any more.

        At level "strict" it is held all the same: all calls of a block stand, or none.
        """
        if self._waiting:
            self._held.append(self._waiting)
            self._waiting = None
        if self._level != "strict":
            self._release()

    def _release(self) -> None:
        if not self._held:
            return
        calls, self._held = self._held, []
        allowed = LEVELS[1 : LEVELS.index(self._level) + 1]
        made = [repair for call in calls for repair in call.repairs]
        forbidden = [repair for repair in made if repair.level not in allowed]
        for call in calls:
            span = call.span or Span(self._done, self._done)
            if forbidden:
                self._forbid(forbidden[0], span)
            else:
                self.markup(span.start)
                self.accepted += 1
                self._collector.call(call)
                self._done = span.end

    def _forbid(self, repair: Repair, span: Span) -> None:
        self._collector.drop()
        code = repair.code if repair.code == "unclosed" else "invalid-json"
        message = f"{repair.code}: {repair.message} (read at level {repair.level!r})"
        self.refuse(code, message, span)
        self._collector.piece("content", self._done, span.end)
        self._done = span.end

    def refuse(self, code: str, message: str, span: Span, *, cut: bool = False) -> None:
        """An attempt that gives no call, and why."""
        self._collector.diagnose(code, message, *span)
        self._collector.attempt(span.start, cut=cut)

    def close(self, end: int, stray: Span | None = None) -> None:
        """The block ends: its rest is markup if there were calls in it, else content.

        `stray` is text in there that is content all the same.
        """
        self.settle()
        self._release()
        self._collector.drop()
        if self.accepted:
            if stray:
                self.markup(stray.start)
                self.content(stray.end)
            self.markup(end)
        else:
            self.content(end)
