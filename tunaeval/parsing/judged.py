"""Blocks of objects, sound or damaged, in a text that is all there: each is read, and judged.

Asked where a format's fast reader was not certain: of an unknown tool, an alias, a type to coerce,
encoded arguments, a comma too many, a closer that is missing behind a whole call. Where the frame
around the objects is not what the format says the answer is None, and the recovering reader
(`block`) reads the block; it would say the same of what is read here: `tests/parsing/test_fast.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tunaeval.grammar import CallObject, Format, Literal, Space
from tunaeval.limits import BLOCK_AHEAD, KEPT_OBJECTS
from tunaeval.repair import (
    QUOTES,
    Note,
    Read,
    Unreadable,
    begins_soundly,
    has_long_number,
    repair_of,
    scan,
)
from tunaeval.types import Diagnosis, Level, Outcome, ParseResult, Repair, Span, ToolCall, Tools
from tunaeval.window import Window

from .closings import missing_closer, stops_of
from .fast import FENCE
from .fast.made import call_of, result_of
from .fast.rows import Tail, behind_space, tail_of
from .judge import Verdict, judge, unreadable
from .patterns import SPACE, row, twice

if TYPE_CHECKING:
    from tunaeval.repair import JsonReader

Match: TypeAlias = Callable[[str, int], "re.Match[str] | None"]

Objects: TypeAlias = dict[tuple[int, tuple[str, ...]], tuple[Read | Unreadable, int]]
"""What was read at an offset, in front of which texts, and where it ended: at any level."""


class Judged(NamedTuple):
    """What became of the object at a span: `failed` if it could not be read.

    It is the `last` of its block if what follows cannot be a call of the same row.
    """

    span: Span
    verdict: Verdict
    failed: bool = False
    last: bool = False


def refusal(code: str, message: str, span: Span) -> Judged:
    """What could not be read, and why."""
    return Judged(span, Verdict(None, (Note(code, message),)), failed=True, last=True)


class Given(NamedTuple):
    """A text that is all there and begins at `base`; `known` is for one that is read again."""

    text: str
    base: int
    tools: Tools | None
    level: Level
    known: Objects | None


class Ended(NamedTuple):
    """What became of each object of a block, where it ends in the text, and whether by a closer."""

    found: list[Judged]
    end: int
    closed: bool

    @property
    def failed(self) -> bool:
        """Whether the last object could not be read."""
        return self.found[-1].failed

    def near(self, given: Given) -> bool:
        """Whether nothing far behind the block decided it, as it may whether JSON is sound."""
        first = self.found[0].span.start - given.base
        if not (self.failed and begins_soundly(given.text, first)):
            return True
        why = scan(given.text, first)
        if not isinstance(why, Unreadable) or why.code != "invalid-json" or why.at > self.end:
            return False
        return not why.message.startswith("Unterminated")  # that says how far it was looked


JudgedReader: TypeAlias = Callable[[Given, int, bool], Ended | None]
"""Reads the block whose opener ends at an index of the text.

Given, too, is whether a decoder has refused the object that the block begins with.
"""

_One: TypeAlias = Callable[
    [str, int, int, tuple[str, ...], "Objects | None"], tuple[Read | Unreadable, int]
]

_SPACES = frozenset(" \t\r\n")
_GOES_ON = frozenset(f"{{}}[],;{QUOTES}")
"""Behind objects they are part of something that was not closed in time."""


@lru_cache(maxsize=512)
def judged_reader(form: Format) -> JudgedReader:
    """The reader of that format's blocks, made when it is first asked for."""
    word = form.call
    if word is None:
        return _never
    before = row(form.words[1 if form.opener else 0 : form.words.index(word)])
    tail = tail_of(form, word)
    if before is None or tail is None:
        return _never
    return _Reader(form, word, re.compile(before + SPACE).match, tail).read


def _never(*_: object) -> None:
    """A format whose calls are no objects, or with words that no pattern knows."""


