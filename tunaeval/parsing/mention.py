"""An opener that nothing like a call followed: content, unless its closer shows otherwise."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from tunaeval.grammar import Format

from .collect import Collector
from .tokens import Token

_BODY = re.compile(r"""[{}\[\]("'=\n]""")


@dataclass(slots=True)
class Mention:
    """The opener, where it began, how many calls there were, and what was said since."""

    start: int
    token: Token
    format: Format
    calls: int
    body: bool = False
    words: bool = False

    def hear(self, said: str) -> None:
        """More was said behind the opener."""
        if not self.body:
            self.body = bool(_BODY.search(said))
            self.words = self.words or not said.isspace()

    def closed(self, collector: Collector, closer: str, end: int) -> None:
        """Its closer ends at `end`: something tried to be a call if it looked like one."""
        if (self.body or not self.words) and self.calls == len(collector.calls):
            message = f"nothing readable between {self.token.text!r} and {closer!r}"
            collector.diagnose("invalid-json", message, self.start, end)
            collector.attempt(self.start)


class Mentioned(NamedTuple):
    """An opener of so many characters with what was passed over behind it, and what follows.

    Where the same text is, it is only mentioned again.
    """

    text: str
    size: int
