"""Messages and reasoning: what may be in them, and what it means where they do not end.

While no header was met, anything may be a call; in a message that goes elsewhere nothing is one.

Calls behind reasoning whose closer never comes are calls where nothing but calls follows the first
of them to the end of the text; else all of it is reasoning. Only the end can tell, so from the
first text on that may announce a call nothing is reported of the reasoning before it is closed, or
over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import NamedTuple

from tunaeval.grammar import Reasoning
from tunaeval.limits import HEADER_AHEAD, MAX_CALLS
from tunaeval.types.calls import Repair, Span

from .collect import Collector, Kind
from .finder import Finder, Token, header_at
from .quoting import LINE_START
from .window import Reading, Window

_HEADER_TEXT = r"(?! (?!t))(?:[ \w./=-]|<\|\w{1,24}\|>){0,160}"
_CUT_MARKER = r"(?:<(?:\|(?:\w{1,24}\|?)?)?)?\Z"
_UNFINISHED = re.compile(f"{_HEADER_TEXT}{_CUT_MARKER}", re.ASCII)
_UNFINISHED_LINE = re.compile(rf"{_HEADER_TEXT}[\r\n]{{0,2}}{_CUT_MARKER}", re.ASCII)
"""What follows a message's opener when the text ends in its header; behind a marker it may end a
line.
"""


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
        header, sure = header_at(window, token) if token.kind == "message" else (None, True)
        while not sure:
            yield
            header, sure = header_at(window, token)
        if token.kind == "end" or header:
            return
        _reason(window, collector, window.pos + size)


def unclosed(window: Window, collector: Collector, message: str, start: int) -> None:
    """Reasoning that began at `start` and is not over where the text is."""
    collector.truncated = True
    collector.diagnose("unclosed-reasoning", message, start, window.offset)


def _reason(window: Window, collector: Collector, end: int) -> None:
    collector.piece("reasoning", window.offset, window.base + end)
    window.pos = end


class Late(NamedTuple):
    """The end of reasoning that was never closed, from offset `start` on; "" at -1 if none."""

    start: int
    text: str


def think_until(
    window: Window, collector: Collector, finder: Finder, closer: str
) -> Generator[None, None, Late | None]:
    """Pass over reasoning; None if its closer was found, else what may hold calls."""
    collector.has_reasoning = True
    late, pieces = -1, list[str]()
    while (end := window.text.find(closer, window.pos)) < 0:
        stop = len(window.text) if window.final else finder.held(window)  # a closer is held, too
        hit = finder.announcing.search(window.text, window.pos) if late < 0 else None
        if hit and hit.start() < stop:  # else it may be the end of a longer one
            _reason(window, collector, hit.start())
            late = window.offset
        if late < 0:
            _reason(window, collector, stop)
        elif stop > window.pos:
            pieces.append(window.text[window.pos : stop])
            window.pos = stop
        if window.final:
            return Late(late, "".join(pieces))
        yield
    if late >= 0:
        collector.piece("reasoning", late, window.offset)
    _reason(window, collector, end)
    return None


def only_calls(
    late: Late,
    collector: Collector,
    finder: Finder,
    read: Callable[[Window, Collector], None],
    repair: Repair,
) -> bool:
    """Collect the calls that `late` ends in, if it ends in calls alone; `read` reads a text."""
    window, found = Window(late.text, final=True), Collector(listened=False)
    window.base = late.start
    read(window, found)
    tail = _tail(found, late)
    if not tail:
        return False
    start = tail[0][1]
    marked = {form.name for form in finder.formats if form.marked and form.opener}
    calls = [call for call in found.calls if call.span and call.span.start >= start]
    notes = [note for note in found.diagnoses if note.span]
    spans = {call.span for call in calls}
    sound = calls and all(call.format in marked for call in calls)
    if not sound or any(n.span.end > start and n.span not in spans for n in notes if n.span):
        return False
    if len(collector.calls) + len(calls) > MAX_CALLS:
        return False
    collector.piece("reasoning", late.start, start)
    for note in notes:  # before the first call, too: at another level it may be one more call
        if note.span and note.span.end <= start:
            collector.note(note)
    for kind, begins, ends in tail:
        if kind == "call":
            call = calls.pop(0)
            collector.call(replace(call, repairs=(*call.repairs, repair)))
        else:
            collector.piece("markup", begins, ends)
    for note in notes:
        if note.span in spans:
            collector.note(note)
    collector.truncated = collector.truncated or found.truncated
    return True


def _tail(found: Collector, late: Late) -> list[tuple[Kind, int, int]]:
    """The tiles at the end that are calls and what is around them."""
    tail: list[tuple[Kind, int, int]] = []
    for kind, start, end in reversed([*found.pieces]):
        begins = max(start, late.start)
        content = late.text[begins - late.start : end - late.start]
        if kind == "reasoning" or (kind == "content" and not content.isspace()):
            break
        tail.append((kind, begins, end))
    while tail and tail[-1][0] == "content":
        tail.pop()
    return tail[::-1]


def repair_of(reasoning: Reasoning | None, start: int) -> Repair:
    """The repair of a call that reasoning, which began at an offset, was not closed before."""
    opener, closer = (reasoning.open, reasoning.close) if reasoning else ("", "")
    message = f"{closer!r} is missing before it"
    return Repair("unclosed-reasoning", message, Span(start, start + len(opener)))
