"""Texts are read into results: whole ones by a `Reader`, arriving ones by a `Stream`."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import TypeAlias

import orjson

from tunaeval.errors import UsageError
from tunaeval.grammar import Literal, Space
from tunaeval.grammar.format import Format
from tunaeval.limits import MAX_DIGITS, MAX_FAST, MAX_TEXT
from tunaeval.tools.specs import ToolLike, to_tools
from tunaeval.types.calls import JsonObject, JsonValue, Span, Tools
from tunaeval.types.parsing import LEVELS, Diagnosis, Level, ParseResult
from tunaeval.types.wanted import refusal, wanted_items, wanted_name

from .audit import audit
from .collect import TEXTS, Collector, Event, Kind, new_result, widened, without_abstaining
from .finder import Finder, finder_of
from .judge import Objects, sound_call
from .message import Deltas
from .repair.values import ATOMS, nothing_hidden
from .scanner import Scanner, scanner_of
from .sse import Delta, Lines, delta_in

AnyTools: TypeAlias = Tools | Iterable[ToolLike] | None


def known_text(text: object) -> str:
    """Return the text of a str, or of a subclass of it, whose own `str()` may differ."""
    if not isinstance(text, str):
        raise UsageError(f"a text is a str, not {type(text).__name__}{_advice(text)}")
    return str.__str__(text)


def _advice(thing: object) -> str:
    if isinstance(thing, bytes | bytearray):
        return "; decode bytes first"
    if isinstance(thing, Mapping):
        return "; messages are read by parse_message"
    return "; many texts are read by parse_many" if isinstance(thing, Iterable) else ""


def known_tools(tools: AnyTools) -> Tools | None:
    """Return the tools as the parser takes them."""
    return tools if tools is None or type(tools) is Tools else to_tools(tools)


def abstaining_names(abstain: Collection[str]) -> tuple[str, ...]:
    """Return the names that mean no call, each once.

    Granite abstains with `{"name": "no_function", "arguments": {}}`, Raven with
    `out_of_domain(...)`, as their prompts ask. Raises `UsageError` for one string, and for what is
    no string.
    """
    return tuple(dict.fromkeys(wanted_items(abstain, "abstain", str, "names of calls")))


def names_of(abstain: Collection[str]) -> frozenset[str]:
    """Return the names as a set, after the same checks."""
    if type(abstain) is tuple and not abstain:  # as most callers have it
        return frozenset()
    return abstain if type(abstain) is frozenset else frozenset(abstaining_names(abstain))


def read_whole(
    finder: Finder, tools: Tools | None, level: Level, text: str, objects: Objects | None = None
) -> tuple[ParseResult, Collector]:
    """Read a whole text by one pass over it; return its result and what was collected."""
    scanner = scanner_of(finder, tools, level, text, objects=objects)
    return _result(scanner, finder, tools, text), scanner.collector


def _result(scanner: Scanner, finder: Finder, tools: Tools | None, text: str) -> ParseResult:
    collector = scanner.collected(len(text))
    audit(collector, finder, text, tools)
    return collector.result(text)


class Reader:
    """Reads one format, or several side by side; where two begin alike, the first has it.

    A `Parser`, compiled when it is first used. `wants_tools`: calls that nothing marks are read
    only where tools are given, as any text may look like one.
    """

    def __init__(
        self,
        name: str,
        formats: tuple[Format, ...],
        *,
        summary: str = "",
        wants_tools: bool = False,
    ) -> None:
        self.name = name
        self.formats = formats
        self.wants_tools = wants_tools
        self.summary = summary or ", ".join(form.summary for form in formats)
        self.models = tuple(dict.fromkeys(model for form in formats for model in form.models))

    def __repr__(self) -> str:
        return f"Reader({self.name!r})"

    def __getstate__(self) -> dict[str, object]:
        """Leave out what was compiled: another process compiles its own."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    @cached_property
    def _finder(self) -> Finder:
        return finder_of(self.formats, wants_tools=self.wants_tools)

    @cached_property
    def _at_once(self) -> TextReader:
        """Reads a text that is one block of the first format as that is written."""
        first = self.formats[0]
        begins = first.opener is not None and self._finder.begins(first.opener.text, first)
        return _sound_block(first) if begins else _no_block

    def parse(
        self,
        text: str,
        *,
        tools: AnyTools = None,
        level: Level = "standard",
        abstain: Collection[str] = (),
    ) -> ParseResult:
        """Read a whole text, as `tunaeval.parse` does."""
        names, known, text = names_of(abstain), known_tools(tools), known_text(text)
        if level not in LEVELS:
            wanted_name(level, "level", LEVELS)
        if not names:
            return self._result(text, known, level, {})
        return without_abstaining(self._result(text, widened(known, names), level, {}), names)

    def _result(
        self, text: str, tools: Tools | None, level: Level, objects: Objects
    ) -> ParseResult:
        found = self._at_once(text, tools)
        return found or read_whole(self._finder, tools, level, text, objects)[0]

    def read_tiled(
        self, text: str, tools: Tools | None, level: Level
    ) -> tuple[ParseResult, Iterator[tuple[Kind, int, int]]]:
        """Read a whole text, and return what each stretch of it is, too."""
        result, collector = read_whole(self._finder, tools, level, text)
        return result, collector.pieces

    def parse_levels(self, text: str, *, tools: AnyTools = None) -> dict[Level, ParseResult]:
        """Read a whole text at all levels, each damaged object once.

        What needs no repair and leaves no diagnosis is the same at all levels; what standard reads
        without a diagnosis, lenient reads alike.
        """
        text, tools = known_text(text), known_tools(tools)
        objects: Objects = {}
        standard = self._result(text, tools, "standard", objects)
        if standard.diagnoses:
            lenient = self._result(text, tools, "lenient", objects)
        elif any(call.repairs for call in standard.calls):
            lenient = standard
        else:
            return dict.fromkeys(LEVELS, standard)
        strict = self._result(text, tools, "strict", objects)
        return {"strict": strict, "standard": standard, "lenient": lenient}

    def stream(
        self, *, tools: AnyTools = None, level: Level = "standard", abstain: Collection[str] = ()
    ) -> Stream:
        """Return a reader for a text that arrives in pieces."""
        known = known_tools(tools)
        return Stream(self._finder, tools=known, level=level, abstain=names_of(abstain))


