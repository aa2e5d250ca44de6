"""A block of calls: what every kind is read with, and the kinds whose calls are objects or Python.

A call waits until what follows it is known, because a missing or doubled closer is a repair of it
that the level may not allow. What was refused becomes content again, what frames the calls is
markup.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from tunaeval import limits
from tunaeval.grammar import CallObject, Literal, Markup, Name, Space, Word, spellings
from tunaeval.grammar.format import Format
from tunaeval.types.calls import JsonValue, Repair, Span, ToolCall, Tools
from tunaeval.types.parsing import Level

from .collect import Collector, LiveCall, LiveObject
from .finder import FENCE, twice
from .judge import Objects, Verdict, judge, may_have_ended_early, object_at, refusal, unreadable
from .repair.dialects import BraceReader, PythonReader, plain_arguments
from .repair.machine import JsonReader
from .repair.values import QUOTES, Read, Unreadable
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
    """Return what a bounded pattern matches here, and pass over it."""
    while True:
        found = pattern.match(window.text, window.pos)
        end = found.end() if found else window.pos
        if end < len(window.text) or window.final:
            text = window.text[window.pos : end]
            window.pos = end
            return text
        yield


def peek(window: Window, reading: Reading[T]) -> Reading[T]:
    """Return what is read here, and do not pass over it."""
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
    """Return the spellings of the fixed text behind a JSON object, which ends an unclosed one.

    A text that could be part of an object ends none. Without a text behind the object, the next
    call's opener ends it, unless that is a sign alone.
    """
    ends = form.envelope.closes if form.envelope else None
    found = next((word for word in after if isinstance(word, Literal)), ends)
    if not found and form.opener and len(form.opener.text) >= limits.SHORTEST_OPENER:
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
        """Return the schema of a tool's arguments; an empty one where the tools say nothing."""
        if self.tools is None or name is None or name not in self.tools:
            return {}
        return self.tools[name].parameters


