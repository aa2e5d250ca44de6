"""The shortcut for a text that is one sound JSON call of a set's first format: decoded at once.

The white space in the block is that of the `Space` words, and no argument holds others. What is
between its fixed ends is decoded, and if it is one sound object, it ends where any reader would see
it end. What `judge.sound_call` asks of a call is written out here for this one shape, because each
function called for it would cost a tenth of the decoding of a short call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import orjson

from tunaeval.grammar import CallObject, Format, Literal, Space, Word
from tunaeval.limits import MAX_DIGITS, MAX_FAST
from tunaeval.repair import ATOMS, fits, nothing_hidden
from tunaeval.types import JsonObject, ParseResult, Span, ToolCall, Tools

from .collect import new_result
from .judge import new_call

TextReader: TypeAlias = "Callable[[str, Tools | None], ParseResult | None]"
"""Reads a whole text, or answers None."""


def text_reader(form: Format) -> TextReader:
    """Make the reader of texts that are one sound block of a format, and nothing else."""
    word = form.call
    if word is None or word.keyed or form.opener is None or not form.marked:
        return nothing
    at = form.words.index(word)
    before, after = _written(form.words[:at]), _written(form.words[at + 1 :])
    if before is None or after is None:
        return nothing
    beginning, ending = before + "{", "}" + after
    first, behind = len(before), len(after)
    decode = _decoder(word, form.name)

    def read(text: str, tools: Tools | None) -> ParseResult | None:
        if not text.startswith(beginning) or not text.endswith(ending):
            return None
        last = text.find(ending, first) + 1
        if last + behind != len(text) or last - first > MAX_FAST:
            return None
        call = decode(text, first, last, tools)
        return new_result((call,), outcome="calls") if call else None

    return read


def nothing(*_: object) -> None:
    """Answer None, as no text is one block of such a format."""


def _written(words: tuple[Word, ...]) -> str | None:
    """These words as they are written; None if there is anything but fixed text and space."""
    fixed = [word for word in words if isinstance(word, Literal | Space)]
    return "".join(word.text for word in fixed) if len(fixed) == len(words) else None


def _decoder(
    word: CallObject, format_name: str
) -> Callable[[str, int, int, Tools | None], ToolCall | None]:
    """Make what decodes the object between two offsets: a call with nothing unusual about it.

    It returns None for anything else, even if nothing may be wrong with that.
    """
    name_key, arguments_key = word.name, word.arguments

    def decode(text: str, first: int, last: int, tools: Tools | None) -> ToolCall | None:
        piece = text[first:last]
        try:
            value: JsonObject = orjson.loads(piece)
            name, arguments = value[name_key], value[arguments_key]
            unseen = piece.count('"') - 6 - 2 * len(arguments)
            for each in arguments.values():
                if type(each) is str:
                    unseen -= 2 + each.count('"')
                elif type(each) not in ATOMS:
                    unseen = -1
                    break
        except (orjson.JSONDecodeError, KeyError, AttributeError, TypeError):
            return None
        odd = "\\" in piece and piece.rfind("\\u00") >= 0  # a quote or a NUL, perhaps
        if (
            len(value) != 2 or type(name) is not str or not name or "properties" in arguments
            or ((unseen or odd or last - first > MAX_DIGITS)
                and not nothing_hidden(arguments, piece, (name_key, arguments_key, name)))
        ):  # fmt: skip
            return None
        if tools is not None and not fits(name, arguments, tools):
            return None
        return new_call(name, arguments, None, format_name, Span(first, last))

    return decode
