"""Readers of a block of calls: their base class, and those for JSON objects and Python calls.

Where the format has a closer, a call that was read waits until the text after it is known, because
a missing or doubled closer is a repair of the call, which the level may forbid. Refused text
becomes content, and the text around the calls becomes markup.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import TypeAlias

import orjson

from tunaeval import limits
from tunaeval.grammar import CallObject, Literal, Markup, Name, Space, Word, spellings
from tunaeval.grammar.combine import TAGS, inside
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import JSON
from tunaeval.limits import MAX_DIGITS, MAX_FAST
from tunaeval.types.calls import JsonObject, JsonValue, Repair, Span, ToolCall, Tools
from tunaeval.types.parsing import Level

from .collect import Collector, LiveCall, LiveObject
from .finder import FENCE, SPACE, after_opener, twice
from .judge import (
    JudgedCall,
    Objects,
    forbidden_at,
    judge,
    may_have_ended_early,
    object_at,
    sound_call,
    unreadable,
)
from .repair.dialects import BraceReader, PythonReader, plain_arguments
from .repair.machine import JsonReader
from .repair.values import ATOMS, QUOTES, SPACES, Read, Unreadable, nothing_hidden
from .window import Reading, T, Window

_SPACE = re.compile(SPACE)
_REPAIRS = attrgetter("repairs")
_NAMED = CallObject()
"""Has the keys of a call object that is made where the name is outside of the arguments."""


def next_char(window: Window) -> Reading[str]:
    """Skip white space and return the next character; "" at the end of the text."""
    while True:
        text = window.text
        pos = window.pos
        if text[pos : pos + 1] in (" ", "\t", "\r", "\n"):
            window.pos = pos = _SPACE.match(text, pos).end()  # type: ignore[union-attr]  # it matches nothing, too
        if pos < len(text) or window.final:
            return text[pos : pos + 1]
        yield


def bounded(window: Window, pattern: re.Pattern[str]) -> Reading[str]:
    """Skip what a bounded pattern matches here, and return it; "" if the pattern does not match."""
    while True:
        found = pattern.match(window.text, window.pos)
        end = found.end() if found else window.pos
        if end < len(window.text) or window.final:
            text = window.text[window.pos : end]
            window.pos = end
            return text
        yield


def peek(window: Window, reading: Reading[T]) -> Reading[T]:
    """Return what `reading` reads here, and move the window back to where it began."""
    start = window.offset
    found = yield from reading
    window.pos = start - window.base  # `start` as an index now: the window may have moved
    return found


def literal(window: Window, spellings: tuple[str, ...]) -> Reading[bool]:
    """Skip the longest of the texts that is here; return False if none of them is."""
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
    """Whether the text ends here, or after an incomplete beginning of one of the spellings."""
    rest = window.text[window.pos : window.pos + max(map(len, spellings), default=0)]
    return bool([text for text in spellings if text.startswith(rest) and len(text) > len(rest)])


def stops_of(form: Format, after: Sequence[Word]) -> tuple[str, ...]:
    """Return the texts that end a JSON object without a closing bracket.

    They are those of the first literal in `after`, the words after the object, or of a message's
    end, unless they could be part of an object. Without either it is the opener, if long enough.
    """
    ends = form.envelope.closes if form.envelope else None
    found = next((word for word in after if isinstance(word, Literal)), ends)
    if not found and form.opener and len(form.opener.text) >= limits.SHORTEST_OPENER:
        return form.opener.spellings
    if not found or not found.text.strip() or any(map(_IN_OBJECT, found.spellings)):
        return ()
    return found.spellings


_IN_OBJECT = re.compile(r"""[][{}:,"'\w+-]""").match


Sound: TypeAlias = tuple[JsonObject, int, int, int]
"""A valid object between a format's fixed texts: its value, the indices where it begins and ends,
and that where the block ends.
"""