class Begun(ABC):
    """A block of `form` that begins at offset `start`; used once.

    `quoted` says that it is in inline code, where calls do not count. After `read` the window is
    behind the block, and `had_body` says whether anything like a call was there, `failed` that an
    object could not be read, so its inside follows, and `closed` that nothing of the block can
    follow. A name alone is no call where `doubtful` is set.
    """

    def __init__(self, setting: Setting, form: Format, start: int, *, quoted: bool) -> None:
        self.had_body = self.failed = self.closed = self.doubtful = False
        self.frame: tuple[Repair, ...] = ()
        """Repairs of what is around the calls, which count for each of them."""
        self._setting = setting
        self._window, self._collector = setting.window, setting.collector
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
        """How many calls have not been handed on."""
        return len(self._held) + (self._waiting is not None)

    def _markup_to(self, end: int) -> None:
        """Add the text up to `end` that no piece covers yet, as a piece of markup."""
        self._collector.piece("markup", self._done, end)
        self._done = end

    def _content_to(self, end: int) -> None:
        """Add all up to `end` that is not yet in a piece as content."""
        self._release()
        self._collector.piece("content", self._done, end)
        self._done = end

    def _repair_here(self, code: str, message: str, level: Level = "standard") -> Repair:
        """Return a repair at the window's position."""
        at = self._window.offset
        return Repair(code, message, Span(at, at + 1), level)

    def _repair_last(self, code: str, message: str, level: Level = "standard") -> None:
        """Add a repair of what is around the calls here to the call that waits."""
        if self._waiting:
            repairs = (*self._waiting.repairs, self._repair_here(code, message, level))
            self._waiting = replace(self._waiting, repairs=repairs)

    def _settle(self) -> None:
        """Hold the call that waited, as nothing can change it any more, and hand on what is held.

        At level "strict" that is done at the block's end: it gives all of its calls, or none.
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
                self._collector.drop()
                self._collector.refuse(*forbidden, *span)
                self._collector.piece("content", self._done, span.end)
            else:
                self._markup_to(span.start)
                self._accepted += 1
                self._collector.call(call)
            self._done = span.end

    def _fail(self, code: str, message: str, *, cut: bool = False) -> None:
        """Refuse all since the block began, for there is no call; it is content."""
        span = Span(self._start, self._window.offset)
        if not self._quoted:
            self._collector.refuse(code, message, *span, cut=cut)
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
        """Read the object here, whose texts have a `mark` around them; see `LiveObject`."""
        window, known = self._window, self._setting.known
        if window.final and not (live or mark):
            read, window.pos = object_at(window.text, window.pos, window.base, stops, known)
            return read
        reader = BraceReader(window, mark, stops) if mark else JsonReader(window, stops)
        if live is None:
            return (yield from reader.read())
        grown = LiveObject(live, reader.pieces, depth=depth, keys=keys, marked=self._form.marked)
        self._collector.live = grown
        found = yield from reader.read()
        grown.update()
        self._collector.live = None
        return found

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
        collector = self._collector
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
        self._collector.diagnose("quoted", "a call in inline code is only quoted", *span)

    def _close_at(self, end: int, stray: Span | None = None) -> None:
        """The block ends: its rest is markup if there were calls in it, else content.

        `stray` is text in there that is content all the same.
        """
        self._settle()
        self._release()
        self._collector.drop()
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
        """Note the repair of a missing closer; return whether the text ends here."""
        window = self._window
        ends = window.pos == len(window.text)
        where = "the text ends" if ends else "other text follows"
        self._repair_last("unclosed", f"{where} before {closer.text!r}")
        if window.final and cut_off(window, closer.spellings):
            window.pos = len(window.text)
        return ends


def another(form: Format, window: Window) -> Reading[bool]:
    """Return whether the fixed text before a name is here: another call, of an unclosed block."""
    before = next((word.before for word in form.words if isinstance(word, Name)), "")
    inner = next((word for word in form.words[1:] if not isinstance(word, Space)), None)
    texts = inner.spellings if isinstance(inner, Literal) else (before,) if before else ()
    return bool(form.opener) and (yield from peek(window, literal(window, texts)))


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


class ObjectBlock(Begun):
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
        if not fits and window.offset - last <= limits.MARGIN and self._doubled:
            window.pos = last - window.base  # the last opener may be that of another format
        return fits

    def _calls(self, word: CallObject, stops: tuple[str, ...]) -> Reading[bool]:
        """Read call objects up to the closer; return False when they cannot be read so far."""
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
        """Read objects one after the other, in a list or not."""
        window, single = self._window, not (listed or word.array or word.joined)
        count, comma = 0, False
        while True:
            char = yield from next_char(window)
            if char == "{":
                if self._collector.is_full(self._count):
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
        """Add a repair to the call before a bracket too many, up to as many as a value may have."""
        self._extra += 1
        if self._extra <= limits.MAX_REPAIRS:
            message = "a bracket too many after a complete call"
            level: Level = "lenient" if may_have_ended_early(self._last) else "standard"
            self._repair_last("extra-closer", message, level)

    def _ended(self, char: str, count: int, *, listed: bool, comma: bool) -> bool:
        """Report what follows in place of an object; return whether the calls so far count."""
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
        live = None if self._quoted else collector.begin(self._held, start, setting.tools)
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


_Found: TypeAlias = tuple[str, Span, Read | Unreadable, tuple[Repair, ...]]
"""A call: its name, where it is, what could be read of it, and repairs of what is around it."""

_BEHIND = re.compile(r"[ \t]*+(?:<?\Z|(?=[\r\n]|<\|))")
_TRAIL = re.compile(r"(?:\(\))?+[.,;]?+[ \t]{0,16}+(?:\Z|(?=[\r\n#]))")
"""Signs behind a list that begins its line: of a sentence, or of a call of what it returns."""

NAME = re.compile(r"[^\W\d][\w.:-]{0,127}+")

_HEAD = re.compile(rf"{NAME.pattern}{limits.NEAR_SPACE}\(?")
"""In a row that nothing closes, what another call begins with; without a parenthesis it is text."""

IN_PROGRAM_STRING = r"[\"']{3}[ \t]{0,8}\n?[ \t]{0,40}"
"""What is before the first line of a string of several lines, in a program."""

_CODE_BEFORE = re.compile(
    r"(?:[\w)\]]|[+*{\[][ \t]{0,8}|[=(,]\s{0,24}|(?:\breturn|\byield|==)[ \t]{1,8}|\S\s{0,24}"
    + IN_PROGRAM_STRING
    + r")\Z"
)
"""What is before a list in a program: a name, an assignment, an argument, a string's quotes."""

