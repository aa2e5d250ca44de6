"""A wire format: a row of words with a name, and the notation of patterns that mean such rows.

Each word says what is read in its place, and what is written there.

A pattern is the text that a model writes, with placeholders in ⟨ ⟩. Those brackets occur in no
format, so everything else is fixed text. `Format.of` describes the placeholders, and white space.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import InitVar, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from typing import Literal as OneOf

from tunaeval.errors import FormatError

if TYPE_CHECKING:
    from tunaeval.types.calls import Tools
    from tunaeval.types.parsing import Level, ParseResult
    from tunaeval.types.roles import AnyTool

ANY_SPACE = " "
"""In an `opens` of a bare object: up to 24 characters of white space."""

SPACES = (" ", "\t", "\r", "\n")
"""White space that words pass over."""

ANY_NAME = r"\w"
"""In an `opens`: a name, perhaps with dots, of up to 128 characters."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Fixed text. `text` is what is written; `also` are other spellings that are read."""

    text: str
    also: tuple[str, ...] = ()

    @property
    def spellings(self) -> tuple[str, ...]:
        return (self.text, *self.also)


@dataclass(frozen=True, slots=True)
class Space:
    """Any white space, or none. `text` is what is written."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Markup:
    """Text that is read and dropped: a fence's language, an index. `pattern` must be bounded."""

    text: str
    pattern: str


@dataclass(frozen=True, slots=True)
class CallObject:
    """One JSON object that has a call's name and arguments; with `array` also several in a list.

    `listed`: a single call, too, is written in a list; without one it is read all the same.
    `joined`: several are one after the other, with this text between them. `keyed`: the object
    has one key, the name, and its value is the arguments. `bare_keys`: its own two keys are
    written without quotes.

    `inside` is for formats that are a whole reply: the keys of an object that has the list of calls
    as its value. The first is written.

    `opens` is for formats without an opening literal: what a text has to begin with to be looked
    at, as rows of fixed texts and `ANY_SPACE`. Without markers around it an object needs a name
    *and* arguments to be taken for a call.
    """

    name: str = "name"
    arguments: str = "arguments"
    array: bool = False
    listed: bool = False
    joined: str = ""
    keyed: bool = False
    bare_keys: bool = False
    inside: tuple[str, ...] = ()
    opens: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class PythonCalls:
    """Calls as Python writes them, with literals for arguments: in a list, or one on each line.

    `listed` says how they are written; both are read. `loose` is for formats that are a whole
    reply: calls may be in lists of lists, in quotes or in ticks, and commas, semicolons and new
    lines are between them. `opens` is as in `CallObject`.
    """

    listed: bool = True
    loose: bool = False
    opens: tuple[tuple[str, ...], ...] = ()


WITH_COLONS = r"\w[\w.:/-]{0,127}"
"""The pattern of a name that may have a namespace before a colon, where no colon ends a name."""


@dataclass(frozen=True, slots=True)
class Name:
    """The tool's name, where it is outside of the arguments.

    `before` is written in front of it and dropped when read; `after` is a bounded pattern of what
    may follow it and is dropped (an index), `after_text` what is written there. A pattern has to
    match every beginning of what it matches, because a text may end anywhere: one character or
    class, and behind it others with `?` or `{0,24}`. `doubled`: models write `f.f` for `f`, as a
    namespace with one tool in it; a tool that is called `f.f` stays so.
    """

    pattern: str = r"\w[\w./-]{0,127}"
    before: str = ""
    after: str = ""
    after_text: str = ""
    doubled: bool = False


@dataclass(frozen=True, slots=True)
class Arguments:
    """One object that is the arguments, as JSON.

    With a `mark` its keys are bare and its texts are between two of these marks, unescaped.
    `optional`: it is read where it comes, and written never; arguments come one by one behind it.
    """

    mark: str = ""
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """An argument's name. `escaped`: `&` and `"` in it are written as `&amp;` and `&quot;`."""

    pattern: str = r"[^<>\"'\s]{1,200}"
    escaped: bool = False


@dataclass(frozen=True, slots=True)
class Attribute:
    """A word that says whether the next value is text or JSON: `text` and `json` are the words."""

    text: tuple[str, ...]
    json: tuple[str, ...]


TYPE_NAME = Attribute(
    text=("string",), json=("object", "array", "number", "integer", "boolean", "null")
)
"""The types of JSON schema, where a value is written with its type."""

