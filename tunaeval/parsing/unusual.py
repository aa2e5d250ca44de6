"""A text that is one block of a format and something about it is unusual: judged from one reading.

The object is an unknown tool's, has an alias or another type, is damaged, or its closer is all that
is missing. What the frame around it says otherwise is left to the readers of any text.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from tunaeval.grammar import CallObject, Format
from tunaeval.repair import Read, Unreadable
from tunaeval.types import JsonObject, Level, ParseResult, Span, ToolCall

from .alone import UNREAD
from .closings import stops_of
from .judge import Verdict, judge
from .judged import Given, Judged, closer_of, judged_result, nearly, repaired, unclosed

_Made: TypeAlias = ToolCall | JsonObject | None

_SPACES = " \t\r\n"


class Unusual:
    """Judges the object from `first` on, where there is something unusual about the block."""

    __slots__ = ("_closer", "_first", "_form", "_stops", "_word")

    def __init__(self, form: Format, first: int) -> None:
        self._form, self._word, self._first = form, form.call or CallObject(), first
        self._stops = stops_of(form, form.words[-1:])
        self._closer = closer_of(form)

    def cut_end(self, text: str, last: int, level: Level) -> int:
        """Where an object ends behind which the closer is missing; 0 if that is not all."""
        if last or self._closer is None or level == "strict":
            return 0
        end = len(text.rstrip(_SPACES))
        return end if text[end - 1] == "}" else 0

    def read(
        self, given: tuple[Any, ...], last: int, made: _Made, closed: bool
    ) -> ParseResult | None:
        """The result where the object ends at `last`; `made` is what was decoded of it."""
        text = given[0]
        judged = self._judged(_new_tuple(Given, given), last, made)
        if judged is None:
            return None
        if self._closer and not closed:
            judged = repaired(judged, unclosed(self._closer, text, len(text), 0)[0])
        call = judged.verdict.call
        return judged_result((call,) if call else (), "" if call else text, [judged])

    def _judged(self, given: Given, last: int, made: _Made) -> Judged | None:
        text, _, tools, level, known = given
        first, stops = self._first, self._stops
        if made is None:
            return None
        if isinstance(made, ToolCall):
            return Judged(Span(first, last), Verdict(made))
        if made is UNREAD:
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
