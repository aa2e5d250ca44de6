"""One block of a format: from behind its opener to behind its closer.

A block holds one call object, or several; each is read, judged, and handed on at its own span.
What was refused becomes content again, what frames the calls is markup.
"""

from __future__ import annotations

import re
from collections.abc import Generator

from tunaeval.grammar import CallObject, Format, Literal, Markup, Space, Word
from tunaeval.limits import MARGIN, MAX_CALLS, MAX_REPAIRS
from tunaeval.repair import QUOTES, JsonReader, Read, Unreadable
from tunaeval.types import JsonValue, Level, Span
from tunaeval.window import Reading

from ..closings import missing_closer, stops_of
from ..fast import FENCE
from ..judge import Verdict, judge, may_have_ended_early, unreadable
from ..known import object_at
from ..live import LiveObject
from ..patterns import twice
from .recovering import Begun, Setting
from .steps import bounded, literal, next_char, skip_space

_BODY, _WORD = re.compile(r"\{|\[[ \t\r\n]{0,24}\w?"), re.compile(r"\w")
_LIST = re.compile(r"\[[ \t\r\n]{0,24}.?", re.DOTALL)
_MAY_BE_LISTED = frozenset("{[]}, \t\r\n#/\"'")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+-]{0,24}+")


class Block(Begun):
    """Reads a block whose calls are whole objects."""

    def __init__(self, setting: Setting, form: Format, start: int, *, quoted: bool) -> None:
        super().__init__(setting, form, start, quoted=quoted)
        self._fenced = False
        self._doubled = 0
        self._last: JsonValue = None
        self._extra = 0

    def read(self) -> Reading[None]:
        """Read it. Without a body nothing is handed on but what was cut off."""
        words, call = self._form.words, self._form.call
        if call is None:
            raise ValueError(f"format {self._form.name!r} has its names outside; see `tagged`")
        at, closer = words.index(call), self._form.closer
        before = words[1:at]
        if not (yield from self._before(before)):
            return
        self.had_body = True
        spellings = stops_of(self._form, words[-1:])
        stops = (*spellings, FENCE) if self._fenced else spellings
        closed = yield from self._calls(call, stops)
        if closer:
            if closed:
                yield from self._between(words[at + 1 : -1])
            yield from self._after(closer, closed=closed)
        elif closed and self._ledger.waiting and not call.inside:
            yield from self._extra_bracket()
        self._ledger.close(self._window.offset)

    # --- the frame ---------------------------------------------------------------------------

    def _before(self, words: tuple[Word, ...]) -> Generator[None, None, bool]:
        """The words between the opener and the calls; whether a call may follow."""
        window = self._window
        for word in words:
            if isinstance(word, Literal):
                if not (yield from literal(window, word.spellings)):
                    self._cut_in(word)
                    return False
            elif isinstance(word, Markup):
                yield from bounded(window, re.compile(word.pattern))
            elif isinstance(word, Space):
                yield from skip_space(window)
        char = yield from next_char(window)
        char, last = yield from self._openers(char)
        if char == "`" and self._form.marked and (yield from literal(window, (FENCE,))):
            yield from bounded(window, _LANGUAGE)
            self._fenced = True
            repair = self._ledger.repair_here("fence", "a code fence around the call")
            self.frame = (*self.frame, repair)
            char = yield from next_char(window)
        if char == "" and self._form.marked and not self._is_a_word():
            self._cut("the text ends behind the opener")
        elif self._doubled and not self._fenced:
            return (yield from self._body_follows(last))
        elif char == "[" and not self._form.marked:
            return (yield from self._list_follows())
        return char in ("{", "[")

    def _cut_in(self, word: Literal) -> None:
        """Say so if the text ends inside a fixed text that did not fit."""
        rest = self._window.text[self._window.pos :]
        if rest and any(text.startswith(rest) for text in word.spellings):
            self._cut("the text ends inside the opener")

    def _list_follows(self) -> Generator[None, None, bool]:
        """Whether a bracket opens a list of objects; in a fence, markers of others may begin so."""
        window, start = self._window, self._window.offset
        begun = yield from bounded(window, _LIST)
        window.pos = start - window.base
        return begun[-1:] in _MAY_BE_LISTED

    def _is_a_word(self) -> bool:
        """Whether the opener is a word, which may as well end a sentence."""
        opener = self._form.opener
        return opener is not None and opener.text.isalpha()

    def _openers(self, char: str) -> Generator[None, None, tuple[str, int]]:
        """Pass over the opener where it is there again; what follows, and where the last one is."""
        window, again = self._window, twice(self._form.opener)
        last, marked = window.offset, self._form.marked
        while marked and again and char == again[0][0]:
            here = window.offset
            if not (yield from literal(window, again)):
                break
            self._doubled, last = self._doubled + 1, here
            self.frame = (self._ledger.repair_here("doubled-tag", "the opener is there twice"),)
            char = yield from next_char(window)
        return char, last

    def _body_follows(self, last: int) -> Generator[None, None, bool]:
        """Whether objects follow openers; else the last one may be that of another format."""
        window, start = self._window, self._window.offset
        begun = yield from bounded(window, _BODY)
        fits = begun != "" and not _WORD.match(begun[-1])
        near = window.offset - last <= MARGIN
        window.pos = (last if near and not fits else start) - window.base
        return fits

    def _between(self, words: tuple[Word, ...]) -> Reading[None]:
        """The words between the calls and the closer; what is missing shows at the closer."""
        for word in words:
            if isinstance(word, Literal):
                yield from skip_space(self._window)
                yield from literal(self._window, word.spellings)

    def _after(self, closer: Literal, *, closed: bool) -> Reading[None]:
        """The words behind the calls; a missing closer is a repair of the last call."""
        window = self._window
        if self._fenced and (yield from next_char(window)) == "`":
            yield from literal(window, (FENCE,))
        if not closed:
            return
        yield from next_char(window)
        self.closed = yield from literal(window, closer.spellings)
        if self.closed:
            for _ in range(self._doubled):
                yield from next_char(window)
                yield from literal(window, closer.spellings)
            return
        self.closed = window.pos == len(window.text)
        message, end = missing_closer(window.text, window.pos, closer)
        self._ledger.repair("unclosed", message)
        if window.final:
            window.pos = end

    # --- the calls ---------------------------------------------------------------------------

    def _calls(self, word: CallObject, stops: tuple[str, ...]) -> Generator[None, None, bool]:
        """The call objects up to the closer; false when they could not be read so far."""
        char = yield from next_char(self._window)
        if char == "{" and word.opens:  # a bare object ends by itself; nothing behind it matters
            return (yield from self._object(word, stops))
        if char == "[":
            self._window.pos += 1
            if not word.array:
                repair = self._ledger.repair_here(
                    "several-calls", "an array where one object belongs"
                )
                self.frame = (*self.frame, repair)
        return (yield from self._row(word, stops, listed=char == "["))

    def _row(
        self, word: CallObject, stops: tuple[str, ...], *, listed: bool
    ) -> Generator[None, None, bool]:
        """Objects one after the other, in a list or not."""
        window, count, comma, single = (
            self._window,
            0,
            False,
            not (listed or word.array or word.joined),
        )
        while True:
            char = yield from next_char(window)
            if char == "{":
                if self._is_full():
                    return False
                if count == 1 and single:
                    self._several()
                if not (yield from self._object(word, stops)):
                    return False
                count, comma = count + 1, False
                continue
            if char and char in ",;" and count and not comma:
                comma = True
            elif char == "]" and listed:
                listed = False
            elif char == "}" and count and not (word.opens or word.inside):
                self._extra_closer()
            else:
                return self._ended(char, count, listed=listed, comma=comma)
            window.pos += 1
            if word.opens and not listed:
                return True

    def _several(self) -> None:
        """A repair of the first call and of all that follow it."""
        message = "several calls in one pair of markers"
        self._ledger.repair("several-calls", message)
        self.frame = (*self.frame, self._ledger.repair_here("several-calls", message))

    def _is_full(self) -> bool:
        collector = self._setting.collector
        collector.full = len(collector.calls) + self._ledger.count >= MAX_CALLS
        return collector.full

    def _extra_bracket(self) -> Reading[None]:
        """A bracket too many right behind a bare call."""
        window = self._window
        while window.pos >= len(window.text) and not window.final:
            yield
        if window.text.startswith("}", window.pos):
            self._extra_closer()
            window.pos += 1

    def _extra_closer(self) -> None:
        """A repair of the call before it; of many, so many are listed as of any value."""
        self._extra += 1
        if self._extra <= MAX_REPAIRS:
            message = "a bracket too many after a complete call"
            level: Level = "lenient" if may_have_ended_early(self._last) else "standard"
            self._ledger.repair("extra-closer", message, level)

    def _ended(self, char: str, count: int, *, listed: bool, comma: bool) -> bool:
        """Something else than an object follows; whether the calls so far stand."""
        if listed and count:
            self._ledger.repair("unclosed", "an array of calls that was never closed")
        elif char and (comma or char in QUOTES):
            message = "the call was closed before all of it was written"
            self._ledger.repair("early-closer", message, "lenient")
        if count:
            return True
        self.failed = True
        if self._form.marked and not self._quoted:
            if char == "":
                self._cut("the text ends before a call")
            else:
                span = Span(self._start, self._window.offset)
                self._ledger.refuse("invalid-json", f"{char!r} where a call was expected", span)
        return False

    def _object(self, word: CallObject, stops: tuple[str, ...]) -> Generator[None, None, bool]:
        """One object: a call, or content. False when what follows cannot be a call of this row."""
        window, ledger = self._window, self._ledger
        ledger.settle()
        start = window.offset
        if window.final and self._setting.collector.events is None:
            known = self._setting.known
            read, window.pos = object_at(window.text, window.pos, window.base, stops, known)
        else:
            read = yield from self._told(JsonReader(window, stops), word, start)
        span = Span(start, window.offset)
        if isinstance(read, Unreadable):
            self._unreadable(read, span)
            return False
        self._last, self._extra = read.value, 0
        verdict = judge(
            read,
            word=word,
            form=self._form,
            span=span,
            tools=self._setting.tools,
            level=self._setting.level,
            frame=self.frame,
        )
        return self._judged(verdict, read, span)

    def _told(
        self, reader: JsonReader, word: CallObject, start: int
    ) -> Generator[None, None, Read | Unreadable]:
        """Read an object, and tell of it while it grows."""
        collector, setting = self._setting.collector, self._setting
        call = None if self._quoted else collector.begin(self._ledger.count, start, setting.tools)
        if call is None:
            return (yield from reader.read())
        keys = None if word.keyed else (word.name, word.arguments)
        live = LiveObject(call, reader.draft.pieces, depth=2, keys=keys, marked=self._form.marked)
        return (yield from collector.follow(live, reader))

    def _judged(self, verdict: Verdict, read: Read, span: Span) -> bool:
        """Hand on what was judged; whether more of its kind may follow."""
        collector, ledger = self._setting.collector, self._ledger
        collector.truncated = collector.truncated or verdict.truncated or read.truncated
        if self._quoted:
            collector.diagnose("quoted", "a call in inline code is only quoted", *span)
        else:
            collector.verdict(verdict, span)
            if verdict.call:
                ledger.accept(verdict.call)
                return True
            collector.drop(ledger.count)
            codes = [diagnosis.code for diagnosis in verdict.diagnoses(span)]
            if read.truncated and "truncated" not in codes:
                collector.diagnose("truncated", "the text ends inside an object", *span)
        ledger.content(span.end)
        return verdict.attempt or self._form.marked

    def _unreadable(self, read: Unreadable, span: Span) -> None:
        self.failed = True
        self._setting.collector.drop(self._ledger.count)
        verdict = unreadable(read, self._form)
        if not self._quoted:
            self._setting.collector.verdict(verdict, span)
        self._ledger.content(span.end)

    def _cut(self, message: str) -> None:
        """The text ends before there was anything to read."""
        end = self._window.offset
        if not self._quoted:
            self._ledger.refuse("truncated", message, Span(self._start, end), cut=True)
        self._ledger.content(end)