class _Reader:
    """Reads the blocks of one format."""

    __slots__ = (
        "_again", "_closer", "_form", "_head", "_lone", "_single", "_stops", "_tail", "_word",
    )  # fmt: skip

    def __init__(self, form: Format, word: CallObject, head: Match, tail: Tail) -> None:
        self._form, self._word, self._head, self._tail = form, word, head, tail
        self._stops = stops_of(form, form.words[-1:])
        self._single, self._lone = not (word.array or word.joined), bool(word.opens)
        """An object ends by itself; nothing behind it matters."""
        self._closer, self._again = closer_of(form), twice(form.opener)

    def read(self, given: Given, body: int, refused: bool) -> Ended | None:
        """The block whose opener ends at `body`."""
        text, here = given.text, self._head(given.text, body)
        if here is None or text.startswith(self._again, here.end()):  # the opener is there twice
            return None
        at = here.end()
        listed = text.startswith("[", at)
        if listed and not self._word.array:
            return None
        at = behind_space(text, at + 1) if listed else at
        found = self._objects(given, at, listed=listed, refused=refused)
        if not found:
            return None
        if found[-1].last:
            return Ended(found, found[-1].span.end - given.base, closed=False)
        return self._behind(given, found, listed=listed)

    def _objects(self, given: Given, at: int, *, listed: bool, refused: bool) -> list[Judged]:
        """The objects one after the other; none if anything is odd between them."""
        text = given.text
        found: list[Judged] = []
        while text.startswith("{", at):
            if self._single and found:
                return []
            one, at = self._object(given, at, nearly if refused and not found else object_at)
            if one is None:
                return []
            found.append(one)
            if one.last or (self._lone and not listed):
                return found
            if text[at : at + 1] in _SPACES:
                at = behind_space(text, at)
            if text.startswith((",", ";"), at):
                at = behind_space(text, at + 1)
                if not text.startswith("{", at):
                    return []
        return [] if listed and not text.startswith("]", at) else found

    def _object(self, given: Given, at: int, read_one: _One) -> tuple[Judged | None, int]:
        """An object and its end; None if the text ends in it."""
        text, base, tools, level, known = given
        form = self._form
        read, end = read_one(text, at, base, self._stops, known)
        span = _new_tuple(Span, (base + at, base + end))
        if isinstance(read, Unreadable):
            return Judged(span, unreadable(read, form), failed=True, last=True), end
        verdict = judge(read, word=self._word, form=form, span=span, tools=tools, level=level)
        if verdict.truncated or read.truncated:
            return None, end
        last = not (verdict.call or verdict.attempt or form.marked)
        return _new_tuple(Judged, (span, verdict, False, last)), end

    def _behind(self, given: Given, found: list[Judged], *, listed: bool) -> Ended | None:
        """What is behind the objects: the closer, or its lack, which is a repair."""
        text, base = given.text, given.base
        at = found[-1].span.end - base
        if listed:
            at = behind_space(text, at) + 1
        if not self._lone:
            at = behind_space(text, at) if text[at : at + 1] in _SPACES else at
            if text[at : at + 1] in _GOES_ON:
                return None
        if (end := self._tail(text, at)) >= 0:
            return _new_tuple(Ended, (found, end, True))
        if listed or self._closer is None or given.level == "strict":
            return None
        repair, end = unclosed(self._closer, text, at, base)
        return Ended([*found[:-1], repaired(found[-1], repair)], end, closed=at == len(text))


def closer_of(form: Format) -> Literal | None:
    """The closer that may be missing behind a block: there is nothing but space before it."""
    word, closer = form.call, form.closer
    if word is None or closer is None or closer.text == FENCE:
        return None
    behind = form.words[form.words.index(word) + 1 : -1]
    return closer if all(isinstance(each, Space) for each in behind) else None


