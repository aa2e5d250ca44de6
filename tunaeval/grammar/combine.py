"""Tags that mean "a call", around any body that some format reads: each combines with each.

Models of 2025 write a known tag around a known body that no format of their own has: a list of
Python calls in `<tool_call>`, a list of objects in `<function_call>`. Such a pair is read as a
format that `inside` makes of the two: it has the name of the body's format.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from .format import Format
from .formats import FORMATS, FUNCTION_CALL, GLM45, JSON, NAME_JSON, PYTHONIC
from .words import CallObject, Literal, Many, Maybe, Space, Word

_NAMES = (
    "tool_call", "tool_calls", "TOOLCALL", "function_call", "function_calls", "function",
    "functions", "tools", "tool_use",
)  # fmt: skip

BODIES = {form.name: form for form in (JSON, FUNCTION_CALL, GLM45, NAME_JSON, PYTHONIC)}
"""The formats whose calls, without their own tags, may be in any tag: by name, in order."""

_OWN = {"<functions>"}.union(
    text
    for form in FORMATS.values()
    for word in (form.words[0], *(form.around or ())[:1])
    if isinstance(word, Literal)
    for text in word.spellings
)


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag around calls. `known`: it is a marker of some format, so it counts without tools."""

    opener: str
    closers: tuple[str, ...]
    known: bool


def tag_of(opener: str, name: str, *, known: bool) -> Tag:
    """Return the tag with this opener and name, which is closed as an element or as a token."""
    closers: tuple[str, ...] = (f"</{name}>",)
    if opener[1] == "|":
        closers = (f"<|/{name}|>", f"</|{name}|>", *closers)
    return Tag(opener, closers, known)


TAGS = {
    opener: tag_of(opener, name, known=opener in _OWN)
    for name in _NAMES
    for opener in (f"<{name}>", f"<|{name}|>")
}
"""The tags by their openers."""


SPACE_OF_NAMES = r"[A-Za-z][\w.-]{0,23}+"
"""What may be before a colon and the name of a tag."""

SPACED = rf"</?{SPACE_OF_NAMES}:(?:(?:{'|'.join(_NAMES)})>|invoke name=)"
"""The pattern of a tag in a namespace, or of its closer."""

SPACED_CUT = rf"</?(?:{SPACE_OF_NAMES}(?::[\w =]{{0,16}}+)?)?"
"""What may become such a tag."""

CLAUDE = "antml"
"""The namespace that Claude writes, which counts without tools."""


@lru_cache(maxsize=256)
def in_space(form: Format, space: str) -> Format:
    """Return a format whose tags have a namespace, or, but for the first one, have none."""

    def changed(word: Word) -> Word:
        if isinstance(word, Literal) and word.text[0] == "<":
            spaced = [re.sub(r"^(</?)", rf"\1{space}:", text) for text in word.spellings]
            return Literal(spaced[0], (*spaced[1:], *word.spellings))
        if isinstance(word, Many | Maybe):
            return replace(word, words=(*map(changed, word.words),))
        return word

    first, *others = map(changed, form.words)
    opener = Literal(first.text) if isinstance(first, Literal) else first
    return replace(form, words=(opener, *others), around=None, also=(), checked=False)


def _between_tags(word: Word) -> Word:
    """Return a word as it is between tags: keys of any name, and lines or none."""
    if isinstance(word, CallObject):
        return replace(word, any_keys=True, opens=())
    return Space(word.text) if isinstance(word, Literal) and word.text.isspace() else word


@lru_cache(maxsize=1024)
def inside(body: Format, tag: Tag) -> Format:
    """Return the format of a body's calls between a tag and its closer."""
    words = body.words[1:-1] if body.opener and body.closer else body.words
    closer = Literal(tag.closers[0], tag.closers[1:])
    row = (Literal(tag.opener), Space(), *map(_between_tags, words), Space(), closer)
    alone = replace(body, whole=False, around=None, also=(), checked=False)
    return replace(alone, words=row, marked=tag.known, checked=False)
