"""Blocks of call objects behind an opener.

If the slice up to the *first* closer is one sound JSON value, every reader that knows strings ends
at the same place, because the end of a value does not depend on what follows it. If it is not, the
closer may stand in a string, or there are several values: then they are scanned one by one.
"""

from __future__ import annotations

import re

import orjson

from tunaeval.grammar import Format, Literal, Space, Word
from tunaeval.limits import MAX_FAST
from tunaeval.types import ToolCall, Tools

from ..patterns import SPACE, row
from .claims import Claim, claim_of
from .promise import FENCE, UNSURE, BlockReader
from .rows import row_reader

_loads, _Refused = orjson.loads, orjson.JSONDecodeError


def object_reader(form: Format) -> BlockReader | None:
    """The reader of a format whose blocks hold whole call objects; None if it has odd words."""
    word, opener = form.call, form.opener
    if word is None:
        return None
    claim = claim_of(form, word)
    slow = row_reader(form, word, claim)
    if opener is None or slow is None:
        return slow
    at = form.words.index(word)
    read = slow
    if opener.text[0] not in "{},;" and _only_space(form.words[at + 1 : -1]):
        read = _single_reader(claim, form, (form.closer or opener).text, slow)
    return read if _only_space(form.words[1:at]) else _behind(form, form.words[1:at], read)


def _only_space(words: tuple[Word, ...]) -> bool:
    return all(isinstance(word, Space) for word in words)


_may_hold = re.compile(r'[ \t\r\n]*+(?:\[|\{[ \t\r\n]*+["}])').match
"""Whether an array or an object may begin at an index: a cheap look before anything is sought."""


def _single_reader(claim: Claim, form: Format, mark: str, slow: BlockReader) -> BlockReader:
    """The reader of one object, or an array of one, up to the closer: decoded at once.

    Without a closer it ends where the next opener stands, or the text does.
    """
    array = form.call is not None and form.call.array
    size = len(form.closer.text) if form.closer else 0

    def read(text: str, start: int, body: int, tools: Tools | None, calls: list[ToolCall]) -> int:
        end = text.find(mark, body, body + MAX_FAST) if _may_hold(text, body) else -1
        if end < 0:
            if size or len(text) - body > MAX_FAST:
                return slow(text, start, body, tools, calls)
            end = len(text)
        piece = text[body:end]
        try:
            value = _loads(piece)
        except _Refused:
            return slow(text, start, body, tools, calls)
        first = body if piece[0] == "{" else body + 1
        last = end if piece[-1] == "}" else end - 1
        if not (text.startswith("{", first) and text.endswith("}", first, last)):
            first, last = text.find("{", body), text.rfind("}", body, end) + 1
        if type(value) is list and len(value) == 1 and array:
            value = value[0]
        call = claim(value, piece, first, last, tools)
        if call is None:
            return UNSURE if type(value) is dict else slow(text, start, body, tools, calls)
        calls.append(call)
        return end + size

    return read


def _behind(form: Format, words: tuple[Word, ...], read: BlockReader) -> BlockReader | None:
    """The same reader, behind some words between the opener and the call.

    What follows a fence without being an object is code, and content; elsewhere it takes a look.
    """
    pattern = row(words)
    if pattern is None:
        return None
    match = re.compile(pattern + SPACE).match
    fence = form.words[0] == Literal(FENCE) and not form.marked

    def behind(text: str, start: int, body: int, tools: Tools | None, calls: list[ToolCall]) -> int:
        found = match(text, body)
        if found is None:
            return UNSURE
        at = found.end()
        if fence and text[at : at + 1] not in ("{", "["):
            return at
        return read(text, start, at, tools, calls)

    return behind
