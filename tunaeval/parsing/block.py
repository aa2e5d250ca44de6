"""A block that has begun: what every kind of block is read with, and how its calls are handed on.

A call waits until what follows it is known, because a missing or doubled closer is a repair of it
that the level may not allow.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tunaeval.grammar import CallObject, Literal, Name, Space, Word
from tunaeval.grammar.format import Format
from tunaeval.limits import SHORTEST_OPENER
from tunaeval.types.calls import JsonValue, Repair, Span, ToolCall, Tools
from tunaeval.types.parsing import Level

from .collect import Collector, LiveCall, LiveObject
from .judge import Objects, Verdict, judge, object_at, refusal
from .repair.dialects import BraceReader
from .repair.machine import JsonReader
from .repair.values import Read, Unreadable
from .window import Reading, T, Window

_SPACE = re.compile(r"[ \t\r\n]*+")
_NAMED = CallObject()
"""Gives name and arguments their keys where the name is outside of the arguments."""


def next_char(window: Window) -> Reading[str]:
    """The next character that is no white space; "" at the end of the text."""
    while True:
        text = window.text
        pos = window.pos
        if text[pos : pos + 1] in (" ", "\t", "\r", "\n"):
            window.pos = pos = _SPACE.match(text, pos).end()  # type: ignore[union-attr]  # it matches nothing, too
        if pos < len(text) or window.final:
            return text[pos : pos + 1]
        yield


def bounded(window: Window, pattern: re.Pattern[str]) -> Reading[str]:
    """What a bounded pattern matches here, passed over."""
    while True:
        found = pattern.match(window.text, window.pos)
        end = found.end() if found else window.pos
        if end < len(window.text) or window.final:
            text = window.text[window.pos : end]
            window.pos = end
            return text
        yield


def peek(window: Window, reading: Reading[T]) -> Reading[T]:
    """What is read here; it is not passed over."""
    start = window.offset
    found = yield from reading
    window.pos = start - window.base  # where it is now: the window may have moved
    return found


def literal(window: Window, spellings: tuple[str, ...]) -> Reading[bool]:
    """Whether one of the texts is here, the longest of them; if so it is passed over."""
    while True:
        found = ""
        for text in spellings:
            if len(text) > len(found) and window.text.startswith(text, window.pos):
                found = text
        if window.final or not cut_off(window, spellings):
            window.pos += len(found)
            return bool(found)
        yield


def cut_off(window: Window, spellings: tuple[str, ...]) -> bool:
    """Whether the window's text ends inside one of the texts, or in front of it."""
    rest = window.text[window.pos : window.pos + max(map(len, spellings), default=0)]
    return any(len(text) > len(rest) and text.startswith(rest) for text in spellings)


def stops_of(form: Format, after: Sequence[Word]) -> tuple[str, ...]:
    """The fixed text behind a JSON object, which closes what was left open in it.

    One that begins as something in an object does is none: inside of one it could be that.
    Where nothing is behind it, the next call's opener is, if it is more than a sign.
    """
    ends = form.envelope.closes if form.envelope else None
    found = next((word for word in after if isinstance(word, Literal)), ends)
    if not found and form.opener and len(form.opener.text) >= SHORTEST_OPENER:
        return form.opener.spellings
    if not found or not found.text.strip() or any(map(_IN_OBJECT, found.spellings)):
        return ()
    return found.spellings


_IN_OBJECT = re.compile(r"""[][{}:,"'\w+-]""").match


@dataclass(frozen=True, slots=True)
class Setting:
    """What holds for every block of a text. `known` is for texts that are read more than once."""

    window: Window
    collector: Collector
    tools: Tools | None
    level: Level
    known: Objects | None = None

    def parameters(self, name: str | None) -> Mapping[str, JsonValue]:
        """The schema of a tool's arguments; an empty one where the tools say nothing."""
        if self.tools is None or name is None or name not in self.tools:
            return {}
        return self.tools[name].parameters