@dataclass(slots=True, eq=False)
class Setting:
    """What the readers of a text's blocks share; `known` caches objects for a second reading.

    `tags`: objects with any keys are read in any tag, as tools are given. `dialects` are formats of
    objects without markers that have other keys than those of the first such format. `first` is a
    format, and what its reader of sound blocks has found at the beginning of the text.
    """

    window: Window
    collector: Collector
    tools: Tools | None
    level: Level
    known: Objects | None = None
    tags: bool = False
    dialects: tuple[Format, ...] = ()
    first: tuple[Format, Sound | None] | None = None

    def parameters(self, name: str | None) -> Mapping[str, JsonValue]:
        """Return the schema of a tool's arguments; an empty one if the tool is not known."""
        if self.tools is None or name is None or name not in self.tools:
            return {}
        return self.tools[name].parameters


class Block(ABC):
    """Reads one block of `form` that begins at offset `start` of the whole text; used once.

    `quoted`: the block is in inline code, where calls do not count. After `read`, the window is
    after the block, or inside it if `failed`: a part could not be read. `had_body`: the block had
    anything like a call. `closed`: the closer was read, or the text ends where it belongs. If
    `doubtful` is set, a name without arguments is no call.
    """

    def __init__(self, setting: Setting, form: Format, start: int, *, quoted: bool) -> None:
        self.had_body = self.failed = self.closed = self.doubtful = False
        self.frame: tuple[Repair, ...] = ()
        """Repairs of the text around the calls, which are added to each call."""
        self._setting = setting
        self._window, self._collector = setting.window, setting.collector
        self._form = form
        self._start = start
        self._quoted = quoted
        self._done = start
        """The offset up to which the block is already in pieces of the collector."""
        self._accepted = 0
        self._waiting: ToolCall | None = None
        self._held: list[ToolCall] = []

    @abstractmethod
    def read(self) -> Reading[None]:
        """Read the block. If it has no body, at most a cut-off call is reported."""

    @property
    def _count(self) -> int:
        """The number of calls that were read and not yet passed to the collector."""
        return len(self._held) + (self._waiting is not None)

    def _markup_to(self, end: int) -> None:
        """Add the text from `_done` up to offset `end` as markup."""
        self._collector.piece("markup", self._done, end)
        self._done = end

    def _content_to(self, end: int) -> None:
        """Add the text up to `end` as content; the held calls, which are before it, go first."""
        self._release()
        self._collector.piece("content", self._done, end)
        self._done = end

    def _repair_here(self, code: str, message: str, level: Level = "standard") -> Repair:
        """Return a repair of the character at the window's position."""
        at = self._window.offset
        return Repair(code, message, Span(at, at + 1), level)

    def _repair_last(self, code: str, message: str, level: Level = "standard") -> None:
        """Add a repair of the text at the window's position to the waiting call, if any."""
        if self._waiting:
            repairs = (*self._waiting.repairs, self._repair_here(code, message, level))
            self._waiting = replace(self._waiting, repairs=repairs)

    def _settle(self) -> None:
        """Hold the waiting call, which later text cannot change.

        The held calls are released at once. At level "strict" they are released when the block
        ends, because there a block gives all of its calls or none.
        """
        if self._waiting:
            self._held.append(self._waiting)
            self._waiting = None
        if self._held and self._setting.level != "strict":
            self._release()

    def _release(self) -> None:
        """Pass the held calls to the collector; if one has a forbidden repair, refuse them all."""
        if not self._held:
            return
        calls, self._held = self._held, []
        made = [*chain.from_iterable(map(_REPAIRS, calls))]
        forbidden = forbidden_at(made, self._setting.level) if made else None
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
        """Refuse the block up to the position: add it as content and, if not quoted, report why."""
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
        """Read the object here, and report it to `live`; one of `stops` ends it if it is unclosed.

        A `mark` is around its strings if it is not JSON. For `depth` and `keys` see `LiveObject`.
        """
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
        keyed: bool = True,
    ) -> JudgedCall:
        """Judge an object: a whole call if `word` describes it, else the arguments of `name`."""
        setting, form = self._setting, self._form
        value = read.value
        if word and isinstance(value, dict):
            tag = TAGS.get(form.opener.text) if setting.tags and form.opener else None
            if tag and "function_name" in value:
                form = inside(JSON, tag)  # no format has this key, which JSON in a tag may have
            elif not (form.marked or _has_keys(word, value)):
                named = (one for one in setting.dialects if one.call and _has_keys(one.call, value))
                form = next(named, form)
            word = form.call
        if word is None:
            if not (read.repairs or read.notes or read.truncated or frame or self.frame):
                call = sound_call(name, value, form.name, span, setting.tools)
                if call is not None:
                    return JudgedCall(call)
            word, value = _NAMED, {_NAMED.name: name, _NAMED.arguments: read.value}
            read = Read(value, read.repairs, read.notes, read.truncated)
        return judge(
            read, word=word, form=form, span=span,
            tools=setting.tools, level=setting.level, frame=(*self.frame, *frame), keyed=keyed,
        )  # fmt: skip

    def _take(self, verdict: JudgedCall, span: Span) -> None:
        """Make a judged call the waiting one, and report its notes; or report why it is no call."""
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
        """End the block at offset `end`: its rest is markup if it gave calls, else content.

        `stray` is a span in the block that is content in both cases.
        """
        self._settle()
        if self._held:
            self._release()
        self._collector.drop()
        if self._accepted and stray:
            self._markup_to(stray.start)
            self._content_to(stray.end)
        (self._markup_to if self._accepted else self._content_to)(end)

    def _pass_closer(self, closer: Literal) -> Reading[None]:
        """Skip the closer here, or add a repair to the last call if the closer is missing.

        An incomplete closer at the end of the text belongs to the block.
        """
        yield from next_char(self._window)
        self.closed = yield from literal(self._window, closer.spellings)
        if not self.closed:
            self.closed = self._missed(closer)

    def _missed(self, closer: Literal) -> bool:
        """Add the missing closer's repair to the waiting call; return whether the text ends."""
        window = self._window
        ends = window.pos == len(window.text)
        where = "the text ends" if ends else "other text follows"
        self._repair_last("unclosed", f"{where} before {closer.text!r}")
        if window.final and cut_off(window, closer.spellings):
            window.pos = len(window.text)
        return ends


