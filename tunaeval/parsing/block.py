"""One block of a format: from behind its opener to behind its closer.

A block holds one call object, or several; each is read, judged, and handed on at its own span.
What was refused becomes content again, what frames the calls is markup.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass, replace

from tunaeval.grammar import CallObject, Format, Literal, Markup, Space
from tunaeval.repair import JsonReader, Unreadable
from tunaeval.types import Level, Repair, Span, ToolCall, Tools
from tunaeval.window import Reading, Window

from .collect import MAX_CALLS, Collector
from .finder import FENCE
from .judge import judge, looks_like_a_call

_SPACE = re.compile(r"[ \t\r\n]*+")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+-]{0,24}+")


@dataclass(slots=True)
class Block:
    """Reads a block of `format` that begins at offset `start`; used once.

    `quoted`: it stands in inline code, so its calls are only quoted. After `read` the window
    stands where the block ended. `had_body` tells whether anything like a call was there at all,
    `failed` that an object could not be read, so that what follows is the inside of it.
    """

    window: Window
    collector: Collector
    format: Format
    start: int
    tools: Tools | None
    level: Level
    quoted: bool = False
    had_body: bool = False
    failed: bool = False
    _accepted: int = 0
    _pending: tuple[ToolCall, int] | None = None
    _loose_from: int = 0
    """From this offset on nothing has been handed to the collector yet."""
    _frame: tuple[Repair, ...] = ()
    _fenced: bool = False

    def read(self) -> Reading[None]:
        """Read it. If there is no body, nothing is collected and the window stands before it."""
        self._loose_from = self.start
        before, word, after = _parts(self.format)
        if not (yield from self._before(before)):
            return
        self.had_body = True
        closed = yield from self._objects(word, _stops(after, fenced=self._fenced))
        if after:
            yield from self._after(after, closed=closed)
        self._settle()
        if self._accepted:
            self._markup()
        else:
            self._content(self.window.offset)

    # --- the frame ---------------------------------------------------------------------------

    def _before(self, words: tuple[object, ...]) -> Generator[None, None, bool]:
        """The words between the opener and the calls; whether a call may follow."""
        window = self.window
        for word in words[1:]:
            if isinstance(word, Markup):
                yield from self._bounded(re.compile(word.pattern))
            elif isinstance(word, Space):
                yield from self._space()
        char = yield from self._next()
        if char == "`" and self.format.marked:
            while len(window.text) - window.pos < len(FENCE) and not window.final:
                yield
            if window.text.startswith(FENCE, window.pos):
                window.pos += len(FENCE)
                yield from self._bounded(_LANGUAGE)
                self._fenced = True
                self._frame = (self._repair("fence", "a code fence around the call"),)
                char = yield from self._next()
        if char == "" and self.format.marked:
            self._cut("the text ends behind the opener")
        return char in ("{", "[")

    def _after(self, words: tuple[object, ...], *, closed: bool) -> Reading[None]:
        """The words behind the calls; a missing closer is a mend of the last call."""
        window = self.window
        if (
            self._fenced
            and (yield from self._next()) == "`"
            and (yield from self._literal((FENCE,)))
        ):
            yield from self._next()
        if not closed:
            return
        yield from self._next()
        closer = words[-1]
        if isinstance(closer, Literal) and not (yield from self._literal(closer.spellings)):
            where = "the text ends" if window.pos >= len(window.text) else "other text follows"
            self._mend("unclosed", f"{where} before {closer.text!r}")
            if window.final and any(
                t.startswith(window.text[window.pos :]) for t in closer.spellings
            ):
                window.pos = len(window.text)

    def _literal(self, spellings: tuple[str, ...]) -> Generator[None, None, bool]:
        window = self.window
        while True:
            rest = window.text[window.pos : window.pos + max(map(len, spellings))]
            for text in spellings:
                if rest.startswith(text):
                    window.pos += len(text)
                    return True
            if window.final or not any(text.startswith(rest) for text in spellings):
                return False
            yield

    # --- the calls ---------------------------------------------------------------------------

    def _objects(self, word: CallObject, stops: tuple[str, ...]) -> Generator[None, None, bool]:
        """All call objects up to the closer; false when one could not be read."""
        window, listed, count, comma = self.window, False, 0, False
        while True:
            if not word.opens or listed or not count:
                char = yield from self._next()
            if word.opens and not listed and count:
                return True
            if len(self.collector.calls) >= MAX_CALLS:
                return False
            if char == "{":
                if count == 1 and not listed and not word.array:
                    self._mend("several-calls", "several calls between one pair of markers")
                if not (yield from self._object(word, stops)):
                    return False
                count, comma = count + 1, False
            elif char == "[" and not listed and not count:
                listed = True
                window.pos += 1
                if not word.array:
                    message = "an array where one object belongs"
                    self._frame = (*self._frame, self._repair("several-calls", message))
            elif char in (",", ";") and count and not comma:
                comma = True
                window.pos += 1
            elif char == "]" and listed:
                listed = False
                window.pos += 1
                if word.opens:
                    return True
            elif char == "}" and count and not word.opens:
                self._mend("extra-closer", "a bracket too many after a complete call")
                window.pos += 1
            else:
                if listed and count:
                    self._mend("unclosed", "an array of calls that was never closed")
                elif not count:
                    self._nothing(char)
                return bool(count)

    def _object(self, word: CallObject, stops: tuple[str, ...]) -> Generator[None, None, bool]:
        """One object: a call, or content. False when it could not be read to its end."""
        window = self.window
        self._settle()
        start = window.offset
        read = yield from JsonReader(window, stops).read()
        end = window.offset
        if isinstance(read, Unreadable):
            self._refuse_unreadable(read, start, end)
            return False
        verdict = judge(
            read.value,
            read=read,
            word=word,
            format_name=self.format.name,
            marked=self.format.marked,
            span=Span(start, end),
            tools=self.tools,
            level=self.level,
            repairs=self._frame,
        )
        if read.truncated:
            self.collector.truncated = True
        if self.quoted:
            self.collector.diagnose("quoted", "a call in inline code is only quoted", start, end)
            self._content(end)
            return True
        for note in verdict.notes if verdict.call or verdict.attempt else ():
            self.collector.diagnose(note.code, note.message, start, end)
        if verdict.call:
            self._markup(start)
            self._accepted += 1
            self._pending = (verdict.call, end)
            self._loose_from = end
            return True
        if verdict.attempt:
            self.collector.attempt(start, cut=read.truncated)
        if read.truncated and not any(note.code == "truncated" for note in verdict.notes):
            self.collector.diagnose("truncated", "the text ends inside an object", start, end)
        self._content(end)
        return verdict.attempt or self.format.marked

    def _refuse_unreadable(self, read: Unreadable, start: int, end: int) -> None:
        self.failed = True
        if (self.format.marked or looks_like_a_call(read.so_far)) and not self.quoted:
            self.collector.diagnose(read.code, read.message, start, end)
            self.collector.attempt(start)
        self._content(end)

    def _nothing(self, char: str) -> None:
        """An array without a call in it, or one that does not begin like one."""
        window = self.window
        self.failed = True
        if not self.format.marked or self.quoted:
            self._content(window.offset)
        elif char == "":
            self._cut("the text ends before a call")
        else:
            self.collector.diagnose(
                "invalid-json", f"{char!r} where a call was expected", self.start, window.offset
            )
            self.collector.attempt(self.start)
            self._content(window.offset)

    def _cut(self, message: str) -> None:
        if not self.quoted:
            self.collector.diagnose("truncated", message, self.start, self.window.offset)
            self.collector.attempt(self.start, cut=True)
        self._content(self.window.offset)

    # --- handing on --------------------------------------------------------------------------

    def _settle(self) -> None:
        """Hand on the call that waited for what follows it, which could have been a mend."""
        if self._pending:
            call, _ = self._pending
            self._pending = None
            refused = (
                [r for r in call.repairs if r.level != "strict"] if self.level == "strict" else []
            )
            span = call.span or Span(0, 0)
            if refused:
                code = "unclosed" if refused[0].code == "unclosed" else "invalid-json"
                self.collector.diagnose(code, f"{refused[0].message} (strict)", *span)
                self.collector.attempt(span.start)
                self.collector.piece("content", *span)
            else:
                self.collector.call(call)

    def _mend(self, code: str, message: str) -> None:
        """A mend of the frame, told at the last call."""
        if self._pending:
            call, end = self._pending
            self._pending = (
                replace(call, repairs=(*call.repairs, self._repair(code, message))),
                end,
            )

    def _repair(self, code: str, message: str) -> Repair:
        at = self.window.offset
        return Repair(code, message, Span(at, at + 1))

    def _markup(self, end: int | None = None) -> None:
        end = self.window.offset if end is None else end
        self.collector.piece("markup", self._loose_from, end)
        self._loose_from = end

    def _content(self, end: int) -> None:
        self.collector.piece("content", self._loose_from, end)
        self._loose_from = end

    # --- waiting -----------------------------------------------------------------------------

    def _next(self) -> Generator[None, None, str]:
        """The next character that is no white space; "" at the end of the text."""
        yield from self._space()
        return self.window.text[self.window.pos : self.window.pos + 1]

    def _space(self) -> Reading[None]:
        window = self.window
        while True:
            space = _SPACE.match(window.text, window.pos)
            window.pos = space.end() if space else window.pos
            if window.pos < len(window.text) or window.final:
                return
            yield

    def _bounded(self, pattern: re.Pattern[str]) -> Reading[None]:
        window = self.window
        while True:
            found = pattern.match(window.text, window.pos)
            end = found.end() if found else window.pos
            if end < len(window.text) or window.final:
                window.pos = end
                return
            yield


def _parts(form: Format) -> tuple[tuple[object, ...], CallObject, tuple[object, ...]]:
    index = form.words.index(form.call)
    return form.words[:index], form.call, form.words[index + 1 :]


def _stops(after: tuple[object, ...], *, fenced: bool) -> tuple[str, ...]:
    """What ends a value that was left open: the closer, and the fence inside the frame."""
    closer = after[-1] if after else None
    spellings = closer.spellings if isinstance(closer, Literal) else ()
    return (*spellings, FENCE) if fenced else spellings
