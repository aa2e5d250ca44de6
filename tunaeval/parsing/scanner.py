"""The engine: one pass over a text, whole or arriving, for any set of formats.

Between blocks the text is content (`passage`); at each hit of the set's finder a block is read
(`openers`), reasoning is passed over, or the marker turns out to be only mentioned. Decisions are
made once, from a bounded look-ahead, and never taken back, but for one: a reasoning closer that was
never opened makes what is before it reasoning, as templates open reasoning without the model
writing it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tunaeval.limits import MARGIN, MAX_CALLS, MAX_VAIN
from tunaeval.window import Reading, Window

from .collect import Collector
from .end_tokens import before_end_tokens
from .fast import FENCE
from .finder import closers_of
from .late_calls import Late, only_calls, repair_of, think_until
from .later_turns import LINES, begins_turn
from .lost_openers import ends_call, ends_in_tool
from .openers import Blocks
from .prompted import Prompted
from .quoting import LINE_START, in_ticks
from .routing import Header, addressed_call, header_at, is_cut, think, unclosed
from .tokens import Token
from .units import begins_unit, gather


class Scanner(Blocks):
    """Reads the window to its end; used once.

    A handler of a token returns None when it has done all, or a reading when more text may be
    needed.
    """

    __slots__ = ()

    def run(self) -> Reading[None]:
        """Collect everything."""
        window, collector, finder = self.window, self.collector, self.finder
        yield from self._begin()
        if not window.final:
            yield from self._follow()
        text, known = window.text, finder.tokens.get
        search, called = finder.search_of(text).search, False
        while not (collector.full or self._over):
            if collector.calls and not called:
                search, called = finder.search_on.search, True
            hit = search(text, window.pos)
            if hit is None:
                break
            start = hit.start()
            if start > window.pos:
                self._say(start)
            token = known(hit.group()) or finder.token(hit)
            calls = len(collector.calls)
            reading = _HANDLERS[token.kind](self, token)
            if reading is not None:
                yield from reading
            if len(collector.calls) == calls:
                self._count_vain()
        if collector.full:
            at = window.offset
            collector.diagnose("too-many-calls", f"more than {MAX_CALLS} calls", at, at)
        if collector.full or self._over:
            yield from self._run_out()
        self._say(len(window.text))
        self._finish()

    def _begin(self) -> Reading[None]:
        """What only a text's beginning may have: the rest of a prompted call; a unit."""
        if self.finder.prompted and not self.window.offset:
            yield from self._begun(self.finder.prompted)
        if self._may_be_unit():
            yield from self._unit()

    def _begun(self, prompted: Prompted) -> Reading[None]:
        """What the prompt began, at the beginning of the text."""
        window = self.window
        while not window.final and prompted.undecided(window.text):
            yield
        if not prompted.found(window.text):
            return
        if markup := prompted.markup(window.text):
            self._markup(len(markup))
            return
        reading = self._opened(prompted.token, prompted.choice, quoted=False)
        if reading is not None:
            yield from reading

    def _follow(self) -> Reading[None]:
        """The same while more of the text may come: what may become a token is held back."""
        window, finder, collector = self.window, self.finder, self.collector
        while not (window.final or collector.full or self._over):
            hit, end = finder.next_in(window, called=bool(collector.calls))
            self._say(end)
            if hit is None:
                yield
                continue
            token, calls = finder.token(hit), len(collector.calls)
            reading = _HANDLERS[token.kind](self, token)
            if reading is not None:
                yield from reading
            if len(collector.calls) == calls:
                self._count_vain()

    def _count_vain(self) -> None:
        """Count a marker that gave no call; behind too many of them all is content."""
        self._vain += 1
        if self._vain == MAX_VAIN and not self._over:
            at, self._over = self.window.offset, True
            message = f"more than {MAX_VAIN} markers gave no call; what follows was not read"
            self.collector.diagnose("too-many-markers", message, at, at)

    def _run_out(self) -> Reading[None]:
        """Nothing but content follows."""
        window = self.window
        while not window.final:
            self._say(len(window.text))
            yield

    # --- units ---------------------------------------------------------------------------------

    def _unit(self) -> Reading[None]:
        """The rest of the text, if it is calls and nothing else."""
        window, units = self.window, self.finder.units
        begins = begins_unit(units, window, window.pos, self.tools, fenced=False)
        while begins is None:
            yield
            begins = begins_unit(units, window, window.pos, self.tools, fenced=False)
        if begins:
            yield from gather(window)
            if not self._take_unit(window.pos, before_end_tokens(window.text)):
                turn = begins_turn(window.text, window.pos)
                if turn:
                    self._take_unit(window.pos, turn.start())

    def _fence(self, _: Token) -> Reading[None] | None:
        """A code fence where only units are read."""
        if self._in_code or self._quoted() or not self._may_be_unit():
            self._in_code = not self._in_code
            self._only_text(FENCE)
            return None
        return self._fenced()

    def _close(self, token: Token) -> Reading[None] | None:
        """A closer that no block read: of a mention, of something refused, or one too many."""
        collector, mention, text = self.collector, self._mention, token.text
        framed = (self._refused and text in closers_of(self._refused.formats)) or mention
        if mention and text in closers_of(mention.token.formats) and not self._quoted():
            named = ends_in_tool(self._content_before(), self.tools)
            mention.closed(collector, text, self.window.offset + len(text), named=named)
            self._mention = None
        self._refused = None
        if collector.last == "content" and self._left_open in token.formats:
            self._left_open = None
            self._markup(len(text))
        elif self._ends_broken(token):
            self._only_text(text)
        elif token.around and not framed:
            self._around(token)
        elif collector.last in ("call", "markup") and not framed:
            if collector.last == "markup" or not self._wraps(token):
                self._diagnose_stray(token)
            self._markup(len(text))
        else:
            self._only_text(text)
        return None

    def _ends_broken(self, token: Token) -> bool:
        """Whether it ends what looks like a call, although nothing begins one; if so, report it."""
        window, collector = self.window, self.collector
        if collector.last != "content" or not ends_call(token, self._content_before(), self.tools):
            return False
        quoted = self._in_code or in_ticks(self._line) or self._quoted()
        in_region = self.region is not None and self.region.empty(collector)  # it reports itself
        if quoted or in_region or collector.has_said(collector.pieces.begins):
            return False
        self._diagnose_stray(token)
        collector.attempt(window.offset)
        return True

    def _wraps(self, token: Token) -> bool:
        """Whether it is what ends the call before it where that is written with an opener."""
        last = self.collector.calls[-1].format
        return any(
            form.closer is not None and token.text in form.closer.spellings
            for form in self.finder.formats
            if any(bare.name == last for bare in form.also)
        )

    def _diagnose_stray(self, token: Token) -> None:
        start, message = self.window.offset, f"{token.text!r} closes nothing"
        self.collector.diagnose("stray-closer", message, start, start + len(token.text))

    def _turn(self, token: Token) -> None:
        """A later turn, if a call is before it: all that follows is content.

        In a code fence it is code, but right behind the fence's ticks: those closed what was never
        opened, as they do in what models make up behind their answer.
        """
        window, collector, text = self.window, self.collector, token.text
        is_line = text in LINES and not LINE_START.search(self._line)
        is_code = self._in_code and not self._content_before()[-MARGIN:].rstrip().endswith(FENCE)
        if not collector.calls or is_line or is_code or self._quoted():
            self._only_text(text)
            return
        start = window.offset
        collector.diagnose(
            "later-turn", f"{text!r} begins a later turn, which was not read",
            start, start + len(text),
        )  # fmt: skip
        collector.answered = start
        self._over, self._in_code = True, False

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
            cut = is_cut(window, self.collector, token, self._line)
            self._say(len(window.text) if cut else window.pos + len(token.text))
            self._line_at = window.offset if cut else self._line_at
            return None
        self._mention = self._refused = self.region = None
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
        window.pos = start + header.length
        if self._fast and window.final:
            call = addressed_call(window.text, start, header, self.tools)
            if call and call.span and self._taken(start, call.span.end, [call], bare=False):
                return None
        return self._read(token, header.form, window.base + start, name=header.name)

    def _end_message(self, token: Token) -> None:
        """What ends a message; outside of all of them it is markup too."""
        self.channel, mention = None, self._mention
        if mention and mention.token.kind == "message":
            mention.body, self._mention = True, None
            mention.closed(self.collector, token.text, self.window.offset + len(token.text))
        self._ends_broken(token)
        self._around(token)

    # --- reasoning ---------------------------------------------------------------------------

    def _reasoning(self, token: Token) -> Reading[None] | None:
        """Everything up to the closer is reasoning, if the opener begins its line."""
        in_code = self._in_code or self._is_behind_fence()
        if in_code or self._quoted() or not LINE_START.search(self._line):
            if in_code:
                self._code_thinks = True
            elif not self._quoted() and self._thought_at is None:
                self._thought_at = self.window.offset
                self._thought_marker = len(token.text)
            self._only_text(token.text)
            return None
        return self._think(token)

    def _think(self, token: Token) -> Reading[None]:
        start, closer = self.window.offset, token.reasoning.close if token.reasoning else ""
        self._markup(len(token.text))
        late = yield from think_until(self.window, self.collector, self.finder, closer)
        self._line_at = self.window.offset
        if late is None:
            self._markup(len(closer))
            self._after_reasoning = True
            if self._may_be_unit():
                yield from self._unit()
        elif late.start < 0 or not self._late_calls(late, token, start):
            if late.start >= 0:
                self.collector.piece("reasoning", late.start, self.window.offset)
            unclosed(self.window, self.collector, f"no {closer!r}", start)

    def _late_calls(self, late: Late, token: Token, start: int) -> bool:
        """Whether calls and nothing else end reasoning that began at `start` and is never closed.

        A text inside is read once: reasoning in there may not hold another one.
        """
        if self._inside or self.level == "strict":
            return False
        repair = repair_of(token.reasoning, start)
        return only_calls(late, self.collector, self.finder, self._read_inside, repair)

    def _read_inside(self, window: Window, collector: Collector) -> None:
        inner = Scanner(
            self.finder,
            window,
            collector,
            tools=self.tools,
            level=self.level,
            fast=self._fast,
            objects=self._objects,
        )
        inner._inside = True
        for _ in inner.run():  # pragma: no cover - a final window is never waited for
            raise AssertionError("the engine asked for more than the whole text")

    def _end_reasoning(self, token: Token) -> Reading[None] | None:
        """A closer without its opener: all before it was reasoning, once.

        Behind its opener in a code fence it is code.
        """
        collector = self.collector
        if self._code_thinks:
            self._code_thinks = False
            self._only_text(token.text)
            return None
        if self._quoted() or (collector.has_reasoning and self._thought_at is None):
            if not self._quoted():
                self._diagnose_stray(token)
            self._only_text(token.text)
            return None
        collector.reclassify(self._thought_at or 0, self._thought_marker)
        self._thought_marker = 0
        self._mention = self._refused = self._thought_at = self.region = None
        self._in_code = False
        self._markup(len(token.text))
        self._after_reasoning = True
        return self._unit() if self._may_be_unit() else None


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
    "fence": Scanner._fence,  # noqa: SLF001 - as above
    "turn": Scanner._turn,  # noqa: SLF001 - as above
    "end_of_text": Scanner._end_of_text,  # noqa: SLF001 - as above
}
