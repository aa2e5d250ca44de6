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
from tunaeval.repair import ATOMS, fits, nothing_hidden
from tunaeval.types import JsonObject, Span, ToolCall, Tools

from .made import Call

Decoder: TypeAlias = Callable[[str, int, int, Tools | None], ToolCall | JsonObject | None]
"""Decodes an object: a call with nothing unusual about it, or any other in which nothing is hidden.

None if something may be hidden; raises `Refused` for what is no sound JSON.
"""

_loads, Refused = orjson.loads, orjson.JSONDecodeError


class Ends(NamedTuple):
    """What such a block begins with, up to the first brace, and ends with, from the last."""

    beginning: str
    ending: str


def ends_of(form: Format) -> Ends | None:
    word = form.call
    if word is None or word.keyed or form.opener is None or not form.marked:
        return None
    at = form.words.index(word)
    before, after = _written(form.words[:at]), _written(form.words[at + 1 :])
    return None if before is None or after is None else Ends(before + "{", "}" + after)


def _written(words: tuple[Word, ...]) -> str | None:
    """These words as they are written; None if there is anything but fixed text and space."""
    fixed = [word for word in words if isinstance(word, Literal | Space)]
    return "".join(word.text for word in fixed) if len(fixed) == len(words) else None


def decoder(form: Format) -> Decoder | None:
    """What makes a call of the object between two offsets."""
    word = form.call
    if word is None:
        return None
    name_key, arguments_key, format_name = word.name, word.arguments, form.name

    def decode(
        text: str, first: int, last: int, tools: Tools | None
    ) -> ToolCall | JsonObject | None:
        piece = text[first:last]
        value: JsonObject = _loads(piece)
        try:
            name, arguments = value[name_key], value[arguments_key]
            unseen = piece.count('"') - 6 - 2 * len(arguments)
            for each in arguments.values():
                if type(each) is str:
                    unseen -= 2 + each.count('"')
                elif type(each) not in ATOMS:
                    unseen = -1
                    break
        except (KeyError, AttributeError, TypeError):
            return value if nothing_hidden(value, piece, ()) else None
        odd = "\\" in piece and piece.rfind("\\u00") >= 0  # a quote or a NUL, perhaps
        if (
            len(value) != 2 or type(name) is not str or not name or "properties" in arguments
            or ((unseen or odd or last - first > MAX_DIGITS)
                and not nothing_hidden(arguments, piece, (name_key, arguments_key, name)))
        ):  # fmt: skip
            return value if nothing_hidden(value, piece, ()) else None
        if tools is not None and not fits(name, arguments, tools):
            return value
        call: Any = Call()
        call.name, call.arguments, call.id = name, arguments, None
        call.format, call.repairs = format_name, ()
        call.span = _new_tuple(Span, (first, last))
        call.__class__ = ToolCall
        return call  # type: ignore[no-any-return]  # its class is ToolCall by now

    return decode


_new_tuple = tuple.__new__
