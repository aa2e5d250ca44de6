"""What a row of words looks like from its beginning: patterns made from the grammar.

They tell formats apart that begin alike, and, in `closings`, where a value ends.
"""

from __future__ import annotations

import re

from tunaeval.grammar import (
    Arguments,
    CallObject,
    Elements,
    Format,
    Key,
    Literal,
    Many,
    Markup,
    Maybe,
    Name,
    PythonCalls,
    Space,
    Word,
    starts_with_space,
)
from tunaeval.limits import NEAR_SPACE, WIDE_SPACE, WORDS_AHEAD

_ARRAY = rf"(?:\{{|\[{NEAR_SPACE}[^\w\s])"
"""An object, or an array of anything that cannot be a list of Python calls."""
_OBJECT = rf"{NEAR_SPACE}\{{"


def start_of(form: Format) -> str:
    """What has to stand behind a format's opener, as a pattern."""
    return chain(form.words[1:], WORDS_AHEAD, "")


def beginning_of(form: Format) -> str:
    """The same where the text may end in it."""
    return chain(form.words[1:], WORDS_AHEAD, r"\Z")


def chain(words: tuple[Word, ...], literals: int, end: str) -> str:
    """The first words as a pattern; `end` is what may stand instead of any fixed text."""
    if not literals or not words:
        return ""
    word, rest = words[0], words[1:]
    match word:
        case Space():
            return WIDE_SPACE + chain(rest, literals, end)
        case Literal():
            texts = "|".join(map(re.escape, word.spellings))
            cuts = "|".join(_beginnings(text) + end for text in word.spellings) if end else "(?!)"
            return f"(?:(?:{texts}){chain(rest, literals - 1, end)}|{cuts})"
        case Many() | Maybe():
            again = _begun(_first(word).spellings, end)
            space = WIDE_SPACE if isinstance(word, Many) and not starts_with_space(word) else ""
            return f"{space}(?:{again}|{chain(rest, literals, end)})"
        case Elements():
            again = _begun((f"{word.prefix}<",), end)
            return f"{WIDE_SPACE}(?:{again}|{chain(rest, literals, end)})"
        case Name() | Markup() | Key():
            before = _optional(word.before, end) if isinstance(word, Name) else ""
            behind = f"(?:{word.after})?" if isinstance(word, Name) and word.after else ""
            cut = f"|{before}{end}" if end else ""
            return f"(?:{before}(?:{word.pattern}){behind}{chain(rest, literals, end)}{cut})"
        case CallObject():
            start = _ARRAY if word.array else rf"(?:\{{|\[{NEAR_SPACE}\{{)"
        case PythonCalls():
            start = rf"(?:\[{NEAR_SPACE})?[^\W\d]"
        case Arguments(optional=True):
            start = rf"(?:{_OBJECT}|{chain(rest, literals, end)})"
        case _:
            start = _OBJECT
    return rf"(?:{start}|\[?{NEAR_SPACE}{end})" if end else start


def _begun(texts: tuple[str, ...], end: str) -> str:
    """A pattern for these texts, and for their beginnings where the text may end."""
    cuts = [_beginnings(text) + end for text in texts] if end else []
    return f"(?:{'|'.join([*map(re.escape, texts), *cuts])})"


def _optional(text: str, end: str) -> str:
    """A pattern for a text that may be missing, or in which the text that is looked at may end."""
    return _beginnings(f"{text}.") if end else f"(?:{re.escape(text)})?"


def _beginnings(text: str) -> str:
    """A pattern for every beginning of a text, the empty one too."""
    pattern = ""
    for char in reversed(text[:-1]):
        pattern = f"(?:{re.escape(char)}{pattern})?+"
    return pattern


def _first(word: Many | Maybe) -> Literal:
    first = word.words[0]
    assert isinstance(first, Literal)  # noqa: S101 - a format without it is refused when built
    return first
