"""Text that may still be arriving, seen through a window.

A reader is a generator: it reads `text` from `pos`, moves `pos` over what it has understood, and
yields when only more text can say. After a yield it looks at `text` and `pos` again, for `feed`
drops what was passed, but for the last `KEPT` characters; a reader may go back by `MARGIN`. When
`final` is true nothing more comes and a reader must not yield. `base` is the place of `text[0]` in
the whole.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

from tunaeval.limits import KEPT

T = TypeVar("T")
Reading: TypeAlias = Generator[None, None, T]
"""A reader at work: yields when it needs more text, returns what it read."""


class Window:
    """A view of a text from `pos` on; see the module's first words for the contract."""

    __slots__ = ("base", "final", "held", "pos", "text")

    def __init__(self, text: str = "", pos: int = 0, base: int = 0, *, final: bool = False) -> None:
        self.text = text
        self.pos = pos
        self.base = base
        self.final = final
        self.held = -1, 0
        """What a finder keeps here: the length of the text it looked at, and an offset in it."""

    def feed(self, chunk: str) -> None:
        """Drop what was read, but for the last `KEPT` characters before `pos`, and add `chunk`."""
        dropped = self.pos - KEPT
        if dropped > 0:
            self.base += dropped
            self.pos = KEPT
            self.text = self.text[dropped:] + chunk
        else:
            self.text += chunk

    def preceding(self, index: int) -> str:
        """Up to two characters before `index`."""
        return self.text[max(0, index - 2) : index]

    @property
    def offset(self) -> int:
        """Where `pos` is in the whole text."""
        return self.base + self.pos


def read_all(text: str, reading: Reading[T]) -> T:
    """Run a reader over a window that is final: it never yields."""
    try:
        next(reading)
    except StopIteration as stop:
        value: T = stop.value
        return value
    raise AssertionError(f"a reader asked for more than all of {text[:60]!r}")
