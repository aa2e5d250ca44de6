"""A format's own markup inside a bare value, whole or nearly so: the sign of a tag that was lost.

Where a closer or the next argument's opener is damaged, its text becomes part of the value before
it. One of two tags side by side is mostly whole; the other is still close to what it was. A text is
looked through for the halves of all tags, which takes next to nothing, and only around these the
rest is compared. What is no tag of the format, or nearly one, is never looked at: HTML, XML and
code are values like others. So is what is in quotes of the format's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from tunaeval.grammar import Format, Literal, Many, Maybe, Value, Word
from tunaeval.limits import COMPARED_HALVES, LONG_TAG, SHORTEST_TAG, SURE_START

from .variants import Variants

_BRACKET = re.compile(r"\W*+")
_WORDS = re.compile(r"\w++")

_Half: TypeAlias = tuple[str, str, str]
"""Half of a tag, between what is before it and what is behind it."""


class Marks:
    """The tags of a format that has bare values, `first` the character that all begin with.

    The values are those of `many`, in front of `closer`.
    """

    __slots__ = ("_halves", "_quotes", "_variants", "first")

    def __init__(self, form: Format, many: Many, closer: str) -> None:
        self.first = closer[:1]
        self._quotes = next((w.quotes for w in many.words if isinstance(w, Value)), ("", ""))
        self._variants = Variants(form, many)
        self._halves = Halves(_tags(form.words, self.first))

    def inside(self, text: str, *, closed: bool = True) -> bool:
        """Whether the text holds one of the tags, or nearly; `closed`: its own closer was there."""
        if self.first not in text:
            return False
        opener, end = self._quotes
        if opener and text.startswith(opener):
            return text.find(end, len(opener)) != len(text) - len(end)
        return self._halves.inside(text) or self._variants.inside(text, closed=closed)


class Halves:
    """The halves of some texts."""

    __slots__ = ("_cores",)

    def __init__(self, texts: Iterable[str]) -> None:
        halves = [half for text in dict.fromkeys(texts) for half in _in_halves(text)]
        self._cores: dict[str, list[_Half]] = {}
        """Words, each with the halves that hold it: of few words one is looked for in vain."""
        for half in sorted(halves, key=lambda half: len(_core(half))):
            core = next((known for known in self._cores if known in half[1]), _core(half))
            self._cores.setdefault(core, []).append(half)

    def inside(self, text: str) -> bool:
        """Whether one of them is there, or nearly."""
        for core, halves in self._cores.items():
            if core in text:
                for half in halves:
                    if any(_stands(text, at, half) for at in _places(text, half[1])):
                        return True
        return False


def _core(half: _Half) -> str:
    """The longest word in it."""
    return max(_WORDS.findall(half[1]), key=len, default=half[1])


def _tags(words: Sequence[Word], first: str) -> Iterator[str]:
    """The parts of fixed texts that begin with that character."""
    for word in words:
        if isinstance(word, Literal):
            parts = word.text.split(first)[1:]
            yield from (first + part for part in parts if len(part) + 1 >= SHORTEST_TAG)
        elif isinstance(word, Maybe | Many):
            yield from _tags(word.words, first)


def _in_halves(text: str) -> Iterator[_Half]:
    middle, most = len(text) // 2, len(text) * 3 // 4
    if most >= SURE_START and not text[1].isalpha():
        yield "", text[:most], ""
    yield "", text[:middle], text[middle:]
    yield text[:middle], text[middle:], ""


def _places(text: str, seed: str) -> Iterator[int]:
    at = text.find(seed)
    for _ in range(COMPARED_HALVES):
        if at < 0:
            return
        yield at
        at = text.find(seed, at + 1)


def _stands(text: str, at: int, half: _Half) -> bool:
    """Whether the rest of a tag is around the half of it that is there."""
    before, seed, behind = half
    edits = 1 if len(before) + len(seed) + len(behind) < LONG_TAG else 2
    end = at + len(seed)
    ahead = text[end : end + len(behind) + edits]
    back = text[max(0, at - len(before) - edits) : at]
    if before and _BRACKET.match(before)[0] not in back:  # type: ignore[index]  # it may be empty
        return False
    return within(behind, ahead, edits) and within(before[::-1], back[::-1], edits)


def nearly_begins(text: str, mark: str, edits: int) -> bool:
    """Whether the text begins with a mark, but for so many characters, even the last."""
    return within(mark, text, edits) or within(mark[:-1], text, edits - 1)


def within(wanted: str, text: str, edits: int) -> bool:
    """Whether the text begins with what is wanted, but for so many characters.

    One may be lost, added, changed, or swapped with the next; the last, a bracket or the like, not.
    """
    size = min(len(wanted), len(text))
    at = next((at for at in range(size) if wanted[at] != text[at]), size)
    wanted, text = wanted[at:], text[at:]
    if not wanted:
        return True
    if not (edits and text):
        return False
    if within(wanted, text[1:], edits - 1):
        return True
    if len(wanted) < 2:
        return False
    return (
        within(wanted[1:], text[1:], edits - 1)
        or within(wanted[1:], text, edits - 1)
        or (wanted[:2] == text[1::-1] and within(wanted[2:], text[2:], edits - 1))
    )
