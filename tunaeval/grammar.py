r"""The words that a wire format is written in.

A format is a value: a row of words, in the order in which a model writes them. The engine in
`parsing` reads them forwards, `parsing.writing` writes them. A format that could never be read is
refused when it is built.

    Format("hermes", (Literal("<tool_call>"), Space("\n"), CallObject(), Space("\n"),
                      Literal("</tool_call>")))
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from typing import Literal as OneOf

from tunaeval.errors import FormatError

if TYPE_CHECKING:
    from tunaeval.types import Level, ParseResult, Tools

NAME = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)*")
"""What a format may be called: kebab-case."""

ANY_SPACE = " "
"""In an `opens` of a bare object: up to 24 characters of white space."""


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
    """One JSON object that holds a call's name and arguments; with `array` also several in a list.

    `joined`: several stand one after the other, with this text between them. `keyed`: the object
    has one key, the name, and its value is the arguments. `bare_keys`: its own two keys are
    written without quotes.

    `opens` is for formats without an opening literal: what a text has to begin with to be looked
    at, as rows of fixed texts and `ANY_SPACE`. Without markers around it an object needs a name
    *and* arguments to be taken for a call.
    """

    name: str = "name"
    arguments: str = "arguments"
    array: bool = False
    joined: str = ""
    keyed: bool = False
    bare_keys: bool = False
    opens: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Name:
    """The tool's name, where it stands outside of the arguments.

    `before` is written in front of it and dropped when read; `after` is a bounded pattern of what
    may follow it and is dropped (an index), `after_text` what is written there. A pattern has to
    match every beginning of what it matches, because a text may end anywhere.
    """

    pattern: str = r"[A-Za-z0-9_./-]{1,128}"
    before: str = ""
    after: str = ""
    after_text: str = ""


@dataclass(frozen=True, slots=True)
class Arguments:
    """One JSON object that is the arguments."""


@dataclass(frozen=True, slots=True)
class Key:
    """An argument's name."""

    pattern: str = r"[^<>\"'\s]{1,200}"


@dataclass(frozen=True, slots=True)
class Attribute:
    """A word that says whether the next value is text or JSON: `text` and `json` are the words."""

    text: tuple[str, ...]
    json: tuple[str, ...]


Trim: TypeAlias = OneOf["no", "newline", "space"]


@dataclass(frozen=True, slots=True)
class Value:
    """An argument's value as bare text, up to the literal behind it.

    It is typed by the tool's schema (or by an `Attribute`); that is reading, not mending. `trim`
    says what stands around it and is no part of it: "no", one "newline" each side, or all "space".
    """

    trim: Trim = "no"


@dataclass(frozen=True, slots=True)
class Maybe:
    """Words that may be missing; they begin with a literal."""

    words: tuple[Word, ...]
    written: bool = False


@dataclass(frozen=True, slots=True)
class Many:
    """Words that come once for each argument; they begin with a literal."""

    words: tuple[Word, ...]


