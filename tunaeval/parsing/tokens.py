"""What a set of formats looks for in a text: tokens, and what each may be the beginning of."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from typing import Literal as OneOf

from tunaeval.grammar import Format, Literal, Name, Reasoning, Route
from tunaeval.limits import OPENER_AHEAD
from tunaeval.window import Window

if TYPE_CHECKING:
    from .fast import AddressedReader, BlockReader
    from .judged import JudgedReader

TokenKind: TypeAlias = OneOf[
    "open", "bare", "close", "around", "reasoning", "end_reasoning", "message", "end"
]

Match: TypeAlias = Callable[[str, int], "re.Match[str] | None"]


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
    """

    form: Format
    follows: Match
    fast: BlockReader
    judged: JudgedReader
    bare: bool
    excludes: bool
    wordy: bool


@dataclass(slots=True, eq=False)
class Token:
    """What is at a hit: an opener or a closer of a call, of reasoning or of a message, what
    is around them, or a bare object's start.

    An opener may be that of several formats; each has a probe, a pattern of what has to
    follow it, which is compiled only where there is a choice.
    `around` tells that it, or a closer, also is around the calls of some format, `announces`
    that it does so before the first of them.
    """

    kind: TokenKind
    text: str = ""
    formats: tuple[Format, ...] = ()
    probes: tuple[str, ...] = ()
    around: bool = False
    announces: bool = False
    reasoning: Reasoning | None = None
    addressed: bool = False
    """Whether the header that begins with it may have a tool's name."""
    choices: tuple[Choice, ...] = ()
    headers: tuple[HeaderReader, ...] = ()

    @property
    def sole(self) -> bool:
        """Whether it can only be the opener of one format."""
        return len(self.formats) == 1 and not self.around


def choices_of(token: Token) -> tuple[Choice, ...]:
    """The formats that begin with this token, in order; made when first asked for."""
    if not token.choices:
        from .fast.blocks import block_reader  # noqa: PLC0415 - imported when a block is met
        from .judged import judged_reader  # noqa: PLC0415 - likewise

        probes = token.probes or ("",) * len(token.formats)
        token.choices = tuple(
            Choice(form, re.compile(probe).match, block_reader(form), judged_reader(form),
                   form.opener is None, form.envelope is not None,
                   len(token.formats) > 1 and _names_first(form))
            for form, probe in zip(token.formats, probes, strict=True)
        )  # fmt: skip
    return token.choices


def _names_first(form: Format) -> bool:
    """Whether the opener says that a name follows, as in `<function=f>`, and no more."""
    opener = form.words[0]
    named = isinstance(opener, Literal) and opener.text.endswith("=")
    return named and isinstance(form.words[1], Name)


def chosen(token: Token, text: str, at: int) -> Choice | None:
    """The first format whose next words follow at `at`; a single one without a look."""
    choices = token.choices or choices_of(token)
    if len(choices) == 1 and not token.around:
        return choices[0]
    for choice in choices:
        if choice.follows(text, at):
            return choice
    return None


def undecided(token: Token, window: Window) -> bool:
    """Whether more text could tell whose opener the token at the window's position is."""
    if window.final or token.sole:
        return False
    return len(window.text) - window.pos - len(token.text) <= OPENER_AHEAD
