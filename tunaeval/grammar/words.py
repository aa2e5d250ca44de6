"""The words that a wire format consists of, and the values beside them.

Each word says what is read in its place, and what is written there. `Format.of` makes rows of them
from a pattern.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

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