Word: TypeAlias = (
    Literal
    | Space
    | Markup
    | CallObject
    | Name
    | Arguments
    | Key
    | Attribute
    | Value
    | Maybe
    | Many
)


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The markers that reasoning stands between. Calls in there are no calls."""

    open: str
    close: str


THINK = Reasoning("<think>", "</think>")


@dataclass(frozen=True, slots=True)
class Format:
    """A wire format: how a model writes calls as text. Also a `Parser` (see `types.roles`).

    `marked` says that the opener alone announces a call, so that what follows it is an attempt
    even if it is broken; a bare object or a code fence announces nothing. `around` is what stands
    around all calls together; it is written, and read wherever it is met. `aliases` are the names
    that vLLM (`--tool-call-parser`) and SGLang have for the same text.
    """

    name: str
    words: tuple[Word, ...]
    marked: bool = True
    around: tuple[Literal, Literal] | None = None
    separator: str = "\n"
    reasoning: tuple[Reasoning, ...] = (THINK,)
    aliases: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    summary: str = ""

    def __post_init__(self) -> None:
        if fault := _fault(self):
            raise FormatError(f"format {self.name!r}: {fault}")

    @property
    def call(self) -> CallObject | None:
        """The word for a whole call object; None where the name stands outside."""
        return next((word for word in self.words if isinstance(word, CallObject)), None)

    @property
    def opener(self) -> Literal | None:
        """What a block begins with; None for bare objects."""
        first = self.words[0]
        return first if isinstance(first, Literal) else None

    @property
    def closer(self) -> Literal | None:
        last = self.words[-1]
        return last if isinstance(last, Literal) else None

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        """Read `text` in this format alone."""
        return _engine[0](self, text, tools, level)


Engine: TypeAlias = "Callable[[Format, str, Tools | None, Level], ParseResult]"

_engine: list[Engine] = []


def set_engine(engine: Engine) -> None:
    """Say what reads formats. The face does this once: a value does not know its reader."""
    _engine[:] = [engine]


def _fault(format_: Format) -> str | None:
    """Why the format could never be read, if so."""
    words = format_.words
    flat = _flat(words)
    if not NAME.fullmatch(format_.name):
        return "a name is lower-case letters and digits, joined by '-', '.' or '_'"
    objects = sum(isinstance(word, CallObject) for word in flat)
    names = sum(isinstance(word, Name) for word in flat)
    if objects + names != 1:
        return f"it needs one CallObject() or one Name(), and has {objects} and {names}"
    if any(not text for word in flat if isinstance(word, Literal) for text in word.spellings):
        return "a Literal is empty, so it would be found everywhere"
    return (
        _frame_fault(format_)
        or _markup_fault(flat)
        or (_tagged_fault(words) if names else _object_fault(words, format_.call))
        or _reasoning_fault(format_)
    )


def _object_fault(words: tuple[Word, ...], call: CallObject | None) -> str | None:
    """Why a call object could not be found, or could not be written and read back."""
    if call is None:
        return None
    for row in call.opens:
        text = "".join(part for part in row if part != ANY_SPACE)
        if not row or row[0] == ANY_SPACE or text[:1] not in ("{", "["):
            return f"`opens` has the row {row!r}; a call begins with '{{' or '['"
    for key in (call.name, call.arguments):
        if not (re.fullmatch(r"\w+", key) if call.bare_keys else re.fullmatch(r'[^"\\\n]+', key)):
            return f"the key {key!r} cannot be written as it is"
    if call.name == call.arguments:
        return f"the name and the arguments have one key, {call.name!r}"
    before = words[: words.index(call)]
    for word in before:
        if not isinstance(word, Markup):
            continue
        swallowed = re.match(word.pattern, '{"')
        if swallowed and swallowed.end():
            return f"Markup({word.pattern!r}) would swallow the beginning of the call"
    return None


def _reasoning_fault(format_: Format) -> str | None:
    own = [word for word in format_.words if isinstance(word, Literal)]
    texts = {text for word in own for text in word.spellings}
    for markers in format_.reasoning:
        if not markers.open or not markers.close or markers.open == markers.close:
            return f"{markers!r} cannot be told apart; give two different texts"
        if texts & {markers.open, markers.close}:
            return f"{markers!r} are markers of the calls too"
    return None


def _flat(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """All words, those inside `Maybe` and `Many` too."""
    inner = (_flat(word.words) if isinstance(word, Maybe | Many) else (word,) for word in words)
    return tuple(word for some in inner for word in some)


def _frame_fault(format_: Format) -> str | None:
    words, call = format_.words, format_.call
    first, last = words[0], words[-1]
    if isinstance(first, CallObject):
        if not first.opens:
            return "it begins with CallObject(), which then has to say what it `opens` with"
        return (
            f"{words[1]!r} follows a bare CallObject(), which ends by itself" if words[1:] else None
        )
    if not isinstance(first, Literal):
        return f"{first!r} stands first, so the format would begin everywhere; use a Literal"
    if call and call.opens:
        return "`opens` is for a CallObject() without an opening Literal"
    if not isinstance(last, Literal | CallObject | Arguments):
        return f"it ends with {last!r}, so a block never knows where it ends; use a Literal"
    for text in last.spellings if isinstance(last, Literal) else ():
        if text[0] in "{}[],\"'" or text[0].isspace():
            return f"the closer {text!r} could be part of the JSON before it"
        if text in first.spellings and len(text) < 3:
            return f"{text!r} both opens and closes"
    return None


def _tagged_fault(words: tuple[Word, ...]) -> str | None:
    for word, after in zip(words, (*words[1:], None), strict=True):
        if isinstance(word, Maybe | Many):
            if not isinstance(word.words[0], Literal):
                return f"{word!r} begins with {word.words[0]!r}; nothing tells whether it is there"
            inner = _tagged_fault(word.words)
            if inner:
                return inner
        if isinstance(word, Value) and not isinstance(after, Literal):
            return f"{after!r} follows Value(), so a value never knows where it ends; use a Literal"
    return None


def _markup_fault(words: tuple[Word, ...]) -> str | None:
    for word in words:
        if isinstance(word, Space) and word.text.strip():
            return f"{word!r} writes more than white space"
        pattern = word.pattern if isinstance(word, Markup | Name | Key) else ""
        try:
            re.compile(pattern)
        except re.error as error:
            return f"the pattern {pattern!r} is none: {error}"
        outside_classes = re.sub(r"\[(?:\\.|[^\]])*\]", "x", pattern)
        if re.search(r"(?<!\\)[*+]|,\}", outside_classes):
            return f"the pattern {pattern!r} has no bound; write {{0,24}} instead of * or +"
        if isinstance(word, Markup) and not re.fullmatch(word.pattern, word.text):
            return f"Markup({word.pattern!r}) does not read what it writes: {word.text!r}"
    return None
