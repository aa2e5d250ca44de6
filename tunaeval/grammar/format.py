"""A wire format: a row of words with a name."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import InitVar, dataclass, replace
from typing import TYPE_CHECKING, Any

from tunaeval.errors import FormatError

from .notation import bare, fixed_text, words_of
from .words import THINKING, CallObject, Envelope, Literal, PythonCalls, Reasoning, Word

if TYPE_CHECKING:
    from tunaeval.types import Level, ParseResult, Tools
    from tunaeval.types.roles import AnyTool


@dataclass(frozen=True, slots=True)
class Format:
    """A wire format: how a model writes calls as text. Also a `Parser` (see `types.roles`).

    `marked` says that the opener alone announces a call, so that what follows it is an attempt
    even if it is broken; a bare object or a code fence announces nothing. `around` is what is
    around all calls together; it is written, and read wherever it is met. `envelope` is for models
    whose every word is in a message with a header. `dropped` are tokens around content;
    they are never written, and are none themselves. `prompted` says that the prompt ends with the
    opener, so that a text read under this name alone may begin behind it. `also` are formats that
    are read under this name too, because the same models fall into them; they are never written.
    `whole` says that nothing marks a call, so that calls are all of a reply, or of a code fence in
    it; `auto` reads such a format where tools are given, as it has nothing else to know a call by.
    `by_tool` says that a call is an element which is named after its tool, so that only the tools
    that are given begin one; `tool` is the tool of a format that was made for it by `of_tool`.
    `aliases` are the names that servers have for the same text (`--tool-call-parser`,
    `--reasoning-parser`). With `checked=False` nothing is checked: formats that come with tunaeval
    are built so, and checked by its tests.

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
    checked: InitVar[bool] = True

    def __post_init__(self, checked: bool) -> None:
        if not checked:
            return
        from .check import fault_of  # noqa: PLC0415 - it imports what reads formats

        if fault := fault_of(self):
            raise FormatError(f"format {self.name!r}: {fault}")

    @classmethod
    def of(
        cls,
        name: str,
        pattern: str,
        *,
        around: tuple[str | Literal, str | Literal] | None = None,
        opens: Iterable[tuple[str, ...]] | None = None,
        **options: Any,
    ) -> Format:
        r"""Return the format that `pattern` shows: what a model writes, with placeholders in ⟨ ⟩.

        | placeholder | what is read and written there |
        |---|---|
        | `⟨call⟩`, `⟨[call]⟩` | a call as a JSON object; a list of them |
        | `⟨calls⟩`, `⟨[calls]⟩` | calls as Python writes them, on lines; in a list |
        | `⟨name⟩` | the tool's name |
        | `⟨arguments⟩` | all arguments as one JSON object |
        | `⟨each⟩...⟨/each⟩` | once for each argument, with `⟨key⟩` and `⟨value⟩` in it |
        | `⟨type⟩` | the type of the next value: `string`, `object`, ... |
        | `⟨elements⟩` | all arguments as elements: `<key>value</key>` |
        | `⟨maybe⟩...⟨/maybe⟩` | what may be missing; written with `⟨maybe written⟩` |
        | `⟨skip text=1 pattern=[0-9]?⟩` | a text that is read and dropped |
        | `⟨text¦other¦third⟩` | fixed text with other spellings that are read |
        | `⟨⟩`, `⟨ ⟩` | any white space or none; what the brackets contain is written |
        | `⟨=text⟩` | fixed text whose white space is exact: `⟨=\n⟩` |

        All else is fixed text; `⟨|⟩` is where one ends and the next begins. White space that
        touches a placeholder, and any with a newline in it, may be read as any other white space or
        none; other blanks are part of the fixed text.

        Options of a placeholder are the fields of its word: `⟨call name=do arguments=with⟩`,
        `⟨[call] keyed⟩`, `⟨key pattern=[a-z]{1,9}⟩`, `⟨value trim=newline⟩`. A value with a blank
        is between backticks: ``⟨call joined=`; `⟩``. A name may have colons, unless one follows.

        `around` are texts in the same notation. A call without fixed text before it is found where
        it begins as one of the rows `opens`. All other options are fields of the format.

        Examples:
            >>> shape = tunaeval.Format.of("mine", "<call>⟨name⟩\n⟨arguments⟩</call>")
            >>> shape.parse('<call>ls {"depth": 1}</call>').calls[0].arguments
            {'depth': 1}
        """
        try:
            words = bare(words_of(pattern), opens)
            pair: Any = around
            if isinstance(around, tuple):
                pair = tuple(map(fixed_text, around))
        except FormatError as fault:
            raise FormatError(f"format {name!r}: {fault}") from None
        return cls(name, words, around=pair, **options)

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
        return replace(self, words=words, by_tool=False, tool=name, checked=False)

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
