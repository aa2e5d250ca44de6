"""Searches with two patterns at once: that of the formats, and that of a set of tools."""

from __future__ import annotations

import re
from typing import TypeAlias, Union

from tunaeval import limits

Search: TypeAlias = Union[re.Pattern[str], "Either"]


class Either:
    """Finds what either of two patterns finds first; of two at one place, the longer fixed text."""

    def __init__(self, base: Search, own: re.Pattern[str]) -> None:
        self._base, self._own = base, own

    def search(self, text: str, begin: int = 0, end: int = -1) -> re.Match[str] | None:
        # Near by first, as one pattern would search all of the text for each match of the other.
        near, last = begin + limits.CALL_AHEAD, len(text) if end < 0 else end
        found = self._first(text, begin, near) if near < last else None
        is_near = found is not None and found.start() < near - limits.HEADER_AHEAD
        return found if is_near else self._first(text, begin, last)

    def _first(self, text: str, *place: int) -> re.Match[str] | None:
        one, other = self._base.search(text, *place), self._own.search(text, *place)
        if one is None or other is None:
            return one or other
        if one.start() != other.start():
            return one if one.start() < other.start() else other
        return one if not one.lastindex and one.end() >= other.end() else other
