"""A wire format: a row of words with a name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ParamSpec

from tunaeval.errors import FormatError

from .envelope import Envelope
from .words import THINKING, CallObject, Literal, PythonCalls, Reasoning, Word

if TYPE_CHECKING:
    from tunaeval.types import Level, ParseResult, Tools
    from tunaeval.types.roles import AnyTool

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Format:
    """A wire format: how a model writes calls as text. Also a `Parser` (see `types.roles`).

    `marked` says that the opener alone announces a call, so that what follows it is an attempt
    even if it is broken; a bare object or a code fence announces nothing. `around` is what is
    around all calls together; it is written, and read wherever it is met. `envelope` is for models
    whose every word is in a message with a header. `dropped` are tokens around what is said;
    they are never written, and are no content. `prompted` says that the prompt ends with the
    opener, so that a text read under this name alone may begin behind it. `also` are formats that
    are read under this name too, because the same models fall into them; they are never written.
    `whole` says that nothing marks a call, so that calls are all of a reply, or of a code fence in
    it; `auto` reads such a format where tools are given, as it has nothing else to know a call by.
    `by_tool` says that a call is an element which is named after its tool, so that only the tools
    that are given begin one; `tool` is the tool of a format that was made for it by `of_tool`.
    `aliases` are the names that servers have for the same text (`--tool-call-parser`,
    `--reasoning-parser`).

    Examples:
        >>> shape = tunaeval.formats.get("hermes")
        >>> shape.parse('<tool_call>{"name": "ls", "arguments": {}}</tool_call>').outcome
        'calls'
    """

    name: str
    words: tuple[Word, ...]
    marked: bool = True
    around: tuple[Literal, Literal] | None = None
    envelope: Envelope | None = None
    dropped: tuple[str, ...] = ()
    prompted: bool = False
    whole: bool = False
    by_tool: bool = False
    tool: str = ""
    also: tuple[Format, ...] = ()
    separator: str = "\n"
    reasoning: tuple[Reasoning, ...] = THINKING
    aliases: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    summary: str = ""

    def __post_init__(self) -> None:
        from .faults import fault_of  # noqa: PLC0415 - what comes with tunaeval is not asked
        from .shapes import shape_fault  # noqa: PLC0415 - likewise

        fault = shape_fault(self, Format) or fault_of(
            self.name,
            self.words,
            self.reasoning,
            self.envelope,
            () if self.around is None else self.around,
            dropped=self.dropped,
            separator=self.separator,
            marked=self.marked,
            prompted=self.prompted,
            whole=self.whole,
            by_tool=self.by_tool,
        )
        if fault:
            raise FormatError(f"format {self.name!r}: {fault}")

    def __hash__(self) -> int:
        """Formats that are equal have one name; all of their words would take 20 µs to hash."""
        return hash(self.name)

    @property
    def call(self) -> CallObject | None:
        """The word for a whole call object; None where the name is outside."""
        return next((word for word in self.words if isinstance(word, CallObject)), None)

    @property
    def python(self) -> PythonCalls | None:
        """The word for calls as Python writes them, if the format has it."""
        return next((word for word in self.words if isinstance(word, PythonCalls)), None)

    @property
    def opener(self) -> Literal | None:
        """What a block begins with; None for bare objects."""
        first = self.words[0]
        return first if isinstance(first, Literal) else None

    @property
    def addressed(self) -> bool:
        """Whether the tool's name is in a message's header, so a call begins only there."""
        return self.envelope is not None and self.envelope.names and self.call is None

    @property
    def closer(self) -> Literal | None:
        last = self.words[-1]
        return last if isinstance(last, Literal) else None

    def of_tool(self, name: str) -> Format:
        """Return the format of one tool's elements, which a fixed tag opens and closes.

        It is for formats with `by_tool`, of which only one row of words is accepted: the name is
        the second word of it, and the last but one.
        """
        words = (Literal(f"<{name}>"), *self.words[3:-3], Literal(f"</{name}>"))
        return shipped_like(self, words=words, by_tool=False, tool=name)

    def parse(
        self,
        text: str,
        *,
        tools: Tools | Iterable[AnyTool] | None = None,
        level: Level = "standard",
        abstain: Collection[str] = (),
    ) -> ParseResult:
        """Read `text` in this format alone, as `tunaeval.parse` does."""
        from tunaeval.parsing import reader_of  # noqa: PLC0415 - it imports the grammar

        return reader_of(self).parse(text, tools=tools, level=level, abstain=abstain)


class _Shipped(Format):
    """A format before it is known as one."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Not asked whether it could be read."""


def _of_ours(make: Callable[P, Format]) -> Callable[P, Format]:
    def shipped(*args: P.args, **kwargs: P.kwargs) -> Format:
        made = make(*args, **kwargs)
        object.__setattr__(made, "__class__", Format)
        return made

    return shipped


def shipped_like(form: Format, **changes: Any) -> Format:
    """Another format that comes with tunaeval, which differs from `form` in these fields."""
    same = {field.name: getattr(form, field.name) for field in fields(form)}
    return shipped(**{**same, **changes})


shipped = _of_ours(_Shipped)
"""A `Format` that comes with tunaeval: what is asked when one is built, its tests have asked.

To ask takes a quarter of a millisecond for each, and `auto` has sixty.
"""
