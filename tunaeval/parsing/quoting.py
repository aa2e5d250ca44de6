"""Whether a marker, or a bare object, stands in inline code, and so is only quoted."""

from __future__ import annotations

import re

from tunaeval.window import Window

LINE = 240
"""How much of the present line is remembered: for its backticks, its start, and its end."""

_TICK = re.compile(r"(?<!`)``?(?!`)")


class Quoting:
    """Inline code that began right before a marker: it holds the markers behind that one too."""

    def __init__(self) -> None:
        self._open = False

    def hear(self, said: str) -> None:
        """Text follows; a backtick or the line's end closes the code."""
        if self._open:
            self._open = "`" not in said and "\n" not in said

    def before(self, window: Window) -> bool:
        """Whether what stands here is quoted; if so, what follows is as well."""
        before = window.preceding(window.pos)
        self._open = self._open or (before.endswith("`") and before != "``")
        return self._open


def in_ticks(line: str) -> bool:
    """Whether the present line has opened inline code; of one too long to remember, not."""
    start = line.rfind("\n")
    known = start >= 0 or len(line) < LINE
    return known and len(_TICK.findall(line, start + 1)) % 2 == 1
