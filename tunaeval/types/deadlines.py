"""Deadlines whose clock can be stopped during waits that do not count."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Deadline:
    """A deadline `seconds` from now, not counting the time in `paused` blocks.

    The blocks of several waits may overlap: the clock stops while at least one of them is open.

        deadline = Deadline(30.0)
        with deadline.paused():
            ...                     # this time is not counted
        deadline.left               # about 30.0
    """

    __slots__ = ("_open", "_since", "_until", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._until = time.monotonic() + seconds
        self._open = 0
        self._since = 0.0

    @property
    def left(self) -> float:
        """The seconds that are left; below 0 when the time is over."""
        return self._until - (self._since if self._open else time.monotonic())

    @property
    def is_paused(self) -> bool:
        return self._open > 0

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock while the block runs."""
        if not self._open:
            self._since = time.monotonic()
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1
            if not self._open:
                self._until += time.monotonic() - self._since