TextReader: TypeAlias = Callable[[str, Tools | None], ParseResult | None]
"""Reads a whole text, or answers None."""


def _sound_block(form: Format) -> TextReader:
    """Make the reader of texts that are one sound JSON call of a format, and nothing else.

    Its white space is that of the `Space` words. What is between its fixed ends is decoded at once,
    and if it is one sound object, it ends where any reader would see it end.
    """
    word = form.call
    if word is None or word.keyed or form.opener is None or not form.marked:
        return _no_block
    at, fixed = form.words.index(word), [each for each in form.words if each is not word]
    texts = [each.text for each in fixed if isinstance(each, Literal | Space)]
    if len(texts) < len(fixed):
        return _no_block
    beginning, ending = "".join(texts[:at]) + "{", "}" + "".join(texts[at:])
    first, behind = len(beginning) - 1, len(ending) - 1

    def read(text: str, tools: Tools | None) -> ParseResult | None:
        last = len(text) - behind
        if not text.startswith(beginning) or text.find(ending, first) + 1 != last:
            return None
        piece = text[first:last]
        try:
            value = orjson.loads(piece) if len(piece) <= MAX_FAST else {}
            name, arguments = value[word.name], value[word.arguments]
        except (orjson.JSONDecodeError, KeyError):
            return None
        call = sound_call(name, arguments, form.name, Span(first, last), tools)
        if call is None or len(value) != 2:
            return None
        outer = word.name, word.arguments, name
        if _is_plain(arguments, piece) or nothing_hidden(arguments, piece, outer):
            return new_result((call,), outcome="calls")
        return None

    return read


def _is_plain(arguments: JsonObject, piece: str) -> bool:
    """Return whether a call's text has no lists, no escapes, and only the quotes of its keys and
    strings: then nothing is hidden in it. To search it costs as much as to decode it.
    """
    unseen = piece.count('"') - 6 - 2 * len(arguments)
    for each in arguments.values():
        if type(each) is str:
            unseen -= 2
        elif type(each) not in ATOMS:
            return False
    return not unseen and "\\" not in piece and len(piece) <= MAX_DIGITS


def _no_block(*_: object) -> None:
    """Answer None, as no text is one block of such a format."""


