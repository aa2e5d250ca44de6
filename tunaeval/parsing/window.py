"""A window over a text that may still be arriving.

A reader is a generator: it reads `text` from the index `pos`, moves `pos` over what it has read,
and yields when it needs more text to decide. After a yield it has to look at `text` and `pos`
again, because `feed` drops the text before `pos`, except for the last `KEPT` characters. A reader
may move `pos` back by up to `MARGIN`. If `final` is true, the text is complete and a reader must
not yield. `base` is the offset of `text[0]` in the whole text.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from tunaeval.limits import KEPT

compiled = __file__.endswith((".so", ".pyd"))
"""Whether the engine is compiled: then this module is, too."""

T = TypeVar("T")
Reading: TypeAlias = Generator[None, None, T]
"""A running reader: a generator that yields when it needs more text and returns a result."""


@dataclass(slots=True, eq=False)
class Window:
    """A part of a text and a position in it; the module's docstring describes the fields."""

    text: str = ""
    pos: int = 0
    base: int = 0
    final: bool = False
    held: tuple[int, int] = (-1, 0)
    """A finder's notes: the end of the text that it has searched, and a place in it; both are
    offsets in the whole text.
    """

    def feed(self, chunk: str) -> None:
        """Append `chunk`, and drop the text before `pos` except for its last `KEPT` characters."""
        dropped = self.pos - KEPT
        if dropped > 0:
            self.base += dropped
            self.pos = KEPT
            self.text = self.text[dropped:] + chunk
        else:
            self.text += chunk

    def preceding(self, index: int) -> str:
        """Return up to two characters before `index`."""
        return self.text[max(0, index - 2) : index]

    def since(self, offset: int) -> str:
        """Return the text from an offset to the position, or only its last `KEPT` characters."""
        return self.text[max(offset - self.base, self.pos - KEPT, 0) : self.pos]

    @property
    def offset(self) -> int:
        """The offset of `pos` in the whole text."""
        return self.base + self.pos


def read_all(text: str, reading: Reading[T]) -> T:
    """Return the result of a reader whose window is final, so that it never yields.

    `text` is only for the error message.
    """
    try:
        next(reading)
    except StopIteration as stop:
        value: T = stop.value
        return value
    raise AssertionError(f"a reader asked for more than all of {text[:60]!r}")
