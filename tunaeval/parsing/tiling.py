"""What every stretch of a text is: tiles, each of one kind, that cover it from its beginning.

Where one ends the next begins, so a tile is a kind and an end; a text may need one for each few of
its characters. Each call is a tile of its own; others of one kind side by side may be several here,
and are one when they are gone through.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["content", "reasoning", "markup", "call"]


class Tiling:
    """The tiles so far: `kinds`, and where each ends."""

    __slots__ = ("ends", "kinds")

    def __init__(self) -> None:
        self.kinds: list[Kind] = []
        self.ends = array("q")

    def __iter__(self) -> Iterator[tuple[Kind, int, int]]:
        """Each tile's kind, start and end."""
        start, last = 0, len(self.kinds) - 1
        for at, (kind, end) in enumerate(zip(self.kinds, self.ends, strict=True)):
            if kind == "call" or at == last or self.kinds[at + 1] != kind:
                yield kind, start, end
                start = end

    def text_of(self, kind: Kind, text: str) -> str:
        """All of `text` that is of this kind."""
        if len(self.kinds) == 1:
            return text if self.kinds[0] == kind else ""
        ends = self.ends
        found = [
            text[ends[at - 1] if at else 0 : ends[at]]
            for at, each in enumerate(self.kinds)
            if each == kind
        ]
        return found[0] if len(found) == 1 else "".join(found)

    @property
    def end(self) -> int:
        """Up to where the text is covered."""
        return self.ends[-1] if self.ends else 0

    @property
    def begins(self) -> int:
        """Where the last tile begins."""
        return self.ends[-2] if len(self.ends) > 1 else 0

    @property
    def last(self) -> Kind | None:
        """What the last tile is."""
        return self.kinds[-1] if self.kinds else None

    def cut(self, start: int) -> None:
        """Take back all that was covered behind `start`."""
        kind = self.last
        while self.end > start:
            kind = self.kinds.pop()
            self.ends.pop()
        if kind and self.end < start:
            self.kinds.append(kind)
            self.ends.append(start)
