"""The engine: one pass over a text, whole or arriving, for any set of formats.

Between blocks the text is content (`passage`); at each hit of the set's finder a block is read
(`openers`), reasoning is passed over, or the marker turns out to be only mentioned. Decisions are
made once, from a bounded look-ahead, and never taken back, but for one: a reasoning closer that was
never opened makes what is before it reasoning, as templates open reasoning without the model
writing it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from tunaeval.grammar import Channel, Format
from tunaeval.limits import KEPT, MARGIN, MAX_CALLS, MAX_FENCES_IN_VAIN, MAX_VAIN, SHORTEST_CUT
from tunaeval.types import Level, Tools
from tunaeval.window import Reading, Window

from .block import Setting, another
from .collect import Collector
from .finder import (
    Choice,
    Finder,
    Prompted,
    Token,
    choices_of,
    chosen,
    closers_of,
    nearest,
    undecided,
)
from .judge import Objects
from .lost_openers import ends_call, ends_in_tool
from .mention import Mention, Region
from .objects import Block
from .python_calls import PythonBlock
from .quoting import (
    ELLIPSES,
    FENCE,
    LINE_START,
    LINES,
    OPENS_FENCE,
    before_end_tokens,
    begins_turn,
    closes_code,
    ends_text,
    in_program,
    in_sentence,
    in_ticks,
    is_quote,
    quote_before,
    tell_end,
)
from .routing import (
    Header,
    Late,
    header_at,
    is_cut,
    only_calls,
    repair_of,
    think,
    think_until,
    unclosed,
)
from .tagged import TaggedBlock
from .units import begins_unit, gather, read_unit


class Scanner:
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
        "_after_reasoning", "_code_thinks", "_fenced_vain", "_in_code", "_inside",
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
                collector.prose = end == len(window.text) and self._in_prose()
                yield
                collector.prose = False
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

    # --- openers -------------------------------------------------------------------------------

    def _open(self, token: Token) -> Reading[None] | None:
        """An opener: a block of its format, or a mention of it."""
        if len(self.collector.calls) >= MAX_CALLS and self._is_full():
            return None
        window = self.window
        text, start = window.text, window.pos
        fence = token.text == FENCE
        if fence and (self._in_code or self._ends_mention(token)):
            self._in_code = False
            self._only_text(FENCE)
            return None
        quoted = False
        if self._quote_open or text[start - 1 : start] == "`":
            quoted = not fence and self._quoted()
        # A bare object has no marker that would announce it, so it may be only part of some code.
        if token.kind == "bare" and not quoted:
            quoted = in_ticks(self._line)
        if fence and self._may_be_unit() and not in_program(text, start):
            return self._fenced(token)
        choice = chosen(token, text, start + len(token.text))
        if undecided(token, window, choice):
            return self._open_later(token, choice, quoted=quoted)
        return self._opened(token, choice, quoted=quoted)

    def _may_be_unit(self) -> bool:
        """Whether calls may be all of a reply or of a fence: only by the names of tools."""
        finder = self.finder
        return bool(finder.wholes) and (self.tools is not None or not finder.wants_tools)

    def _fenced(self, token: Token | None = None) -> Reading[None]:
        """A code fence: calls and nothing else, or what its token is the opener of, or code."""
        window, units = self.window, self.finder.units
        in_vain = self._fenced_vain > MAX_FENCES_IN_VAIN
        while True:
            behind = _FENCE_LINE.match(window.text, window.pos)
            body = behind.end() if behind else window.pos + len(FENCE)
            near = not window.final and (
                len(window.text) - body < 2 or _FENCE_CUT.match(window.text, window.pos)
            )
            begins = None if near else begins_unit(units, window, body, self.tools, fenced=True)
            if begins is not None or in_vain:
                break
            yield
        if begins and not in_vain:
            window.pos, size = body, body - window.pos
            closing = _CLOSING_LINE if "\n" in window.text[body - size : body] else _CLOSING
            yield from gather(window, closing)
            window.pos -= size
            if self._is_fenced_unit(size, closing):
                return
        if token is None:
            self._in_code = True
            self._only_text(FENCE)
            return
        choice = chosen(token, window.text, window.pos + len(FENCE))
        if undecided(token, window, choice):
            reading: Reading[None] | None = self._open_later(token, choice, quoted=False)
        else:
            reading = self._opened(token, choice, quoted=False)
        if reading is not None:
            yield from reading

    def _is_fenced_unit(self, size: int, closing: re.Pattern[str]) -> bool:
        """Read a fence that opens with so many characters, if it holds calls and nothing else."""
        window, collector, start = self.window, self.collector, self.window.offset
        body = window.pos + size
        found_end = closing.search(window.text, body)
        end = found_end.end() - len(FENCE) if found_end else -1
        stop = end if end >= 0 else len(window.text)
        found = read_unit(
            self.finder.units, window.text[body:stop], start + size, self.tools, self.level
        )
        if found is None:
            self._fenced_vain += stop - body
            return False
        if found[0].repeats(collector):
            return self._pass_echo(start, stop + (len(FENCE) if end >= 0 else 0))
        collector.piece("markup", start, start + size)
        collector.adopt(found[0], found[1].place)
        if collector.full:  # the rest of the fence is content
            self._pass(collector.end - window.base, bare=False)
            return True
        self._pass(stop, bare=False)
        self._in_code = end < 0
        if end >= 0:
            self._markup(len(FENCE))
        return True

    def _pass_echo(self, start: int, stop: int) -> bool:
        """Pass over a fence that repeats calls which were made, as one does who explains them."""
        message = "these calls were made above; an explanation repeats them"
        self.collector.diagnose("echo", message, start, self.window.base + stop)
        self._say(stop)
        return True

    def _take_unit(self, start: int, stop: int) -> bool:
        """Read the window's text between two indices, if it is calls and nothing else."""
        window = self.window
        text, base = window.text[start:stop], window.base + start
        found = read_unit(self.finder.units, text, base, self.tools, self.level)
        if found is None:
            return False
        self.collector.adopt(found[0], found[1].place)
        self._pass(self.collector.end - window.base if self.collector.full else stop, bare=True)
        return True

    def _ends_mention(self, token: Token) -> bool:
        """Whether a fence ends what was mentioned or refused before it, and begins nothing."""
        mention, text = self._mention, token.text
        if mention and text in closers_of(mention.token.formats):
            mention.closed(self.collector, text, self.window.offset + len(text))
            self._mention = None
        elif not (self._refused and text in closers_of(self._refused.formats)):
            return False
        elif self._refused.text == FENCE:
            return False  # what was refused is a fence itself, which `_in_code` closes
        self._refused = None
        return True

    def _is_full(self) -> bool:
        """Whether as many calls were read as are read at the most; then nothing more is."""
        full = len(self.collector.calls) >= MAX_CALLS
        if full:
            self.collector.full = True
        return full

    def _open_later(self, token: Token, choice: Choice | None, *, quoted: bool) -> Reading[None]:
        """The same once enough of the text has arrived to know whose opener it is."""
        window = self.window
        while undecided(token, window, choice):
            yield
            choice = chosen(token, window.text, window.pos + len(token.text))
        reading = self._opened(token, choice, quoted=quoted)
        if reading is not None:
            yield from reading

    def _opened(self, token: Token, choice: Choice | None, *, quoted: bool) -> Reading[None] | None:
        """An opener of the format that was chosen; if none, around calls, or of the nearest one.

        In prose it is the first one's.
        """
        if choice is None:
            if token.around:
                self._around(token)
                return None
            begins = LINE_START.search(self._line)
            at = self.window.pos + len(token.text)
            choice = nearest(token, self.window.text, at) if begins else choices_of(token)[0]
        if choice.excludes and self.channel not in (None, "call"):
            self._only_text(token.text)
            return None
        window, doubtful = self.window, self._is_doubtful(choice)
        start = window.pos
        if self._mention:
            self._mention.interrupted(self.collector, token, window)
        window.pos = start + len(token.text)
        return self._read(token, choice.form, window.base + start, quoted=quoted, doubtful=doubtful)

    def _is_doubtful(self, choice: Choice) -> bool:
        """Whether a name alone is no call: in the middle of a line any word may stand for one.

        Between markers that are right behind a call, or behind a sentence's end, it is one.
        """
        if self.tools is not None or not (choice.wordy or choice.alone):
            return False
        if choice.wordy:
            return not LINE_START.search(self._line)
        return _IN_A_SENTENCE.search(self._line) is not None

    def _pass(self, end: int, *, bare: bool) -> None:
        """Go on behind a block that ends there."""
        window = self.window
        window.pos = end
        self.announced = self._refused = self._left_open = None
        self._line_at = window.base + end
        self.collector.bare = bare

    def _block(
        self, form: Format, start: int, *, quoted: bool, name: str | None
    ) -> Block | PythonBlock | TaggedBlock:
        """What recovers a block of this format."""
        if self._setting is None:
            self._setting = Setting(
                self.window, self.collector, self.tools, self.level, self._objects
            )
        if form.call:
            return Block(self._setting, form, start, quoted=quoted)
        if form.python:
            begins_line = bool(LINE_START.search(self._line))
            return PythonBlock(self._setting, form, start, quoted=quoted, begins_line=begins_line)
        return TaggedBlock(self._setting, form, start, quoted=quoted, name=name)

    def _read(
        self,
        token: Token,
        form: Format,
        start: int,
        *,
        quoted: bool = False,
        doubtful: bool = False,
        name: str | None = None,
    ) -> Reading[None]:
        """A block that began at offset `start`, from behind its opener on."""
        self._refused, fence = None, token.text == FENCE
        self.announced = None
        block = self._block(form, start, quoted=quoted, name=name)
        block.doubtful = doubtful
        yield from block.read()
        while block.had_body and not (block.closed or block.failed):
            if not (yield from another(form, self.window)) or self._is_full():
                break
            block = self._block(form, self.window.offset, quoted=quoted, name=None)
            yield from block.read()
        self.collector.bare, self._line_at = form.opener is None, self.window.offset
        self._left_open = None
        if block.had_body:
            self._left_open = None if block.closed or block.failed else form
            self._refused = token if block.failed else None
            self._in_code = self._in_code or (fence and not block.closed)
            return
        self._mentioned(start, token, form, quoted=quoted)

    def _mentioned(self, start: int, token: Token, form: Format, *, quoted: bool = False) -> None:
        """An opener at offset `start` that nothing like a call followed, up to the position."""
        collector, end = self.collector, self.window.offset
        collector.piece("content", max(start, collector.end), end)
        if token.text == FENCE:
            self._in_code = True
        elif not quoted:
            tagged = not (form.call or form.python) and self._tag_follows(start, token.text)
            quote = quote_before(self.window, start - self.window.base)
            self._mention = Mention(
                start, token, form, len(collector.calls), tagged=tagged,
                inline=self._inline(start), quote=quote,
            )  # fmt: skip

    def _inline(self, start: int) -> bool:
        """Whether what began at offset `start` is in the midst of a line, up to the position."""
        at = start - self.window.base
        return in_sentence(self.window, at) and "\n" not in self.window.text[at : self.window.pos]

    def _tag_follows(self, start: int, opener: str) -> bool:
        """Whether an opener at offset `start` begins a line, and is a whole tag or another follows.

        The position is behind what was read of it.
        """
        window, at = self.window, start - self.window.base
        if window.pos - at > MARGIN or window.text[max(0, at - 1) : at] not in ("", "\n", ">"):
            return False
        inside = window.text[at + len(opener) : window.pos].rstrip()
        follows = window.text[at + len(opener) : window.pos + 1].lstrip()[:1] == opener[0]
        return follows or inside.endswith(">")

    def _bare(self, token: Token) -> Reading[None] | None:
        """A bare object: a call only outside of code and of what was refused before."""
        if self._is_full():
            return None
        code = self._in_code and self.announced is None
        if code or (self._refused and not self._past_refusal()):
            self._only_text("{")
            return None
        return self._open(token)

    def _past_refusal(self) -> bool:
        """Whether the inside of what was refused is behind us: its closer, or a line's start."""
        bare = self._refused is not None and self._refused.kind == "bare"
        return bare and self.window.preceding(self.window.pos).endswith("\n")

    # --- text between blocks ---------------------------------------------------------------------

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

    def _in_prose(self) -> bool:
        """Whether more text that begins nothing is content, whatever it is."""
        remembered = self._mention or self._quote_open or self._after_reasoning or self.region
        return not remembered and self.collector.last == "content"

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


_CLOSING, _CLOSING_LINE = re.compile("```"), re.compile(r"^[ \t]{0,40}+```", re.MULTILINE)
"""What ends a fence: three ticks; at a line's start if nothing but a language is behind the first.

A string in there may have some.
"""

_LANGUAGE = r"[ \t]?[A-Za-z0-9_+-]{0,24}"

_FENCE_LINE = re.compile(rf"```(?:{_LANGUAGE}(?=\s))?\s{{0,64}}+")
"""A fence with its language and the white space behind it."""

_FENCE_CUT = re.compile(rf"```{_LANGUAGE}\Z")
"""A fence whose language may go on in what follows."""

_IN_A_SENTENCE = re.compile(r"\w[ \t]*+\Z")
