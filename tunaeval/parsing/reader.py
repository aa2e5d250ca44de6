"""Texts in, results out: whole with `Reader.parse`, arriving with its `stream`.

The engine takes longer to import than a thousand texts to read, so it is imported by the first text
that is more than one sound block.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache, lru_cache, partial
from threading import RLock
from typing import TYPE_CHECKING

from tunaeval.grammar import Format
from tunaeval.types import LEVELS, Level, ParseResult, Tools

from .alone import TextReader, nothing, text_reader
from .finder import Finder, finder_of
from .given import AnyTools, known_text, known_tools, may_abstain

if TYPE_CHECKING:
    from .collect import Tiling
    from .judge import Objects
    from .streaming.stream import Stream

_compiling = RLock()
"""Held while a reader is compiled, so that several threads make its finder once."""


class Reader:
    """Reads one format, or several side by side; where two begin alike, the first has it.

    A `Parser`, compiled when it is first used. `at_once` reads a text that is one block of the
    first format as that is written, and returns None for any other text. `wants_tools`: calls that
    nothing marks are read only where tools are given, as any text may look like one.
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
        self.at_once: TextReader = self._compiled
        self._finder: Finder | None = None

    def __repr__(self) -> str:
        return f"Reader({self.name!r})"

    def __reduce__(self) -> tuple[partial[Reader], tuple[()]]:
        """Another process makes its own, and compiles it."""
        make = partial(
            type(self),
            self.name,
            self.formats,
            summary=self.summary,
            wants_tools=self.wants_tools,
        )
        return make, ()

    def parse(
        self,
        text: str,
        *,
        tools: AnyTools = None,
        level: Level = "standard",
        abstain: Collection[str] = (),
    ) -> ParseResult:
        """Read a whole text, as `tunaeval.parse` does."""
        if may_abstain(abstain):
            from .abstaining import abstaining  # noqa: PLC0415 - most prompts ask for no such call

            return abstaining(self, abstain).parse(text, tools=known_tools(tools), level=level)
        if tools is not None and type(tools) is not Tools:
            tools = known_tools(tools)
        if type(text) is not str:
            text = known_text(text)
        if level not in LEVELS:
            from tunaeval.wanted import wanted_name  # noqa: PLC0415 - most levels are right

            wanted_name(level, "level", LEVELS)
        return self._result(text, tools, level, {})

    def _result(self, text: str, tools: Tools | None, level: Level, known: Objects) -> ParseResult:
        return self.at_once(text, tools, level, known) or self.read(text, tools, level, known)

    def read(
        self, text: str, tools: Tools | None, level: Level, known: Objects | None
    ) -> ParseResult:
        """Read a whole text, which may be anything; `known` keeps what was read of its objects."""
        return _read_whole()(self._compile(), text, tools, level, objects=known)[0]

    def read_tiled(
        self, text: str, tools: Tools | None, level: Level
    ) -> tuple[ParseResult, Tiling]:
        """Read a whole text, and return what each stretch of it is, too."""
        return _read_whole()(self._compile(), text, tools, level)

    def parse_levels(self, text: str, *, tools: AnyTools = None) -> dict[Level, ParseResult]:
        """Read a whole text at all levels, each damaged object once.

        What needs no repair and leaves no diagnosis is the same at all levels; what standard reads
        without a diagnosis, lenient reads alike.
        """
        text, tools = known_text(text), known_tools(tools)
        known: Objects = {}
        standard = self._result(text, tools, "standard", known)
        if standard.diagnoses:
            lenient = self._result(text, tools, "lenient", known)
        elif any(call.repairs for call in standard.calls):
            lenient = standard
        else:
            return dict.fromkeys(LEVELS, standard)
        strict = self._result(text, tools, "strict", known)
        return {"strict": strict, "standard": standard, "lenient": lenient}

    def stream(
        self,
        *,
        tools: AnyTools = None,
        level: Level = "standard",
        abstain: Collection[str] = (),
    ) -> Stream:
        """Return a reader for a text that arrives in pieces."""
        from .streaming.stream import Stream  # noqa: PLC0415 - see the module's first words

        tools, names = known_tools(tools), frozenset[str]()
        if may_abstain(abstain):
            from .abstaining import names_of  # noqa: PLC0415 - as in `parse`

            names = names_of(abstain)
        return Stream(self._compile(), tools=tools, level=level, abstain=names)

    def _compile(self) -> Finder:
        if self._finder is not None:
            return self._finder
        with _compiling:
            if self._finder is None:
                finder = finder_of(self.formats, wants_tools=self.wants_tools)
                first = self.formats[0]
                begins = first.opener is not None and finder.begins(first.opener.text, first)
                self.at_once = text_reader(first) if begins else nothing
                self._finder = finder  # last: to other threads it means that all is made
            return self._finder

    def _compiled(
        self, text: str, tools: Tools | None, level: Level, known: Objects
    ) -> ParseResult | None:
        self._compile()
        return self.at_once(text, tools, level, known)


@cache
def _read_whole() -> Callable[..., tuple[ParseResult, Tiling]]:
    from .passes import read_whole  # noqa: PLC0415 - see the module's first words

    return read_whole


@lru_cache(maxsize=256)
def reader_of(form: Format) -> Reader:
    """The reader of one format, and of what is read under its name too; made once."""
    return Reader(form.name, (form, *form.also), summary=form.summary)
