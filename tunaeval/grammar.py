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

from tunaeval.errors import FormatError

if TYPE_CHECKING:
    from tunaeval.types import Level, ParseResult, Tools

NAME = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)*")
"""What a format may be called: kebab-case."""

NAME_KEYS = ("name", "tool", "function", "tool_name")
"""Keys that hold a call's name where a format does not say otherwise; all but its own are mends."""

ARGUMENTS_KEYS = ("arguments", "args", "parameters", "input")
"""Keys that hold a call's arguments, likewise."""

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

    `bare_keys`: its own two keys are written without quotes.

    `opens` is for formats without an opening literal: what a text has to begin with to be looked
    at, as rows of fixed texts and `ANY_SPACE`. Without markers around it an object needs a name
    *and* arguments to be taken for a call.
    """

    name: str = "name"
    arguments: str = "arguments"
    array: bool = False
    bare_keys: bool = False
    opens: tuple[tuple[str, ...], ...] = ()


Word: TypeAlias = Literal | Space | Markup | CallObject


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
    even if it is broken; a bare object or a code fence announces nothing.
    """

    name: str
    words: tuple[Word, ...]
    marked: bool = True
    separator: str = "\n"
    reasoning: tuple[Reasoning, ...] = (THINK,)
    models: tuple[str, ...] = ()
    summary: str = ""

    def __post_init__(self) -> None:
        if fault := _fault(self):
            raise FormatError(f"format {self.name!r}: {fault}")

    @property
    def call(self) -> CallObject:
        return next(word for word in self.words if isinstance(word, CallObject))

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
    calls = [index for index, word in enumerate(words) if isinstance(word, CallObject)]
    if not NAME.fullmatch(format_.name):
        return "a name is lower-case letters and digits, joined by '-', '.' or '_'"
    if len(calls) != 1:
        return f"it needs exactly one CallObject() and has {len(calls)}"
    if any(not text for word in words if isinstance(word, Literal) for text in word.spellings):
        return "a Literal is empty, so it would be found everywhere"
    return _frame_fault(format_, words[: calls[0]], words[calls[0] + 1 :]) or _markup_fault(words)


def _frame_fault(format_: Format, before: tuple[Word, ...], after: tuple[Word, ...]) -> str | None:
    if not before:
        if not format_.call.opens:
            return "it begins with CallObject(), which then has to say what it `opens` with"
        return f"{after[0]!r} follows a bare CallObject(), which ends by itself" if after else None
    if not isinstance(before[0], Literal):
        return f"{before[0]!r} stands first, so the format would begin everywhere; use a Literal"
    if format_.call.opens:
        return "`opens` is for a CallObject() without an opening Literal"
    if after and not isinstance(after[-1], Literal):
        return (
            f"it ends with {after[-1]!r}, so a block would never know where it ends; use a Literal"
        )
    for text in format_.closer.spellings if format_.closer and after else ():
        if text[0] in "{}[],\"'" or text[0].isspace():
            return f"the closer {text!r} could be part of the JSON before it"
        if text in before[0].spellings and len(text) < 3:
            return f"{text!r} both opens and closes"
    return None


def _markup_fault(words: tuple[Word, ...]) -> str | None:
    for word in words:
        if isinstance(word, Markup):
            outside_classes = re.sub(r"\[(?:\\.|[^\]])*\]", "x", word.pattern)
            if re.search(r"(?<!\\)[*+]|,\}", outside_classes):
                return f"Markup({word.pattern!r}) has no bound; write {{0,24}} instead of * or +"
            if not re.fullmatch(word.pattern, word.text):
                return f"Markup({word.pattern!r}) does not read what it writes: {word.text!r}"
    return None
