"""Follows the nesting of a JSON text that arrives in pieces."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MARKS = {False: re.compile(r'["\\{}]'), True: re.compile(r'["\\{}\[\]]')}


class Brackets:
    """How many objects, and with `lists` also lists, are open where the text so far ends."""

    def __init__(self, *, lists: bool) -> None:
        self.depth = 0
        self._marks = _MARKS[lists]
        self._quoted = self._escaped = False

    def follow(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the index and the sign of each bracket in the next piece, and of each quote that
        ends a string; `depth` counts the bracket already.
        """
        skipped = 0 if self._escaped and text else -1
        self._escaped = self._escaped and not text
        for mark in self._marks.finditer(text):
            at, what = mark.start(), mark.group()
            if at == skipped:
                continue
            if what == "\\":
                skipped = at + 1
                self._escaped = skipped == len(text)
                continue
            if what == '"':
                self._quoted = not self._quoted
            elif not self._quoted:
                self.depth += 1 if what in "{[" else -1
            if not self._quoted:
                yield at, what