def _has_keys(word: CallObject, value: JsonObject) -> bool:
    """Whether an object has the word's own keys of name and arguments."""
    return word.name in value and word.arguments in value


def another(form: Format, window: Window) -> Reading[bool]:
    """Whether the text that begins a call after the opener is here, for another call of a block."""
    if form.opener is None:
        return False
    before = next((word.before for word in form.words if isinstance(word, Name)), "")
    inner = after_opener(form)
    texts = inner.spellings if inner else (before,) if before else ()
    return (yield from peek(window, literal(window, texts)))


_BODY = re.compile(r"\{|\[[ \t\r\n]{0,24}.?", re.DOTALL)
_MAY_BE_LISTED = frozenset("{[]}, \t\r\n#/\"'")
"""What may follow the `[` of a list of objects, as opposed to that of a marker."""

_LANGUAGE = re.compile(r"[A-Za-z0-9_+-]{0,24}+")


@lru_cache(maxsize=256)
def _parts_of(
    form: Format,
) -> tuple[tuple[Word, ...], tuple[str, ...], CallObject, tuple[Literal, ...], tuple[str, ...]]:
    """Return the words before the calls, the opener's spellings if it may be doubled, the word of
    the calls, the literals between it and the closer, and the texts that end an unclosed object.
    """
    words, call = form.words, form.call
    if call is None:
        raise ValueError(f"format {form.name!r} has its names outside; see `tagged`")
    at = words.index(call)
    between = tuple(word for word in words[at + 1 : -1] if isinstance(word, Literal))
    again = twice(form.opener) if form.marked else ()
    return words[1:at], again, call, between, stops_of(form, words[-1:])


_BETWEEN_OBJECTS = ",;{}"
"""What is read before a closer as more objects, or as what separates them."""

SoundReader: TypeAlias = Callable[[str, int], Sound | None]
"""Reads the object of the block whose opener is at an index of a complete text; returns None if the
block has to be read step by step.
"""


