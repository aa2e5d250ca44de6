r"""A text whose prompt ended with a format's opener: what it begins with is behind that.

So it is with Functionary 3.2, whose template writes `>>>`: a reply begins `name\n{...}`, or
`all\n` and words to the user.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tunaeval.grammar import Format
from tunaeval.limits import OPENER_AHEAD

from .chains import start_of
from .tokens import Choice, Match, Token, choices_of

_ONE_WORD = re.compile(r"\S*+\s*+")


class Prompted(NamedTuple):
    """What may be at the beginning of a text: a block without its opener, or what is dropped."""

    token: Token
    """An opener of no characters."""
    dropped: tuple[str, ...]
    begins: Match

    @property
    def choice(self) -> Choice:
        return choices_of(self.token)[0]

    def found(self, text: str) -> bool:
        """Whether the text begins behind the opener."""
        return text.startswith(self.dropped) or self.begins(text, 0) is not None

    def may_be_found(self, text: str) -> bool:
        """Whether it may be found once more of the text has come: so far there is one word."""
        return len(text) <= OPENER_AHEAD and _ONE_WORD.fullmatch(text) is not None

    def markup(self, text: str) -> str:
        """What is no content at the beginning of the text, if there is such a thing."""
        return next((each for each in self.dropped if text.startswith(each)), "")


def prompted_of(form: Format) -> Prompted | None:
    """How the texts of a format begin whose prompt ends with the opener; None for the others."""
    if not form.prompted or form.opener is None:
        return None
    opener, begins = form.opener.text, start_of(form)
    dropped = (text.removeprefix(opener) for text in form.dropped if text.startswith(opener))
    token = Token("open", "", (form,), (begins,))
    return Prompted(token, tuple(filter(None, dropped)), re.compile(begins).match)
