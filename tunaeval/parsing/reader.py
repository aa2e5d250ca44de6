"""Reads texts to results: a `Reader` reads whole texts, and a `Stream` reads text in pieces."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeAlias

from tunaeval.errors import UsageError
from tunaeval.grammar.format import Format
from tunaeval.grammar.turns import Turns
from tunaeval.limits import MAX_TEXT
from tunaeval.tools.specs import ToolLike, to_tools
from tunaeval.types.calls import JsonValue, Span, Tools
from tunaeval.types.parsing import LEVELS, Level, ParseResult
from tunaeval.types.wanted import refusal, wanted_items, wanted_name

from .audit import audit
from .block import SoundReader, sound_block, sound_call_of
from .collect import Kind, new_result, widened, without_abstaining
from .events import TEXTS, Event
from .finder import Finder, finder_of
from .judge import Objects
from .scanner import Scanner, scanner_of

if TYPE_CHECKING:
    from .message import StreamedMessage

AnyTools: TypeAlias = Tools | Iterable[ToolLike] | None


def known_text(text: object) -> str:
    """Return `text` as a plain str, without a subclass's `__str__`; raise UsageError for no str."""
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
    """Return the tools as a `Tools`; None stays None."""
    return tools if tools is None or type(tools) is Tools else to_tools(tools)


def abstaining_names(abstain: Collection[str]) -> tuple[str, ...]:
    """Return the names of calls by which a model says that it calls nothing, each once.

    Granite abstains with `{"name": "no_function", "arguments": {}}`, Raven with
    `out_of_domain(...)`, as their prompts ask. Raises `UsageError` if `abstain` is a string, or an
    item is none.
    """
    return tuple(dict.fromkeys(wanted_items(abstain, "abstain", str, "names of calls")))


def names_of(abstain: Collection[str]) -> frozenset[str]:
    """Return `abstaining_names` as a set; a frozenset is taken as already checked."""
    if type(abstain) is tuple and not abstain:  # the usual case
        return frozenset()
    return abstain if type(abstain) is frozenset else frozenset(abstaining_names(abstain))


def _result(scanner: Scanner, finder: Finder, tools: Tools | None, text: str) -> ParseResult:
    collector = scanner.collected(len(text))
    return collector.result(text, audit(collector, finder, text, tools))


