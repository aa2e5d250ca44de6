"""Reasoning, and messages with headers: where each of them goes, and what may stand in it.

A header is decided by a bounded look ahead. While no header was met, anything may be a call; in a
message that goes elsewhere nothing is one.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import NamedTuple

from tunaeval.grammar import Format, Route
from tunaeval.limits import HEADER_AHEAD, NEAR_SPACE
from tunaeval.window import Reading, Window

from .chains import start_of
from .collect import Collector
from .finder import Finder
from .patterns import headers
from .quoting import LINE_START
from .tokens import HeaderReader, Token

_HEADER_TEXT = r"(?! (?!t))(?:[ \w./=-]|<\|\w{1,24}\|>){0,160}"
_CUT_MARKER = r"(?:<(?:\|(?:\w{1,24}\|?)?)?)?\Z"
_UNFINISHED = re.compile(f"{_HEADER_TEXT}{_CUT_MARKER}", re.ASCII)
_UNFINISHED_LINE = re.compile(rf"{_HEADER_TEXT}[\r\n]{{0,2}}{_CUT_MARKER}", re.ASCII)
"""What follows a message's opener when the text ends in its header; behind a marker it may end a
line.
"""


class Header(NamedTuple):
    """A header that was read: whose it is, its route, the tool's name if it is in there, and its
    length with the text that its body begins with.
    """

    reader: HeaderReader
    route: Route
    name: str | None
    length: int
    opens_call: bool
    """Whether what the body begins with is the opener of a call's block."""

    @property
    def form(self) -> Format:
        return self.reader.form


def header_at(window: Window, token: Token) -> tuple[Header | None, bool]:
    """The header that begins with this token here, None if there is none; whether that is sure."""
    found, proven = header_in(window.text, window.pos, token)
    ahead = len(window.text) - window.pos - len(token.text)
    return found, proven or window.final or ahead > HEADER_AHEAD


def header_in(text: str, start: int, token: Token) -> tuple[Header | None, bool]:
    """The header that begins here, by what is near; whether more of the text could tell nothing."""
    end = start + len(token.text) + HEADER_AHEAD
    fitting = _headers(text, start, end, token)
    if len(fitting) == 1:
        return fitting[0], True
    proven = [h for h in fitting if h.reader.follows[h.route](text, start + h.length, end)]
    return next(iter(proven or fitting), None), bool(proven)


def is_cut(window: Window, collector: Collector, token: Token, line: str) -> bool:
    """Whether the text ends inside a header that begins with this token here, behind `line`.

    Words alone (`to=prod`) are a header at the beginning of a line, or before a marker.
    """
    behind = window.pos + len(token.text)
    if len(window.text) - behind > HEADER_AHEAD:  # first: what follows may be all of a long text
        return False
    if "<" not in token.text and not LINE_START.search(line) and "<" not in window.text[behind:]:
        return False
    unfinished = _UNFINISHED_LINE if token.text.endswith(">") else _UNFINISHED
    if not unfinished.match(window.text, behind):
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
        if window.final:
            hit = finder.search.search(window.text, window.pos)
            end = hit.start() if hit else len(window.text)
        else:
            hit, end = finder.next_in(window)
        _reason(window, collector, end)
        if hit is None:
            if window.final:
                unclosed(window, collector, "no end of this message", start)
                return
            yield
            continue
        token, size = finder.token(hit), hit.end() - hit.start()
        if token.kind == "end" or (
            token.kind == "message" and (yield from _is_header(window, token))
        ):
            return
        _reason(window, collector, window.pos + size)


def _is_header(window: Window, token: Token) -> Generator[None, None, bool]:
    """Whether a header begins here."""
    found, sure = header_at(window, token)
    while not sure:
        yield
        found, sure = header_at(window, token)
    return found is not None


def unclosed(window: Window, collector: Collector, message: str, start: int) -> None:
    """Reasoning that began at `start` and is not over where the text is."""
    collector.truncated = True
    collector.diagnose("unclosed-reasoning", message, start, window.offset)


def _reason(window: Window, collector: Collector, end: int) -> None:
    collector.piece("reasoning", window.offset, window.base + end)
    window.pos = end


def _headers(text: str, start: int, end: int, token: Token) -> list[Header]:
    """For each format the first of its routes that is at `start`, and over before `end`."""
    headers = []
    for reader in token.headers or _readers_of(token):
        for route, match, named, opens_call in reader.routes:
            if found := match(text, start, end):
                name, size = found["name"] if named else None, found.end() - start
                headers.append(_new_tuple(Header, (reader, route, name, size, opens_call)))
                break
    return headers


_new_tuple = tuple.__new__


def _readers_of(token: Token) -> tuple[HeaderReader, ...]:
    token.headers = tuple(_reader_of(form) for form in token.formats if form.envelope)
    return token.headers


def _reader_of(form: Format) -> HeaderReader:
    """From what opens the message to its body, for each route; and what has to follow that."""
    envelope = form.envelope
    assert envelope is not None  # noqa: S101 - its caller has asked
    patterns = map(re.compile, headers(envelope))
    body = form.opener.text if form.opener else None
    routes = tuple(
        (route, pattern.match, "name" in pattern.groupindex,
         route.channel == "call" and route.body == body)
        for route, pattern in zip(envelope.routes, patterns, strict=True)
    )  # fmt: skip
    follows = {route: re.compile(_behind(form, route)).match for route in envelope.routes}
    return HeaderReader(form, routes, follows)


def _behind(form: Format, route: Route) -> str:
    """What has to follow a call's header, to tell apart formats with the same headers."""
    opener = form.opener
    if opener is None or route.channel != "call":
        return ""
    if opener.text == route.body:
        return start_of(form)
    firsts = [*opener.spellings, *(form.around[0].spellings if form.around else ())]
    return rf"{NEAR_SPACE}(?:{'|'.join(map(re.escape, firsts))})"
