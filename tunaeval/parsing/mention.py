"""An opener that nothing like a call followed: content, unless its closer shows otherwise."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tunaeval.grammar import Format
from tunaeval.limits import WIDEST_GAP
from tunaeval.window import Window

from .collect import Collector
from .finder import Token

_BODY = re.compile(r"""[{}\[\]("'=\n<]""")


_BEGINNINGS = "<{[("
"""What a call, its tag or a list of calls begins with."""


@dataclass(slots=True)
class Mention:
    """The opener, where it began, how many calls there were, and what was said since."""

    start: int
    token: Token
    format: Format
    calls: int
    body: bool = False
    words: bool = False
    tagged: bool = False
    """A tag is right behind it, and it begins its line: it is no part of prose."""
    inline: bool = False
    """It follows a word in its line; with its closer in that line, too, a sentence names both."""
    quote: str = ""
    """It is behind this sign, which then ends a quote of it, and is nothing of a call."""

    def hear(self, said: str) -> None:
        """More was said behind the opener."""
        self.inline = self.inline and "\n" not in said
        if not self.body:
            self.body = bool(_BODY.search(said.replace(self.quote, "") if self.quote else said))
            self.words = self.words or not said.isspace()

    def interrupted(self, collector: Collector, token: Token, window: Window) -> None:
        """Another one of its formats begins here where the closer is missing.

        One right behind itself is the same one twice.
        """
        start, between = window.offset, window.offset - self.start - len(self.token.text)
        if not self.tagged or self.calls != len(collector.calls):
            return
        if between <= WIDEST_GAP and not window.text[window.pos - between : window.pos].strip():
            return
        kin = {form.name for each in token.formats for form in (each, *each.also)}
        if not kin.isdisjoint(form.name for form in (self.format, *self.format.also)):
            self._broken(collector, token.text, start)
            self.tagged = False

    def closed(self, collector: Collector, closer: str, end: int, *, named: bool = False) -> None:
        """Its closer ends at `end`: something tried to be a call if it looked like one.

        `named`: it has the name of a tool, and no more.
        """
        looks = self.body or named or not (self.words or self.inline)
        if looks and self.calls == len(collector.calls):
            self._broken(collector, closer, end)

    def _broken(self, collector: Collector, until: str, end: int) -> None:
        message = f"nothing readable between {self.token.text!r} and {until!r}"
        collector.diagnose("invalid-json", message, self.start, end)
        collector.attempt(self.start)


@dataclass(slots=True)
class Region:
    """What is around all calls: its opener, where it began, and whether a call may be in there.

    `first` is what is said first in there, but for white space.
    """

    start: int
    text: str
    body: bool
    first: str = ""

    def hear(self, said: str) -> None:
        """More was said in there."""
        self.first = self.first or said.lstrip()[:1]
        self.body = self.body or bool(_BODY.search(said))

    def closed(self, collector: Collector, closer: str, end: int) -> None:
        """Its closer ends at `end`: something tried to be a call if that is all there was in it."""
        if self.body:
            self._broken(collector, f"between {self.text!r} and {closer!r}", end)

    def unclosed(self, collector: Collector, end: int) -> None:
        """The text ends there: the same if it goes on with anything but words."""
        if self.first and self.first in _BEGINNINGS:
            self._broken(collector, f"behind {self.text!r}", end)

    def empty(self, collector: Collector) -> bool:
        """Whether neither a call nor a diagnosis has come since it began."""
        return not collector.has_said(self.start)

    def _broken(self, collector: Collector, where: str, end: int) -> None:
        if collector.last == "content" and self.empty(collector):
            collector.diagnose("invalid-json", f"nothing readable {where}", self.start, end)
            collector.attempt(self.start)