class Begun(ABC):
    """A block of `form` that begins at offset `start`; used once.

    `quoted`: it is in inline code, so its calls are only quoted. After `read` the window
    is where the block ended. `had_body` says whether anything like a call was there at all,
    `failed` that an object could not be read, so that what follows is the inside of it, `closed`
    that the closer was read, or that the text ended before it. `doubtful`: a name alone is no call.
    """

    def __init__(self, setting: Setting, form: Format, start: int, *, quoted: bool) -> None:
        self.had_body = self.failed = self.closed = self.doubtful = False
        self.frame: tuple[Repair, ...] = ()
        """Repairs of what is around the calls, which count for each of them."""
        self._setting = setting
        self._window = setting.window
        self._form = form
        self._start = start
        self._quoted = quoted
        self._done = start
        """Up to where the characters of the block are accounted for."""
        self._accepted = 0
        self._waiting: ToolCall | None = None
        self._held: list[ToolCall] = []

    @abstractmethod
    def read(self) -> Reading[None]:
        """Read it. Without a body nothing is handed on but what was cut off."""

    @property
    def _count(self) -> int:
        """Calls that have not been handed on."""
        return len(self._held) + (self._waiting is not None)

    def _markup_to(self, end: int) -> None:
        """What has not been accounted for up to `end` frames calls."""
        self._setting.collector.piece("markup", self._done, end)
        self._done = end

    def _content_to(self, end: int) -> None:
        """What has not been accounted for up to `end` is text like any other."""
        self._release()
        self._setting.collector.piece("content", self._done, end)
        self._done = end

    def _repair_here(self, code: str, message: str, level: Level = "standard") -> Repair:
        """A repair at the window's position."""
        at = self._window.offset
        return Repair(code, message, Span(at, at + 1), level)

    def _repair_last(self, code: str, message: str, level: Level = "standard") -> None:
        """Add a repair of what is around the calls here to the call that waits."""
        if self._waiting:
            repairs = (*self._waiting.repairs, self._repair_here(code, message, level))
            self._waiting = replace(self._waiting, repairs=repairs)

    def _settle(self) -> None:
        """Move the call that waits to the calls that are handed on, as nothing can change it now.

        At level "strict" they are handed on when the block ends: there it has all of its calls, or
        none.
        """
        if self._waiting:
            self._held.append(self._waiting)
            self._waiting = None
        if self._held and self._setting.level != "strict":
            self._release()

    def _release(self) -> None:
        """Hand on the held calls; refuse all if the level forbids a repair of one of them."""
        if not self._held:
            return
        calls, self._held = self._held, []
        made = [repair for call in calls for repair in call.repairs]
        forbidden = refusal(made, self._setting.level)
        for call in calls:
            span = call.span or Span(self._done, self._done)
            if forbidden:
                self._setting.collector.drop()
                self._refuse(*forbidden, span)
                self._setting.collector.piece("content", self._done, span.end)
            else:
                self._markup_to(span.start)
                self._accepted += 1
                self._setting.collector.call(call)
            self._done = span.end

    def _refuse(self, code: str, message: str, span: Span, *, cut: bool = False) -> None:
        """An attempt that gives no call, and why."""
        self._setting.collector.diagnose(code, message, *span)
        self._setting.collector.attempt(span.start, cut=cut)

    def _fail(self, code: str, message: str, *, cut: bool = False) -> None:
        """Refuse all since the block began, for there is no call; it is content."""
        span = Span(self._start, self._window.offset)
        if not self._quoted:
            self._refuse(code, message, span, cut=cut)
        self._content_to(span.end)

    def _object_here(
        self,
        stops: tuple[str, ...],
        live: LiveCall | None,
        *,
        depth: int,
        keys: tuple[str, str] | None = None,
        mark: str = "",
    ) -> Reading[Read | Unreadable]:
        """Read the object here, and report it while it grows, if anybody listens.

        `depth`, `keys`: see `LiveObject`; `mark` is around the object's texts.
        """
        window, known = self._window, self._setting.known
        if window.final and not (live or mark):
            read, window.pos = object_at(window.text, window.pos, window.base, stops, known)
            return read
        reader = BraceReader(window, mark, stops) if mark else JsonReader(window, stops)
        if live is None:
            return (yield from reader.read())
        grown = LiveObject(live, reader.pieces, depth=depth, keys=keys, marked=self._form.marked)
        return (yield from self._setting.collector.follow(grown, reader))

    def _judge(
        self,
        read: Read,
        span: Span,
        name: str | None = None,
        *,
        word: CallObject | None = None,
        frame: tuple[Repair, ...] = (),
    ) -> Verdict:
        """Judge a whole call as `word` describes it, or arguments whose tool has this name."""
        setting = self._setting
        if word is None:
            word, value = _NAMED, {_NAMED.name: name, _NAMED.arguments: read.value}
            read = Read(value, read.repairs, read.notes, read.truncated)
        return judge(
            read, word=word, form=self._form, span=span,
            tools=setting.tools, level=setting.level, frame=(*self.frame, *frame),
        )  # fmt: skip

    def _take(self, verdict: Verdict, span: Span) -> None:
        """Take what was judged: a call waits for what follows it, anything else is diagnosed."""
        collector = self._setting.collector
        if verdict.call and not (verdict.notes or verdict.truncated or self._quoted):
            self._waiting = verdict.call
            return
        collector.truncated = collector.truncated or verdict.truncated
        if self._quoted:
            self._refuse_quoted(span)
            return
        collector.verdict(verdict, span)
        self._waiting = verdict.call
        if verdict.call is None:
            collector.drop(self._count)

    def _refuse_quoted(self, span: Span) -> None:
        self._setting.collector.diagnose("quoted", "a call in inline code is only quoted", *span)

    def _close_at(self, end: int, stray: Span | None = None) -> None:
        """The block ends: its rest is markup if there were calls in it, else content.

        `stray` is text in there that is content all the same.
        """
        self._settle()
        self._release()
        self._setting.collector.drop()
        if self._accepted and stray:
            self._markup_to(stray.start)
            self._content_to(stray.end)
        (self._markup_to if self._accepted else self._content_to)(end)

    def _pass_closer(self, closer: Literal) -> Reading[None]:
        """Pass over the closer here; one that is missing is a repair of the last call.

        The beginning of the closer in which the text ends belongs to the block.
        """
        yield from next_char(self._window)
        self.closed = yield from literal(self._window, closer.spellings)
        if not self.closed:
            self.closed = self._missed(closer)

    def _missed(self, closer: Literal) -> bool:
        """A closer is not here, which is a repair; whether that is because the text ends."""
        window = self._window
        ends = window.pos == len(window.text)
        where = "the text ends" if ends else "other text follows"
        self._repair_last("unclosed", f"{where} before {closer.text!r}")
        if window.final and cut_off(window, closer.spellings):
            window.pos = len(window.text)
        return ends


def another(form: Format, window: Window) -> Reading[bool]:
    """Whether another call follows in a block that was not closed, by what is before its name.

    That is in the name's word, or a fixed text of its own behind the opener.
    """
    before = next((word.before for word in form.words if isinstance(word, Name)), "")
    inner = next((word for word in form.words[1:] if not isinstance(word, Space)), None)
    texts = inner.spellings if isinstance(inner, Literal) else (before,) if before else ()
    return bool(form.opener) and (yield from peek(window, literal(window, texts)))