@lru_cache(maxsize=256)
def sound_block(form: Format) -> SoundReader:
    """Return the reader of a sound block, for a format with a JSON object between fixed texts.

    The text up to the first `}` before the fixed ending is decoded at once; one valid object ends
    there for every other reader, too. White space around the object may be missing.
    """
    word, ways = form.call or _NAMED, _around_object(form)
    name_key, arguments_key, is_last = word.name, word.arguments, form.words[-1] == word

    def read(text: str, at: int) -> Sound | None:
        for beginning, ending in ways:
            if text.startswith(beginning, at):
                first = at + len(beginning) - 1
                if is_last:  # the object has to end the text
                    rest = text[first : first + MAX_FAST + 1].rstrip(SPACES)
                    whole = len(text) - first <= MAX_FAST and rest.endswith(ending)
                    last = first + len(rest) - len(ending) + 1 if whole else 0
                else:
                    last = text.find(ending, first, first + MAX_FAST) + 1
                if last:
                    break
        else:
            return None
        piece = text[first:last]
        try:
            value = orjson.loads(piece)
        except orjson.JSONDecodeError:
            return None
        name, arguments = value.get(name_key), value.get(arguments_key)
        is_usual = len(value) == 2 and type(name) is str and type(arguments) is dict
        if (is_usual and _is_plain(arguments, piece)) or nothing_hidden(value, piece, ()):
            return value, first, last, len(text) if is_last else last + len(ending) - 1
        return None

    return read


def sound_call_of(form: Format, sound: Sound, base: int, tools: Tools | None) -> ToolCall | None:
    """Return the call that a sound block is if nothing else is in it; None if it is to be judged.

    `base` is the offset of the text's first character in the whole text.
    """
    (value, first, last, _), word = sound, form.call
    if word is None or len(value) != 2:
        return None
    span = Span(base + first, base + last)
    return sound_call(value.get(word.name), value.get(word.arguments), form.name, span, tools)


def _around_object(form: Format) -> list[tuple[str, str]]:
    """Return the fixed texts before and after a format's object: with its brackets and those of a
    list around it, as they are written, and without white space. There are none if the format has
    other words, or texts that are never found, as what is before takes their first character.
    """
    word = form.call
    if word is None or word.keyed or form.opener is None or not form.marked:
        return []
    at, fixed = form.words.index(word), [each for each in form.words if each is not word]
    texts = [each.text for each in fixed if isinstance(each, Literal | Space)]
    marks = [each.text if isinstance(each, Literal) else "" for each in fixed]
    swallowed = any(mark[:1].isspace() for mark in marks[1:])
    if len(texts) < len(fixed) or swallowed or "".join(marks[at:])[:1] in tuple(_BETWEEN_OBJECTS):
        return []
    lists = (("", ""), ("[", "]")) if word.array else (("", ""),)
    return [
        ("".join(some[:at]) + opened + "{", "}" + closed + "".join(some[at:]))
        for some in (texts, marks)
        for opened, closed in lists
    ]


def _is_plain(arguments: JsonObject, piece: str) -> bool:
    """Whether a simple check suffices to show what `nothing_hidden` would: that nothing was lost.

    Then no value is nested, and the text has no escapes and only the quotes of keys and strings.
    """
    unseen = piece.count('"') - 6 - 2 * len(arguments)
    for each in arguments.values():
        if type(each) is str:
            unseen -= 2
        elif type(each) not in ATOMS:
            return False
    return not unseen and "\\" not in piece and len(piece) <= MAX_DIGITS


