"""Reasoning, and messages with headers: where each of them goes, and what may stand in it.

A header is decided by a bounded look ahead. While no header was met, anything may be a call; in a
message that goes elsewhere nothing is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tunaeval.grammar import Format, Reasoning, Route
from tunaeval.limits import HEADER_AHEAD, MAX_CALLS, NEAR_SPACE
from tunaeval.types import Repair, Span
from tunaeval.window import Reading, Window

from .collect import Collector, Kind
from .finder import Finder, Match, Token
from .patterns import headers, start_of
from .quoting import LINE_START

_HEADER_TEXT = r"(?! (?!t))(?:[ \w./=-]|<\|\w{1,24}\|>){0,160}"
_CUT_MARKER = r"(?:<(?:\|(?:\w{1,24}\|?)?)?)?\Z"
_UNFINISHED = re.compile(f"{_HEADER_TEXT}{_CUT_MARKER}", re.ASCII)
_UNFINISHED_LINE = re.compile(rf"{_HEADER_TEXT}[\r\n]{{0,2}}{_CUT_MARKER}", re.ASCII)
"""What follows a message's opener when the text ends in its header; behind a marker it may end a
line.
"""


class HeaderReader(NamedTuple):
    """The headers of one format: its routes in order, with what matches each, whether that has the
    tool's name, and whether it ends in the opener of a call; and what has to follow each.
    """

    form: Format
    routes: tuple[tuple[Route, Match, bool, bool], ...]
    follows: Mapping[Route, Match]


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
        hit, end = finder.next_in(window, finder.search)
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


@dataclass(slots=True)
class Late:
    """The end of reasoning that was never closed, from offset `start` on."""

    start: int = -1
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def think_until(
    window: Window, collector: Collector, finder: Finder, closer: str
) -> Generator[None, None, Late | None]:
    """Pass over reasoning; None if its closer was found, else what may hold calls."""
    collector.has_reasoning = True
    late = Late()
    while (end := window.text.find(closer, window.pos)) < 0:
        stop = len(window.text) if window.final else _decided(window, finder, closer)
        hit = finder.announcing.search(window.text, window.pos) if late.start < 0 else None
        if hit and hit.start() < stop:  # else it may be the end of a longer one
            _reason(window, collector, hit.start())
            late.start = window.offset
        if late.start < 0:
            _reason(window, collector, stop)
        elif stop > window.pos:
            late.pieces.append(window.text[window.pos : stop])
            window.pos = stop
        if window.final:
            return late
        yield
    if late.start >= 0:
        collector.piece("reasoning", late.start, window.offset)
    _reason(window, collector, end)
    return None


def _decided(window: Window, finder: Finder, closer: str) -> int:
    """Up to where the window holds no beginning of a closer or of what may announce a call."""
    text = window.text
    most = min(len(closer) - 1, len(text) - window.pos)
    partial = next((n for n in range(most, 0, -1) if text.endswith(closer[:n])), 0)
    return min(len(text) - partial, finder.held(window))


def only_calls(
    late: Late,
    collector: Collector,
    finder: Finder,
    read: Callable[[Window, Collector], None],
    repair: Repair,
) -> bool:
    """Collect the calls that `late` ends in, if it ends in calls alone; `read` reads a text."""
    text, found = late.text, Collector(listened=False)
    read(_window(text, late.start), found)
    tail = _tail(found, text, late.start)
    if not tail:
        return False
    marked = {form.name for form in finder.formats if form.marked and form.opener}
    start = tail[0][1]
    calls = [call for call in found.calls if call.span and call.span.start >= start]
    notes = [note for note in found.diagnoses if note.span and note.span.end > start]
    before = [note for note in found.diagnoses if note.span and note.span.end <= start]
    spans = {call.span for call in calls}
    sound = all(call.format in marked for call in calls)
    if not (calls and sound and all(note.span in spans for note in notes)):
        return False
    if len(collector.calls) + len(calls) > MAX_CALLS:
        return False
    collector.piece("reasoning", late.start, start)
    for note in before:  # at another level it may be one more call
        collector.note(note)
    for kind, begins, ends in tail:
        if kind == "call":
            call = calls.pop(0)
            collector.call(replace(call, repairs=(*call.repairs, repair)))
        else:
            collector.piece("markup", begins, ends)
    for note in notes:
        collector.note(note)
    collector.truncated = collector.truncated or found.truncated
    return True


def _window(text: str, start: int) -> Window:
    window = Window(text, final=True)
    window.base = start
    return window


def _tail(found: Collector, text: str, start: int) -> list[tuple[Kind, int, int]]:
    """The tiles at the end that are calls and what is around them."""
    tail: list[tuple[Kind, int, int]] = []
    for kind, begins, ends in reversed([*_placed(found, start)]):
        if kind == "reasoning" or (
            kind == "content" and not text[begins - start : ends - start].isspace()
        ):
            break
        tail.append((kind, begins, ends))
    while tail and tail[-1][0] == "content":
        tail.pop()
    return tail[::-1]


def _placed(found: Collector, start: int) -> Iterator[tuple[Kind, int, int]]:
    """The tiles of a text that begins at an offset."""
    for kind, begins, ends in found.pieces:
        yield kind, max(begins, start), ends


def repair_of(reasoning: Reasoning | None, start: int) -> Repair:
    """The repair of a call that reasoning, which began at an offset, was not closed before."""
    opener, closer = (reasoning.open, reasoning.close) if reasoning else ("", "")
    message = f"{closer!r} is missing before it"
    return Repair("unclosed-reasoning", message, Span(start, start + len(opener)))
