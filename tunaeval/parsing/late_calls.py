"""Calls behind reasoning whose closer never comes.

They are calls where nothing but calls follows the first of them to the end of the text; else all of
it is reasoning. Only the end can tell, so from the first text on that may announce a call nothing
is told of the reasoning before it is closed, or over.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace

from tunaeval.grammar import Reasoning
from tunaeval.limits import MAX_CALLS
from tunaeval.types import Repair, Span
from tunaeval.window import Window

from .collect import Collector
from .finder import Finder
from .tiling import Kind


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


def _reason(window: Window, collector: Collector, end: int) -> None:
    collector.piece("reasoning", window.offset, window.base + end)
    window.pos = end


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