class Reader:
    """A `Parser` of one format or of several at once; of two that match, the first one is used.

    The reader is compiled when it is first used. With `wants_tools`, formats without markers are
    read only if tools are given, as ordinary text may look like a call in them.
    """

    def __init__(
        self,
        name: str,
        formats: tuple[Format, ...],
        *,
        summary: str = "",
        wants_tools: bool = False,
        turns: tuple[Turns, ...] = (),
    ) -> None:
        self.name = name
        self.formats = formats
        self.wants_tools = wants_tools
        self.turns = turns
        """The families whose turns it knows besides those of its formats."""
        self.summary = summary or ", ".join(form.summary for form in formats)
        self.models = tuple(dict.fromkeys(model for form in formats for model in form.models))

    def __repr__(self) -> str:
        return f"Reader({self.name!r})"

    def __getstate__(self) -> dict[str, object]:
        """Leave out the compiled parts, which another process compiles again."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    @cached_property
    def _finder(self) -> Finder:
        return finder_of(self.formats, wants_tools=self.wants_tools, more=self.turns)

    def knowing(self, turns: tuple[Turns, ...]) -> Reader:
        """Return a reader that also knows the turns of these families."""
        named, more = (self.name, self.formats), (*self.turns, *turns)
        made = Reader(*named, summary=self.summary, wants_tools=self.wants_tools, turns=more)
        return made if turns else self

    def without_reasoning(self) -> Reader:
        """Return a reader of text whose reasoning was taken out: no marker in it means any."""
        forms = tuple(form.without_reasoning() for form in self.formats)
        return Reader(self.name, forms, wants_tools=self.wants_tools, turns=self.turns)

    @cached_property
    def _sound(self) -> SoundReader | None:
        """The reader of a sound block, if a text that begins with the first format's is read so."""
        first = self.formats[0]
        begins = first.opener is not None and self._finder.begins(first.opener.text, first)
        return sound_block(first) if begins else None

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
        finder, read, first = self._finder, self._sound, None
        if read is not None:
            form, sound = first = self.formats[0], read(text, 0)
            if sound is not None and sound[3] == len(text):
                call = sound_call_of(form, sound, 0, tools)
                if call is not None:
                    return new_result((call,), outcome="calls")
        scanner = scanner_of(finder, tools, level, text, objects=objects, first=first)
        return _result(scanner, finder, tools, text)

    def read_tiled(
        self, text: str, tools: Tools | None, level: Level
    ) -> tuple[ParseResult, Iterator[tuple[Kind, int, int]]]:
        """Read a whole text; return the result, and each piece's kind, start and end."""
        scanner = scanner_of(self._finder, tools, level, text)
        return _result(scanner, self._finder, tools, text), scanner.collector.pieces

    def read_turns(
        self, text: str, tools: Tools | None, level: Level, more: tuple[Turns, ...] = ()
    ) -> tuple[ParseResult, list[tuple[Span, bool]]]:
        """Read all turns of the model's; return the result, and what others have said in between,
        each with whether the model has made it up. The turns of the families `more` are known, too.
        """
        finder = self._finder.knowing(more)
        scanner = scanner_of(finder, tools, level, text, every=True)
        return _result(scanner, finder, tools, text), scanner.collector.others

    def parse_levels(self, text: str, *, tools: AnyTools = None) -> dict[Level, ParseResult]:
        """Read a whole text at all levels, but each damaged object only once.

        If the result at "standard" has no diagnosis, "lenient" gives the same; if it has no repair
        either, so does "strict".
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
        self,
        *,
        tools: AnyTools = None,
        level: Level = "standard",
        abstain: Collection[str] = (),
        growing: bool = True,
    ) -> Stream:
        """Return a reader for a text that arrives in pieces. If calls are not `growing`, they are
        reported when they are finished.
        """
        known, names = known_tools(tools), names_of(abstain)
        named = (self._finder, self.name)
        return Stream(*named, tools=known, level=level, abstain=names, growing=growing)


@lru_cache(maxsize=256)
def reader_of(form: Format) -> Reader:
    """Return the cached reader of a format and of those in its `also`."""
    return Reader(form.name, (form, *form.also), summary=form.summary)


class Stream:
    """Reads a text in pieces: `feed` returns events as they become certain, `finish` the result.

    The result equals that of parsing the whole text at once, wherever the text was cut.

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
        name: str = "",
        *,
        tools: Tools | None = None,
        level: Level = "standard",
        abstain: frozenset[str] = frozenset(),
        growing: bool = True,
    ) -> None:
        self._name = name
        wanted_name(level, "level", LEVELS)
        self._tools = tools = widened(tools, abstain)
        self._level: Level = level
        self._message: StreamedMessage | None = None
        self._finder, self._scanner = finder, scanner_of(finder, tools, level)
        self._collector = self._scanner.collector
        self._collector.abstain, self._collector.growing = abstain, growing
        self._chunks: list[str] = []
        self._starts: list[int] = []
        self._length = 0
        self._result: ParseResult | None = None

    def __repr__(self) -> str:
        return f"<Stream of {self._name!r}, {self._length} characters>"

    def feed(self, chunk: str) -> list[Event]:
        """Read the next piece of the text; return the events that it made certain."""
        if not isinstance(chunk, str):
            raise refusal("chunk", chunk, "a str; decode bytes first")
        self._take(chunk if type(chunk) is str else str.__str__(chunk))
        return self._news()

    def feed_delta(self, delta: Mapping[str, JsonValue]) -> list[Event]:
        """Read the next `delta` of an OpenAI-compatible stream: content, tool_calls, reasoning.

        If the server has parsed calls, the result has these, and calls in the text do not count
        (see `parse_message`). `delta` may also be a whole chunk or its choice, or an event of
        another API. Returns the events that the delta made certain.
        """
        if not isinstance(delta, Mapping):
            raise refusal("delta", delta, "a dict, as in choices[0]['delta'] of a chunk")
        self._take_all(self._streamed().delta(delta))
        return self._news()

    def feed_sse(self, piece: str | bytes) -> list[Event]:
        """Read the next piece of an event stream of OpenAI's, Anthropic's or Gemini's API; return
        the new events.

        Pieces may end anywhere, even inside a line or a character. A chunk that cannot be read
        gives the diagnosis "invalid-chunk", and the other chunks are read. A stream that ends in an
        error, or with neither `[DONE]` nor a finish reason, has the diagnosis "stream-cut" and a
        truncated result. The whole response of a server that does not stream is read, too. Of
        several choices (`n=2`), only the first one is read.
        """
        if not isinstance(piece, str | bytes):
            raise refusal("piece", piece, "a str or bytes")
        self._take_all(self._streamed().piece(piece))
        return self._news()

    def finish(self) -> ParseResult:
        """End the text and return its result; further calls return the same result."""
        if self._result is None:
            if self._message:
                self._take_all(self._message.end())
            text = "".join(self._chunks)
            result = _result(self._scanner, self._finder, self._tools, text)
            result = without_abstaining(result, self._collector.abstain)
            self._result = self._message.finish(result) if self._message else result
        return self._result

    def last_events(self) -> list[Event]:
        """Return the events that `finish` made certain. Call it once, after `finish`."""
        return self._news()

    @property
    def tiles(self) -> tuple[tuple[Kind, int, int], ...]:
        """The kind, start and end of each piece of the text so far; all pieces after `finish`."""
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

    def _take_all(self, chunks: Iterable[str]) -> None:
        for chunk in chunks:
            self._take(chunk)

    def _streamed(self) -> StreamedMessage:
        if self._result is not None:
            raise UsageError(_FINISHED)
        if self._message is None:
            from .message import StreamedMessage  # noqa: PLC0415 - a text needs no shapes of APIs

            how = (self._collector, self._tools, self._level)
            self._message = StreamedMessage(*how, length=lambda: self._length)
        return self._message

    def _news(self) -> list[Event]:
        """Return the events since the last call, and fill in their texts."""
        collector = self._collector
        if collector.live is not None:
            collector.live.update()
        events = collector.take()
        for event in events:
            if event.kind in TEXTS and not event.text:
                _set_text(event, self._slice(*event.span))
        return events

    def _slice(self, start: int, end: int) -> str:
        """Return the characters from `start` to `end` of the text, without joining all chunks."""
        starts, chunks = self._starts, self._chunks
        if start >= starts[-1]:  # in the last chunk, as almost always
            return chunks[-1][start - starts[-1] : end - starts[-1]]
        first = bisect_right(starts, start) - 1
        text = "".join(chunks[first : bisect_left(starts, end)])
        return text[start - starts[first] : end - starts[first]]


_set_text = Event.text.__set__  # type: ignore[attr-defined,misc]  # the slot's: only a stream fills it


_FINISHED = "the stream is finished; make a new one for another text"