class ObjectBlock(Block):
    """Reads a block whose calls are JSON objects with name and arguments."""

    _fenced = False
    _doubled = 0
    _extra = 0
    _last: JsonValue = None
    sound: Sound | None = None
    """The block, if it was decoded at once."""

    def __init__(self, setting: Setting, form: Format, start: int, *, quoted: bool) -> None:
        super().__init__(setting, form, start, quoted=quoted)
        at = start - setting.window.base
        line = setting.window.text[max(0, at - limits.KEPT) : max(0, at)].rpartition("\n")[2]
        self._may_be_keyed = form.marked or not line.strip()
        """Whether an object's one key may be the tool: in a line with words it is rather data."""

    def read(self) -> Reading[None]:
        """Read the block step by step, with repairs; see `Block.read`."""
        if self.sound:
            self._judge_sound(*self.sound)
            return
        before, again, call, between, stops = _parts_of(self._form)
        closer, window = self._form.closer, self._window
        if not (yield from self._before(before, again)):
            return
        self.had_body = True
        closed = yield from self._calls(call, (*stops, FENCE) if self._fenced else stops)
        if closer:
            yield from self._close(closer, between if closed else None)
        elif closed and self._waiting and not call.inside:
            while window.pos >= len(window.text) and not window.final:
                yield
            if window.text.startswith("}", window.pos):  # directly after an object without markers
                self._extra_closer()
                window.pos += 1
        self._close_at(window.offset)

    def _close(self, closer: Literal, between: tuple[Literal, ...] | None) -> Reading[None]:
        """Skip the literals `between` the calls and the closer, and the closer. After calls that
        could not be read, these are None, and only a fence ends.
        """
        window = self._window
        for word in between or ():
            yield from next_char(window)
            yield from literal(window, word.spellings)
        if self._fenced and (yield from next_char(window)) == "`":
            yield from literal(window, (FENCE,))
        if between is not None:
            yield from self._pass_closer(closer)
            for _ in range(self._doubled if self.closed else 0):
                yield from next_char(window)
                yield from literal(window, closer.spellings)

    def _judge_sound(self, value: JsonObject, first: int, last: int, end: int) -> None:
        """Judge the only object of a block that was decoded at once."""
        window, self.had_body, self.closed = self._window, True, True
        span = Span(window.base + first, window.base + last)
        verdict = self._judge(Read(value), span, word=self._form.call, keyed=self._may_be_keyed)
        self._take(verdict, span)
        if not self._waiting:
            self._content_to(span.end)
        window.pos = end
        self._close_at(window.offset)

    def _before(self, words: tuple[Word, ...], again: tuple[str, ...]) -> Reading[bool]:
        """Skip the text between the opener and the calls; return whether a call may follow."""
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
        """Skip a doubled opener (`again`) or a fence; return whether a call may follow."""
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
        is_word = opener is not None and opener.text.isalpha()  # may also end a sentence
        if char == "" and marked and not is_word:
            self._fail("truncated", "the text ends behind the opener", cut=True)
            return False
        if self._fenced or (marked and not self._doubled):
            return char in ("{", "[")
        fits = (yield from peek(window, bounded(window, _BODY)))[-1:] in _MAY_BE_LISTED
        if not fits and window.offset - last <= limits.MARGIN and self._doubled:
            window.pos = last - window.base  # the last opener may be another format's
        return fits

    def _calls(self, word: CallObject, stops: tuple[str, ...]) -> Reading[bool]:
        """Read call objects up to the closer; return whether all of them could be read."""
        window = self._window
        char = yield from next_char(window)
        if char == "{" and word.opens:  # an object without markers needs no closer
            return (yield from self._object(word, stops))
        if char == "[":
            window.pos += 1
            if not word.array:
                repair = self._repair_here("several-calls", "an array where one object belongs")
                self.frame = (*self.frame, repair)
        return (yield from self._objects(word, stops, listed=char == "["))

    def _objects(self, word: CallObject, stops: tuple[str, ...], *, listed: bool) -> Reading[bool]:
        """Read objects in sequence, `listed` in an array or not; return whether all were read."""
        window, single = self._window, not (listed or word.array or word.joined)
        count, comma = 0, False
        while True:
            char = yield from next_char(window)
            if char == "{":
                if self._collector.note_full(self._count):
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
        """Add the repair of a surplus bracket to the call before it, up to `MAX_REPAIRS`."""
        self._extra += 1
        if self._extra <= limits.MAX_REPAIRS:
            message = "a bracket too many after a complete call"
            level: Level = "lenient" if may_have_ended_early(self._last) else "standard"
            self._repair_last("extra-closer", message, level)

    def _ended(self, char: str, count: int, *, listed: bool, comma: bool) -> bool:
        """End the objects at `char`, which begins none; return whether the earlier ones count."""
        ends = (*_parts_of(self._form)[3], *filter(None, (self._form.closer,)))
        own = any(text.startswith(char) for word in ends for text in word.spellings)
        if listed and count:
            self._repair_last("unclosed", "an array of calls that was never closed")
        elif (
            char and (comma or (char in QUOTES and not own)) and not _parts_of(self._form)[2].inside
        ):
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
        """Read one object as a call or content; False if no other call of the block can follow."""
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
        verdict = self._judge(read, span, word=word, keyed=self._may_be_keyed)
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
"""A call: its name, its span, its arguments or why they are unreadable, and other repairs."""

