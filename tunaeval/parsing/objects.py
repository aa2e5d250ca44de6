"""One block whose calls are whole objects: from behind its opener to behind its closer.

Each object is read, judged, and handed on at its own span. What was refused becomes content again,
what frames the calls is markup.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from functools import lru_cache
from typing import NamedTuple

from tunaeval.grammar import CallObject, Format, Literal, Markup, Space, Word
from tunaeval.limits import MARGIN, MAX_REPAIRS
from tunaeval.repair import QUOTES, JsonReader, Read, Unreadable
from tunaeval.types import JsonValue, Level, Span
from tunaeval.window import Reading

from .block import Begun, Setting, bounded, literal, next_char
from .closings import stops_of
from .collect import LiveObject
from .judge import Verdict, judge, may_have_ended_early, object_at, unreadable
from .patterns import twice
from .quoting import FENCE

_BODY, _WORD = re.compile(r"\{|\[[ \t\r\n]{0,24}\w?"), re.compile(r"\w")
_LIST = re.compile(r"\[[ \t\r\n]{0,24}.?", re.DOTALL)
_MAY_BE_LISTED = frozenset("{[]}, \t\r\n#/\"'")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+-]{0,24}+")


class _Words(NamedTuple):
    """A format's word for calls, what is before it and behind it, and what ends an object."""

    before: tuple[Word, ...]
    call: CallObject
    between: tuple[Literal, ...]
    stops: tuple[str, ...]
    again: tuple[str, ...]
    """What the opener looks like where it is there again."""


