"""Which patterns may run over a model's text: those whose matches have a bound, and in words those
that match every beginning of what they match, for a text that arrives may end anywhere.
"""

from __future__ import annotations

import re
from functools import cache

_CLASS = r"(?:\\.|\[\^?(?:\\.|[^\]\\])*\]|[^\\\[\](){}?*+|^$])"
_ROW = re.compile(rf"(?:{_CLASS}(?:\{{[01](?:,\d+)?\}}|\?)?)?(?:{_CLASS}(?:\{{0,\d+\}}|\?))*")
"""A character or a class, then others that may be missing."""

_USUAL = ("a", "A", "0", "_", "-", ".", "é", "中")


def pattern_fault(pattern: str) -> str | None:
    """Why `pattern` may not be used, if so."""
    try:
        re.compile(pattern)
    except re.error as error:
        return f"the pattern {pattern!r} is no regular expression: {error}"
    outside_classes = re.sub(r"\[(?:\\.|[^\]])*\]", "x", pattern)
    if re.search(r"(?<!\\)[*+]|,\}", outside_classes):
        return f"the pattern {pattern!r} has no bound; write {{0,24}} instead of * or +"
    return None


def row_fault(pattern: str) -> str | None:
    """Why a word may not have `pattern`, if so."""
    if fault := pattern_fault(pattern):
        return fault
    if _ROW.fullmatch(pattern):
        return None
    return (
        f"the pattern {pattern!r} may not match a beginning of what it matches, and a text that "
        "arrives may end there; write one character or class, and behind it others with ? or "
        "{0,24}, as in '[a-z][a-z0-9]{0,24}'"
    )


@cache
def one_character(pattern: str) -> str | None:
    """A character that the pattern matches, a usual one if there is any; None if there is none."""
    matches = re.compile(pattern).fullmatch
    printable = (*_USUAL, *map(chr, range(33, 127)), *map(chr, range(128, 0x250)))
    return next((char for char in printable if matches(char)), None)


@cache
def passed(pattern: str, text: str) -> int:
    """How many characters of `text` the pattern matches at its beginning."""
    found = re.match(pattern, text)
    return found.end() if found else 0