_BEHIND = re.compile(r"[ \t]*+(?:<?\Z|(?=[\r\n]|<\|))")
_TRAIL = re.compile(r"(?:\(\))?+[.,;]?+[ \t]{0,16}+(?:\Z|(?=[\r\n#]))")
"""Punctuation, or `()`, that may follow a list of calls which begins its line."""

NAME = re.compile(r"[^\W\d][\w.:-]{0,127}+")

_HEAD = re.compile(rf"{NAME.pattern}{limits.NEAR_SPACE}\(?")
"""The start of another call in a row without a closer; without a parenthesis it is text."""

_IN_PROGRAM_STRING = r"[\"']{3}[ \t]{0,8}\n?[ \t]{0,40}"
"""What precedes the first line of a triple-quoted string in a program."""

_in_string = re.compile(rf"\S\s{{0,24}}{_IN_PROGRAM_STRING}\Z").search


def in_program(text: str, at: int) -> bool:
    """Whether index `at` is in the first line of a triple-quoted string in a program."""
    return _in_string(text, max(0, at - limits.LIST_BEFORE), at) is not None


_CODE_BEFORE = re.compile(
    r"(?:[\w)\]]|[+*{\[][ \t]{0,8}|[=(,]\s{0,24}|(?:\breturn|\byield|==)[ \t]{1,8}|\S\s{0,24}"
    + _IN_PROGRAM_STRING
    + r")\Z"
)
"""What precedes a list in a program: a name, an assignment, an argument, a string's quotes."""

_IN_PYTHON = re.compile(r"""[][(){}:,"'=*#\w+-]""").match

QUOTING = ("'", '"', "`")
_QUOTE = re.compile("['\"`]?+")
_LOOSE = re.compile(r"""[\s,;\[\]'"`]*+""")
"""What separates the calls of a unit: brackets, quotes, commas, semicolons, white space."""


