"""A text that arrives in pieces: its events, and at the end its result."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping

from tunaeval.errors import UsageError
from tunaeval.limits import MAX_TEXT
from tunaeval.sse import Delta, Lines, delta_in
from tunaeval.types import LEVELS, Diagnosis, JsonValue, Level, ParseResult, Tools
from tunaeval.wanted import refusal, wanted_name
from tunaeval.window import Window

from ..abstaining import widened, without_abstaining
from ..audit import audit
from ..collect import Collector, Kind
from ..finder import Finder
from ..scanner import Scanner
from .deltas import Deltas
from .events import TEXTS, Event
from .withheld import Withheld

_set_text = Event.text.__set__  # type: ignore[attr-defined,misc]  # the slot's: only a stream fills it


class Stream:
    """A text that arrives in pieces. `feed` reports what became certain, `finish` the result.

    The result equals that of parsing the whole text at once, wherever it was cut.

    Examples:
        >>> reader = tunaeval.stream("hermes")
        >>> for piece in ('<tool_call>{"name": "l', 's", "arguments": {}}</tool', "_call>"):
        ...     _ = reader.feed(piece)
        ...
        >>> reader.finish().calls[0].name
        'ls'
    """

    def __init__(
        self,
        finder: Finder,
        *,
        tools: Tools | None = None,
        level: Level = "standard",
        abstain: frozenset[str] = frozenset(),
    ) -> None:
        wanted_name(level, "level", LEVELS)
        self._abstain = abstain
        self._withheld = Withheld(abstain) if abstain else None
        self._tools = tools = widened(tools, abstain)
        self._level: Level = level
        self._deltas: Deltas | None = None
        self._lines: Lines | None = None
        self._window = Window()
        self._collector = Collector(listened=True)
        self._finder = finder
        seeking = finder.with_tools(tools)
        scanner = Scanner(seeking, self._window, self._collector, tools=tools, level=level)
        self._scan = scanner.run()
        self._chunks: list[str] = []
        self._starts: list[int] = []
        self._length = 0
        self._result: ParseResult | None = None

    def feed(self, chunk: str) -> list[Event]:
        """Take the next piece of the text; returns what became certain with it."""
        if type(chunk) is str and (events := self._more(chunk)) is not None:
            return events
        if not isinstance(chunk, str):
            raise refusal("chunk", chunk, "a str; decode bytes first")
        self._take(chunk if type(chunk) is str else str.__str__(chunk))
        return self._told()

    def feed_delta(self, delta: Mapping[str, JsonValue]) -> list[Event]:
        """Take the next `delta` of an OpenAI-compatible stream: content, tool_calls, reasoning.

        Where the server has parsed calls, those are the calls of the result, and what the text
        told of its own does not count (see `parse_message`). A whole chunk, or its choice, is
        taken for the delta in it.
        """
        if not isinstance(delta, Mapping):
            raise refusal("delta", delta, "a dict, as in choices[0]['delta'] of a chunk")
        self._take_events([delta_in(delta)])
        return self._told()

    def feed_sse(self, piece: str | bytes) -> list[Event]:
        """Take the next piece of an OpenAI-compatible stream as it comes from the server.

        Pieces may end anywhere, inside a line or a letter. A chunk that cannot be understood is a
        diagnosis, "invalid-chunk", and nothing else is lost. Where the stream ends without `[DONE]`
        and without a finish reason, or in an error, the diagnosis is "stream-cut", and the result
        is truncated. A whole response, as of a server that does not stream, is read, too. Of
        several choices (`n=2`), the first one is read.
        """
        if not isinstance(piece, str | bytes):
            raise refusal("piece", piece, "a str or bytes")
        self._lines = self._lines or Lines()
        self._take_events(self._lines.feed(piece))
        return self._told()

    def finish(self) -> ParseResult:
        """The text is complete; the result. May be called again."""
        if self._result is None:
            if self._lines:
                self._take_events(self._lines.end())
            if self._deltas and (half := self._deltas.rest(self._length)):
                self._take(half)
            self._window.final = True
            self._run_out()
            text = "".join(self._chunks)
            audit(self._collector, self._finder, text, self._tools)
            result = without_abstaining(self._collector.result(text), self._abstain)
            failed = self._lines is not None and self._lines.failed
            self._result = self._deltas.finish(result, failed) if self._deltas else result
        return self._result

    def last_events(self) -> list[Event]:
        """What `finish` made certain: to be asked for once, after it."""
        return self._told()

    @property
    def tiles(self) -> tuple[tuple[Kind, int, int], ...]:
        """Each stretch of the text and what it is; all of them once the text is complete."""
        return tuple(self._collector.pieces)

    def _more(self, chunk: str) -> list[Event] | None:
        """The events of a chunk that is more of the prose or the string before it, and no more.

        None, and nothing is done, if it may be anything else.
        """
        collector, length = self._collector, self._length + len(chunk)
        if length > MAX_TEXT or not chunk:
            return None
        live, reader = collector.live, collector.reader
        if live is None or reader is None or reader.string is None:
            return None
        piece = reader.string.take(chunk)
        if piece is None:
            return None
        self._keep(chunk, length)
        return self._passed([live.grown(piece)]) if live.growing else self._told()

    def _keep(self, chunk: str, length: int) -> None:
        self._chunks.append(chunk)
        self._starts.append(self._length)
        self._length = length

    def _take(self, chunk: str) -> None:
        if self._result is not None:
            self._wanted_open()
        room = MAX_TEXT - self._length
        self._keep(chunk, self._length + len(chunk))
        if room > 0 and chunk:
            self._window.feed(chunk if len(chunk) <= room else chunk[:room])
            next(self._scan)

    def _take_delta(self, delta: Mapping[str, JsonValue]) -> None:
        if content := self._beside().take(delta, self._length):
            self._take(content)

    def _take_events(self, events: Iterable[Delta | Diagnosis]) -> None:
        for found in events:
            if isinstance(found, Diagnosis):
                self._beside().fault(found)
            else:
                self._take_delta(found)

    def _beside(self) -> Deltas:
        """What arrives beside the text."""
        self._wanted_open()
        if self._deltas is None:
            events = self._collector.events
            told = [] if events is None else events
            self._deltas = Deltas(told, self._tools, self._level, self._abstain)
        return self._deltas

    def _wanted_open(self) -> None:
        if self._result is not None:
            raise UsageError("the stream is finished; make a new one for another text")

    def _run_out(self) -> None:
        for _ in self._scan:  # pragma: no cover - a final window is never waited for
            raise AssertionError("the engine asked for more than the whole text")
        if self._length > MAX_TEXT:
            self._collector.too_long(self._length)

    def _told(self) -> list[Event]:
        collector = self._collector
        if collector.live is not None:
            collector.live.tell()
        events = self._passed(collector.take())
        for event in events:
            if event.kind in TEXTS and not event.text:
                _set_text(event, self._slice(*event.span))
        return events

    def _passed(self, events: list[Event]) -> list[Event]:
        return events if self._withheld is None else self._withheld.passed(events)

    def _slice(self, start: int, end: int) -> str:
        """Characters of the text so far, without joining it."""
        index = bisect_right(self._starts, start) - 1
        parts = []
        while start < end:
            chunk, begins = self._chunks[index], self._starts[index]
            part = chunk[start - begins : end - begins]
            parts.append(part)
            start += len(part)
            index += 1
        return "".join(parts)
