"""Moves over a text, and says of each piece that is passed what it is: content, markup, reasoning.

The scanner decides what comes next; what the passed text says about the next marker (its line,
inline code, a marker without a call so far) is kept here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tunaeval import limits
from tunaeval.grammar.format import Format

from .collect import Collector
from .finder import Token, in_ticks
from .window import Window

LINE_START = re.compile(r"(?:\A|\n)[ \t]*+\Z")
"""Matches a text after which only white space precedes the next character in its line."""

OPENS_FENCE = re.compile(r"(?:\A|\n)```([\w+-]{0,24})[ \t]{0,8}\r?\n[ \t\r\n]{0,40}\Z")
"""Matches a text whose last line is the start of a code fence; the group is the language."""


@dataclass(slots=True)
class Unread:
    """A marker without a call after it so far: an opener, or a marker around all calls.

    The marker is ignored unless the text between it and its closer looks like an attempted call.

    Attributes:
        start: Where the marker begins, as an offset into the whole text.
        token: The marker.
        form: The format whose opener the marker is; None for a marker around all calls.
        likely: Whether the marker begins its line and, if it is an opener, a tag is next to it.
        inline: Whether the marker may be part of a sentence, which may name its closer, too.
        quote: The quotation mark directly before the marker, or "".
        behind: The beginning of the text after the marker.
    """

    start: int
    token: Token
    form: Format | None
    likely: bool
    inline: bool
    quote: str = ""
    behind: str = ""


class Passing:
    """Passes text, and keeps what it says about the marker that follows.

    Attributes:
        _region: The opening marker around all calls of a format, until its closer is read.
        _mention: The last opener that nothing like a call followed.
        _quote_open: Whether inline code is open that began directly before a marker.
        _after_reasoning: Whether white space that follows still belongs to the reasoning before.
        _line_at: The offset from which text counts as part of the current line.
    """

    window: Window
    collector: Collector
    _region: Unread | None = None
    _mention: Unread | None = None
    _quote_open = _after_reasoning = False
    _line_at = 0

    def _pass_text(self, end: int) -> None:
        """Add the text up to index `end` as content (white space after reasoning as markup)."""
        window, collector = self.window, self.collector
        start = window.pos
        if start >= end:
            return
        offset, window.pos = window.base + start, end
        text = window.text[start:end]
        if self._after_reasoning:  # white space after reasoning is markup
            blank = len(text) - len(text.lstrip())
            collector.piece("markup", offset, offset + blank)
            self._after_reasoning = blank == len(text)
            offset += blank
        if self._mention or self._region:
            for unread in (self._mention, self._region):
                if unread and len(unread.behind) < limits.CALL_AHEAD:
                    unread.behind += text[: limits.CALL_AHEAD]
        if self._quote_open:
            self._quote_open = "`" not in text and "\n" not in text
        collector.text(text, offset, window.base + end)

    def _pass_as_text(self, text: str) -> None:
        """Add a marker that has no meaning here as content, and skip it."""
        self._pass_text(self.window.pos + len(text))

    def _pass_markup(self, size: int) -> None:
        """Add a marker of `size` characters as markup and skip it; a new line begins after it."""
        start = self.window.offset
        self.window.pos += size
        self._line_at = start + size
        self.collector.piece("markup", start, self._line_at)
        self.collector.bare = False

    @property
    def _line(self) -> str:
        """The text from `_line_at` to the position, or its last `KEPT` characters."""
        return self.window.since(self._line_at)

    @property
    def _last_piece(self) -> str:
        """The last piece up to the position, or only its last `KEPT` characters."""
        return self.window.since(self.collector.last_start)

    def _is_quoted(self) -> bool:
        """Whether the position is in inline code that began directly before a marker."""
        window = self.window
        if self._quote_open or window.text[max(0, window.pos - 1) : window.pos] != "`":
            return self._quote_open
        if window.preceding(window.pos) != "``":
            self._quote_open = in_ticks(self._line, behind=self._line_at > 0, unknown=True)
        return self._quote_open

    def _is_behind_fence(self) -> bool:
        """Whether the previous line opens a code fence that has a language or begins the text."""
        line = self._line
        fence = OPENS_FENCE.search(line)
        begun = fence is not None and self.window.offset - len(line) + fence.start() == 0
        return fence is not None and (begun or bool(fence[1]))

    def _pass_reasoning(self, end: int) -> None:
        """Add the window's text from its position up to index `end` as reasoning, and skip it."""
        self.collector.piece("reasoning", self.window.offset, self.window.base + end)
        self.window.pos = end