Trim: TypeAlias = OneOf["no", "newline", "newlines", "space"]


@dataclass(frozen=True, slots=True)
class Value:
    """An argument's value as bare text, up to the literal behind it.

    It is typed by the tool's schema (or by an `Attribute`); that is reading, not repairing. `trim`
    says what is around it and no part of it: "no"; one "newline" on each side; two
    "newlines", one on each side, but not one alone; or all "space".
    `quotes` are two texts that may be around the rest, and then are no part of it either.
    """

    trim: Trim = "no"
    quotes: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Maybe:
    """Words that may be missing; they begin with a literal."""

    words: tuple[Word, ...]
    written: bool = False


@dataclass(frozen=True, slots=True)
class Many:
    """Words that come once for each argument; they begin with a literal."""

    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Elements:
    """All arguments as nested elements, each named after its argument: `<key>value</key>`.

    `prefix` is before every tag; the items of a list are elements called `item`. Bare texts
    in them are typed by the tool's schema. Without a prefix, which is for formats with `by_tool`,
    only elements that the tool's schema declares are arguments, and where that wants a string the
    text up to the argument's end is it, with all tags in it.
    """

    prefix: str
    item: str = "item"


Word: TypeAlias = (
    Literal | Space | Markup | CallObject | PythonCalls | Name | Arguments
    | Key | Attribute | Value | Maybe | Many | Elements
)  # fmt: skip


def spellings(word: Literal | None) -> tuple[str, ...]:
    """Return the spellings of a fixed text; none where there is no text."""
    return word.spellings if word else ()


def flat(words: Iterable[Word]) -> Iterator[Word]:
    """Yield all words, those inside of `Maybe` and `Many` too."""
    for word in words:
        yield word
        if isinstance(word, Maybe | Many):
            yield from flat(word.words)


def starts_with_space(word: Many | Maybe) -> bool:
    """Whether the words begin with white space, which then is no white space around them."""
    first = word.words[0]
    return isinstance(first, Literal) and any(t.startswith(SPACES) for t in first.spellings)


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The markers that reasoning is between. Calls in there are no calls."""

    open: str
    close: str


THINK = Reasoning("<think>", "</think>")

THINKING = (
    THINK,
    Reasoning("<thinking>", "</thinking>"),
    Reasoning("<thought>", "</thought>"),
    Reasoning("◁think▷", "◁/think▷"),
    Reasoning("<|begin_of_thought|>", "<|end_of_thought|>"),
)
"""Markers that models of any format think between; every format knows them unless it says else."""


Channel: TypeAlias = OneOf["call", "reasoning", "content"]


@dataclass(frozen=True, slots=True)
class Route:
    """One kind of message, recognised by its header.

    `header` is a bounded pattern of what is between the text that opens the message and the
    one that `body` begins with. A group `name` in it is the tool's name. `text` is how a call's
    header is written, with `{name}` where the name goes; without it one message contains all calls.
    """

    channel: Channel
    header: str
    body: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Envelope:
    """What all messages have in common: what opens and what closes them, and the ways they go.

    Other spellings of `opens` are for a message that begins in the middle of its header, as
    templates write the first part of it; they are part of what `header` describes. The first
    route that fits has the message. A closer may be missing: the next message ends one too.
    """

    opens: Literal
    routes: tuple[Route, ...]
    closes: Literal

    @property
    def call(self) -> Route:
        """The route whose header is written for a message that calls a tool."""
        return next(route for route in self.routes if route.channel == "call")

    @property
    def names(self) -> bool:
        """Whether the header of a call has the tool's name."""
        return "(?P<name>" in self.call.header

    @property
    def one_each(self) -> bool:
        """Whether every call is in a message of its own."""
        return "{name}" in self.call.text


