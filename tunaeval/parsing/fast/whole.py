"""The most frequent block of all, at the least cost: one call object as its format writes it.

The white space in the block is that of the `Space` words, and no argument holds others. What is
between its fixed ends is decoded, and if it is one sound object, it ends where any reader would see
it end. What `claims` and `sound` ask of an object is written out here for this one shape, because
each function called for it would cost a tenth of the decoding of a short call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import orjson

from tunaeval.grammar import Format, Literal, Space, Word
from tunaeval.limits import MAX_DIGITS
from tunaeval.types import ParseResult, Span, ToolCall, Tools

from ..fitting import fits
from .made import Call, result_of
from .promise import UNSURE, BlockReader
from .sound import flat_texts

TextReader: TypeAlias = Callable[[str, Tools | None], ParseResult | None]
"""Reads a whole text, or answers None."""

NOT_SO = UNSURE - 1

_Decoder: TypeAlias = Callable[[str, int, int, Tools | None], ToolCall | None]

_loads, _Refused = orjson.loads, orjson.JSONDecodeError


class _Ends(NamedTuple):
    """What such a block begins with, up to the first brace, and ends with, from the last."""

    beginning: str
    ending: str


def whole_reader(form: Format) -> TextReader:
    """The reader of texts that are one such block of a format, and nothing else."""
    ends, decode = _ends(form), _decoder(form)
    if ends is None or decode is None:
        return _nothing
    (beginning, ending), size, behind = ends, len(ends.beginning), len(ends.ending) - 1

    def read(text: str, tools: Tools | None) -> ParseResult | None:
        last = len(text) - behind
        if text[:size] != beginning or text[last - 1 :] != ending:
            return None
        call = decode(text, size - 1, last, tools)
        return None if call is None else result_of((call,), "", None, (), "calls")

    return read


def written_reader(form: Format) -> BlockReader | None:
    """The reader of such blocks wherever they are; none for formats without a closer.

    It is `NOT_SO` that says that the block begins in another way, or is long.
    """
    ends, decode = _ends(form), _decoder(form)
    if ends is None or decode is None or form.closer is None:
        return None
    (beginning, ending), size, behind = ends, len(ends.beginning), len(ends.ending)

    def read(text: str, start: int, _: int, tools: Tools | None, calls: list[ToolCall]) -> int:
        if not text.startswith(beginning, start):
            return NOT_SO
        first = start + size - 1
        stop = text.find(ending, first, first + MAX_DIGITS)
        if stop < 0:
            return UNSURE if len(text) - first < MAX_DIGITS else NOT_SO
        call = decode(text, first, stop + 1, tools)
        if call is None:
            return UNSURE
        calls.append(call)
        return stop + behind

    return read


def _nothing(_text: str, _tools: Tools | None) -> None:
    """A format that writes its calls in another way."""


def _ends(form: Format) -> _Ends | None:
    word = form.call
    if word is None or word.keyed or form.opener is None or not form.marked:
        return None
    at = form.words.index(word)
    before, after = _written(form.words[:at]), _written(form.words[at + 1 :])
    return None if before is None or after is None else _Ends(before + "{", "}" + after)


def _written(words: tuple[Word, ...]) -> str | None:
    """These words as they are written; None if there is anything but fixed text and space."""
    fixed = [word for word in words if isinstance(word, Literal | Space)]
    return "".join(word.text for word in fixed) if len(fixed) == len(words) else None


def _decoder(form: Format) -> _Decoder | None:
    """What makes a call of the object between two offsets."""
    word = form.call
    if word is None:
        return None
    name_key, arguments_key, format_name = word.name, word.arguments, form.name

    def decode(text: str, first: int, last: int, tools: Tools | None) -> ToolCall | None:
        piece = text[first:last]
        try:
            value = _loads(piece)
            name, arguments = value[name_key], value[arguments_key]
            strings, count = "".join(arguments.values()), len(arguments)
        except TypeError:
            strings, count = flat_texts(arguments)
        except (_Refused, KeyError, AttributeError):
            return None
        if type(name) is not str or not name or len(value) != 2 or last - first > MAX_DIGITS:
            return None
        inner = piece.count('"') - 6 - 2 * (len(arguments) + count)
        if (inner and inner != strings.count('"')) or "properties" in arguments:
            return None
        if "\\" in piece and piece.rfind("\\u00") >= 0:  # a quote or a NUL, perhaps
            return None
        if tools is not None and not fits(name, arguments, tools):
            return None
        call: Any = Call()
        call.name, call.arguments, call.id = name, arguments, None
        call.format, call.repairs = format_name, ()
        call.span = _new_tuple(Span, (first, last))
        call.__class__ = ToolCall
        return call  # type: ignore[no-any-return]  # its class is ToolCall by now

    return decode


_new_tuple = tuple.__new__
