"""What every stretch of a text is: tiles, each of one kind, that cover it from its beginning.

Where one ends the next begins, so a tile is a kind and an end; a text may need one for each few of
its characters.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["content", "reasoning", "markup", "call"]


class Tiling:
    """The tiles so far."""

    __slots__ = ("_ends", "_kinds")

    def __init__(self) -> None:
        self._kinds: list[Kind] = []
        self._ends = array("q")

    def __iter__(self) -> Iterator[tuple[Kind, int, int]]:
        """Each tile's kind, start and end."""
        start = 0
        for kind, end in zip(self._kinds, self._ends, strict=True):
            yield kind, start, end
            start = end

    @property
    def end(self) -> int:
        """Up to where the text is covered."""
        return self._ends[-1] if self._ends else 0

    @property
    def last(self) -> Kind | None:
        """What the last tile is."""
        return self._kinds[-1] if self._kinds else None

    def add(self, kind: Kind, end: int) -> None:
        """What follows is of this kind, up to `end`. Each call is a tile of its own."""
        if self._kinds and self._kinds[-1] == kind != "call":
            self._ends[-1] = end
        else:
            self._kinds.append(kind)
            self._ends.append(end)

    def cut(self, start: int) -> None:
        """Take back all that was covered behind `start`."""
        kind = self.last
        while self.end > start:
            kind = self._kinds.pop()
            self._ends.pop()
        if kind and self.end < start:
            self.add(kind, start)
