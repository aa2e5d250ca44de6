"""What has been read so far: pieces that tile the text, calls, diagnoses; and the result of it.

Pieces are offsets into the whole text, so nothing is copied until the end.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, TypeAlias

from tunaeval.limits import MAX_CALLS, MAX_DIAGNOSES, MAX_ECHOED, MAX_TEXT
from tunaeval.repair import BraceReader, JsonReader, Read, Unreadable
from tunaeval.types import Diagnosis, ParseResult, Span, ToolCall, Tools, cheap, outcome_of
from tunaeval.window import Reading

from .judge import Verdict
from .live import Event, LiveCall, LiveObject, event

new_result = cheap(ParseResult)

JOINTS = re.compile(r"[\s;]*+")
"""What is between bare calls, and behind them, is no content: Llama 3 joins them by `; `."""


_NOWHERE: Mapping[bool, int] = MappingProxyType({})


class Collector:
    """Collects the pieces of a text, in order, with its calls and diagnoses.

    `events` is None where no stream reports them.
    """

    __slots__ = (
        "_attempted", "_blank", "_diagnoses", "_settled", "_started", "answered", "bare", "calls",
        "events", "full", "has_reasoning", "live", "pieces", "truncated",
    )  # fmt: skip

    def __init__(self, *, listened: bool) -> None:
        self.pieces = Tiling()
        self.calls: list[ToolCall] = []
        self.events: list[Event] | None = [] if listened else None
        self.live: LiveObject | None = None
        """The object of a call that is being read, if anybody listens."""
        self.bare = False
        """The last block that was read had no markers."""
        self.full = False
        """As many calls as are read at the most have been read, and another follows."""
        self.answered: int | None = None
        """Where a later turn begins, which was not read."""
        self.truncated = self.has_reasoning = False
        self._blank: tuple[int, int] | None = None
        self._diagnoses: list[Diagnosis] = []
        self._started: dict[int, LiveCall] = {}
        self._attempted: Mapping[bool, int] = _NOWHERE
        """Where the first attempt began that was cut off, and the first that was not."""
        self._settled = 0

    @property
    def end(self) -> int:
        """Up to where the text is accounted for."""
        return self.pieces.end

    @property
    def last(self) -> Kind | None:
        """What the last piece was."""
        kinds = self.pieces.kinds
        return kinds[-1] if kinds else None

    @property
    def diagnoses(self) -> tuple[Diagnosis, ...]:
        return tuple(self._diagnoses)

    def may_be_blank(self, text: str) -> bool:
        """Whether this is white space behind anything but content; or what joins bare calls."""
        kinds = self.pieces.kinds
        last = kinds[-1] if kinds else None
        if last == "content":
            return False
        return text.isspace() or (self.bare and JOINTS.fullmatch(text) is not None)

    def blank(self, start: int, end: int) -> None:
        """White space that is content if more content follows and markup if anything else does."""
        self._blank = (self._blank[0] if self._blank else start, end)

    def settle_blank(self, kind: Kind) -> None:
        if self._blank:
            start, end = self._blank
            self._blank = None
            self.piece(kind, start, end)

    def piece(self, kind: Kind, start: int, end: int) -> None:
        """Characters `start` to `end` are of this kind."""
        if start == end:
            return
        if self._blank:
            self.settle_blank("content" if kind == "content" else "markup")
        kinds, ends = self.pieces.kinds, self.pieces.ends
        if kind != "call" and kinds and kinds[-1] == kind:
            ends[-1] = end
        else:
            kinds.append(kind)
            ends.append(end)
        if self.events is not None and kind != "call":
            self.events.append(event(kind, start, end))

    def begin(self, waiting: int, start: int, tools: Tools | None) -> LiveCall | None:
        """A call may begin at offset `start`, behind so many that wait; None if nobody listens."""
        if self.events is None:
            return None
        index = len(self.calls) + waiting
        self._started[index] = live = LiveCall(self.events, index, start, tools)
        return live

    def follow(
        self, live: LiveObject, reader: JsonReader | BraceReader
    ) -> Reading[Read | Unreadable]:
        """Read an object, and report it while it grows."""
        self.live = live
        read = yield from reader.read()
        live.update()
        self.live = None
        return read

    def take(self) -> list[Event]:
        """Return and forget the events since the last time."""
        if not self.events:
            return []
        taken = self.events[:]
        self.events.clear()
        return taken

    def drop(self, waiting: int = 0) -> None:
        """What began behind so many calls that wait is no call."""
        least = len(self.calls) + waiting
        for index in [index for index in self._started if index >= least]:
            self._started.pop(index).drop()

    def call(self, call: ToolCall) -> None:
        """A call that stands, at its span."""
        span = call.span or Span(0, 0)
        self.piece("call", *span)
        if self.events is not None:
            index = len(self.calls)
            live = self._started.pop(index, None) or LiveCall(self.events, index, span.start, None)
            live.finish(call)
        self.calls.append(call)

    def verdict(self, verdict: Verdict, span: Span) -> None:
        """Note the diagnoses of an object, and whether it tried to be a call and is none."""
        if len(self._diagnoses) < MAX_DIAGNOSES:
            for diagnosis in verdict.diagnoses(span):
                self.note(diagnosis)
        if verdict.attempt and not verdict.call:
            self.attempt(span.start, cut=verdict.truncated)

    def diagnose(self, code: str, message: str, start: int, end: int) -> None:
        """Note why something is no call, or what is odd."""
        if len(self._diagnoses) < MAX_DIAGNOSES:
            self.note(Diagnosis(code, message, Span(start, end)))

    def note(self, diagnosis: Diagnosis) -> None:
        """The same for a diagnosis that has a span."""
        room = MAX_DIAGNOSES - len(self._diagnoses)
        if room <= 0:
            return
        if room == 1:
            message = f"{MAX_DIAGNOSES} are listed at the most"
            diagnosis = Diagnosis("too-many-diagnoses", message, diagnosis.span)
        self._diagnoses.append(diagnosis)
        if self.events is not None and diagnosis.span:
            self.events.append(event("diagnosis", *diagnosis.span, diagnosis=diagnosis))

    def has_said(self, start: int) -> bool:
        """Whether there was a call, or anything to say of one, behind `start`."""
        last = [self.calls[-1].span] if self.calls else []
        last += [self._diagnoses[-1].span] if self._diagnoses else []
        return any(span and span.start >= start for span in last)

    def has_diagnosis(self, start: int, end: int) -> bool:
        """Whether a diagnosis concerns some of the text between two offsets."""
        spans = (note.span for note in self._diagnoses if note.span)
        return any(span.start < end and start < max(span.end, span.start + 1) for span in spans)

    def is_full(self, waiting: int = 0) -> bool:
        """Whether as many calls were read as are read at the most; then nothing more is."""
        self.full = len(self.calls) + waiting >= MAX_CALLS
        return self.full

    def too_long(self, length: int) -> None:
        """What is behind `MAX_TEXT` characters of so many is content."""
        message = f"only the first {MAX_TEXT} characters were looked at"
        self.diagnose("too-long", message, MAX_TEXT, length)
        self.piece("content", MAX_TEXT, length)

    def attempt(self, start: int, *, cut: bool = False) -> None:
        """Something tried to be a call and is none; `cut` when the text ended inside it."""
        if self._attempted.get(cut, start + 1) <= start:
            return
        self._attempted = {**self._attempted, cut: start}
        self.truncated = self.truncated or cut

    def adopt(self, found: Collector, place: Callable[[int], int]) -> None:
        """Take over what another collector has read; `place` says where its offsets are here."""
        for note in found.diagnoses:
            span = note.span
            moved = span and _moved(span, place)
            self.note(note if moved == span else replace(note, span=moved))
        calls = iter(found.calls)
        for kind, _, end in found.pieces:
            if kind == "call":
                self.call(_call_moved(next(calls), place))
            else:
                self.piece(kind, self.end, place(end))
        for cut, start in found.attempts.items():
            self.attempt(place(start), cut=cut)
        self.truncated = self.truncated or found.truncated
        self.full = self.full or found.full

    def repeats(self, other: Collector) -> bool:
        """Whether all calls here are some that the other one has, with words behind them."""
        if not self.calls or not other.calls or other.last != "content":
            return False
        made = [(call.name, call.arguments) for call in other.calls[-MAX_ECHOED:]]
        return all((call.name, call.arguments) in made for call in self.calls)

    @property
    def attempts(self) -> Mapping[bool, int]:
        """Where the first attempt began that was cut off (True), and the first that was not."""
        return self._attempted

    def reclassify(self, start: int, marker: int = 0) -> None:
        """All since `start` was reasoning, behind a marker of so many characters.

        Its calls and diagnoses are taken back.
        """
        self.settle_blank("content")
        self.has_reasoning = True
        end = self.end
        self._forget(start)
        if start < end and self.events is not None:
            self.events.append(event("reclassified", start, end))
        listened, self.events = self.events, None
        self.piece("markup", start, start + marker)
        self.piece("reasoning", start + marker, end)
        self.events = listened

    def _forget(self, start: int) -> None:
        """Take back all that was collected behind `start`.

        Pieces and calls stand in order, so only their ends are looked at; of the rest only what
        came since the last time, as `start` never lies before the end of that: a text full of
        reasoning would take the square of its length otherwise.
        """
        self.pieces.cut(start)
        calls = self.calls
        while calls and calls[-1].span and calls[-1].span.start >= start:
            calls.pop()
        settled, diagnoses = self._settled, self._diagnoses
        diagnoses[settled:] = [d for d in diagnoses[settled:] if d.span and d.span.start < start]
        self._settled = len(diagnoses)
        self._attempted = {cut: at for cut, at in self._attempted.items() if at < start}

    def result(self, text: str) -> ParseResult:
        """The whole, once `text` is complete."""
        return new_result(
            tuple(self.calls),
            self.pieces.text_of("content", text),
            self.pieces.text_of("reasoning", text) if self.has_reasoning else None,
            tuple(self._diagnoses),
            self.truncated,
            outcome_of(self.calls, attempted=bool(self._attempted), cut=True in self._attempted),
        )


def _call_moved(call: ToolCall, place: Callable[[int], int]) -> ToolCall:
    """The call where it is here; itself if that is the same place."""
    span = call.span and _moved(call.span, place)
    if span == call.span:
        return call
    repairs = tuple(
        replace(each, span=each.span and _moved(each.span, place)) for each in call.repairs
    )
    return replace(call, span=span, repairs=repairs)


def _moved(span: Span, place: Callable[[int], int]) -> Span:
    return Span(place(span.start), place(span.end))


Kind: TypeAlias = Literal["content", "reasoning", "markup", "call"]


class Tiling:
    """The tiles so far: `kinds`, and where each ends."""

    __slots__ = ("ends", "kinds")

    def __init__(self) -> None:
        self.kinds: list[Kind] = []
        self.ends = array("q")

    def __iter__(self) -> Iterator[tuple[Kind, int, int]]:
        """Each tile's kind, start and end."""
        start, last = 0, len(self.kinds) - 1
        for at, (kind, end) in enumerate(zip(self.kinds, self.ends, strict=True)):
            if kind == "call" or at == last or self.kinds[at + 1] != kind:
                yield kind, start, end
                start = end

    def text_of(self, kind: Kind, text: str) -> str:
        """All of `text` that is of this kind."""
        if len(self.kinds) == 1:
            return text if self.kinds[0] == kind else ""
        ends = self.ends
        found = [
            text[ends[at - 1] if at else 0 : ends[at]]
            for at, each in enumerate(self.kinds)
            if each == kind
        ]
        return found[0] if len(found) == 1 else "".join(found)

    @property
    def end(self) -> int:
        """Up to where the text is covered."""
        return self.ends[-1] if self.ends else 0

    @property
    def begins(self) -> int:
        """Where the last tile begins."""
        return self.ends[-2] if len(self.ends) > 1 else 0

    @property
    def last(self) -> Kind | None:
        """What the last tile is."""
        return self.kinds[-1] if self.kinds else None

    def cut(self, start: int) -> None:
        """Take back all that was covered behind `start`."""
        kind = self.last
        while self.end > start:
            kind = self.kinds.pop()
            self.ends.pop()
        if kind and self.end < start:
            self.kinds.append(kind)
            self.ends.append(start)
