"""The engine: one pass over a text, whole or arriving, for any set of formats.

Between blocks the text is content; at each hit of the set's finder a block is read, reasoning is
passed over, or the marker turns out to be only mentioned. Decisions are made once, from a bounded
look-ahead, and never taken back, but for one: a reasoning closer that was never opened makes what
is before it reasoning, as templates open reasoning without the model writing it.

A block is first given to the fast reader of its format, which answers only where it is certain;
where it is not, the recovering reader reads that block, and no more. A handler of a token returns
None when it has done all, or a reading when more text may be needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import TypeAlias

from tunaeval.grammar import Format
from tunaeval.types import Level, ToolCall, Tools
from tunaeval.window import KEPT, Reading, Window

from .block import Block, Setting
from .collect import MAX_CALLS, Collector
from .ending import ELLIPSES, tell_end
from .fast.made import moved
from .finder import FENCE, LEAST_CUT, Choice, Finder, Token, choices_of, chosen, closers_of, undecided
from .mention import Mention
from .python_block import PythonBlock
from .quoting import in_ticks, is_quote
from .routing import Header, header_at, is_cut, think, think_until
from .tagged import TaggedBlock

_LINE_START = re.compile(r"(?:\A|\n)[ \t]*+\Z")


class Scanner:
    """Reads the window to its end; used once.

    What a text may need and most do not is a class attribute until it is needed: `_in_code` (a code
    fence is open), `_mention` (an opener that nothing like a call followed), `_refused` (the
    opener of a block that could not be read: what follows is the inside of it), `_thought_at`
    (where a reasoning marker was passed over as content), `_after_reasoning` (white space still
    belongs to the reasoning before it), `_quote_open` (inline code began right before a marker),
    `channel` (of the message that is being read), `announced` (where calls were announced and have
    not come yet), `_line_at` (since where the present line counts, as an offset).
    """

    channel = None
    announced: int | None = None
    _mention: Mention | None = None
    _refused: Token | None = None
    _in_code = False
    _quote_open = False
    _thought_at: int | None = None
    _thought_marker = 0
    _after_reasoning = False
    _line_at = 0
    _setting: Setting | None = None

    def __init__(
        self,
        finder: Finder,
        window: Window,
        collector: Collector,
        *,
        tools: Tools | None,
        level: Level,
        fast: bool = True,
    ) -> None:
        self.finder = finder
        self.window = window
        self.collector = collector
        self.tools = tools
        self.level = level
        self._fast = fast

    def run(self) -> Reading[None]:
        """Collect everything."""
        window, collector, finder = self.window, self.collector, self.finder
        known, calls = finder.tokens.get, collector.calls
        search = finder.search_of(window.text).search if window.final else finder.search.search
        while not collector.full:
            hit = search(window.text, window.pos)
            if not window.final:
                held = finder.held(window.text, window.pos)
                if hit is None or held <= hit.start():
                    self._say(held)
                    yield
                    continue
            if hit is None:
                break
            self._say(hit.start())
            token = known(hit.group()) or finder.token(hit)
            if len(calls) >= MAX_CALLS and token.kind in ("open", "bare"):
                collector.full = True
                continue
            reading = _HANDLERS[token.kind](self, token)
            if reading is not None:
                yield from reading
        else:
            at = window.offset
            collector.diagnose("too-many-calls", f"more than {MAX_CALLS} calls", at, at)
        while not window.final:
            self._say(len(window.text))
            yield
        self._say(len(window.text))
        self._finish()

    # --- plain text --------------------------------------------------------------------------

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

    def _finish(self) -> None:
        collector, finder, line = self.collector, self.finder, self._line
        collector.settle_blank("markup" if collector.last else "content")
        cut = finder.cut(line) if line[-LEAST_CUT:] in finder.cut_ends else ""
        announced, in_code = self.announced, self._in_code
        trails_off = line.rstrip().endswith(ELLIPSES)
        if in_code or announced is not None or cut or trails_off:
            tell_end(
                collector,
                self.window.offset,
                cut=cut,
                announced=announced,
                in_code=in_code,
                trails_off=trails_off,
            )

    def _quoted(self) -> bool:
        """Whether what begins here is in inline code; if so, what follows is as well."""
        if not self._quote_open:
            self._quote_open = is_quote(self.window)
        return self._quote_open

    # --- blocks ------------------------------------------------------------------------------

    def _open(self, token: Token) -> Reading[None] | None:
        """An opener: a block of its format, or a mention of it."""
        window = self.window
        text, start = window.text, window.pos
        fence = token.text == FENCE
        if fence and self._in_code:
            self._in_code = False
            self._only_text(FENCE)
            return None
        quoted = False
        if self._quote_open or text[start - 1 : start] == "`":
            quoted = not fence and self._quoted()
        # A bare object has no marker that would announce it, so it may be only part of some code.
        if token.kind == "bare" and not quoted:
            quoted = in_ticks(self._line)
        choice = chosen(token, text, start + len(token.text))
        if choice is None and undecided(token, window):
            return self._open_later(token, quoted=quoted)
        return self._opened(token, choice, quoted=quoted)

    def _open_later(self, token: Token, *, quoted: bool) -> Reading[None]:
        """The same once enough of the text has arrived to know whose opener it is."""
        window, choice = self.window, None
        while choice is None and undecided(token, window):
            yield
            choice = chosen(token, window.text, window.pos + len(token.text))
        reading = self._opened(token, choice, quoted=quoted)
        if reading is not None:
            yield from reading

    def _opened(
        self, token: Token, choice: Choice | None, *, quoted: bool
    ) -> Reading[None] | None:
        """An opener of the format that was chosen; the first one's, or around calls, if none."""
        if choice is None:
            if token.around:
                return self._around(token)
            choice = choices_of(token)[0]
        if choice.excludes and self.channel not in (None, "call"):
            self._only_text(token.text)
            return None
        window = self.window
        start = window.pos
        window.pos = body = start + len(token.text)
        if self._fast and window.final and not quoted:
            calls: list[ToolCall] = []
            end = choice.fast(window.text, start, body, self.tools, calls)
            if end >= 0 and (self._taken(start, end, calls, bare=choice.bare) if calls else
                             self._passed_over(start, end, token, choice)):
                return None
        return self._read(token, choice.form, window.base + start, quoted=quoted)

    def _taken(self, start: int, end: int, found: list[ToolCall], *, bare: bool) -> bool:
        """Hand on the calls of a block from `start` to `end`, unless there are too many."""
        window, collector = self.window, self.collector
        if len(collector.calls) + len(found) > MAX_CALLS:
            return False
        base = window.base
        collector.block(base + start, base + end, found if not base else moved(found, base))
        collector.bare = bare
        self.announced = self._refused = None
        self._line_at = base + end
        window.pos = end
        return True

    def _passed_over(self, start: int, end: int, token: Token, choice: Choice) -> bool:
        """A block without a call is content, where the fast reader says what it is."""
        window, collector, fence = self.window, self.collector, token.text == FENCE
        if not (choice.form.marked or token.kind == "bare" or fence):
            return False  # a mention, or an object that is no call: only the other reader knows
        collector.piece("content", window.base + start, window.base + end)
        collector.bare = choice.bare
        self.announced = self._refused = None
        self._line_at = window.base + end
        window.pos = end
        if fence:
            self._in_code = True
        elif token.kind == "open":
            self._mention = Mention(
                window.base + start, token, choice.form, len(collector.calls)
            )
        return True

    def _block(
        self, form: Format, start: int, *, quoted: bool, name: str | None
    ) -> Block | PythonBlock | TaggedBlock:
        """What recovers a block of this format."""
        if self._setting is None:
            self._setting = Setting(self.window, self.collector, self.tools, self.level)
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
        self.announced = None
        block = self._block(form, start, quoted=quoted, name=name)
        yield from block.read()
        collector, end = self.collector, self.window.offset
        collector.bare, self._line_at = form.opener is None, end
        if block.had_body:
            self._refused = token if block.failed else None
            self._in_code = self._in_code or (fence and not block.closed)
            return
        collector.piece("content", max(start, collector.end), end)
        if fence:
            self._in_code = True
        elif not quoted:
            self._mention = Mention(start, token, form, len(collector.calls))

    def _bare(self, token: Token) -> Reading[None] | None:
        """A bare object: a call only outside of code and of what was refused before."""
        if self._in_code or (self._refused and not self._past_refusal()):
            self._only_text("{")
            return None
        return self._open(token)

    def _past_refusal(self) -> bool:
        """Whether the inside of what was refused is behind us: its closer, or a line's start."""
        bare = self._refused is not None and self._refused.kind == "bare"
        return bare and self.window.preceding(self.window.pos).endswith("\n")

    def _close(self, token: Token) -> Reading[None] | None:
        """A closer that no block read: of a mention, of something refused, or one too many."""
        collector, mention, text = self.collector, self._mention, token.text
        framed = (self._refused and text in closers_of(self._refused.formats)) or mention
        if mention and text in closers_of((mention.format,)) and not self._quoted():
            mention.closed(collector, text, self.window.offset + len(text))
            self._mention = None
        self._refused = None
        if token.around and not framed:
            return self._around(token)
        if collector.last in ("call", "markup") and not framed:
            self._diagnose_stray(token)
            self._markup(len(text))
        else:
            self._only_text(text)
        return None

    def _diagnose_stray(self, token: Token) -> None:
        start, message = self.window.offset, f"{token.text!r} closes nothing"
        self.collector.diagnose("stray-closer", message, start, start + len(token.text))

    def _around(self, token: Token) -> None:
        """What is around all calls of a format, if it is around any."""
        if self._quoted():
            self._only_text(token.text)
        else:
            self.announced = self.window.offset if token.announces else None
            self._markup(len(token.text))

    # --- messages ----------------------------------------------------------------------------

    def _message(self, token: Token) -> Reading[None] | None:
        """A message, if a header is here; what it may hold depends on where it goes."""
        if self._quoted():
            self._only_text(token.text)
            return None
        header, sure = header_at(self.window, token)
        return self._entered(token, header) if sure else self._message_later(token)

    def _message_later(self, token: Token) -> Reading[None]:
        """The same once enough of the text has arrived to know the header."""
        sure, header = False, None
        while not sure:
            yield
            header, sure = header_at(self.window, token)
        reading = self._entered(token, header)
        if reading is not None:
            yield from reading

    def _entered(self, token: Token, header: Header | None) -> Reading[None] | None:
        """The message behind a header, or the mention of what one begins with."""
        window, start = self.window, self.window.offset
        if header is None:
            cut = is_cut(window, self.collector, token)
            self._say(len(window.text) if cut else window.pos + len(token.text))
            self._line_at = window.offset if cut else self._line_at
            return None
        self._mention = self._refused = None
        self._in_code = False
        self.channel = header.route.channel
        if header.opens_call:
            return self._addressed(token, header)
        self.announced = start if self.channel == "call" else None
        self._markup(header.length)
        return self._think_here() if self.channel == "reasoning" else None

    def _think_here(self) -> Reading[None]:
        yield from think(self.window, self.collector, self.finder)
        self._line_at = self.window.offset
        self._after_reasoning = True

    def _addressed(self, token: Token, header: Header) -> Reading[None] | None:
        """A call whose tool's name is in the header before it."""
        window = self.window
        start = window.pos
        window.pos = body = start + header.length
        if self._fast and window.final:
            calls: list[ToolCall] = []
            name, reader = header.name or "", header.reader
            end = reader.fast(window.text, start, body, self.tools, calls, name)
            if end >= 0 and self._taken(start, end, calls, bare=False):
                return None
        return self._read(token, header.form, window.base + start, name=header.name)

    def _end_message(self, token: Token) -> None:
        """What ends a message; outside of all of them it is markup too."""
        self.channel, mention = None, self._mention
        if mention and mention.token.kind == "message":
            mention.body, self._mention = True, None
            mention.closed(self.collector, token.text, self.window.offset + len(token.text))
        self._around(token)

    # --- reasoning ---------------------------------------------------------------------------

    def _reasoning(self, token: Token) -> Reading[None] | None:
        """Everything up to the closer is reasoning, if the opener begins its line."""
        if self._in_code or self._quoted() or not _LINE_START.search(self._line):
            if not self._quoted() and self._thought_at is None:
                self._thought_at = self.window.offset
                self._thought_marker = len(token.text)
            self._only_text(token.text)
            return None
        return self._think(token)

    def _think(self, token: Token) -> Reading[None]:
        start, closer = self.window.offset, token.reasoning.close if token.reasoning else ""
        self._markup(len(token.text))
        closed = yield from think_until(self.window, self.collector, closer, start)
        self._line_at = self.window.offset
        if closed:
            self._markup(len(closer))
            self._after_reasoning = True

    def _end_reasoning(self, token: Token) -> None:
        """A closer without its opener: all before it was reasoning, once."""
        collector = self.collector
        if self._quoted() or (collector.has_reasoning and self._thought_at is None):
            if not self._quoted():
                self._diagnose_stray(token)
            self._only_text(token.text)
            return
        collector.reclassify(self._thought_at or 0, self._thought_marker)
        self._thought_marker = 0
        self._mention = self._refused = self._thought_at = None
        self._in_code = False
        self._markup(len(token.text))
        self._after_reasoning = True


_Handler: TypeAlias = Callable[[Scanner, Token], "Reading[None] | None"]

_HANDLERS: dict[str, _Handler] = {
    "open": Scanner._open,  # noqa: SLF001 - the scanner's own table
    "bare": Scanner._bare,  # noqa: SLF001 - as above
    "close": Scanner._close,  # noqa: SLF001 - as above
    "around": Scanner._around,  # noqa: SLF001 - as above
    "reasoning": Scanner._reasoning,  # noqa: SLF001 - as above
    "end_reasoning": Scanner._end_reasoning,  # noqa: SLF001 - as above
    "message": Scanner._message,  # noqa: SLF001 - as above
    "end": Scanner._end_message,  # noqa: SLF001 - as above
}