@lru_cache(maxsize=256)
def _words_of(form: Format) -> _Words:
    words, call = form.words, form.call
    if call is None:
        raise ValueError(f"format {form.name!r} has its names outside; see `tagged`")
    at = words.index(call)
    between = tuple(word for word in words[at + 1 : -1] if isinstance(word, Literal))
    again = twice(form.opener) if form.marked else ()
    return _Words(words[1:at], call, between, stops_of(form, words[-1:]), again)


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
        words, closer, window = _words_of(self._form), self._form.closer, self._window
        if not (yield from self._before(words)):
            return
        self.had_body = True
        stops = (*words.stops, FENCE) if self._fenced else words.stops
        closed = yield from self._calls(words.call, stops)
        if closer:
            for word in words.between if closed else ():
                yield from next_char(window)
                yield from literal(window, word.spellings)
            if self._fenced and (yield from next_char(window)) == "`":
                yield from literal(window, (FENCE,))
            if closed:
                yield from self._pass_closer(closer)
                for _ in range(self._doubled if self.closed else 0):
                    yield from next_char(window)
                    yield from literal(window, closer.spellings)
        elif closed and self._waiting and not words.call.inside:
            while window.pos >= len(window.text) and not window.final:
                yield
            if window.text.startswith("}", window.pos):  # right behind a bare call
                self._extra_closer()
                window.pos += 1
        self._close_at(window.offset)

    # --- what is before the calls ----------------------------------------------------------------

    def _before(self, words: _Words) -> Generator[None, None, bool]:
        """Pass over what is between the opener and the calls; whether a call may follow."""
        window = self._window
        for word in words.before:
            if isinstance(word, Markup):
                yield from bounded(window, re.compile(word.pattern))
            elif isinstance(word, Space):
                yield from next_char(window)
            elif isinstance(word, Literal) and not (yield from literal(window, word.spellings)):
                rest = window.text[window.pos :]
                if rest and any(text.startswith(rest) for text in word.spellings):
                    self._cut("the text ends inside the opener")
                return False
        char = yield from next_char(window)
        again = words.again and char == words.again[0][0]
        return (char == "{" and not again) or (yield from self._oddly_begins(char, words.again))

    def _oddly_begins(self, char: str, again: tuple[str, ...]) -> Generator[None, None, bool]:
        """Whether a call may follow where something else than an object does."""
        window, marked, opener = self._window, self._form.marked, self._form.opener
        char, last = yield from self._openers(char, again)
        if char == "`" and marked and (yield from literal(window, (FENCE,))):
            yield from bounded(window, _LANGUAGE)
            self._fenced = True
            repair = self._repair_here("fence", "a code fence around the call")
            self.frame = (*self.frame, repair)
            char = yield from next_char(window)
        is_word = opener is not None and opener.text.isalpha()  # which may as well end a sentence
        if char == "" and marked and not is_word:
            self._cut("the text ends behind the opener")
        elif self._doubled and not self._fenced:
            return (yield from self._body_follows(last))
        elif char == "[" and not marked:
            return (yield from self._list_follows())
        return char in ("{", "[")

    def _list_follows(self) -> Generator[None, None, bool]:
        """Whether a bracket opens a list of objects; in a fence, markers of others may begin so."""
        window, start = self._window, self._window.offset
        begun = yield from bounded(window, _LIST)
        window.pos = start - window.base
        return begun[-1:] in _MAY_BE_LISTED

    def _openers(self, char: str, again: tuple[str, ...]) -> Generator[None, None, tuple[str, int]]:
        """Pass over the opener where it is there again; what follows, and where the last one is."""
        window = self._window
        last = window.offset
        while again and char == again[0][0]:
            here = window.offset
            if not (yield from literal(window, again)):
                break
            self._doubled, last = self._doubled + 1, here
            self.frame = (self._repair_here("doubled-tag", "the opener is there twice"),)
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

    def _cut(self, message: str) -> None:
        """The text ends before there was anything to read."""
        end = self._window.offset
        if not self._quoted:
            self._refuse("truncated", message, Span(self._start, end), cut=True)
        self._content_to(end)

    # --- the calls -------------------------------------------------------------------------------

    def _calls(self, word: CallObject, stops: tuple[str, ...]) -> Generator[None, None, bool]:
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
        return (yield from self._row(word, stops, listed=char == "["))

    def _row(
        self, word: CallObject, stops: tuple[str, ...], *, listed: bool
    ) -> Generator[None, None, bool]:
        """Objects one after the other, in a list or not."""
        window, single = self._window, not (listed or word.array or word.joined)
        count, comma = 0, False
        while True:
            char = yield from next_char(window)
            if char == "{":
                if self._setting.collector.is_full(self._count):
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
        self._repair_last("several-calls", message)
        self.frame = (*self.frame, self._repair_here("several-calls", message))

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
        if self._form.marked and not self._quoted:
            if char == "":
                self._cut("the text ends before a call")
            else:
                span = Span(self._start, self._window.offset)
                self._refuse("invalid-json", f"{char!r} where a call was expected", span)
        return False

    def _object(self, word: CallObject, stops: tuple[str, ...]) -> Generator[None, None, bool]:
        """One object: a call, or content. False when what follows cannot be a call of this row."""
        window, setting = self._window, self._setting
        collector = setting.collector
        self._settle()
        start = window.offset
        if window.final and collector.events is None:
            read, window.pos = object_at(window.text, window.pos, window.base, stops, setting.known)
        else:
            read = yield from self._reported(JsonReader(window, stops), word, start)
        span = Span(start, window.offset)
        if isinstance(read, Unreadable):
            self.failed = True
            collector.drop(self._count)
            if not self._quoted:
                collector.verdict(unreadable(read, self._form), span)
            self._content_to(span.end)
            return False
        self._last, self._extra = read.value, 0
        verdict = judge(
            read, word=word, form=self._form, span=span,
            tools=setting.tools, level=setting.level, frame=self.frame,
        )  # fmt: skip
        return self._judged(verdict, read, span)

    def _reported(
        self, reader: JsonReader, word: CallObject, start: int
    ) -> Generator[None, None, Read | Unreadable]:
        """Read an object, and report it while it grows, if anybody listens."""
        collector, setting = self._setting.collector, self._setting
        call = None if self._quoted else collector.begin(self._count, start, setting.tools)
        if call is None:
            return (yield from reader.read())
        keys = None if word.keyed else (word.name, word.arguments)
        live = LiveObject(call, reader.draft.pieces, depth=2, keys=keys, marked=self._form.marked)
        return (yield from collector.follow(live, reader))

    def _judged(self, verdict: Verdict, read: Read, span: Span) -> bool:
        """Hand on what was judged; whether more of its kind may follow."""
        collector = self._setting.collector
        collector.truncated = collector.truncated or read.truncated
        self._take(verdict, span)
        if self._waiting:
            return True
        codes = [note.code for note in verdict.notes if verdict.attempt]
        if read.truncated and not self._quoted and "truncated" not in codes:
            collector.diagnose("truncated", "the text ends inside an object", *span)
        self._content_to(span.end)
        return verdict.attempt or self._form.marked
