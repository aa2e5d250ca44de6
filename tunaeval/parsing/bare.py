"""Bare values: text up to the closer that fits, and what stands around it."""

from __future__ import annotations

import re
from collections.abc import Generator

from tunaeval.window import Window

from .chains import Closing
from .live import LiveText

AHEAD = 160
"""Characters behind a closer that decide whether it ends its value."""


class Forgotten:
    """Instead of a value's text: it was never closed, and the next call begins behind it."""


FORGOTTEN = Forgotten()


def bare_text(
    window: Window, closing: Closing, live: LiveText | None
) -> Generator[None, None, str | Forgotten | None]:
    """The value's text up to the closer that fits; None if the text ends before it."""
    pieces: list[str] = []
    held = max(len(closing.closer), len(closing.call_closer)) - 1
    while True:
        hit = closing.first.search(window.text, window.pos)
        if hit is None:
            end = len(window.text) - (0 if window.final else held)
            end, waits, ends = max(window.pos, end), True, None
        else:
            ends = _ends(window, closing, hit)
            waits = ends is None
            end = hit.start() + (not (ends or waits))  # the two closers may overlap
        pieces.append(window.text[window.pos : end])
        window.pos = end
        if live:
            live.grow(pieces[-1])
        if ends:
            return FORGOTTEN if ends is FORGOTTEN else "".join(pieces)
        if waits:
            if window.final:
                return None
            yield


def _ends(window: Window, closing: Closing, hit: re.Match[str]) -> Forgotten | bool | None:
    """Whether the value ends at this closer, its own or the call's; None if more could tell."""
    text, at = window.text, hit.start()
    if closing.follow.match(text, at) or (window.final and closing.at_end.match(text, at)):
        return True
    if hit.group() == closing.call_closer != closing.closer and closing.restart.match(text, at):
        return FORGOTTEN
    return None if not window.final and len(text) - at <= AHEAD else False
