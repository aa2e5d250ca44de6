"""Reasoning, and messages with headers: where each of them goes, and what may stand in it.

A header is decided by a bounded look ahead. While no header was met, anything may be a call; in a
message that goes elsewhere nothing is one.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import lru_cache

from tunaeval.grammar import Channel, Format, Route
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


class Router:
    """Knows the message that is being read. `channel` is None outside of messages.

    `announced` is where calls were announced, by a header or by what stands around them, as long
    as none has begun.
    """

    def __init__(self, finder: Finder, window: Window, collector: Collector) -> None:
        self.channel: Channel | None = None
        self.announced: int | None = None
        self._finder = finder
        self._window = window
        self._collector = collector

    def bars(self, form: Format) -> bool:
        """Whether a call of this format cannot stand in the present message."""
        return form.envelope is not None and self.channel not in (None, "call")

    def header(self, token: Token) -> Generator[None, None, Header | None]:
        """The header that begins with this token here; None if there is none."""
        window = self._window
        while True:
            ahead = len(window.text) - window.pos
            fitting = list(_headers(window.text, window.pos, token.formats))
            proven = [header for header in fitting if _is_proven(header, window)]
            if len(fitting) == 1 or proven or window.final or ahead > _HEADER:
                return next(iter(proven or fitting), None)
            yield

    def is_cut(self, token: Token) -> bool:
        """Whether the text ends inside a header that begins with this token here."""
        window = self._window
        behind = window.pos + len(token.text)
        if len(window.text) - behind > _HEADER or not _UNFINISHED.match(window.text, behind):
            return False
        start, end = window.offset, window.base + len(window.text)
        message = "the text ends in the header of a message"
        self._collector.diagnose("truncated", message, start, end)
        self._collector.attempt(start, cut=True)
        return True

    def think(self) -> Reading[None]:
        """Pass over the body of a message that is reasoning, up to its end or a next header."""
        window, finder, start = self._window, self._finder, self._window.offset
        self._collector.has_reasoning = True
        while True:
            hit = finder.search.search(window.text, window.pos)
            held = len(window.text) if window.final else finder.held(window.text, window.pos)
            if hit is None or held <= hit.start():
                self._reason(held)
                if window.final:
                    self._unclosed("no end of this message", start)
                    return
                yield
                continue
            token, size = finder.token(hit), hit.end() - hit.start()
            self._reason(hit.start())
            if token.kind == "end" or (
                token.kind == "message" and (yield from self.header(token)) is not None
            ):
                return
            self._reason(window.pos + size)

    def think_until(self, closer: str, start: int) -> Generator[None, None, bool]:
        """Pass over reasoning whose marker began at `start`; whether its closer was found."""
        window = self._window
        self._collector.has_reasoning = True
        while (end := window.text.find(closer, window.pos)) < 0:
            self._reason(len(window.text) - (0 if window.final else self._partial(closer)))
            if window.final:
                self._unclosed(f"no {closer!r}", start)
                return False
            yield
        self._reason(end)
        return True

    def _partial(self, closer: str) -> int:
        """How many characters at the window's end could be the beginning of `closer`."""
        text = self._window.text
        most = min(len(closer) - 1, len(text) - self._window.pos)
        return next((n for n in range(most, 0, -1) if text.endswith(closer[:n])), 0)

    def _unclosed(self, message: str, start: int) -> None:
        self._collector.truncated = True
        self._collector.diagnose("unclosed-reasoning", message, start, self._window.offset)

    def _reason(self, end: int) -> None:
        window = self._window
        self._collector.piece("reasoning", window.offset, window.base + end)
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
