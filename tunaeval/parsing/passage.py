"""The text between blocks: what is content, what is markup, and what is only quoted.

`Passage` keeps what a pass over a text has to remember from one marker to the next.
"""

from __future__ import annotations

from tunaeval.grammar import Channel, Format
from tunaeval.limits import KEPT, SHORTEST_CUT
from tunaeval.types import Level, Tools
from tunaeval.window import Reading, Window

from .blocks.recovering import Setting
from .collect import Collector
from .end_tokens import ends_text
from .ending import ELLIPSES, tell_end
from .finder import Finder
from .known import Objects
from .mention import Mention, Region
from .quoting import LINE_START, OPENS_FENCE, closes_code, is_quote
from .tokens import Token


class Passage:
    """A text on its way through the formats of a finder; used once.

    `channel` is that of the message that is being read, `announced` where calls were announced and
    have not come yet, `region` what is around calls if its closer has not come yet. `_mention` is
    an opener that nothing like a call followed, `_refused` the opener of a block that could not be
    read: what follows is the inside of it. `_left_open` is the format of a block whose closer is
    missing, and may come behind text. `_in_code`: a code fence is open; `_code_thinks`: reasoning
    was opened in one; `_quote_open`: inline code began right before a marker; `_after_reasoning`:
    white space still belongs to the reasoning before it. `_thought_at` is where a reasoning marker
    of `_thought_marker` characters was passed over as content, `_line_at` since where the present
    line counts. `_vain` counts markers that gave no call, and `_fenced_vain` the characters of
    fences that began as calls and were none. `_over`: what follows is not read.
    `_inside`: the text is the end of reasoning that is never closed.
    """

    __slots__ = (
        "_after_reasoning", "_code_thinks", "_fast", "_fenced_vain", "_in_code", "_inside",
        "_left_open", "_line_at", "_mention", "_objects", "_over", "_quote_open", "_refused",
        "_setting", "_thought_at", "_thought_marker", "_vain", "announced", "channel",
        "collector", "finder", "level", "region", "tools", "window",
    )  # fmt: skip

    def __init__(
        self,
        finder: Finder,
        window: Window,
        collector: Collector,
        *,
        tools: Tools | None,
        level: Level,
        fast: bool = True,
        objects: Objects | None = None,
    ) -> None:
        self.finder = finder
        self.window = window
        self.collector = collector
        self.tools = tools
        self.level = level
        self.channel: Channel | None = None
        self.announced: int | None = None
        self.region: Region | None = None
        self._fast = fast
        self._objects = objects
        self._setting: Setting | None = None
        self._mention: Mention | None = None
        self._refused: Token | None = None
        self._left_open: Format | None = None
        self._thought_at: int | None = None
        self._thought_marker = self._line_at = 0
        self._code_thinks = False
        self._in_code = self._quote_open = self._after_reasoning = self._inside = False
        self._over = False
        self._vain = self._fenced_vain = 0

    def _say(self, end: int) -> None:
        """The window's text up to `end` is content; white space next to markup may not be."""
        window, collector = self.window, self.collector
        start = window.pos
        if start >= end:
            return
        offset, window.pos = window.base + start, end
        said = window.text[start:end]
        if self._after_reasoning:
            offset += self._trimmed(said, offset)
        if self._mention:
            self._mention.hear(said)
        if self.region:
            self.region.hear(said)
        if self._quote_open:
            self._quote_open = "`" not in said and "\n" not in said
        if not collector.may_be_blank(said):
            collector.piece("content", offset, window.base + end)
        elif offset < window.base + end:
            collector.blank(offset, window.base + end)

    def _trimmed(self, said: str, offset: int) -> int:
        """How much of it is white space that belongs to the reasoning before it."""
        blank = len(said) - len(said.lstrip())
        self.collector.piece("markup", offset, offset + blank)
        self._after_reasoning = blank == len(said)
        return blank

    @property
    def _line(self) -> str:
        """The end of the present line, and perhaps of those before it: `KEPT` characters."""
        window = self.window
        start = max(self._line_at - window.base, window.pos - KEPT, 0)
        return window.text[start : window.pos]

    def _markup(self, size: int) -> None:
        """A marker, passed over; a new line begins, as far as content goes."""
        window = self.window
        start = window.offset
        window.pos += size
        self._line_at = start + size
        self.collector.piece("markup", start, self._line_at)
        self.collector.bare = False

    def _only_text(self, text: str) -> None:
        """A marker that marks nothing."""
        self._say(self.window.pos + len(text))

    def _end_of_text(self, token: Token) -> Reading[None] | None:
        """A token that ends a model's turn: markup where nothing follows it, else text."""
        struck = token.text == "</s>" and "<s>" in self._line
        if self._in_code or struck or self._quoted():
            self._only_text(token.text)
            return None
        return self._ended_later(token)

    def _ended_later(self, token: Token) -> Reading[None]:
        while (size := ends_text(self.window)) is None:
            yield
        if size:
            self._markup(size)
        else:
            self._only_text(token.text)

    def _finish(self) -> None:
        collector, finder, line = self.collector, self.finder, self._line
        collector.settle_blank("markup" if collector.last else "content")
        cut = finder.cut(line) if line[-SHORTEST_CUT:] in finder.cut_ends else ""
        if self.region and collector.last == "content" and not cut:
            cut = finder.cut_around(self._content_before())
        announced, in_code = self.announced, self._in_code
        trails_off = line.rstrip().endswith(ELLIPSES)
        if self.region and not (in_code or cut):
            self.region.unclosed(collector, self.window.offset)
        if in_code or announced is not None or cut or trails_off:
            tell_end(
                collector,
                self.window.offset,
                cut=cut,
                announced=announced,
                in_code=in_code,
                trails_off=trails_off,
            )

    def _content_before(self) -> str:
        """The end of the content right before the position: `KEPT` characters at the most."""
        window = self.window
        start = max(self.collector.pieces.begins - window.base, window.pos - KEPT, 0)
        return window.text[start : window.pos]

    def _quoted(self) -> bool:
        """Whether what begins here is in inline code; if so, what follows is as well."""
        if not self._quote_open:
            self._quote_open = is_quote(self.window) and not self._closes_code()
        return self._quote_open

    def _is_behind_fence(self) -> bool:
        """Whether the line before opens a code fence, for formats that know none.

        One with a language does, and one that the text begins with.
        """
        line = self._line
        fence = OPENS_FENCE.search(line)
        begun = fence is not None and self.window.offset - len(line) + fence.start() == 0
        return fence is not None and (begun or bool(fence[1]))

    def _closes_code(self) -> bool:
        """Whether the tick right before closes inline code; only what began a line is certain."""
        line = self._line
        return closes_code(line, whole=not self._line_at and len(line) < KEPT)

    def _around(self, token: Token) -> None:
        """What is around all calls of a format, if it is around any."""
        if self._quoted():
            self._only_text(token.text)
        else:
            self._bound(token)
            self.announced = self.window.offset if token.announces else None
            self._markup(len(token.text))

    def _bound(self, token: Token) -> None:
        """Begin or end what is around calls; if nothing in there could be read, say so."""
        start, region = self.window.offset, self.region
        if token.text in self.finder.regions:
            if region:
                region.unclosed(self.collector, start)
            self.region = Region(start, token.text, body=bool(LINE_START.search(self._line)))
        elif region and token.text in self.finder.regions[region.text]:
            region.closed(self.collector, token.text, start + len(token.text))
            self.region = None
