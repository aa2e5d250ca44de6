"""A format's own markup inside a bare value, whole or nearly so: the sign of a tag that was lost.

Where a closer or the next argument's opener is damaged, its text becomes part of the value before
it. One of two tags side by side is mostly whole; the other is still close to what it was. A text is
looked through for the halves of all tags, which takes next to nothing, and only around these the
rest is compared. What is no tag of the format, or nearly one, is never looked at: HTML, XML and
code are values like others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tunaeval.grammar import Format, Literal, Many, Maybe, Word
from tunaeval.limits import COMPARED_HALVES, LONG_TAG, SHORTEST_TAG, SURE_START

_BRACKET = re.compile(r"\W*+")


class Marks:
    """The tags of a format that has bare values, `first` the character that all begin with."""

    __slots__ = ("_halves", "_seeds", "first")

    def __init__(self, form: Format, closer: str) -> None:
        self.first = closer[:1]
        texts = dict.fromkeys(text for text in _tags(form.words) if text[:1] == self.first)
        self._halves = [half for text in texts for half in _in_halves(text)]
        self._seeds = tuple(dict.fromkeys(seed for _, seed, _ in self._halves))

    def inside(self, text: str) -> bool:
        """Whether the text holds one of the tags, or nearly."""
        if self.first not in text or not any(seed in text for seed in self._seeds):
            return False
        return any(
            _stands(text, at, half) for half in self._halves for at in _places(text, half[1])
        )


def _tags(words: Sequence[Word]) -> Iterator[str]:
    for word in words:
        if isinstance(word, Literal) and len(word.text) >= SHORTEST_TAG:
            yield word.text
        elif isinstance(word, Maybe | Many):
            yield from _tags(word.words)


def _in_halves(text: str) -> Iterator[tuple[str, str, str]]:
    """Each half of a tag, between what is before it and what is behind it."""
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


def _stands(text: str, at: int, half: tuple[str, str, str]) -> bool:
    """Whether the rest of a tag is around the half of it that is there."""
    before, seed, behind = half
    edits = 1 if len(before) + len(seed) + len(behind) < LONG_TAG else 2
    end = at + len(seed)
    ahead = text[end : end + len(behind) + edits]
    back = text[max(0, at - len(before) - edits) : at]
    if before and _BRACKET.match(before)[0] not in back:  # type: ignore[index]  # it may be empty
        return False
    return _within(behind, ahead, edits) and _within(before[::-1], back[::-1], edits)


def _within(wanted: str, text: str, edits: int) -> bool:
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
    if _within(wanted, text[1:], edits - 1):
        return True
    if len(wanted) < 2:
        return False
    return (
        _within(wanted[1:], text[1:], edits - 1)
        or _within(wanted[1:], text, edits - 1)
        or (wanted[:2] == text[1::-1] and _within(wanted[2:], text[2:], edits - 1))
    )
