"""Whether a marker, or a bare object, is in inline code, and so is only quoted."""

from __future__ import annotations

import re

from tunaeval.limits import KEPT
from tunaeval.window import Window

LINE_START = re.compile(r"(?:\A|\n)[ \t]*+\Z")
"""What comes next begins its line, but for white space."""

_TICK = re.compile(r"(?<!`)``?(?!`)")


def is_quote(window: Window) -> bool:
    """Whether inline code begins right before the position."""
    before = window.preceding(window.pos)
    return before.endswith("`") and before != "``"


def closes_code(line: str, *, whole: bool) -> bool:
    """Whether the tick that ends `line` closes inline code.

    `whole`: all of the present line is there although nothing in `line` begins one.
    """
    start = line.rfind("\n")
    return (whole or start >= 0) and len(_TICK.findall(line, start + 1)) % 2 == 0


def in_ticks(line: str) -> bool:
    """Whether the present line has opened inline code; of one too long to remember, not."""
    if "`" not in line:
        return False
    start = line.rfind("\n")
    known = start >= 0 or len(line) < KEPT
    return known and len(_TICK.findall(line, start + 1)) % 2 == 1
