"""Texts in, results out: whole with `Reader.parse`, arriving with `Stream`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial

from tunaeval.errors import UsageError
from tunaeval.grammar import Format
from tunaeval.limits import MAX_TEXT
from tunaeval.sse import Delta, Lines
from tunaeval.types import LEVELS, Diagnosis, JsonValue, Level, ParseResult, Tools, text_of
from tunaeval.wanted import refusal, wanted_name
from tunaeval.window import Window

from .alone import TextReader, nothing, text_reader
from .collect import Collector
from .deltas import Deltas
from .events import TEXTS, Event
from .finder import Finder
from .framed import framed_reader
from .judged import Objects
from .plain import Plain
from .scanner import Scanner
from .tiling import Kind, Tiling

_set_text = Event.text.__set__  # type: ignore[attr-defined,misc]  # the slot's: only a stream fills it


class Reader:
    """Reads one format, or several side by side; where two begin alike, the first has it.

    A `Parser`, compiled when it is first used. `at_once` reads a text that is one block of the
    first format as that is written, and says nothing of others.
    """

    def __init__(self, name: str, formats: tuple[Format, ...], *, summary: str = "") -> None:
        self.name = name
        self.formats = formats
        self.summary = summary or ", ".join(form.summary for form in formats)
        self.models = tuple(dict.fromkeys(model for form in formats for model in form.models))
        self.at_once: TextReader = self._compiled
        self._finder: Finder | None = None

    def __repr__(self) -> str:
        return f"Reader({self.name!r})"

    def __reduce__(self) -> tuple[partial[Reader], tuple[()]]:
        """Another process makes its own, and compiles it."""
        return partial(type(self), self.name, self.formats, summary=self.summary), ()

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        """Read a whole text."""
        if level not in LEVELS:
            wanted_name(level, "level", LEVELS)
        known: Objects = {}
        result = self.at_once(text, tools, level, known)
        return result or self.read(text, tools, level, known or None)

    def read(
        self, text: str, tools: Tools | None, level: Level, known: Objects | None
    ) -> ParseResult:
        """Read a whole text, which may be anything; `known` keeps what was read of its objects."""
        finder, plain = self._finder or self._compile(), Plain(text, known)
        if len(text) <= MAX_TEXT and plain.read(finder, tools, level):
            result = plain.result(finder)
            if result is not None:
                return result
        return read_whole(finder, text, tools, level, objects=known, plain=plain)[0]

    def read_tiled(
        self, text: str, tools: Tools | None, level: Level
    ) -> tuple[ParseResult, Tiling]:
        """The same, with what each stretch of the text is."""
        return read_whole(self._compile(), text, tools, level)

    def parse_levels(self, text: str, *, tools: Tools | None = None) -> dict[Level, ParseResult]:
        """Read a whole text at all levels, each damaged object once.

        What needs no repair and leaves no diagnosis is the same at all levels; what standard reads
        without a diagnosis, lenient reads alike.
        """
        known: Objects = {}

        def read(level: Level) -> ParseResult:
            return self.at_once(text, tools, level, known) or self.read(text, tools, level, known)

        standard = read("standard")
        if standard.diagnoses:
            lenient = read("lenient")
        elif any(call.repairs for call in standard.calls):
            lenient = standard
        else:
            return dict.fromkeys(LEVELS, standard)
        strict = read("strict")
        return {"strict": strict, "standard": standard, "lenient": lenient}

    def stream(self, *, tools: Tools | None = None, level: Level = "standard") -> Stream:
        """A reader for a text that arrives in pieces."""
        return Stream(self._compile(), tools=tools, level=level)

    def _compile(self) -> Finder:
        if self._finder is None:
            self._finder = Finder(self.formats)
            first, opener = self.formats[0], self.formats[0].opener
            begins = opener is not None and self._finder.begins(opener.text, first)
            framed = framed_reader(first) if self._finder.sole(first) else None
            self.at_once = framed or (text_reader(first) if begins else nothing)
        return self._finder

    def _compiled(
        self, text: str, tools: Tools | None, level: Level, known: Objects
    ) -> ParseResult | None:
        self._compile()
        return self.at_once(text, tools, level, known)


def read_whole(
    finder: Finder,
    text: str,
    tools: Tools | None,
    level: Level,
    *,
    fast: bool = True,
    objects: Objects | None = None,
    plain: Plain | None = None,
) -> tuple[ParseResult, Tiling]:
    """A text that is all there, and what each stretch of it is. Without `fast`, step by step.

    `objects` keeps what recovering readers have read, for another level; `plain` has read the
    beginning.
    """
    window, collector = Window(text[:MAX_TEXT], final=True), Collector(listened=False)
    scanner = Scanner(
        finder, window, collector, tools=tools, level=level, fast=fast, objects=objects
    )
    if plain is not None:
        scanner.begin(plain)
    for _ in scanner.run():  # pragma: no cover - a final window is never waited for
        raise AssertionError("the engine asked for more than the whole text")
    if len(text) > MAX_TEXT:
        collector.too_long(len(text))
    return collector.result(text), collector.pieces


@lru_cache(maxsize=256)
def reader_of(form: Format) -> Reader:
    """The reader of one format, and of what is read under its name too; made once."""
    return Reader(form.name, (form, *form.also), summary=form.summary)


class Stream:
    """A text that arrives in pieces. `feed` tells what became certain, `finish` the result.

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
    ) -> None:
        wanted_name(level, "level", LEVELS)
        self._tools = tools
        self._level: Level = level
        self._deltas: Deltas | None = None
        self._lines: Lines | None = None
        self._window = Window()
        self._collector = Collector(listened=True)
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
        self._take(chunk if type(chunk) is str else str.__str__(chunk))
        return self._told()

    def feed_delta(self, delta: Mapping[str, JsonValue]) -> list[Event]:
        """Take the next `delta` of an OpenAI-compatible stream: content, tool_calls, reasoning.

        Where the server has parsed calls, those are the calls of the result, and what the text
        told of its own does not count (see `parse_message`).
        """
        if not isinstance(delta, Mapping):
            raise refusal("delta", delta, "a dict, as in choices[0]['delta'] of a chunk")
        self._take_delta(delta)
        return self._told()

    def feed_sse(self, piece: str | bytes) -> list[Event]:
        """Take the next piece of an OpenAI-compatible stream as it comes from the server.

        Pieces may end anywhere, inside a line or a letter. A chunk that cannot be understood is a
        diagnosis, "invalid-chunk", and nothing else is lost. Where the stream ends without `[DONE]`
        and without a finish reason, the diagnosis is "stream-cut", and the result is truncated.
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

    def _take(self, chunk: str) -> None:
        if self._result is not None:
            self._wanted_open()
        length = self._length
        self._chunks.append(chunk)
        self._starts.append(length)
        self._length = length + len(chunk)
        room = MAX_TEXT - length
        if room > 0 and chunk:
            self._window.feed(chunk if len(chunk) <= room else chunk[:room])
            if not self._collector.grows():
                next(self._scan)

    def _take_delta(self, delta: Mapping[str, JsonValue]) -> None:
        self._beside().take(delta, self._length)
        if content := text_of(delta.get("content")):
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
            self._deltas = Deltas([] if events is None else events, self._tools, self._level)
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
