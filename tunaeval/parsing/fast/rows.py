"""Call objects one after the other, in an array or not, each scanned at its place."""

from __future__ import annotations

import re
from collections.abc import Callable

from tunaeval.grammar import CallObject, Format
from tunaeval.repair import QUOTES
from tunaeval.types import NAME_KEYS, ToolCall, Tools

from ..patterns import SPACE, row
from .claims import Claim, scanned
from .promise import UNSURE, BlockReader

_skip = re.compile(SPACE).match
Tail = Callable[[str, int], int]


def row_reader(form: Format, word: CallObject, claim: Claim) -> BlockReader | None:
    """The reader of what stands from the first object on; nothing fixed may stand before it."""
    tail = tail_of(form, word)
    if tail is None:
        return None
    read_one, bare = _one_reader(form, claim), bool(word.opens)

    def read(text: str, _: int, body: int, tools: Tools | None, calls: list[ToolCall]) -> int:
        at, before, comma = behind_space(text, body), len(calls), False
        listed = text.startswith("[", at)
        at += listed
        single = not (listed or word.array or word.joined)
        while listed <= word.array:
            at = behind_space(text, at)
            char, count = text[at : at + 1], len(calls)
            if char == "{" and not (single and count > before):
                at, comma = read_one(text, at, before, tools, calls), False
                if at < 0 or len(calls) == count:
                    return at
                if not (bare and not listed):
                    continue
            elif char == "]" and listed and not comma:
                at, listed = at + 1, False
                if not bare:
                    continue
            elif char in (",", ";") and count > before and not comma:
                at, comma = at + 1, True
                continue
            break
        return UNSURE if comma or listed or len(calls) == before else tail(text, at)

    return _unless_mentioned(form.opener.text, read) if form.opener else read


def _unless_mentioned(opener: str, read: BlockReader) -> BlockReader:
    """The same reader, but an opener that no object follows is only a mention, and content."""
    followed = ("", "{", "[", "`", opener[0])

    def read_or_mention(
        text: str, start: int, body: int, tools: Tools | None, calls: list[ToolCall]
    ) -> int:
        at = behind_space(text, body)
        return at if text[at : at + 1] not in followed else read(text, start, at, tools, calls)

    return read_or_mention


def _one_reader(
    form: Format, claim: Claim
) -> Callable[[str, int, int, Tools | None, list[ToolCall]], int]:
    """Reads one object: where it ends. It is content if it adds no call."""
    names = frozenset((*NAME_KEYS, *((form.call.name,) if form.call else ())))

    def read(text: str, at: int, before: int, tools: Tools | None, calls: list[ToolCall]) -> int:
        found = scanned(text, at)
        if found is None:
            return UNSURE
        value, end = found
        call = claim(value, None, at, end, tools)
        if call:
            calls.append(call)
            return end
        if form.marked or len(calls) > before or type(value) is not dict:
            return UNSURE
        return end if value.keys().isdisjoint(names) else UNSURE  # where nothing announces a call

    return read


def behind_space(text: str, at: int) -> int:
    """The next place that is no white space of JSON."""
    found = _skip(text, at)
    return found.end() if found else at


def tail_of(form: Format, word: CallObject) -> Tail | None:
    """Where a block ends whose objects end there, or `UNSURE`: behind its closer, if it has one.

    Without one, a bracket too many is a repair, and a quote behind a row may be.
    """
    if form.closer is None:
        odd = ("{", "}") if word.opens else ("{", "}", *QUOTES)
        return lambda text, at: UNSURE if text.startswith(odd, at) else at
    pattern = row(form.words[form.words.index(word) + 1 :])
    if pattern is None:
        return None
    match = re.compile(SPACE + pattern).match

    def behind(text: str, at: int) -> int:
        found = match(text, at)
        return found.end() if found else UNSURE

    return behind
