"""The most frequent text of all, at the least cost: one call object as its format writes it.

Nothing stands around the block, the white space in it is that of the `Space` words, and no
argument holds others. Such a text begins and ends in fixed ways, so it is not even searched: what
stands between is decoded, and if it is one sound object, it ends where the engine would see it end.
What `claims` and `sound` ask of an object is written out here for this one shape, because each
function called for it would cost a tenth of the decoding of a short call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import orjson

from tunaeval.grammar import CallObject, Format, Literal, Space, Word
from tunaeval.repair import MAX_DIGITS
from tunaeval.types import ParseResult, Span, ToolCall, Tools

from ..fitting import fits
from .made import Call, result_of
from .sound import flat_texts

TextReader: TypeAlias = Callable[[str, Tools | None], ParseResult | None]
"""Reads a whole text, or answers None."""

_loads, _Refused = orjson.loads, orjson.JSONDecodeError


def whole_reader(form: Format, otherwise: TextReader) -> TextReader:
    """The reader of such texts of a format; `otherwise` reads all others."""
    word, opener = form.call, form.opener
    if word is None or word.keyed or opener is None or not form.marked:
        return otherwise
    at = form.words.index(word)
    before, after = _written(form.words[:at]), _written(form.words[at + 1 :])
    if before is None or after is None:
        return otherwise
    return _reader(form, word, (before + "{", "}" + after), otherwise)


def _written(words: tuple[Word, ...]) -> str | None:
    """These words as they are written; None if there is anything but fixed text and space."""
    fixed = [word for word in words if isinstance(word, Literal | Space)]
    return "".join(word.text for word in fixed) if len(fixed) == len(words) else None


def _reader(
    form: Format, word: CallObject, ends: tuple[str, str], otherwise: TextReader
) -> TextReader:
    name_key, arguments_key, format_name = word.name, word.arguments, form.name
    (beginning, ending), size, behind = ends, len(ends[0]), len(ends[1]) - 1
    first, spans = size - 1, _Spans(size - 1)

    def read(text: str, tools: Tools | None) -> ParseResult | None:
        last = len(text) - behind
        if text[:size] != beginning or text[last - 1 :] != ending or last > MAX_DIGITS:
            return otherwise(text, tools)
        piece = text[first:last]
        try:
            value = _loads(piece)
            name, arguments = value[name_key], value[arguments_key]
            strings, count = "".join(arguments.values()), len(arguments)
        except TypeError:
            strings, count = flat_texts(arguments)
        except (_Refused, KeyError, AttributeError):
            return otherwise(text, tools)
        if type(name) is not str or not name or len(value) != 2:
            return otherwise(text, tools)
        inner = piece.count('"') - 6 - 2 * (len(arguments) + count)
        if (inner and inner != strings.count('"')) or "properties" in arguments:
            return otherwise(text, tools)
        if "\\" in piece and piece.rfind("\\u00") >= 0:  # a quote or a NUL, perhaps
            return otherwise(text, tools)
        if tools is not None and not fits(name, arguments, tools):
            return otherwise(text, tools)
        call: Any = Call()
        call.name, call.arguments, call.id = name, arguments, None
        call.format, call.span, call.repairs = format_name, spans[last], ()
        call.__class__ = ToolCall
        return result_of((call,), "", None)

    return read


class _Spans(dict[int, Span]):
    """The spans from one offset to any other up to `MAX_DIGITS`, each made once and shared."""

    def __init__(self, start: int) -> None:
        self._start = start

    def __missing__(self, end: int) -> Span:
        span = self[end] = Span(self._start, end)
        return span