@dataclass(frozen=True, slots=True)
class Format:
    """A wire format: how a model writes calls as text. Also a `Parser` (see `types.roles`).

    Attributes:
        name: What `format=` and `--format` call it.
        words: What a call is made of, in order; `of` reads them from a pattern.
        marked: True if the opener alone announces a call, so that what follows it is an attempt
            even if it is broken. A bare object or a code fence announces nothing.
        around: An opening and a closing text around all calls of a reply together.
        envelope: How messages and their headers look, for models that write all they say in such.
        dropped: Tokens around content that are left out when a text is read, and never written.
        prompted: True if the prompt ends with the opener, so that a text that is read as this
            format alone may begin behind the opener.
        whole: True if nothing marks a call, so that the calls are all of a reply, or all of a code
            fence in it. `auto` reads such a format only where tools are given.
        by_tool: True if a call is an element named after its tool, so that only a name of a tool
            that was given begins one.
        tool: The tool for which `of_tool` made this format.
        also: Formats that are read under this name too, because the same models write them.
        separator: What is written between two calls.
        reasoning: The markers of reasoning.
        aliases: Names that servers have for it (`--tool-call-parser`, `--reasoning-parser`).
        models: The models that write it.
        summary: What it looks like, in a few words.
        checked: False if it is not to be checked when it is built; the tests check tunaeval's own.

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
        it begins as one of the rows `opens`, and is not marked. All other options are fields of the
        format.

        Examples:
            >>> shape = tunaeval.Format.of("mine", "<call>⟨name⟩\n⟨arguments⟩</call>")
            >>> shape.parse('<call>ls {"depth": 1}</call>').calls[0].arguments
            {'depth': 1}
        """
        try:
            words = _bare(_words_of(pattern), opens)
            pair: Any = around
            if isinstance(around, tuple):
                pair = tuple(map(_fixed_text, around))
        except FormatError as fault:
            raise FormatError(f"format {name!r}: {fault}") from None
        marked = bool(words) and isinstance(words[0], Literal)
        return cls(name, words, around=pair, **{"marked": marked, **options})

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
        from tunaeval.parsing.reader import reader_of  # noqa: PLC0415 - it imports the grammar

        return reader_of(self).parse(text, tools=tools, level=level, abstain=abstain)


_W = TypeVar("_W", bound=Word)

PLACEHOLDERS: dict[str, Word] = {
    "call": CallObject(), "[call]": CallObject(array=True, listed=True),
    "calls": PythonCalls(listed=False), "[calls]": PythonCalls(), "name": Name(WITH_COLONS),
    "arguments": Arguments(), "key": Key(), "value": Value(), "type": TYPE_NAME,
    "elements": Elements(""), "skip": Markup("", ""),
}  # fmt: skip
"""The words without their options, which are the fields of the word."""

_MARKS: dict[str, Many | Maybe] = {"each": Many(()), "maybe": Maybe(())}
"""What is in pairs, as in `⟨each⟩...⟨/each⟩`, with the word that is made of what is between."""

_TOKEN = re.compile("⟨([^⟨⟩]*)⟩|([^⟨⟩]+)|.")
_EXACT = re.compile("⟨=([^⟨⟩¦]*)⟩")
_GAP = re.compile(r"(\A[ \t\r\n]+|[ \t\r]*\n[ \t\r\n]*|[ \t\r\n]+\Z)")
_OPTION = re.compile(r"\s+(\w+)(?:=(?:`([^`]*)`|(\S*)))?(?=\s|\Z)")

_KEPT = {ord(char): 0xE000 + ord(char) for char in " \t\r\n"}
_BACK = {kept: char for char, kept in _KEPT.items()}
"""White space that is meant to the letter, while the pattern is split at all other."""


def _words_of(pattern: str) -> tuple[Word, ...]:
    """Return the words that a pattern means; raises `FormatError` with what is wrong in it."""
    if not isinstance(pattern, str):
        raise FormatError(f"the pattern is {pattern!r:.60}, and has to be a text")
    exact = _EXACT.sub(lambda found: found[1].translate(_KEPT), pattern.strip(" \t\r\n"))
    rows: list[tuple[str, list[Word]]] = [("", [])]  # the marks that are open, with what is in them
    for token in _TOKEN.finditer(exact):
        inside, text = token.groups()
        if text is not None:
            for at, piece in enumerate(_GAP.split(text)):
                if piece:
                    word = Space(piece) if at % 2 else Literal(piece.translate(_BACK))
                    rows[-1][1].append(word)
        elif inside is None:
            at = pattern.rfind(token[0])
            excerpt = pattern[max(0, at - 20) : at + 20]
            raise FormatError(f"{token[0]} at {excerpt!r} has no other bracket")
        elif inside != "|" and not _is_mark(inside, rows):
            rows[-1][1].append(_word(inside))
    if opened := rows[-1][0].partition(" ")[0]:
        raise FormatError(f"⟨{opened}⟩ has no ⟨/{opened}⟩ behind it")
    return _finished(rows[0][1])


