"""Bare values: text up to the closer that fits, and what stands around it."""

from __future__ import annotations

from collections.abc import Generator

from tunaeval.grammar import Literal, Trim, Word
from tunaeval.window import Window

from .chains import follow_of
from .live import LiveText

AHEAD = 160
"""Characters behind a closer that decide whether it ends its value."""


def bare_text(
    window: Window, after: tuple[Word, ...], live: LiveText | None
) -> Generator[None, None, str | None]:
    """The value's text up to the closer that fits; None if the text ends before it."""
    pieces: list[str] = []
    closer = after[0]
    assert isinstance(closer, Literal)  # noqa: S101 - a format without it is refused when built
    follow, at_end = follow_of(after)
    closed = False
    while True:
        end = window.text.find(closer.text, window.pos)
        if end < 0:
            held = 0 if window.final else len(closer.text) - 1
            end, waits = max(window.pos, len(window.text) - held), True
        elif follow.match(window.text, end) or (window.final and at_end.match(window.text, end)):
            closed, waits = True, False
        else:
            waits = not window.final and len(window.text) - end <= AHEAD
            end += 0 if waits else len(closer.text)
        pieces.append(window.text[window.pos : end])
        window.pos = end
        if live:
            live.grow(pieces[-1])
        if closed:
            return "".join(pieces)
        if waits:
            if window.final:
                return None
            yield


def trimmed(text: str, trim: Trim) -> str:
    """The value without what stands around it."""
    if trim == "space":
        return text.strip()
    if trim == "newline":
        return text.removeprefix("\n").removesuffix("\n")
    return text
