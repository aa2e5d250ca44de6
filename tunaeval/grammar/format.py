"""Wire formats (`Format`): how a model writes calls, as a sequence of words or as a pattern.

Each word says what is read at its place in the text of a call, and what is written there.

A pattern is the text of a call with placeholders in ⟨ ⟩. No format has these brackets, so all text
outside of them is fixed. `Format.of` describes the placeholders and white space.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import InitVar, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from typing import Literal as OneOf

from tunaeval.errors import FormatError, UnknownNameError, UsageError

from .turns import FAMILIES, Turns

if TYPE_CHECKING:
    from tunaeval.types.calls import Tools
    from tunaeval.types.parsing import Level, ParseResult
    from tunaeval.types.roles import AnyTool

ANY_SPACE = " "
"""In an `opens` of a bare object: up to 24 characters of white space."""

SPACES = (" ", "\t", "\r", "\n")
"""The characters that words skip as white space."""

ANY_NAME = r"\w"
"""In an `opens`: a name, perhaps with dots, of up to 128 characters."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Fixed text. `text` is read and written; `also` are other spellings that are read."""

    text: str
    also: tuple[str, ...] = ()

    @property
    def spellings(self) -> tuple[str, ...]:
        return (self.text, *self.also)


@dataclass(frozen=True, slots=True)
class Space:
    """A place where any white space or none is read, and `text` is written."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Markup:
    """Text that is read and dropped, such as a code fence's language or an index.

    `text` is what is written, and `pattern` a regular expression of bounded length for reading.
    """

    text: str
    pattern: str


@dataclass(frozen=True, slots=True)
class CallObject:
    """One JSON object that has a call's name and arguments; with `array` also several in a list.

    Attributes:
        name: The key of the tool's name.
        arguments: The key of the arguments.
        array: Several calls may be in a list.
        listed: A single call is written in a list, too; it is also read without one.
        joined: The text that is written between several calls, which then need no list.
        keyed: The object has one key, the tool's name, whose value is the arguments.
        number: The key of the call's position in the list, which is written as a text before the
            name; empty if there is none.
        lines: A list is written with each object on a line of its own.
        bare_keys: The keys of name and arguments are written without quotes.
        any_keys: Other keys that models have for name and arguments are no repair.
        inside: For formats that are a whole reply: the keys of an outer object that may have the
            list of calls as its value. The first one is written.
        opens: For formats without an opening literal: the beginnings of a call, each as a row of
            fixed texts and `ANY_SPACE`. Such an object needs both name and arguments to be a call.
    """

    name: str = "name"
    arguments: str = "arguments"
    array: bool = False
    listed: bool = False
    joined: str = ""
    keyed: bool = False
    number: str = ""
    lines: bool = False
    bare_keys: bool = False
    any_keys: bool = False
    inside: tuple[str, ...] = ()
    opens: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class PythonCalls:
    """Calls as Python writes them, with literals for arguments: in a list, or one on each line.

    `listed`: calls are written in a list; both ways are read. `json`: lists and objects are written
    as JSON, and texts always in single quotes. `loose` is for formats that are a whole reply: calls
    may be in nested lists, quotes or backticks, and separated by commas, semicolons or newlines.
    `opens` is as in `CallObject`.
    """

    listed: bool = True
    json: bool = False
    loose: bool = False
    opens: tuple[tuple[str, ...], ...] = ()


WITH_COLONS = r"\w[\w.:/-]{0,127}"
"""The pattern of names with colons (`namespace:name`), for formats where no colon follows."""


@dataclass(frozen=True, slots=True)
class Name:
    """The tool's name, where it is outside of the arguments.

    `before` is a prefix that is written, and dropped when read. `after` is a bounded pattern of a
    suffix to be dropped (an index), and `after_text` the suffix that is written. A pattern has to
    match each beginning of a text that it matches, because a stream may pause anywhere: one
    character or class, followed by others with `?` or `{0,24}`. `doubled`: `f.f` is read as `f`, as
    some models repeat the name as a namespace, unless a tool is called `f.f`.
    """

    pattern: str = r"\w[\w./-]{0,127}"
    before: str = ""
    after: str = ""
    after_text: str = ""
    doubled: bool = False


@dataclass(frozen=True, slots=True)
class Arguments:
    """One JSON object with all arguments.

    With a `mark`, keys have no quotes, and strings are unescaped between two of these marks.
    `optional`: the object may be read here but is never written; single arguments follow it.
    `text` is the argument that any text which is no object is the value of.
    """

    mark: str = ""
    text: str = ""
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """An argument's name. `escaped`: `&` and `"` in it are written as `&amp;` and `&quot;`.

    `valued`: the value may follow as an attribute of the tag: `" value="2" type="integer"/>`.
    `quoted`: between quotes `>` may be in the name.
    """

    pattern: str = r"[^<>\"'\s]{1,200}"
    escaped: bool = False
    valued: bool = False
    quoted: bool = False

    @property
    def regex(self) -> str:
        """The pattern of what is read."""
        own = rf"(?<=[\"'])[^\"'<\n]{{1,200}}+(?=[\"']|\Z)|{self.pattern}"
        return f"(?:{own})" if self.quoted else self.pattern


@dataclass(frozen=True, slots=True)
class Attribute:
    """A type name that says whether the next value is text or JSON; the fields list the names.

    `hint`: any name of a type is read, as of Python, and counts only where the tool's schema says
    nothing; entities in the value are then decoded.
    """

    text: tuple[str, ...]
    json: tuple[str, ...]
    hint: bool = False


TYPE_NAME = Attribute(
    text=("string",), json=("object", "array", "number", "integer", "boolean", "null")
)
"""The types of JSON schema, where a value is written with its type."""

Trim: TypeAlias = OneOf["no", "newline", "newlines", "space"]


@dataclass(frozen=True, slots=True)
class Value:
    """An argument's value as bare text, up to the literal after it.

    The tool's schema or an `Attribute` decides its type; that conversion is no repair. `trim` says
    what is removed around the value: nothing ("no"); a newline on each side where there is one
    ("newline"), or only if both sides have one ("newlines"); or all white space ("space"). `quotes`
    are an opening and a closing text that are removed after that if both are there.
    """

    trim: Trim = "no"
    quotes: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Maybe:
    """Words that may be missing, and are written if `written`; they begin with a literal."""

    words: tuple[Word, ...]
    written: bool = False


@dataclass(frozen=True, slots=True)
class Many:
    """Words that are repeated for each argument; they begin with a literal."""

    words: tuple[Word, ...]


TAG = re.compile(r"<(/?)([^\W\d][\w.:-]{0,127})>")
"""An element's tag: the slash of a closing one, and the element's name."""


@dataclass(frozen=True, slots=True)
class Elements:
    """All arguments as nested elements, each named after its argument: `<key>value</key>`.

    `prefix` is before every tag; the items of a list are elements called `item`. The tool's schema
    decides the types of bare text in them. Formats with `by_tool` have no prefix: only elements
    that the schema declares are arguments, and if it wants a string, all text up to the argument's
    end is the value, including tags.
    """

    prefix: str
    item: str = "item"


Word: TypeAlias = (
    Literal | Space | Markup | CallObject | PythonCalls | Name | Arguments
    | Key | Attribute | Value | Maybe | Many | Elements
)  # fmt: skip


def spellings(word: Literal | None) -> tuple[str, ...]:
    """Return all spellings of a fixed text; an empty tuple for None."""
    return word.spellings if word else ()


def flat(words: Iterable[Word]) -> Iterator[Word]:
    """Yield all words, including those inside of `Maybe` and `Many`."""
    for word in words:
        yield word
        if isinstance(word, Maybe | Many):
            yield from flat(word.words)


def literal_texts(words: Iterable[Word]) -> Iterator[str]:
    """Yield every spelling of every fixed text in the words, those inside other words included."""
    for word in flat(words):
        if isinstance(word, Literal):
            yield from word.spellings


def starts_with_space(word: Many | Maybe) -> bool:
    """Whether the words begin with literal white space, which must not be skipped before them."""
    first = word.words[0]
    return isinstance(first, Literal) and any(t.startswith(SPACES) for t in first.spellings)


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The texts that open and close reasoning. Calls inside of reasoning do not count."""

    open: str
    close: str


