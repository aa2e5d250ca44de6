"""What a set of formats looks for in a text: tokens, and what each may be the beginning of."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from typing import Literal as OneOf

from tunaeval.grammar import Format, Literal, Many, Maybe, Name, Reasoning, Route, Space
from tunaeval.limits import NEAR_SPACE, OPENER_AHEAD

from .chains import beginning_of, start_of

if TYPE_CHECKING:
    from tunaeval.window import Window

    from .fast import AddressedReader, BlockReader

TokenKind: TypeAlias = OneOf[
    "open",
    "bare",
    "close",
    "around",
    "reasoning",
    "end_reasoning",
    "message",
    "end",
    "fence",
    "turn",
    "end_of_text",
]

Match: TypeAlias = Callable[[str, int, int], "re.Match[str] | None"]
"""From a place in a text on, and only up to another: what is behind it may not have arrived."""


_word = re.compile(rf"{NEAR_SPACE}\w").match


class HeaderReader(NamedTuple):
    """The headers of one format: its routes in order, with what matches each, whether that has the
    tool's name, and whether it ends in the opener of a call; what has to follow each; and the fast
    reader of calls behind a header.
    """

    form: Format
    routes: tuple[tuple[Route, Match, bool, bool], ...]
    follows: Mapping[Route, Match]
    fast: AddressedReader


class Choice(NamedTuple):
    """A format whose opener a token may be: what has to follow it, and its fast reader.

    `bare`: it has no opener. `excludes`: its calls may be in some messages only. `wordy`: other
    formats begin with the token too, which says that a name follows; that may be any word.
    `alone`: a name without anything else may be between its markers; in a sentence, any word.
    `named`: the name is right behind the opener.
    """

    form: Format
    follows: Match
    fast: BlockReader
    bare: bool
    excludes: bool
    wordy: bool
    alone: bool
    named: bool


@dataclass(slots=True, eq=False)
class Token:
    """What is at a hit: an opener or a closer of a call, of reasoning or of a message, what
    is around them, or a bare object's start.

    An opener may be that of several formats; `choices`, made when it is met, tell which.
    `around` tells that it, or a closer, also is around the calls of some format, `announces`
    that it does so before the first of them.
    """

    kind: TokenKind
    text: str = ""
    formats: tuple[Format, ...] = ()
    around: bool = False
    announces: bool = False
    reasoning: Reasoning | None = None
    addressed: bool = False
    """Whether the header that begins with it may have a tool's name."""
    choices: tuple[Choice, ...] = ()
    begun: tuple[Match, ...] = ()
    """What each choice's `follows` may become, in a text that goes on; made likewise."""
    headers: tuple[HeaderReader, ...] = ()

    @property
    def sole(self) -> bool:
        """Whether it can only be the opener of one format."""
        return len(self.formats) == 1 and not self.around


def choices_of(token: Token) -> tuple[Choice, ...]:
    """The formats that begin with this token, in order; made when first asked for."""
    if not token.choices:
        from .fast.blocks import block_reader  # noqa: PLC0415 - imported when a block is met

        bare = token.kind == "bare"
        token.choices = tuple(
            Choice(form, re.compile("" if bare else start_of(form)).match,
                   block_reader(form),
                   form.opener is None, form.envelope is not None,
                   len(token.formats) > 1 and _names_first(form), _names_alone(form),
                   _inner(form)[:1] == [Name])
            for form in token.formats
        )  # fmt: skip
    return token.choices


def _names_first(form: Format) -> bool:
    """Whether the opener says that a name follows, as in `<function=f>`, and no more."""
    opener = form.words[0]
    named = isinstance(opener, Literal) and opener.text.endswith("=")
    return named and isinstance(form.words[1], Name)


def _names_alone(form: Format) -> bool:
    """Whether a call without arguments is a name and no more, as in `<tool_call>f</tool_call>`."""
    return isinstance(form.words[0], Literal) and _inner(form) == [Name, Many, Literal]


def _inner(form: Format) -> list[type]:
    """The kinds of the words behind the opener, but for what may be missing."""
    return [type(word) for word in form.words[1:] if not isinstance(word, Space | Maybe)]


def chosen(token: Token, text: str, at: int) -> Choice | None:
    """The first format whose next words follow near `at`; a single one without a look."""
    choices = token.choices or choices_of(token)
    if len(choices) == 1 and not token.around:
        return choices[0]
    end = at + OPENER_AHEAD
    for choice in choices:
        if choice.follows(text, at, end):
            return choice
    return None


def nearest(token: Token, text: str, at: int) -> Choice:
    """The one that a broken or cut-off block near `at` is read as, where none of them follows."""
    choices = choices_of(token)
    if _word(text, at):
        return next((choice for choice in choices if choice.named), choices[0])
    return choices[0]


def undecided(token: Token, window: Window, choice: Choice | None) -> bool:
    """Whether more text could tell whose opener the token at the window's position is.

    Of a choice it tells otherwise if what follows may become what one before it asks for.
    """
    at = window.pos + len(token.text)
    if window.final or token.sole or len(window.text) - at > OPENER_AHEAD:
        return False
    choices = choices_of(token)
    if choice is None or choice is choices[0]:
        return choice is None
    token.begun = token.begun or tuple(re.compile(beginning_of(c.form)).match for c in choices)
    return any(
        begun(window.text, at, len(window.text)) for begun in token.begun[: choices.index(choice)]
    )