_IN_PYTHON = re.compile(r"""[][(){}:,"'=*#\w+-]""").match

QUOTING = ("'", '"', "`")
_QUOTE = re.compile("['\"`]?+")
_LOOSE = re.compile(r"""[\s,;\[\]'"`]*+""")
"""Between calls that are all of a reply: lists in lists, quotes, commas, semicolons, new lines."""


class PythonBlock(Begun):
    """Reads a block of Python calls, as in `[f(a=1), g()]`, or one on each line.

    Between markers a call that cannot be read is refused alone, if its end can be found. A list
    without markers is held to its end, for only one that is well-formed up to there is a list of
    calls: comprehensions, links and indices begin like it. It also has to end its line, as words
    behind it speak of it, and if none of its names is known to be a tool it has to have its lines
    for itself: attributes, logs and list items begin like it too.

    `begins_line`: nothing but white space or markup stands before it in its line.
    """

    def __init__(
        self, setting: Setting, form: Format, start: int, *, quoted: bool, begins_line: bool
    ) -> None:
        super().__init__(setting, form, start, quoted=quoted)
        self._bare = form.opener is None
        ends = (form.closer, (form.around or (None, None))[1])
        texts = (text for word in ends for text in spellings(word) if text)
        self._stops = tuple(text for text in texts if not _IN_PYTHON(text))
        """The texts behind calls, which no call goes beyond; none begins as a part of one."""
        self._found: list[_Found] = []
        self._likely = not self._bare
        self._known = False
        self._alone = begins_line or quoted or not self._bare
        self._begins_line = begins_line
        self._broken = False
        self._apart = False

    def read(self) -> Reading[None]:
        """Read it. Without a body nothing is handed on but what was cut off."""
        window = self._window
        if self._form.whole:
            yield from self._read_unit()
            return
        if self._bare:
            yield from self._read_bare()
            return
        char = yield from next_char(window)
        if not char:
            self._fail("truncated", "the text ends behind the opener", cut=True)
            return
        self._apart = window.preceding(window.pos).endswith(" ")
        listed = char == "["
        commented = char == "#" and (yield from self._passes_joint())
        if not (listed or commented or _begins_name(char)):
            return
        window.pos += listed
        self.had_body = listed or commented
        ended = yield from self._row(listed=listed)
        if not self.had_body:
            return
        self.failed = not ended
        if ended and not self._collector.full:
            if self._form.closer:
                yield from self._pass_closer(self._form.closer)
            else:
                yield from next_char(window)
        self._close_at(window.offset)

    def _read_bare(self) -> Reading[None]:
        """Read a list without markers: all of it is calls, or all of it is text."""
        window, self.had_body = self._window, True
        start = max(0, window.pos - limits.LIST_BEFORE)
        code = _CODE_BEFORE.search(window.text, start, window.pos)
        window.pos += 1
        if not code:
            ended = yield from self._row(listed=True)
            if ended and self._convinces() and (yield from self._stands_alone()):
                self._hand_on()
            elif self._broken:
                self._refuse_found(*self._found[-1][1:3])
        self._close_at(window.offset)

    def _read_unit(self) -> Reading[None]:
        """Read all of the text as calls, one of which has to name a tool."""
        window = self._window
        depth = yield from self._loose_row()
        self.had_body = depth is not None and (self._known or self._setting.tools is None)
        if depth is None or not self.had_body:
            return
        self._likely = True
        self._hand_on()
        if depth:
            code, what = ("unclosed", "never closed") if depth > 0 else ("extra-closer", "no list")
            self._repair_last(code, f"a bracket around calls: {what}")
        self._close_at(window.offset)

    def _loose_row(self) -> Reading[int | None]:
        """Hold all calls; return how many lists are open at the end, or None at anything else."""
        window, depth = self._window, 0
        while True:
            joint = yield from bounded(window, _LOOSE)
            depth += joint.count("[") - joint.count("]")
            if window.pos == len(window.text):
                break
            quoted = joint[-1:] in QUOTING and joint != ""
            at, before, start = window.offset, len(self._found), window.pos
            if self._is_full():
                break
            if not _begins_name(window.text[window.pos]):
                return None
            note = Repair("quoted-call", "a call in quotes", Span(at - 1, at))
            whole = yield from self._call((note,) if quoted else ())
            if joint.isspace() and "\n" not in joint and "(" not in window.text[start:]:
                return None  # a word behind calls
            if not whole:
                last = self._found[-1][2] if len(self._found) > before else None
                if not (isinstance(last, Unreadable) and last.cut):
                    return None
                window.pos = len(window.text)
                break
        return depth if self._found else None

    def _convinces(self) -> bool:
        """Whether the list is taken for calls: by a known tool, a named argument, or as `[f()]`."""
        reads = [read for _, _, read, _ in self._found]
        sound = all(isinstance(read, Read) and not read.repairs for read in reads)
        return self._likely or (self._alone and sound)

    def _stands_alone(self) -> Reading[bool]:
        """Return whether nothing, or signs if the list begins its line and calls a known tool, is
        behind the list in its line.
        """
        window, signs = self._window, self._known and self._begins_line
        while True:
            text, end = window.text, window.pos + limits.LIST_AHEAD
            found = _BEHIND.match(text, window.pos, end)
            if not found and signs:
                found = _TRAIL.match(text, window.pos, end)
            if window.final or not found or found.end() < len(text) or len(text) >= end:
                alone = found is not None and not found[0].endswith("<")  # which begins no marker
                return alone or self._quoted or self._collector.full
            yield

    def _row(self, *, listed: bool) -> Reading[bool]:
        """Read calls up to the end of their row; return whether all could be separated."""
        window, count, comma = self._window, 0, True
        while True:
            char = yield from next_char(window)
            if _begins_name(char) and (comma or not self._bare):
                if self._is_full() or (count and not listed and (yield from self._is_text())):
                    return True
                if listed and not comma:
                    self._repair_last("missing-comma", "no comma between two calls")
                if not (yield from self._call()):
                    return False
                count, comma = count + 1, not listed
            elif char == "," and count and (not comma or not listed):
                comma = True
                window.pos += 1
            elif not listed and (count or char != ";") and (yield from self._passes_joint()):
                comma = True
            elif char == "]" and listed:
                window.pos += 1
                if not (count or self._bare):
                    self._fail("invalid-json", "a list without calls")
                return count > 0
            else:
                return (yield from self._ended(char, count, listed=listed))

    def _passes_joint(self) -> Reading[bool]:
        """Whether a comment or a semicolon is here, between calls on lines; it is passed over."""
        return bool((yield from bounded(self._window, _between_lines(self._form))))

    def _is_text(self) -> Reading[bool]:
        """Whether a word behind calls that nothing closes begins none; it is not passed over."""
        if self._bare or self._form.closer is not None:
            return False
        return not (yield from peek(self._window, bounded(self._window, _HEAD))).endswith("(")

    def _ended(self, char: str, count: int, *, listed: bool) -> Reading[bool]:
        """Report what follows in place of a call; return whether the calls so far count."""
        if not count:
            if char and not self._bare:
                self._fail("invalid-json", f"{char!r} where a call was expected")
            elif not self._bare:
                self._fail("truncated", "the text ends before a call", cut=True)
            return False
        if char and self._bare:
            over = yield from peek(self._window, literal(self._window, self._stops))
            if not over:
                return False
        if not self._convinces():
            return False
        if listed:
            self._hand_on()
            self._repair_last("unclosed", "a list of calls that was never closed")
        return True

    def _call(self, frame: tuple[Repair, ...] = ()) -> Reading[bool]:
        """Read one call; return False when what follows cannot be separated from it."""
        window, start = self._window, self._window.offset
        name = yield from bounded(window, NAME)
        if self._form.whole:
            yield from bounded(window, _QUOTE)
        char = yield from next_char(window)
        if char != "(":
            return self._no_call(name, start, char)
        self.had_body, broken = True, False
        plain = plain_arguments(window.text, window.pos)
        if plain:
            read: Read | Unreadable = Read(plain[0])
            window.pos, named = plain[1], bool(plain[0])
        else:
            reader = PythonReader(window, self._places(name), self._stops)
            read = yield from reader.read()
            broken, named = isinstance(read, Unreadable) and not reader.whole, reader.named
            if broken:
                yield from reader.skip(lines=not self._bare)
                broken = not reader.whole
        tools = self._setting.tools
        self._known = self._known or (tools is not None and name in tools)
        self._likely = self._likely or self._known or (named and self._alone)
        self._found.append((name, Span(start, window.offset), read, frame))
        if not self._bare:
            self._hand_on()
        self._broken = broken
        return not broken

    def _no_call(self, name: str, start: int, char: str) -> bool:
        """Report a name without a parenthesis; return whether the text ends behind it."""
        cut = not char
        self.had_body = self.had_body or (cut and not self._apart)
        if self.had_body:
            message = f"the text ends behind {name[:60]!r}" if cut else f"{char!r} behind a name"
            why = Unreadable("truncated" if cut else "invalid-json", message, cut=cut)
            self._found.append((name, Span(start, self._window.offset), why, ()))
            if not self._bare:
                self._hand_on()
        return cut

    def _is_full(self) -> bool:
        return self._collector.is_full(self._count + len(self._found))

    def _places(self, name: str) -> tuple[str, ...]:
        """Return the parameters of the tool in their order."""
        properties = self._setting.parameters(name).get("properties")
        return tuple(properties) if isinstance(properties, Mapping) else ()

    def _hand_on(self) -> None:
        """Judge what was held, in order."""
        found, self._found = self._found, []
        for name, span, read, frame in found:
            self._settle()
            if self._quoted:
                self._refuse_quoted(span)
                self._content_to(span.end)
            elif isinstance(read, Unreadable):
                self._refuse_found(span, read)
            else:
                verdict = self._judge(read, span, name, frame=frame)
                if verdict.call or self._likely:
                    self._take(verdict, span)
                if not verdict.call:
                    self._content_to(span.end)

    def _refuse_found(self, span: Span, why: Read | Unreadable) -> None:
        """Report a call that could not be read; without markers only if it looked like one."""
        if isinstance(why, Unreadable) and self._likely and not self._quoted:
            self._collector.refuse(why.code, why.message, *span, cut=why.cut)
        self._content_to(span.end)


def _begins_name(char: str) -> bool:
    return char.isalpha() or char == "_"


@lru_cache(maxsize=64)
def _between_lines(form: Format) -> re.Pattern[str]:
    """A semicolon, or a comment, which ends at the closer; what the closer begins with is neither.

    Only where calls are written on lines, and something closes them.
    """
    if form.python is None or form.python.listed or form.closer is None:
        return re.compile(r"(?!)")
    ends = [text.lstrip() for text in form.closer.spellings]
    comment = rf"#(?:(?!{'|'.join(map(re.escape, ends))})[^\n]){{0,{limits.COMMENT_AHEAD}}}+"
    signs = {";": ";", "#": comment}
    return re.compile("|".join(signs[sign] for sign in signs if sign not in {e[:1] for e in ends}))
