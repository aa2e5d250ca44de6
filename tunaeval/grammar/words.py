"""The words of a wire format: what is read at a place in the text of a call, and written there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

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
