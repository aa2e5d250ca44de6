"""Reasoning, and messages with headers: where each of them goes, and what may stand in it.

A header is decided by a bounded look ahead. While no header was met, anything may be a call; in a
message that goes elsewhere nothing is one.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import lru_cache

from tunaeval.grammar import Format, Route
from tunaeval.window import Reading, Window

from .chains import start_of
from .collect import Collector
from .finder import Finder, Token

_HEADER = 320
"""Characters of a header, with what tells apart whose it is, at the most."""

_UNFINISHED = re.compile(
    r"(?! (?!t))(?:[ \w./=-]|<\|\w{1,24}\|>){0,160}(?:<(?:\|(?:\w{1,24}\|?)?)?)?\Z", re.ASCII
)
"""What stands behind a message's opener when the text ends in its header."""


@dataclass(frozen=True, slots=True)
class Header:
    """A header that was read: whose it is, its route, the tool's name if it is in there, and its
    length with the text that its body begins with.
    """

    form: Format
    route: Route
    name: str | None
    length: int

    @property
    def opens_call(self) -> bool:
        """Whether what the body begins with is the opener of a call's block."""
        opener = self.form.opener
        return (
            self.route.channel == "call" and opener is not None and opener.text == self.route.body
        )


def read_header(window: Window, token: Token) -> Generator[None, None, Header | None]:
    """The header that begins with this token here; None if there is none."""
    while True:
        ahead = len(window.text) - window.pos - len(token.text)
        fitting = list(_headers(window.text, window.pos, token.formats))
        proven = [header for header in fitting if _is_proven(header, window)]
        if len(fitting) == 1 or proven or window.final or ahead > _HEADER:
            return next(iter(proven or fitting), None)
        yield


def is_cut(window: Window, collector: Collector, token: Token) -> bool:
    """Whether the text ends inside a header that begins with this token here."""
    behind = window.pos + len(token.text)
    if len(window.text) - behind > _HEADER or not _UNFINISHED.match(window.text, behind):
        return False
    start, end = window.offset, window.base + len(window.text)
    message = "the text ends in the header of a message"
    collector.diagnose("truncated", message, start, end)
    collector.attempt(start, cut=True)
    return True


def think(window: Window, collector: Collector, finder: Finder) -> Reading[None]:
    """Pass over the body of a message that is reasoning, up to its end or a next header."""
    start = window.offset
    collector.has_reasoning = True
    while True:
        hit = finder.search.search(window.text, window.pos)
        held = len(window.text) if window.final else finder.held(window.text, window.pos)
        if hit is None or held <= hit.start():
            _reason(window, collector, held)
            if window.final:
                _unclosed(window, collector, "no end of this message", start)
                return
            yield
            continue
        token, size = finder.token(hit), hit.end() - hit.start()
        _reason(window, collector, hit.start())
        if token.kind == "end" or (
            token.kind == "message" and (yield from read_header(window, token)) is not None
        ):
            return
        _reason(window, collector, window.pos + size)


def think_until(
    window: Window, collector: Collector, closer: str, start: int
) -> Generator[None, None, bool]:
    """Pass over reasoning whose marker began at `start`; whether its closer was found."""
    collector.has_reasoning = True
    while (end := window.text.find(closer, window.pos)) < 0:
        held = 0 if window.final else _partial(window, closer)
        _reason(window, collector, len(window.text) - held)
        if window.final:
            _unclosed(window, collector, f"no {closer!r}", start)
            return False
        yield
    _reason(window, collector, end)
    return True


def _partial(window: Window, closer: str) -> int:
    """How many characters at the window's end could be the beginning of `closer`."""
    text = window.text
    most = min(len(closer) - 1, len(text) - window.pos)
    return next((n for n in range(most, 0, -1) if text.endswith(closer[:n])), 0)


def _unclosed(window: Window, collector: Collector, message: str, start: int) -> None:
    collector.truncated = True
    collector.diagnose("unclosed-reasoning", message, start, window.offset)


def _reason(window: Window, collector: Collector, end: int) -> None:
    collector.piece("reasoning", window.offset, window.base + end)
    window.pos = end


def _headers(text: str, start: int, formats: tuple[Format, ...]) -> Iterator[Header]:
    """For each format the first of its routes that stands at `start`."""
    for form in formats:
        for route, pattern in _patterns(form):
            if found := pattern.match(text, start):
                name = found["name"] if "name" in pattern.groupindex else None
                yield Header(form, route, name, found.end() - start)
                break


def _is_proven(header: Header, window: Window) -> bool:
    """Whether what stands behind the header shows that it is of its format."""
    behind = _behind(header.form, header.route)
    return bool(behind.match(window.text, window.pos + header.length))


@lru_cache(maxsize=256)
def _patterns(form: Format) -> tuple[tuple[Route, re.Pattern[str]], ...]:
    """Each route with the pattern of its header, from what opens the message to its body."""
    envelope = form.envelope
    if envelope is None:
        return ()
    opener = f"(?:{re.escape(envelope.opens.text)})?"
    return tuple(
        (route, re.compile(f"{opener}{route.header}{re.escape(route.body)}"))
        for route in envelope.routes
    )


@lru_cache(maxsize=256)
def _behind(form: Format, route: Route) -> re.Pattern[str]:
    """What has to stand behind a call's header, to tell apart formats with the same headers."""
    opener = form.opener
    if opener is None or route.channel != "call":
        return re.compile("")
    if opener.text == route.body:
        return re.compile(start_of(form))
    firsts = [*opener.spellings, *(form.around[0].spellings if form.around else ())]
    return re.compile(rf"[ \t\r\n]{{0,24}}+(?:{'|'.join(map(re.escape, firsts))})")
