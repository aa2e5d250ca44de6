"""Openers: the block behind one is read, fast or step by step, or the opener is only mentioned.

The fast reader of a format answers only where it is certain; where it is not, the recovering reader
reads that block, and no more.
"""

from __future__ import annotations

import re

from tunaeval.grammar import Format
from tunaeval.limits import MARGIN, MAX_CALLS, MAX_FENCES_IN_VAIN
from tunaeval.types import ToolCall
from tunaeval.window import Reading

from .audit import Mention
from .blocks.closers import another
from .blocks.objects import Block
from .blocks.python import PythonBlock
from .blocks.recovering import Setting
from .blocks.tagged import TaggedBlock
from .fast import FENCE
from .fast.made import moved
from .finder import closers_of
from .passage import Passage
from .quoting import LINE_START, in_program, in_sentence, in_ticks, quote_before
from .tokens import Choice, Token, choices_of, chosen, nearest, undecided
from .units import begins_unit, gather, read_unit

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


class Blocks(Passage):
    """A passage that reads blocks. A method that begins one returns None when it is read already,
    or a reading when more of the text may be needed.
    """

    __slots__ = ()

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
        window.pos = body = start + len(token.text)
        at_once = self._fast and window.final and not quoted
        if at_once and self._at_once(start, body, token, choice, doubtful=doubtful):
            return None
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

    def _at_once(
        self, start: int, body: int, token: Token, choice: Choice, *, doubtful: bool
    ) -> bool:
        """Read a block whose text is all there, unless its recovering reader has to."""
        window = self.window
        calls: list[ToolCall] = []
        end = choice.fast(window.text, start, body, self.tools, calls)
        if end < 0:
            return False
        if not calls:
            return self._passed_over(start, end, token, choice)
        if doubtful and not calls[0].arguments:
            return False
        return self._taken(start, end, calls, bare=choice.bare)

    def _taken(self, start: int, end: int, found: list[ToolCall], *, bare: bool) -> bool:
        """Hand on the calls of a block from `start` to `end`, unless there are too many."""
        window, collector = self.window, self.collector
        if len(collector.calls) + len(found) > MAX_CALLS:
            return False
        base = window.base
        collector.block(base + start, base + end, found if not base else moved(found, base))
        self._pass(end, bare=bare)
        return True

    def _pass(self, end: int, *, bare: bool) -> None:
        """Go on behind a block that ends there."""
        window = self.window
        window.pos = end
        self.announced = self._refused = self._left_open = None
        self._line_at = window.base + end
        self.collector.bare = bare

    def _passed_over(self, start: int, end: int, token: Token, choice: Choice) -> bool:
        """A block without a call is content, where the fast reader says what it is."""
        window, collector, fence = self.window, self.collector, token.text == FENCE
        if not (choice.form.marked or token.kind == "bare" or fence):
            return False  # a mention, or an object that is no call: only the other reader knows
        collector.piece("content", window.base + start, window.base + end)
        self._pass(end, bare=choice.bare)
        if fence:
            self._in_code = True
        elif token.kind == "open":
            calls, inline = len(collector.calls), in_sentence(window, start)
            self._mention = Mention(
                window.base + start, token, choice.form, calls,
                inline=inline, quote=quote_before(window, start),
            )  # fmt: skip
        return True

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
