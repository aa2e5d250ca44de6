r"""A text whose prompt ended with a format's opener: what it begins with is behind that.

So it is with Functionary 3.2, whose template writes `>>>`: a reply begins `name\n{...}`, or
`all\n` and words to the user.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tunaeval.grammar import Format
from tunaeval.limits import OPENER_AHEAD

from .chains import beginning_of, start_of
from .tokens import Choice, Match, Token, choices_of


class Prompted(NamedTuple):
    """What may be at the beginning of a text: a block without its opener, or what is dropped."""

    token: Token
    """An opener of no characters."""
    dropped: tuple[str, ...]
    begins: Match
    may_begin: Match
    """The same, where the text may end in it."""
    openers: tuple[str, ...]
    """Where the text has one all the same, or what is around calls, no block began before it."""

    @property
    def choice(self) -> Choice:
        return choices_of(self.token)[0]

    def found(self, text: str) -> bool:
        """Whether the text begins behind the opener."""
        if text.startswith(self.openers):
            return False
        return text.startswith(self.dropped) or self.begins(text, 0, OPENER_AHEAD) is not None

    def undecided(self, text: str) -> bool:
        """Whether more of the text may change what it begins with."""
        fixed = (*self.dropped, *self.openers)
        if any(len(each) > len(text) and each.startswith(text) for each in fixed):
            return True
        short = len(text) < OPENER_AHEAD and not self.found(text)
        return short and self.may_begin(text, 0, len(text)) is not None

    def markup(self, text: str) -> str:
        """What is no content at the beginning of the text, if there is such a thing."""
        return next((each for each in self.dropped if text.startswith(each)), "")


def prompted_of(form: Format) -> Prompted | None:
    """How the texts of a format begin whose prompt ends with the opener; None for the others."""
    if not form.prompted or form.opener is None:
        return None
    opener, begins = form.opener.text, start_of(form)
    dropped = (text.removeprefix(opener) for text in form.dropped if text.startswith(opener))
    return Prompted(
        Token("open", "", (form,)),
        tuple(filter(None, dropped)),
        re.compile(begins).match,
        re.compile(beginning_of(form)).match,
        (*form.opener.spellings, *(form.around[0].spellings if form.around else ())),
    )
