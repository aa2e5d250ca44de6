"""Call objects one after the other, in an array or not, each scanned at its place."""

from __future__ import annotations

import re
from collections.abc import Callable

from tunaeval.grammar import CallObject, Format
from tunaeval.types import ToolCall, Tools

from .claims import Claim, names_nothing, scanned
from .patterns import SPACE, row
from .promise import ENGINE, BlockReader

_skip = re.compile(SPACE).match
_Tail = Callable[[str, int], int]


def row_reader(form: Format, word: CallObject, claim: Claim) -> BlockReader | None:
    """The reader of what stands from the first object on; nothing fixed may stand before it."""
    tail = _tail(form, word)
    single = not (word.array or word.joined)

    def read(text: str, _: int, body: int, tools: Tools | None, calls: list[ToolCall]) -> int:
        at = _space(text, body)
        listed = in_array = text.startswith("[", at)
        if listed and not word.array:
            return ENGINE
        at += listed
        before, comma = len(calls), False
        while True:
            at = _space(text, at)
            char = text[at : at + 1]
            if char == "{" and not (single and len(calls) > before):
                found = scanned(text, at)
                if found is None:
                    return ENGINE
                value, end = found
                call = claim(value, None, at, end, tools)
                if call is None:
                    nothing = not form.marked and len(calls) == before and names_nothing(value)
                    return end if nothing else ENGINE
                calls.append(call)
                at, comma = end, False
                if word.opens and not listed:
                    return tail(text, at)
                continue
            if char in (",", ";") and len(calls) > before and not comma:
                comma = True
            elif char == "]" and listed and not comma:
                listed = False
                if word.opens:
                    return tail(text, at + 1)
            else:
                break
            at += 1
        return ENGINE if comma or listed or len(calls) == before else tail(text, at)

    return read if tail else None


def _space(text: str, at: int) -> int:
    found = _skip(text, at)
    return found.end() if found else at


def _tail(form: Format, word: CallObject) -> _Tail | None:
    """Where a block ends whose objects end there, or `ENGINE`: behind its closer, if it has one.

    A bracket too many there is a mend.
    """
    pattern = row(form.words[form.words.index(word) + 1 :])
    if form.closer is None:
        return lambda text, at: ENGINE if text.startswith(("{", "}"), at) else at
    if pattern is None:
        return None
    match = re.compile(SPACE + pattern).match

    def behind(text: str, at: int) -> int:
        found = match(text, at)
        return found.end() if found else ENGINE

    return behind
