"""Texts in, results out: whole with `Reader.parse`, arriving with `Stream`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache, partial

from tunaeval.errors import UsageError
from tunaeval.grammar import Format
from tunaeval.types import LEVELS, JsonValue, Level, ParseResult, Tools, text_of
from tunaeval.wanted import refusal, wanted_name
from tunaeval.window import Window

from .collect import MAX_TEXT, Collector
from .deltas import Deltas, Lines, delta_of
from .events import TEXTS, Event
from .finder import Finder
from .ordinary import OrdinaryReader, ordinary_reader
from .scanner import Scanner
from .tiling import Kind

_set_text = Event.text.__set__  # type: ignore[attr-defined,misc]  # the slot's: only a stream fills it


class Reader:
    """Reads one format, or several side by side; where two begin alike, the first has it.

    A `Parser`, compiled when it is first used. `at_once` reads ordinary texts and says nothing of
    others; the engine, which reads any, would say the same.
    """

    def __init__(self, name: str, formats: tuple[Format, ...], *, summary: str = "") -> None:
        self.name = name
        self.formats = formats
        self.summary = summary or ", ".join(form.summary for form in formats)
        self.models = tuple(dict.fromkeys(model for form in formats for model in form.models))
        self.at_once: OrdinaryReader = self._compiled
        self._finder: Finder | None = None

    def __repr__(self) -> str:
        return f"Reader({self.name!r})"

    def __reduce__(self) -> tuple[partial[Reader], tuple[()]]:
        """Another process makes its own, and compiles it."""
        return partial(type(self), self.name, self.formats, summary=self.summary), ()

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        """Read a whole text: the ordinary shape at once, anything else through the engine."""
        result = self.at_once(text, tools) if level in LEVELS else None
        return result or self.read(text, tools, level)

    def read(self, text: str, tools: Tools | None, level: Level) -> ParseResult:
        """Read a whole text through the engine."""
        return self._engine(tools, level, listened=False).read_whole(text)

    def stream(self, *, tools: Tools | None = None, level: Level = "standard") -> Stream:
        """A reader for a text that arrives in pieces."""
        return self._engine(tools, level, listened=True)

    def _engine(self, tools: Tools | None, level: Level, *, listened: bool) -> Stream:
        return Stream(self._compile(), tools=tools, level=level, listened=listened)

    def _compile(self) -> Finder:
        if self._finder is None:
            self._finder = Finder(self.formats)
            self.at_once = ordinary_reader(self._finder)
        return self._finder

    def _compiled(self, text: str, tools: Tools | None) -> ParseResult | None:
        self._compile()
        return self.at_once(text, tools)


@lru_cache(maxsize=256)
def reader_of(form: Format) -> Reader:
    """The reader of one format, and of what is read under its name too; made once."""
    return Reader(form.name, (form, *form.also), summary=form.summary)


class Stream:
    """A text that arrives in pieces. `feed` tells what became certain, `finish` the result.

    The result equals that of parsing the whole text at once, wherever it was cut.
    """

    def __init__(
        self,
        finder: Finder,
        *,
        tools: Tools | None = None,
        level: Level = "standard",
        listened: bool = True,
    ) -> None:
        wanted_name(level, "level", LEVELS)
        self._tools = tools
        self._level: Level = level
        self._deltas: Deltas | None = None
        self._lines = Lines()
        self._window = Window()
        self._collector = Collector(listened=listened)
        scanner = Scanner(finder, self._window, self._collector, tools=tools, level=level)
        self._scan = scanner.run()
        self._chunks: list[str] = []
        self._starts: list[int] = []
        self._length = 0
        self._result: ParseResult | None = None

    def feed(self, chunk: str) -> list[Event]:
        """Take the next piece of the text; returns what became certain with it."""
        if not isinstance(chunk, str):
            raise refusal("chunk", chunk, "a str; decode bytes first")
        self._take(chunk)
        return self._told()

    def feed_delta(self, delta: Mapping[str, JsonValue]) -> list[Event]:
        """Take the next `delta` of an OpenAI-compatible stream: content, tool_calls, reasoning.

        Where the server has parsed calls, those are the calls of the result, and what the text
        told of its own does not count (see `parse_message`).
        """
        self._take_delta(delta)
        return self._told()

    def feed_sse(self, piece: str | bytes) -> list[Event]:
        """Take the next piece of an OpenAI-compatible stream as it comes from the server.

        Pieces may end anywhere, inside a line or a letter. A chunk that cannot be understood is a
        diagnosis, "invalid-chunk", and nothing else is lost.
        """
        self._take_lines(piece)
        return self._told()

    def finish(self) -> ParseResult:
        """The text is complete; the result. May be called again."""
        if self._result is None:
            self._take_lines("\n")
            self._window.final = True
            self._run_out()
            result = self._collector.result("".join(self._chunks))
            self._result = self._deltas.finish(result) if self._deltas else result
        return self._result

    def last_events(self) -> list[Event]:
        """What `finish` made certain: to be asked for once, after it."""
        return self._told()

    @property
    def tiles(self) -> tuple[tuple[Kind, int, int], ...]:
        """Each stretch of the text and what it is; all of them once the text is complete."""
        return tuple(self._collector.pieces)

    def read_whole(self, text: str) -> ParseResult:
        """All at once: the same engine over a window that is final from the start."""
        self._keep(text)
        self._window.text = text[:MAX_TEXT]
        return self.finish()

    def _take(self, chunk: str) -> None:
        if self._result is not None:
            raise UsageError("the stream is finished; make a new one for another text")
        room = MAX_TEXT - self._length
        self._keep(chunk)
        if room > 0 and chunk:
            self._window.feed(chunk[:room])
            next(self._scan)

    def _take_delta(self, delta: Mapping[str, JsonValue]) -> None:
        self._beside().take(delta, self._length)
        if content := text_of(delta.get("content")):
            self._take(content)

    def _take_lines(self, piece: str | bytes) -> None:
        for data in self._lines.feed(piece):
            delta = delta_of(data)
            if isinstance(delta, str):
                self._beside().unreadable(delta)
            else:
                self._take_delta(delta)

    def _beside(self) -> Deltas:
        """What arrives beside the text."""
        if self._deltas is None:
            events = self._collector.events
            told = [] if events is None else events
            self._deltas = Deltas(told, self._tools, self._level)
        return self._deltas

    def _run_out(self) -> None:
        for _ in self._scan:  # pragma: no cover - a final window is never waited for
            raise AssertionError("the engine asked for more than the whole text")
        if self._length > MAX_TEXT:
            message = f"only the first {MAX_TEXT} characters were looked at"
            self._collector.diagnose("too-long", message, MAX_TEXT, self._length)
            self._collector.piece("content", MAX_TEXT, self._length)

    def _keep(self, chunk: str) -> None:
        self._chunks.append(chunk)
        self._starts.append(self._length)
        self._length += len(chunk)

    def _told(self) -> list[Event]:
        collector = self._collector
        if collector.live is not None:
            collector.live.tell()
        events = collector.take()
        for event in events:
            if event.kind in TEXTS and not event.text:
                _set_text(event, self._slice(*event.span))
        return events

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
