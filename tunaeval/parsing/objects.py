"""One block whose calls are whole objects: from behind its opener to behind its closer.

Each object is read, judged, and handed on at its own span. What was refused becomes content again,
what frames the calls is markup.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tunaeval.grammar import CallObject, Literal, Markup, Space, Word
from tunaeval.grammar.format import Format
from tunaeval.limits import MARGIN, MAX_REPAIRS
from tunaeval.types.calls import JsonValue, Span
from tunaeval.types.parsing import Level

from .block import Begun, Setting, bounded, cut_off, literal, next_char, peek, stops_of
from .finder import twice
from .judge import may_have_ended_early, unreadable
from .quoting import FENCE
from .repair.values import QUOTES, Unreadable
from .window import Reading

_BODY = re.compile(r"\{|\[[ \t\r\n]{0,24}.?", re.DOTALL)
_MAY_BE_LISTED = frozenset("{[]}, \t\r\n#/\"'")
"""Behind a bracket that opens a list of objects, and no marker that begins so."""

_LANGUAGE = re.compile(r"[A-Za-z0-9_+-]{0,24}+")


@lru_cache(maxsize=256)
def _parts_of(
    form: Format,
) -> tuple[tuple[Word, ...], tuple[str, ...], CallObject, tuple[Literal, ...], tuple[str, ...]]:
    """What is before the word for calls, the opener where it may come again, the word, the fixed
    texts between it and the closer, and what an object stops at.
    """
    words, call = form.words, form.call
    if call is None:
        raise ValueError(f"format {form.name!r} has its names outside; see `tagged`")
    at = words.index(call)
    between = tuple(word for word in words[at + 1 : -1] if isinstance(word, Literal))
    again = twice(form.opener) if form.marked else ()
    return words[1:at], again, call, between, stops_of(form, words[-1:])


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
        before, again, call, between, stops = _parts_of(self._form)
        closer, window = self._form.closer, self._window
        if not (yield from self._before(before, again)):
            return
        self.had_body = True
        closed = yield from self._calls(call, (*stops, FENCE) if self._fenced else stops)
        if closer:
            for word in between if closed else ():
                yield from next_char(window)
                yield from literal(window, word.spellings)
            if self._fenced and (yield from next_char(window)) == "`":
                yield from literal(window, (FENCE,))
            if closed:
                yield from self._pass_closer(closer)
                for _ in range(self._doubled if self.closed else 0):
                    yield from next_char(window)
                    yield from literal(window, closer.spellings)
        elif closed and self._waiting and not call.inside:
            while window.pos >= len(window.text) and not window.final:
                yield
            if window.text.startswith("}", window.pos):  # right behind a bare call
                self._extra_closer()
                window.pos += 1
        self._close_at(window.offset)

    def _before(self, words: tuple[Word, ...], again: tuple[str, ...]) -> Reading[bool]:
        """Pass over what is between the opener and the calls; whether a call may follow."""
        window = self._window
        for word in words:
            if isinstance(word, Markup):
                yield from bounded(window, re.compile(word.pattern))
            elif isinstance(word, Space):
                yield from next_char(window)
            elif isinstance(word, Literal) and not (yield from literal(window, word.spellings)):
                if window.pos < len(window.text) and cut_off(window, word.spellings):
                    self._fail("truncated", "the text ends inside the opener", cut=True)
                return False
        char = yield from next_char(window)
        if char == "{" and not (again and again[0][0] == "{"):
            return True
        return (yield from self._oddly_begins(char, again))

    def _oddly_begins(self, char: str, again: tuple[str, ...]) -> Reading[bool]:
        """Whether a call may follow where something else than an object may be."""
        window, marked, opener = self._window, self._form.marked, self._form.opener
        here = last = window.offset
        while again and (yield from literal(window, again)):
            self._doubled, last = self._doubled + 1, here
            self.frame = (self._repair_here("doubled-tag", "the opener is there twice"),)
            char = yield from next_char(window)
            here = window.offset
        if char == "`" and marked and (yield from literal(window, (FENCE,))):
            yield from bounded(window, _LANGUAGE)
            self._fenced = True
            repair = self._repair_here("fence", "a code fence around the call")
            self.frame = (*self.frame, repair)
            char = yield from next_char(window)
        is_word = opener is not None and opener.text.isalpha()  # which may as well end a sentence
        if char == "" and marked and not is_word:
            self._fail("truncated", "the text ends behind the opener", cut=True)
            return False
        if self._fenced or (marked and not self._doubled):
            return char in ("{", "[")
        fits = (yield from peek(window, bounded(window, _BODY)))[-1:] in _MAY_BE_LISTED
        if not fits and window.offset - last <= MARGIN and self._doubled:
            window.pos = last - window.base  # the last opener may be that of another format
        return fits

    def _calls(self, word: CallObject, stops: tuple[str, ...]) -> Reading[bool]:
        """The call objects up to the closer; false when they could not be read so far."""
        window = self._window
        char = yield from next_char(window)
        if char == "{" and word.opens:  # a bare object ends by itself; nothing behind it matters
            return (yield from self._object(word, stops))
        if char == "[":
            window.pos += 1
            if not word.array:
                repair = self._repair_here("several-calls", "an array where one object belongs")
                self.frame = (*self.frame, repair)
        return (yield from self._objects(word, stops, listed=char == "["))

    def _objects(self, word: CallObject, stops: tuple[str, ...], *, listed: bool) -> Reading[bool]:
        """Objects one after the other, in a list or not."""
        window, single = self._window, not (listed or word.array or word.joined)
        count, comma = 0, False
        while True:
            char = yield from next_char(window)
            if char == "{":
                if self._setting.collector.is_full(self._count):
                    return False
                if count == 1 and single:
                    message = "several calls in one pair of markers"
                    self._repair_last("several-calls", message)
                    self.frame = (*self.frame, self._repair_here("several-calls", message))
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

    def _extra_closer(self) -> None:
        """A repair of the call before it; of many, so many are listed as of any value."""
        self._extra += 1
        if self._extra <= MAX_REPAIRS:
            message = "a bracket too many after a complete call"
            level: Level = "lenient" if may_have_ended_early(self._last) else "standard"
            self._repair_last("extra-closer", message, level)

    def _ended(self, char: str, count: int, *, listed: bool, comma: bool) -> bool:
        """Something else than an object follows; whether the calls so far stand."""
        if listed and count:
            self._repair_last("unclosed", "an array of calls that was never closed")
        elif char and (comma or char in QUOTES):
            message = "the call was closed before all of it was written"
            self._repair_last("early-closer", message, "lenient")
        if count:
            return True
        self.failed = True
        if self._form.marked and char:
            self._fail("invalid-json", f"{char!r} where a call was expected")
        elif self._form.marked:
            self._fail("truncated", "the text ends before a call", cut=True)
        return False

    def _object(self, word: CallObject, stops: tuple[str, ...]) -> Reading[bool]:
        """One object: a call, or content. False when what follows cannot be a call of this row."""
        window, setting, marked = self._window, self._setting, self._form.marked
        collector = setting.collector
        self._settle()
        start = window.offset
        live = None if self._quoted else collector.begin(self._count, start, setting.tools)
        keys = None if word.keyed else (word.name, word.arguments)
        read = yield from self._object_here(stops, live, depth=2, keys=keys)
        span = Span(start, window.offset)
        if isinstance(read, Unreadable):
            self.failed = True
            collector.drop(self._count)
            if not self._quoted:
                collector.verdict(unreadable(read, word, marked=marked), span)
            self._content_to(span.end)
            return False
        self._last, self._extra = read.value, 0
        verdict = self._judge(read, span, word=word)
        collector.truncated = collector.truncated or read.truncated
        self._take(verdict, span)
        if self._waiting:
            return True
        codes = [note.code for note in verdict.notes if verdict.attempt]
        if read.truncated and not self._quoted and "truncated" not in codes:
            collector.diagnose("truncated", "the text ends inside an object", *span)
        self._content_to(span.end)
        return verdict.attempt or marked