@lru_cache(maxsize=256)
def reader_of(form: Format) -> Reader:
    """Return the reader of one format, and of what is read under its name too; made once."""
    return Reader(form.name, (form, *form.also), summary=form.summary)


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
        self._tools = tools = widened(tools, abstain)
        self._level: Level = level
        self._deltas: Deltas | None = None
        self._lines: Lines | None = None
        self._finder, self._scanner = finder, scanner_of(finder, tools, level)
        self._collector = self._scanner.collector
        self._collector.abstain = abstain
        self._chunks: list[str] = []
        self._starts: list[int] = []
        self._length = 0
        self._result: ParseResult | None = None

    def feed(self, chunk: str) -> list[Event]:
        """Take the next piece of the text; returns what became certain with it."""
        if not isinstance(chunk, str):
            raise refusal("chunk", chunk, "a str; decode bytes first")
        self._take(chunk if type(chunk) is str else str.__str__(chunk))
        return self._news()

    def feed_delta(self, delta: Mapping[str, JsonValue]) -> list[Event]:
        """Take the next `delta` of an OpenAI-compatible stream: content, tool_calls, reasoning.

        Where the server has parsed calls, those are the calls of the result, and what the text
        reported of its own does not count (see `parse_message`). A whole chunk, or its choice, is
        taken for the delta in it.
        """
        if not isinstance(delta, Mapping):
            raise refusal("delta", delta, "a dict, as in choices[0]['delta'] of a chunk")
        self._take_deltas([delta_in(delta)])
        return self._news()

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
        self._take_deltas(self._lines.feed(piece))
        return self._news()

    def finish(self) -> ParseResult:
        """Return the result, as the text is complete. May be called again."""
        if self._result is None:
            if self._lines:
                self._take_deltas(self._lines.end())
            if self._deltas and (half := self._deltas.rest(self._length)):
                self._take(half)
            text = "".join(self._chunks)
            result = _result(self._scanner, self._finder, self._tools, text)
            result = without_abstaining(result, self._collector.abstain)
            failed = self._lines is not None and self._lines.failed
            self._result = self._deltas.finish(result, failed) if self._deltas else result
        return self._result

    def last_events(self) -> list[Event]:
        """Return what `finish` made certain; to be called once, after it."""
        return self._news()

    @property
    def tiles(self) -> tuple[tuple[Kind, int, int], ...]:
        """Each stretch of the text and its kind; all of them once the text is complete."""
        return tuple(self._collector.pieces)

    def _take(self, chunk: str) -> None:
        if self._result is not None:
            raise UsageError(_FINISHED)
        start = self._length
        self._chunks.append(chunk)
        self._starts.append(start)
        self._length = start + len(chunk)
        if chunk and start < MAX_TEXT:
            self._scanner.window.feed(
                chunk if self._length <= MAX_TEXT else chunk[: MAX_TEXT - start]
            )
            next(self._scanner.reading)

    def _take_deltas(self, found: Iterable[Delta | Diagnosis]) -> None:
        for delta in found:
            if self._result is not None:
                raise UsageError(_FINISHED)
            if self._deltas is None:
                self._deltas = Deltas(self._collector, self._tools, self._level)
            if isinstance(delta, Diagnosis):
                self._deltas.fault(delta)
            elif content := self._deltas.take(delta, self._length):
                self._take(content)

    def _news(self) -> list[Event]:
        """Return the events since the last time, with their texts."""
        collector = self._collector
        if collector.live is not None:
            collector.live.update()
        events = collector.take()
        for event in events:
            if event.kind in TEXTS and not event.text:
                _set_text(event, self._slice(*event.span))
        return events

    def _slice(self, start: int, end: int) -> str:
        """Return characters of the text so far, without joining all of it."""
        starts, chunks = self._starts, self._chunks
        if start >= starts[-1]:  # in the last chunk, as almost always
            return chunks[-1][start - starts[-1] : end - starts[-1]]
        first = bisect_right(starts, start) - 1
        text = "".join(chunks[first : bisect_left(starts, end)])
        return text[start - starts[first] : end - starts[first]]


_set_text = Event.text.__set__  # type: ignore[attr-defined,misc]  # the slot's: only a stream fills it


_FINISHED = "the stream is finished; make a new one for another text"