def _fixed_text(pattern: str | Literal) -> Literal:
    """Return the one fixed text that a pattern means, with its other spellings."""
    words = _words_of(pattern) or (Literal(""),) if isinstance(pattern, str) else (pattern,)
    if len(words) == 1 and isinstance(words[0], Literal):
        return words[0]
    raise FormatError(f"{pattern!r} has more than one fixed text")


def _bare(words: tuple[Word, ...], opens: Iterable[tuple[str, ...]] | None) -> tuple[Word, ...]:
    """Return the words of a format without markers: its call knows what it begins with."""
    match words:
        case (CallObject(inside=(), array=array) as word,):
            rows = [("{", ANY_SPACE, '"'), ("[", ANY_SPACE, "{", ANY_SPACE, '"')][: 1 + array]
        case (PythonCalls(loose=False) as word,):
            rows = [("[", ANY_SPACE, ANY_NAME, "(")]
        case _:
            return words
    return (replace(word, opens=(*(rows if opens is None else opens),)),)


def _is_mark(inside: str, rows: list[tuple[str, list[Word]]]) -> bool:
    """Open or close what repeats or may be missing; return False for all other placeholders."""
    kind = inside.removeprefix("/").partition(" ")[0]
    if "¦" in inside or not (inside.startswith("/") or kind in _MARKS):
        return False
    if not inside.startswith("/"):
        rows.append((inside, []))
        return True
    opened, row = rows[-1]
    if kind != opened.partition(" ")[0]:
        raise FormatError(f"⟨{inside}⟩ has no ⟨{kind}⟩ before it")
    rows.pop()
    rows[-1][1].append(replace(_with_options(_MARKS[kind], opened, kind), words=_finished(row)))
    return True


def _word(inside: str) -> Word:
    inside = inside.translate(_BACK)
    if "¦" in inside:
        text, *also = inside.split("¦")
        return Literal(text, (*also,))
    if not inside.strip(" \t\r\n"):
        return Space(inside)
    kind = inside.partition(" ")[0]
    if kind not in PLACEHOLDERS:
        others = "text¦other spelling", "=exact text", "", " ", "|"
        known = ", ".join(f"⟨{name}⟩" for name in (*PLACEHOLDERS, *_MARKS, *others))
        raise FormatError(f"⟨{inside}⟩ is no placeholder; there are {known}")
    return _with_options(PLACEHOLDERS[kind], inside, kind)


def _with_options(word: _W, inside: str, kind: str) -> _W:
    """Return the word with the options behind its name; they are called as its fields are."""
    changes: dict[str, Any] = {}
    at, end = len(kind), len(inside)
    known = [field.name for field in fields(word) if field.name not in ("words", "opens")]
    while at < end:
        found = _OPTION.match(inside, at)
        if found is None or found[1] not in known:
            options = f"{', '.join(known) or 'none'}, as in ⟨skip text=1 pattern=`[0-9]?`⟩"
            given = inside[at:].strip()
            raise FormatError(f"⟨{inside}⟩ has the option {given!r}; ⟨{kind}⟩ has {options}")
        usual, at = getattr(word, found[1]), found.end()
        value = found[2] if found[2] is not None else found[3]
        if (value is None) != isinstance(usual, bool):
            what = "is written without a value" if value is not None else "needs a value"
            raise FormatError(f"⟨{inside}⟩: the option {found[1]} {what}")
        if isinstance(usual, tuple):
            value = (*value.split(","),)
        changes[found[1]] = True if value is None else value
    return replace(word, **changes)


def _finished(row: list[Word]) -> tuple[Word, ...]:
    """Return the words; two white spaces are one, and a name before a colon has no colon in it."""
    done: list[Word] = []
    for word, after in zip(row, (*row[1:], None), strict=True):
        if isinstance(word, Name) and word.pattern == WITH_COLONS:
            first = after.words[0] if isinstance(after, Many | Maybe) and after.words else after
            texts = first.spellings if isinstance(first, Literal) else ()
            if ":" in word.after or any(text.startswith(":") for text in texts):
                word = replace(word, pattern=Name().pattern)  # noqa: PLW2901 - the same word
        elif isinstance(word, Space) and done and isinstance(before := done[-1], Space):
            done[-1] = Space(before.text + word.text)
            continue
        done.append(word)
    return (*done,)