THINK = Reasoning("<think>", "</think>")

THINKING = (
    THINK,
    Reasoning("<thinking>", "</thinking>"),
    Reasoning("<thought>", "</thought>"),
    Reasoning("<reasoning>", "</reasoning>"),
    Reasoning("◁think▷", "◁/think▷"),
    Reasoning("<|begin_of_thought|>", "<|end_of_thought|>"),
)
"""The markers of reasoning that a format reads by default."""


Channel: TypeAlias = OneOf["call", "reasoning", "content"]


@dataclass(frozen=True, slots=True)
class Route:
    """One kind of message, recognised by its header; `channel` says what the message contains.

    `header` is a bounded pattern of the text between the message's opening text and `body`, the
    text before its content. A group `name` in the pattern is the tool's name. `text` is the header
    written for a call, with `{name}` for its name; without `{name}` one message has all calls.
    `also` are other headers that models write, as `text` is written.
    """

    channel: Channel
    header: str
    body: str
    text: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Envelope:
    """The frame of all messages: the texts that open and close them, and the kinds of messages.

    Other spellings of `opens` are for a message that begins in the middle of its header, because a
    template writes the first part; `header` matches them, too. The first of `routes` whose header
    matches is used. The closing text may be missing: the next message also ends a message.
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


_FOUND = (
    ("opener", slice(1), Literal),
    ("closer", slice(-1, None), Literal),
    ("call", slice(None), CallObject),
    ("python", slice(None), PythonCalls),
)
"""The derived fields of a format: the first word of a class among those of a slice."""


@dataclass(frozen=True, slots=True)
class Format:
    """A wire format: how a model writes calls as text. Also a `Parser` (see `types.roles`).

    Attributes:
        name: The name of the format for `format=` and `--format`.
        words: The parts of a call, in order; `of` reads them from a pattern.
        marked: True if the opener alone announces a call, so that the text after it is an attempt
            even if it is damaged. A bare object or a code fence announces nothing.
        around: The texts before the first call and after the last call of a reply.
        inner: The text that is written between these two and the calls; by default `separator`.
        envelope: The frame and headers of messages, for models that write every output in messages.
        dropped: Tokens around content that are removed when a text is read, and never written.
        prompted: True if the prompt ends with the opener, so that a text that is read in this
            format alone may begin after the opener.
        whole: True if nothing marks a call, so that a whole reply, or a whole code fence in it,
            has to be calls. `auto` reads such a format only if tools are given.
        by_tool: True if a call is an element named after its tool, so that only the tag of one of
            the given tools begins a call.
        tool: The tool for which `of_tool` made this format.
        also: Formats that are read under this name too, because the same models write them.
        separator: The text that is written between two calls.
        reasoning: The markers of reasoning.
        turns: The families of templates whose markers of turns are known where it is read.
        aliases: Servers' names of the format (`--tool-call-parser`, `--reasoning-parser`).
        models: The models that write calls in this format.
        summary: A description of a call's text in a few words.
        checked: False to skip the check of a new format, as for the built-in ones (tests do that).
        opener: The fixed text that begins a block; None if a block begins with another word.
        closer: The fixed text that ends a block; None if a block ends with another word.
        call: The word for a whole call as a JSON object; None if the format has no such word.
        python: The word for Python calls; None if the format has no such word.

    Examples:
        >>> shape = tunaeval.formats.get("hermes")
        >>> shape.parse('<tool_call>{"name": "ls", "arguments": {}}</tool_call>').outcome
        'calls'
    """

    name: str
    words: tuple[Word, ...]
    marked: bool = True
    around: tuple[Literal, Literal] | None = None
    inner: str | None = None
    envelope: Envelope | None = None
    dropped: tuple[str, ...] = ()
    prompted: bool = False
    whole: bool = False
    by_tool: bool = False
    tool: str = ""
    also: tuple[Format, ...] = ()
    separator: str = "\n"
    reasoning: tuple[Reasoning, ...] = THINKING
    turns: tuple[Turns, ...] = FAMILIES
    aliases: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    summary: str = ""
    checked: InitVar[bool] = True
    # What follows from `words` is asked for with each block, so it is found once.
    opener: Literal | None = field(init=False, repr=False, compare=False)
    closer: Literal | None = field(init=False, repr=False, compare=False)
    call: CallObject | None = field(init=False, repr=False, compare=False)
    python: PythonCalls | None = field(init=False, repr=False, compare=False)

    def __post_init__(self, checked: bool) -> None:
        words: Any = self.words  # of any type until it is checked
        for name, place, kind in _FOUND:
            among = words[place] if isinstance(words, tuple) else ()
            found = next((word for word in among if isinstance(word, kind)), None)
            object.__setattr__(self, name, found)
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
        | `⟨elements prefix=!⟩!` | all arguments as elements: `!<key>value!</key>` |
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
            pair: Any = (*map(_fixed_text, around),) if isinstance(around, tuple) else around
            for option in options.keys() - {*(known := (*cls.__match_args__[2:], "opens"))}:
                raise UnknownNameError("option", option, known)
        except UsageError as fault:
            raise FormatError(f"format {name!r}: {fault}") from None
        marked = bool(words) and isinstance(words[0], Literal)
        return cls(name, words, around=pair, **{"marked": marked, **options})

    def __hash__(self) -> int:
        """Hash the name only, which equal formats share: to hash all words would take 20 µs."""
        return hash(self.name)

    @property
    def several(self) -> bool:
        """Whether one block may have several calls; otherwise each call has a block of its own."""
        return bool(self.python or (self.call and (self.call.array or self.call.joined)))

    @property
    def addressed(self) -> bool:
        """Whether the tool's name is in a message's header, so a call begins only there."""
        return self.envelope is not None and self.envelope.names and self.call is None

    def of_tool(self, name: str) -> Format:
        """Return the format of one tool's element, with the tool's tags as fixed text.

        This is for formats with `by_tool`, which always have the same words: the name is the second
        word and the last but one.
        """
        closers = ("</function>",) if any(isinstance(word, Many) for word in self.words) else ()
        closer = Literal(f"</{name}>", closers)
        words = (Literal(f"<{name}>"), *self.words[3:-3], closer)
        return replace(self, words=words, by_tool=False, tool=name, checked=False)

    def without_reasoning(self) -> Format:
        """Return the format for text whose reasoning was taken out: no marker in it means any."""
        envelope = self.envelope
        if envelope is not None:
            heard = (
                (r, "content" if r.channel == "reasoning" else r.channel) for r in envelope.routes
            )
            routes = tuple(replace(route, channel=channel) for route, channel in heard)
            envelope = replace(envelope, routes=routes)
        return replace(self, reasoning=(), envelope=envelope, checked=False)

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
"""The word of each placeholder; options of a placeholder change fields of the word."""

_MARKS: dict[str, Many | Maybe] = {"each": Many(()), "maybe": Maybe(())}
"""The placeholders in pairs, as `⟨each⟩...⟨/each⟩`, and the word that gets what is between."""

_TOKEN = re.compile("⟨([^⟨⟩]*)⟩|([^⟨⟩]+)|.")
_EXACT = re.compile("⟨=([^⟨⟩¦]*)⟩")
_GAP = re.compile(r"(\A[ \t\r\n]+|[ \t\r]*\n[ \t\r\n]*|[ \t\r\n]+\Z)")
_OPTION = re.compile(r"\s+(\w+)(?:=(?:`([^`]*)`|(\S*)))?(?=\s|\Z)")
_LOST = re.compile(r"[ \t\r\n]+(?:\Z|⟨(?![=|]|[^⟨⟩]*¦))")

_KEPT = {ord(char): 0xE000 + ord(char) for char in " \t\r\n"}
_BACK = {kept: char for char, kept in _KEPT.items()}
"""Replacements that protect exact white space while a pattern is split at other white space."""


def _words_of(pattern: object) -> tuple[Word, ...]:
    """Return the words of a pattern; raise `FormatError` about what is wrong in the pattern."""
    if not isinstance(pattern, str) or _LOST.match(pattern):
        wanted = "a text that begins with a placeholder or fixed text, as white space marks nothing"
        raise FormatError(f"the pattern is {pattern!r:.60}, and has to be {wanted}")
    exact = _EXACT.sub(lambda found: found[1].translate(_KEPT), pattern.strip(" \t\r\n"))
    rows: list[tuple[str, list[Word]]] = [("", [])]  # the open pairs, each with its words
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
    """Return the fixed text that is all of a pattern; raise `FormatError` for another pattern."""
    words = _words_of(pattern) or (Literal(""),) if isinstance(pattern, str) else (pattern,)
    if len(words) == 1 and isinstance(words[0], Literal):
        return words[0]
    raise FormatError(f"{pattern!r} has more than one fixed text")


def _bare(words: tuple[Word, ...], opens: Any) -> tuple[Word, ...]:
    """Return the words; if the only one is a call, its `opens` are set, to a default if None."""
    match words:
        case (CallObject(inside=(), array=array) as word,):
            rows = [("{", ANY_SPACE, '"'), ("[", ANY_SPACE, "{", ANY_SPACE, '"')][: 1 + array]
        case (PythonCalls(loose=False) as word,):
            rows = [("[", ANY_SPACE, ANY_NAME, "(")]
        case _ if opens and words and isinstance(words[0], Literal):
            raise FormatError("`opens` is for a call without fixed text before it; leave it out")
        case _:
            return words
    return (replace(word, opens=(*opens,) if isinstance(opens, Iterable) else opens or (*rows,)),)


def _is_mark(inside: str, rows: list[tuple[str, list[Word]]]) -> bool:
    """Open or close a pair, as `⟨each⟩...⟨/each⟩`, in `rows`; False if `inside` is no such mark."""
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
        near = UnknownNameError("", kind.lower(), (*PLACEHOLDERS, *_MARKS)).near
        meant = f"; did you mean ⟨{'⟩ or ⟨'.join(near)}⟩?" if near else ""
        raise FormatError(f"⟨{inside}⟩ is no placeholder; there are {known}{meant}")
    return _with_options(PLACEHOLDERS[kind], inside, kind)


def _with_options(word: _W, inside: str, kind: str) -> _W:
    """Return the word with the fields changed by the options after `kind` in `inside`."""
    changes: dict[str, Any] = {}
    at, end = len(kind), len(inside)
    known = [field.name for field in fields(word) if field.name not in ("words", "opens")]
    while at < end:
        found = _OPTION.match(inside, at)
        if found is None or found[1] not in known:
            options = f"{', '.join(known)}, as in ⟨{kind} {known[0]}=`a b`⟩" if known else "none"
            given = inside[at:].strip()
            raise FormatError(f"⟨{inside}⟩ has the option {given!r}; ⟨{kind}⟩ has {options}")
        if found[1] in changes:
            raise FormatError(f"⟨{inside}⟩ has the option {found[1]} twice")
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
    """Return the words with adjacent `Space`s joined; a name before a colon may have no colons.

    A key before white space, which models leave out, may not have the sign that is to come next.
    """
    done: list[Word] = []
    for at, (word, after) in enumerate(zip(row, (*row[1:], None), strict=False)):
        if isinstance(word, Name) and word.pattern == WITH_COLONS:
            first = after.words[0] if isinstance(after, Many | Maybe) and after.words else after
            texts = first.spellings if isinstance(first, Literal) else ()
            if ":" in word.after or any(text.startswith(":") for text in texts):
                word = replace(word, pattern=Name().pattern)  # noqa: PLW2901 - the same word
        elif word == Key() and isinstance(after, Space):
            sign = next((one.text[:1] for one in row[at:] if isinstance(one, Literal)), "")
            if re.fullmatch(r"[^\w\s]", sign):
                pattern = rf"[^<>\"'\s{re.escape(sign)}]{{1,200}}"
                word = Key(pattern)  # noqa: PLW2901 - the same word
        elif isinstance(word, Space) and done and isinstance(before := done[-1], Space):
            done[-1] = Space(before.text + word.text)
            continue
        done.append(word)
    return (*done,)
