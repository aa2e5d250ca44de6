"""Small readings that every block is made of: white space, fixed texts, bounded patterns."""

from __future__ import annotations

import re
from collections.abc import Generator

from tunaeval.window import Reading, Window

_SPACE = re.compile(r"[ \t\r\n]*+").match


def _space_end(text: str, pos: int) -> int:
    """Where the white space here ends."""
    if text[pos : pos + 1] not in _SPACES:
        return pos
    found = _SPACE(text, pos)
    return found.end() if found else pos


_SPACES = frozenset(" \t\r\n")


def next_char(window: Window) -> Generator[None, None, str]:
    """The next character that is no white space; "" at the end of the text."""
    while True:
        pos = _space_end(window.text, window.pos)
        window.pos = pos
        if pos < len(window.text) or window.final:
            return window.text[pos : pos + 1]
        yield


def skip_space(window: Window) -> Reading[None]:
    """Pass over white space, as it arrives."""
    while True:
        window.pos = _space_end(window.text, window.pos)
        if window.pos < len(window.text) or window.final:
            return
        yield


def bounded(window: Window, pattern: re.Pattern[str]) -> Generator[None, None, str]:
    """What a bounded pattern matches here, passed over."""
    while True:
        found = pattern.match(window.text, window.pos)
        end = found.end() if found else window.pos
        if end < len(window.text) or window.final:
            text = window.text[window.pos : end]
            window.pos = end
            return text
        yield


def stands(window: Window, spellings: tuple[str, ...]) -> Generator[None, None, bool]:
    """Whether one of the texts is here; it is not passed over."""
    start = window.offset
    found = bool(spellings) and (yield from literal(window, spellings))
    window.pos = start - window.base  # where it stands now: the window may have moved
    return found


def nothing(window: Window, stops: tuple[str, ...]) -> Generator[None, None, bool]:
    """Whether `null`, or nothing at all, stands in front of one of the texts."""
    yield from literal(window, ("null",))
    yield from skip_space(window)
    return (yield from stands(window, stops))


def literal(window: Window, spellings: tuple[str, ...]) -> Generator[None, None, bool]:
    """Whether one of the texts is here, the longest of them; if so it is passed over."""
    while True:
        rest = window.text[window.pos : window.pos + max(map(len, spellings))]
        found = max((text for text in spellings if rest.startswith(text)), key=len, default="")
        grows = not window.final and any(
            len(text) > len(rest) and text.startswith(rest) for text in spellings
        )
        if not grows:
            window.pos += len(found)
            return bool(found)
        yield
