"""The engine: one pass over a text, whole or arriving, for any set of formats.

Between blocks the text is content; at each hit of the set's finder a block is read, reasoning is
passed over, or the marker turns out to be only mentioned. Decisions are made once, from a bounded
look ahead, and never taken back, but for one: a reasoning closer that was never opened makes what
stands before it reasoning, as templates open reasoning without the model writing it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import TypeAlias

from tunaeval.grammar import Format
from tunaeval.types import Level, Tools
from tunaeval.window import Reading, Window

from .block import Block, Setting
from .collect import MAX_CALLS, Collector
from .ending import tell_end
from .finder import FENCE, Finder, Token, TokenKind, closers_of
from .mention import Mention
from .python_block import PythonBlock
from .quoting import LINE, Quoting, in_ticks
from .routing import Router
from .tagged import TaggedBlock

_LINE_START = re.compile(r"(?:\A|\n)[ \t]*+\Z")
_PROBED = 320
"""Characters behind an opener that decide whose it is."""


class Scanner:
    """Reads the window to its end; used once."""

    def __init__(
        self,
        finder: Finder,
        window: Window,
        collector: Collector,
        *,
        tools: Tools | None,
        level: Level,
    ) -> None:
        self._finder = finder
        self._window = window
        self._collector = collector
        self._setting = Setting(window, collector, tools, level)
        self._router = Router(finder, window, collector)
        self._line = ""
        self._mention: Mention | None = None
        self._refused: Token | None = None
        self._in_code = False
        self._quoting = Quoting()
        self._thought_at: int | None = None
        self._thought_marker = 0
        self._after_reasoning = False

    def run(self) -> Reading[None]:
        """Collect everything."""
        window, search = self._window, self._finder.search.search
        while not self._collector.full:
            hit = search(window.text, window.pos)
            if not window.final:
                held = self._finder.held(window.text, window.pos)
                if hit is None or held <= hit.start():
                    self._say(held)
                    yield
                    continue
            if hit is None:
                break
            self._say(hit.start())
            token = self._finder.token(hit)
            if token.kind in ("open", "bare") and len(self._collector.calls) >= MAX_CALLS:
                self._collector.full = True
                continue
            yield from _HANDLERS[token.kind](self, token)
        else:
            at = window.offset
            self._collector.diagnose("too-many-calls", f"more than {MAX_CALLS} calls", at, at)
        while not window.final:
            self._say(len(window.text))
            yield
        self._say(len(window.text))
        self._finish()

    # --- plain text --------------------------------------------------------------------------

    def _say(self, end: int) -> None:
        """The window's text up to `end` is content; white space next to markup may not be."""
        window, collector = self._window, self._collector
        text, start, offset = window.text, window.pos, window.offset
        if start >= end:
            return
        window.pos = end
        said = text[start:end] if end - start < len(text) else text
        if self._after_reasoning:
            blank = len(said) - len(said.lstrip())
            collector.piece("markup", offset, offset + blank)
            self._after_reasoning = blank == len(said)
            offset += blank
        if self._mention:
            self._mention.hear(said)
        self._quoting.hear(said)
        self._line = (self._line + said[-LINE:])[-LINE:]
        if collector.may_be_blank(said):
            if offset < window.offset:
                collector.blank(offset, window.offset)
        else:
            collector.piece("content", offset, window.offset)

    def _markup(self, text: str) -> None:
        """A marker, passed over; a new line begins, as far as content goes."""
        start = self._window.offset
        self._window.pos += len(text)
        self._collector.piece("markup", start, self._window.offset)
        self._line = ""

    def _only_text(self, text: str) -> None:
        """A marker that marks nothing."""
        self._say(self._window.pos + len(text))

    def _finish(self) -> None:
        collector, line, at = self._collector, self._line, self._window.offset
        collector.settle_blank("markup" if collector.last else "content")
        cut, announced = self._finder.cut(line), self._router.announced
        tell_end(collector, at, line, cut=cut, announced=announced, in_code=self._in_code)

    # --- blocks ------------------------------------------------------------------------------

    def _open(self, token: Token) -> Reading[None]:
        """An opener: a block of its format, or a mention of it."""
        window, fence = self._window, token.text == FENCE
        if fence and self._in_code:
            self._in_code = False
            self._only_text(FENCE)
            return
        start, quoted = window.offset, not fence and self._quoted()
        # A bare object has no marker that would announce it, so it may be only part of some code.
        quoted = quoted or (token.kind == "bare" and in_ticks(self._line))
        form = yield from self._chosen(token)
        if form is None:
            yield from self._around(token)
            return
        if self._router.bars(form):
            self._only_text(token.text)
            return
        window.pos += len(token.text)
        yield from self._read(token, form, start, quoted=quoted)

    def _block(
        self, form: Format, start: int, *, quoted: bool, name: str | None
    ) -> Block | PythonBlock | TaggedBlock:
        """What reads a block of this format."""
        if form.call:
            return Block(self._setting, form, start, quoted=quoted)
        if form.python:
            begins_line = bool(_LINE_START.search(self._line))
            return PythonBlock(self._setting, form, start, quoted=quoted, begins_line=begins_line)
        return TaggedBlock(self._setting, form, start, quoted=quoted, name=name)

    def _read(
        self,
        token: Token,
        form: Format,
        start: int,
        *,
        quoted: bool = False,
        name: str | None = None,
    ) -> Reading[None]:
        """A block that began at offset `start`, from behind its opener on."""
        self._refused, fence = None, token.text == FENCE
        self._router.announced = None
        block = self._block(form, start, quoted=quoted, name=name)
        yield from block.read()
        self._collector.bare, self._line = form.opener is None, ""
        if block.had_body:
            self._refused = token if block.failed else None
            self._in_code = self._in_code or (fence and not block.closed)
            return
        self._collector.piece("content", max(start, self._collector.end), self._window.offset)
        if fence:
            self._in_code = True
        elif not quoted:
            self._mention = Mention(start, token, form, len(self._collector.calls))

    def _chosen(self, token: Token) -> Generator[None, None, Format | None]:
        """The format of those that begin with this token whose next words stand behind it.

        The first of them if none fits, or None if the token may stand around calls instead.
        """
        window, size = self._window, len(token.text)
        if len(token.formats) == 1 and not token.around:
            return token.formats[0]
        probes = [re.compile(probe) for probe in token.probes]
        while True:
            for form, probe in zip(token.formats, probes, strict=True):
                if probe.match(window.text, window.pos + size):
                    return form
            if window.final or len(window.text) - window.pos - size > _PROBED:
                return None if token.around else token.formats[0]
            yield

    def _bare(self, token: Token) -> Reading[None]:
        """A bare object: a call only outside of code and of what was refused before."""
        if self._in_code or (self._refused and not self._past_refusal()):
            self._only_text("{")
            return
        yield from self._open(token)

    def _past_refusal(self) -> bool:
        """Whether the inside of what was refused is behind us: its closer, or a line's start."""
        bare = self._refused is not None and self._refused.kind == "bare"
        return bare and self._window.preceding(self._window.pos).endswith("\n")

    def _close(self, token: Token) -> Reading[None]:
        """A closer that no block read: of a mention, of something refused, or one too many."""
        collector, mention = self._collector, self._mention
        framed = (self._refused and token.text in closers_of(self._refused.formats)) or mention
        if mention and token.text in closers_of((mention.format,)) and not self._quoted():
            mention.closed(collector, token.text, self._window.offset + len(token.text))
            self._mention = None
        self._refused = None
        if token.around and not framed:
            yield from self._around(token)
        elif collector.last in ("call", "markup") and not framed:
            self._diagnose_stray(token)
            self._markup(token.text)
        else:
            self._only_text(token.text)

    def _diagnose_stray(self, token: Token) -> None:
        start, message = self._window.offset, f"{token.text!r} closes nothing"
        self._collector.diagnose("stray-closer", message, start, start + len(token.text))

    def _around(self, token: Token) -> Reading[None]:
        """What stands around all calls of a format, if it does stand around any."""
        if self._quoted():
            self._only_text(token.text)
        else:
            self._router.announced = self._window.offset if token.announces else None
            self._markup(token.text)
        return
        yield  # a handler is a reading, even one that never waits

    def _quoted(self) -> bool:
        return self._quoting.before(self._window)

    # --- messages ----------------------------------------------------------------------------

    def _message(self, token: Token) -> Reading[None]:
        """A message, if a header stands here; what may stand in it depends on where it goes."""
        window, router, start = self._window, self._router, self._window.offset
        quoted = self._quoted()
        header = None if quoted else (yield from router.header(token))
        if header is None:
            cut = not quoted and router.is_cut(token)
            self._say(len(window.text) if cut else window.pos + len(token.text))
            self._line = "" if cut else self._line
            return
        self._mention = self._refused = None
        self._in_code = False
        router.channel = header.route.channel
        if header.opens_call:
            window.pos += header.length
            yield from self._read(token, header.form, start, name=header.name)
            return
        router.announced = start if router.channel == "call" else None
        self._markup(window.text[window.pos : window.pos + header.length])
        if router.channel == "reasoning":
            yield from router.think()
            self._after_reasoning = True

    def _end_message(self, token: Token) -> Reading[None]:
        """What ends a message; outside of all of them it is markup too."""
        self._router.channel, mention = None, self._mention
        if mention and mention.token.kind == "message":
            mention.body, self._mention = True, None
            mention.closed(self._collector, token.text, self._window.offset + len(token.text))
        yield from self._around(token)

    # --- reasoning ---------------------------------------------------------------------------

    def _reasoning(self, token: Token) -> Reading[None]:
        """Everything up to the closer is reasoning, if the opener stands at a line's start."""
        if token.reasoning is None:
            return
        window = self._window
        if self._in_code or self._quoted() or not _LINE_START.search(self._line):
            if not self._quoted() and self._thought_at is None:
                self._thought_at, self._thought_marker = window.offset, len(token.text)
            self._only_text(token.text)
            return
        start = window.offset
        self._markup(token.text)
        if (yield from self._router.think_until(token.reasoning.close, start)):
            self._markup(token.reasoning.close)
            self._after_reasoning = True

    def _end_reasoning(self, token: Token) -> Reading[None]:
        """A closer without its opener: all before it was reasoning, once."""
        collector = self._collector
        if self._quoted() or (collector.has_reasoning and self._thought_at is None):
            if not self._quoted():
                self._diagnose_stray(token)
            self._only_text(token.text)
            return
        collector.reclassify(self._thought_at or 0, self._thought_marker)
        self._thought_marker = 0
        self._mention = self._refused = self._thought_at = None
        self._in_code = False
        self._markup(token.text)
        self._after_reasoning = True
        return
        yield  # as in _around


_Handler: TypeAlias = Callable[[Scanner, Token], Reading[None]]

_HANDLERS: dict[TokenKind, _Handler] = {
    "open": Scanner._open,  # noqa: SLF001 - the scanner's own table
    "bare": Scanner._bare,  # noqa: SLF001 - as above
    "close": Scanner._close,  # noqa: SLF001 - as above
    "around": Scanner._around,  # noqa: SLF001 - as above
    "reasoning": Scanner._reasoning,  # noqa: SLF001 - as above
    "end_reasoning": Scanner._end_reasoning,  # noqa: SLF001 - as above
    "message": Scanner._message,  # noqa: SLF001 - as above
    "end": Scanner._end_message,  # noqa: SLF001 - as above
}
