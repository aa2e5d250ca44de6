"""A text that is one block of a format, as that is written, and nothing else: decoded once.

Calls with nothing unusual about them are made at once. Another object is judged here, too, as it
was decoded or repaired; so is one whose closer is all that is missing. What was read of a text that
is left to the others is kept in the `Objects` that were given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tunaeval.grammar import CallObject, Format
from tunaeval.limits import MAX_FAST
from tunaeval.repair import Read, Unreadable
from tunaeval.types import JsonObject, Level, ParseResult, Span, ToolCall, Tools

from .chains import stops_of
from .fast.made import result_of
from .fast.whole import Refused, decoder, ends_of
from .judge import Verdict, judge
from .judged import Given, Judged, Objects, closer_of, judged_result, nearly, repaired, unclosed

TextReader: TypeAlias = Callable[[str, Tools | None, Level, Objects], ParseResult | None]
"""Reads a whole text, or answers None."""

_Made: TypeAlias = ToolCall | JsonObject | None

_UNREAD: JsonObject = {}
"""An object that was not decoded, as it is no sound JSON or was read before."""

_SPACES = " \t\r\n"

_MORE = "unexpected content"
"""What the decoder says where something is behind a value; then there may be several objects."""


def text_reader(form: Format) -> TextReader:
    """The reader of texts that are one such block of a format, and nothing else."""
    ends, decode, word = ends_of(form), decoder(form), form.call
    if ends is None or decode is None or word is None:
        return nothing
    (beginning, ending), first, behind = ends, len(ends.beginning) - 1, len(ends.ending) - 1
    odd = _Odd(form, word, first)

    def read(text: str, tools: Tools | None, level: Level, known: Objects) -> ParseResult | None:
        if not text.startswith(beginning):
            return None
        last = text.find(ending, first) + 1
        made: Any = _UNREAD
        closed = last + behind == len(text)
        if not closed and not (last := odd.cut_end(text, last, level)):
            return None
        try:
            if not known and last - first <= MAX_FAST:
                made = decode(text, first, last, tools)
        except Refused as fault:
            if fault.msg.startswith(_MORE):
                return None
        if closed and type(made) is ToolCall:
            return result_of((made,), "", None, (), "calls")
        return odd.read(_new_tuple(Given, (text, 0, tools, level, known)), last, made, closed)

    return read


def nothing(*_: object) -> None:
    """A text that is not one block as its format writes it."""


class _Odd:
    """Judges the object from `first` on, where there is something unusual about the block."""

    __slots__ = ("_closer", "_first", "_form", "_stops", "_word")

    def __init__(self, form: Format, word: CallObject, first: int) -> None:
        self._form, self._word, self._first = form, word, first
        self._stops = stops_of(form, form.words[-1:])
        self._closer = closer_of(form)

    def cut_end(self, text: str, last: int, level: Level) -> int:
        """Where an object ends behind which the closer is missing; 0 if that is not all."""
        if last or self._closer is None or level == "strict":
            return 0
        end = len(text.rstrip(_SPACES))
        return end if text[end - 1] == "}" else 0

    def read(self, given: Given, last: int, made: _Made, closed: bool) -> ParseResult | None:
        """The result where the object ends at `last`; `made` is what was decoded of it."""
        judged = self._judged(given, last, made)
        if judged is None:
            return None
        if self._closer and not closed:
            judged = repaired(judged, unclosed(self._closer, given.text, len(given.text), 0)[0])
        call = judged.verdict.call
        return judged_result((call,) if call else (), "" if call else given.text, [judged])

    def _judged(self, given: Given, last: int, made: _Made) -> Judged | None:
        text, _, tools, level, known = given
        first, stops = self._first, self._stops
        if made is None:
            return None
        if isinstance(made, ToolCall):
            return Judged(Span(first, last), Verdict(made))
        if made is _UNREAD:
            read, end = nearly(text, first, 0, stops, known)
            if isinstance(read, Unreadable) or read.truncated:
                return None
            if end != last and (end < last or text[last:end].strip(_SPACES)):
                return None
            last = end
        else:
            read = _new_tuple(Read, (made, (), (), False))
            if known is not None:
                known[first, stops] = read, last
        form, word, span = self._form, self._word, _new_tuple(Span, (first, last))
        verdict = judge(read, word=word, form=form, span=span, tools=tools, level=level)
        return None if verdict.truncated else _new_tuple(Judged, (span, verdict, False, False))


_new_tuple = tuple.__new__
