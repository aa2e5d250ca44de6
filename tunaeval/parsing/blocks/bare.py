"""Bare values: text up to the closer that fits, and what stands around it."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass

from tunaeval.limits import QUOTED_AHEAD, VALUE_AHEAD, WIDEST_GAP
from tunaeval.window import Window

from ..closings import Closing
from ..live import LiveText
from .steps import stands


class Forgotten:
    """Instead of a value's text: it was never closed, and its call ended somewhere inside it."""


FORGOTTEN = Forgotten()


@dataclass(frozen=True, slots=True)
class Unclosed:
    """A value's text that was never closed, where the end of its call follows.

    Or it was closed, and `stray` is between that and the end of its call.
    """

    text: str
    stray: str = ""


def bare_text(
    window: Window, closing: Closing, live: LiveText | None
) -> Generator[None, None, str | Unclosed | Forgotten | None]:
    """The value's text up to the closer that fits, or to its call's end; None if neither comes."""
    pieces: list[str] = []
    own: str | None = None
    opener = closing.quotes[0]
    quoted = bool(opener) and (yield from stands(window, (opener,)))
    held = closing.longest - 1
    while True:
        hit = closing.first.search(window.text, window.pos)
        if hit is None or not (window.final or hit.start() + held < len(window.text)):
            end = len(window.text) - (0 if window.final else held)
            end, waits, ends = max(window.pos, end), True, None
        else:
            ends = _ends(window, closing, hit, trusted=own is not None)
            if ends and quoted:
                ends = _behind_quotes(window, closing, hit.start()) and ends
            elif ends is False and own is None and not quoted and hit.group() in closing.closers:
                own = hit.group()
            waits = ends is None
            end = hit.start() + (not (ends or waits))  # the two closers may overlap
        pieces.append(window.text[window.pos : end])
        window.pos = end
        if live:
            live.grow(pieces[-1])
        if ends:
            text = "".join(pieces)
            found = _before(window, text, closing.before_restart) if ends is FORGOTTEN else text
            return _cut(found, own) if own and isinstance(found, Unclosed) else found
        if waits:
            if window.final:
                return _at_end(window, "".join(pieces), closing)
            yield


def _ends(
    window: Window, closing: Closing, hit: re.Match[str], *, trusted: bool
) -> Forgotten | bool | None:
    """Whether the value ends at this closer, its own or the call's; None if more could tell.

    `trusted`: a closer of its own was before, in front of text that may be the value's or not.
    """
    text, at = window.text, hit.start()
    ahead = at + VALUE_AHEAD
    if closing.follow.match(text, at, ahead) or (window.final and closing.at_end.match(text, at)):
        return True
    own = hit.group() in closing.closers
    if not own and (trusted or closing.restart.match(text, at, ahead)):
        return FORGOTTEN
    return None if not window.final and len(text) <= ahead else False


def _behind_quotes(window: Window, closing: Closing, at: int) -> bool | None:
    """Whether the quotes that the value begins with do not end behind this; None to wait for more.

    They end before others begin, and not far away.
    """
    opener, end = closing.quotes
    if window.text[max(0, at - WIDEST_GAP) : at].rstrip().endswith(end):
        return True
    ahead = window.text[at : at + QUOTED_AHEAD]
    stop, other = ahead.find(end), ahead.find(opener)
    if stop >= 0 or other >= 0:
        return stop < 0 or 0 <= other < stop
    return None if not window.final and len(ahead) < QUOTED_AHEAD else True


def _at_end(window: Window, text: str, closing: Closing) -> Unclosed | Forgotten | None:
    """A value that the whole text ends in."""
    if closing.lost.search(text, max(0, len(text) - VALUE_AHEAD)):
        return _before(window, text, closing.lost)
    return FORGOTTEN if closing.over.search(text) else None


def _cut(found: Unclosed, own: str) -> Unclosed:
    """The value up to the first closer of its own."""
    text, _, stray = found.text.partition(own)
    return Unclosed(text, stray)


def _before(window: Window, text: str, end: re.Pattern[str]) -> Unclosed:
    """The value without the end of its call, which is read again."""
    found = end.search(text, max(0, len(text) - VALUE_AHEAD))
    size = len(text) - found.start() if found else 0
    window.pos -= size
    return Unclosed(text[: len(text) - size])