def unclosed(closer: Literal, text: str, at: int, base: int) -> tuple[Repair, int]:
    """The repair of a block whose closer is missing at an index, and where the block ends."""
    message, end = missing_closer(text, at, closer)
    return repair_of("unclosed", message, Span(base + at, base + at + 1)), end


class Refused(NamedTuple):
    """A block without a call, and what follows it: where the same text is, the same comes of it."""

    text: str
    start: int
    ended: Ended

    def again(self, start: int) -> Ended:
        """The same at another index."""
        by, ended = start - self.start, self.ended
        (first, last), *rest = ended.found[0]
        judged = _new_tuple(Judged, (_new_tuple(Span, (first + by, last + by)), *rest))
        return _new_tuple(Ended, ([judged], ended.end + by, ended.closed))


def refused(text: str, start: int, ended: Ended) -> Refused | None:
    """What may be met again of a block at `start`; None if text before or behind decided it."""
    end = ended.end + BLOCK_AHEAD
    if (
        start < 0
        or len(ended.found) > 1
        or ended.found[0].verdict.call
        or end - start > 2 * BLOCK_AHEAD
    ):
        return None
    return Refused(text[start:end], start, ended) if end <= len(text) else None


def repaired(judged: Judged, repair: Repair) -> Judged:
    """The same, with one more repair of the call if it is one."""
    span, verdict = judged.span, judged.verdict
    call = verdict.call
    if call is None:
        return judged
    repairs = (*call.repairs, repair)
    call = call_of(call.name, call.arguments, call.format or "", span, call.id, repairs=repairs)
    return _new_tuple(Judged, (span, _new_tuple(Verdict, (call, *verdict[1:])), *judged[2:]))


def judged_result(
    calls: tuple[ToolCall, ...],
    content: str,
    judged: Sequence[Judged],
    ending: tuple[Diagnosis, ...] = (),
) -> ParseResult:
    """The result of a text in which objects were judged; `calls` are theirs, and any others.

    `ending` is what the end of the text says: that it was cut off there.
    """
    said: list[Diagnosis] = []
    attempted = False
    for each in judged:
        verdict = each.verdict
        if verdict.notes:
            said += verdict.diagnoses(each.span)
        attempted = attempted or verdict.attempt
    refused = attempted and not calls
    outcome: Outcome | None = "malformed" if refused else None
    return result_of(calls, content, None, (*said, *ending), outcome, truncated=bool(ending))


def object_at(
    text: str, at: int, base: int, stops: tuple[str, ...], known: Objects | None
) -> tuple[Read | Unreadable, int]:
    """The object at an index of a text that is all there and begins at `base`, and its end.

    If it is sound JSON, no frame around it can change where it ends.
    """
    if known is None or (base + at, stops) not in known:
        sound = scan(text, at) if begins_soundly(text, at) else None
        if isinstance(sound, tuple) and not has_long_number(text, at, sound[1]):
            read, end = _new_tuple(Read, (sound[0], (), sound[2], False)), sound[1]
            if known is not None and len(known) < KEPT_OBJECTS:
                known[base + at, stops] = read, base + end
            return read, end
    return nearly(text, at, base, stops, known)


def nearly(
    text: str, at: int, base: int, stops: tuple[str, ...], known: Objects | None
) -> tuple[Read | Unreadable, int]:
    """The same where a decoder refused it already."""
    key = base + at, stops
    if known is not None and (before := known.get(key)):
        return before[0], before[1] - base
    window = Window(text, final=True)
    window.pos, window.base = at, base
    read = _recovering()(window, stops).advance()
    if read is None:
        raise AssertionError(f"a reader asked for more than all of {text[at : at + 60]!r}")
    if known is not None:
        known[key] = read, base + window.pos
    return read, window.pos


@cache
def _recovering() -> type[JsonReader]:
    from tunaeval.repair import JsonReader  # noqa: PLC0415 - its patterns take 20 ms

    return JsonReader


_new_tuple = tuple.__new__