class PythonBlock(Block):
    """Reads a block of Python calls, as in `[f(a=1), g()]`, or one on each line.

    Between markers, an unreadable call is refused alone if its end can be found. The calls of a
    list without markers are kept until its end, because only a well-formed list counts:
    comprehensions, links and indices have the same beginning. Such a list must also end its line,
    because a sentence may go on after it. If it names no known tool, it must begin its line, too:
    attributes, logs and list items look alike.

    `begins_line`: only white space or markup precedes the list in its line.
    """

    def __init__(
        self, setting: Setting, form: Format, start: int, *, quoted: bool, begins_line: bool
    ) -> None:
        super().__init__(setting, form, start, quoted=quoted)
        self._bare = form.opener is None
        self._stops = _stops_of_python(form)
        self._found: list[_Found] = []
        self._likely = not self._bare and (form.marked or not (form.python and form.python.opens))
        self._known = False
        self._alone = begins_line or quoted or not self._bare
        self._begins_line = begins_line
        self._broken = False
        self._apart = False
        self._all_known = (
            begins_line
            and setting.tools is not None
            and start < limits.KEPT
            and not setting.window.since(0).strip()
        )
        """Whether the list begins the text, and all of its calls so far are of known tools."""

    def read(self) -> Reading[None]:
        """Read the block; see `Block.read`."""
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
                if (yield from next_char(window)) == ")":
                    self._repair_last("extra-closer", "the calls are inside another")
                    window.pos += 1
                yield from self._pass_closer(self._form.closer)
            else:
                yield from next_char(window)
        self._close_at(window.offset)

    def _read_bare(self) -> Reading[None]:
        """Read a list without markers as calls if all of it is valid, else as content."""
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
        """Read the whole text as calls; if tools are given, at least one must name a tool."""
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
        """Read all calls; return how many brackets stay open, or None if there is other text."""
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
                return None  # a word after the calls
            if not whole:
                last = self._found[-1][2] if len(self._found) > before else None
                if not (isinstance(last, Unreadable) and last.cut):
                    return None
                window.pos = len(window.text)
                break
        return depth if self._found else None

    def _convinces(self) -> bool:
        """Whether the list counts as calls: it calls a known tool, or it begins its line and has
        named arguments or needs no repair.
        """
        return self._likely or (
            self._alone
            and all(isinstance(read, Read) and not read.repairs for _, _, read, _ in self._found)
        )

    def _stands_alone(self) -> Reading[bool]:
        """Whether the list is the last in its line. Punctuation may follow it if it begins the
        line and calls a known tool.
        """
        window, signs = self._window, self._known and self._begins_line
        while True:
            text, end = window.text, window.pos + limits.LIST_AHEAD
            found = _BEHIND.match(text, window.pos, end)
            if not found and signs:
                found = _TRAIL.match(text, window.pos, end)
            if window.final or not found or found.end() < len(text) or len(text) >= end:
                if self._all_known and text[window.pos : window.pos + 1].isalpha():
                    return True  # prose directly behind a list that begins the text
                alone = found is not None and not found[0].endswith("<")  # which may begin a marker
                return alone or self._quoted or self._collector.full
            yield

    def _row(self, *, listed: bool) -> Reading[bool]:
        """Read calls, in a list if `listed`; False if they, or their end, cannot be read."""
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
        """Skip a comment or a semicolon between calls on lines; return whether there was one."""
        return bool((yield from bounded(self._window, _between_lines(self._form))))

    def _is_text(self) -> Reading[bool]:
        """Whether the word here, after calls of a format without a closer, is text and no call."""
        if self._bare or self._form.closer is not None:
            return False
        return not (yield from peek(self._window, bounded(self._window, _HEAD))).endswith("(")

    def _ended(self, char: str, count: int, *, listed: bool) -> Reading[bool]:
        """Handle `char`, which begins no call, after `count` calls; return whether these count."""
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
        """Read one call into `_found`; False if the end of the call cannot be found."""
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
        known = tools is not None and name in tools
        self._known, self._all_known = self._known or known, self._all_known and known
        self._likely = self._likely or self._known or (named and self._alone)
        self._found.append((name, Span(start, window.offset), read, frame))
        if not self._bare:
            self._hand_on()
        self._broken = broken
        return not broken

    def _no_call(self, name: str, start: int, char: str) -> bool:
        """Report a name that no parenthesis follows, and return whether the text ends there."""
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
        return self._collector.note_full(self._count + len(self._found))

    def _places(self, name: str) -> tuple[str, ...]:
        """Return the names of a tool's parameters in order, for positional arguments."""
        properties = self._setting.parameters(name).get("properties")
        return tuple(properties) if isinstance(properties, Mapping) else ()

    def _hand_on(self) -> None:
        """Judge the calls of `_found` in order, and clear it."""
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
        """Add an unreadable call as content; report it if it is likely a call and not quoted."""
        if isinstance(why, Unreadable) and self._likely and not self._quoted:
            self._collector.refuse(why.code, why.message, *span, cut=why.cut)
        self._content_to(span.end)


@lru_cache(maxsize=64)
def _stops_of_python(form: Format) -> tuple[str, ...]:
    """Return the texts that end an unclosed call; none begins with a character of Python code."""
    ends = (form.closer, (form.around or (None, None))[1])
    texts = (text for word in ends for text in spellings(word) if text)
    return tuple(text for text in texts if not _IN_PYTHON(text))


def _begins_name(char: str) -> bool:
    return char.isalpha() or char == "_"


@lru_cache(maxsize=64)
def _between_lines(form: Format) -> re.Pattern[str]:
    """Return a pattern of a semicolon, or a comment up to the closer, between calls on lines.

    The pattern matches nothing that begins like the closer. For formats that are written as lists
    or have no closer, it never matches.
    """
    if form.python is None or form.python.listed or form.closer is None:
        return re.compile(r"(?!)")
    ends = [text.lstrip() for text in form.closer.spellings]
    comment = rf"#(?:(?!{'|'.join(map(re.escape, ends))})[^\n]){{0,{limits.COMMENT_AHEAD}}}+"
    signs = {";": ";", "#": comment}
    return re.compile("|".join(signs[sign] for sign in signs if sign not in {e[:1] for e in ends}))
