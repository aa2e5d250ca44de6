"""A machine of steps over a window: how a value is read while it arrives, and what comes of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

from tunaeval.limits import MARGIN
from tunaeval.window import Reading, Window

from .between import Between, first_characters
from .dialect import Dialect
from .repairs import CutError, Draft, UnreadableError
from .strings import StringReader
from .values import Read, Unreadable, decode

Step: TypeAlias = Callable[[], Any]
"""Returns the step after it, or None to wait (a type that holds itself)."""


_NOTHING: frozenset[str] = frozenset()


def _over() -> None:
    """The step behind the last one."""


class Machine(ABC):
    """Reads the value at the window's position; used once.

    `stops` are texts that end the frame around the value (a closing tag): met outside a string
    they close whatever is still open, and a string that was never closed. `draft` is what has been
    understood so far. `whole` says whether the last closer was reached, even by a value that is
    refused.
    """

    whole = False
    string: StringReader | None = None
    """What reads the string that the text so far ends in."""
    _exact = True
    """Whether any decoder reads the numbers so far alike."""
    _bare_key = False
    _between: Between | None = None

    dialect: Dialect

    def __init__(self, window: Window, stops: tuple[str, ...] = ()) -> None:
        self._dialect = dialect = self.dialect
        self.draft = Draft(window, dialect.outer, dialect.trailing_comma)
        self._window = window
        self._members_of = dialect.members
        self._string_stops = stops
        if any(stop[0] in "[{" for stop in stops):  # outside of strings they are values
            stops = tuple(stop for stop in stops if stop[0] not in "[{")
        self._stops = stops
        self._stop_starts = first_characters(stops) if stops else _NOTHING
        self._step: Step = self._start

    def read(self) -> Reading[Read | Unreadable]:
        """The value. The window's position is behind it, or where it stopped making sense."""
        while (result := self.advance()) is None:
            yield
        return result

    def advance(self) -> Read | Unreadable | None:
        """Go on as far as the text allows; None: the value goes on behind it."""
        draft, truncated = self.draft, False
        try:
            self._go_on()
            if not self.whole:
                return None
        except UnreadableError as reason:
            so_far = "".join(draft.pieces) + draft.pending
            return Unreadable(reason.code, str(reason), self._window.offset, so_far, reason.cut)
        except CutError as cut:
            draft.close_all()
            truncated = cut.repair == "truncated" and not self._ends_with_a_stop()
            draft.repair("truncated" if truncated else "missing-closer")
        written = draft.written()
        made = decode(written, exact=self._exact)
        if isinstance(made, Unreadable):
            return Unreadable(made.code, made.message, self._window.offset, written)
        return Read(made[0], draft.repairs, made[1], truncated)

    def _go_on(self) -> None:
        """Take one step after the other, until one has to wait.

        The last one is forgotten: it holds the reader, which would hold it for ever.
        """
        step, self._step = self._step, _over
        if not self._between or self._between.leave_comment():
            while (following := step()) is not None:
                step = following
        if not self.whole:
            self._step = step

    def _ends_with_a_stop(self) -> bool:
        """Whether the text ends with a frame's end: in a string, which then was never closed.

        One of signs alone, a code fence, may as well be part of a string that was cut off.
        """
        stops = tuple(stop for stop in self._stops if any(map(str.isalpha, stop)))
        return self._window.text[-MARGIN:].rstrip().endswith(stops)

    def _next(self) -> str:
        """The next character that belongs to the value; "" to wait."""
        if self._between is None:
            comments = self._dialect.comments
            self._between = Between(self._window, self.draft, self._stops, comments)
        return self._between.next()

    @abstractmethod
    def _start(self) -> Step | None:
        """The first step."""
