"""Rows of words as possessive patterns: what a word matches is never given back.

So a pattern walks a text as recovering readers do, word by word; where they would have to wait,
repair or try again, it does not match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from tunaeval.grammar import (
    Arguments,
    Attribute,
    CallObject,
    Elements,
    Envelope,
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

Match: TypeAlias = Callable[[str, int], "re.Match[str] | None"]

SPACE = r"[ \t\r\n]*+"


def row(words: Sequence[Word], *, space: str = SPACE) -> str | None:
    """The words one after the other; None if one of them has no pattern.

    Groups, in this order where there are such words: a name, a key, an attribute.
    """
    parts = [_word(word, space) for word in words]
    return None if None in parts else "".join(map(str, parts))


def matcher(pattern: str | None, groups: int) -> Match | None:
    """What matches the pattern, if a word's own pattern has not brought groups into it."""
    if pattern is None:
        return None
    made = re.compile(pattern)
    return made.match if made.groups == groups else None


def any_of(word: Literal) -> str:
    """One of a literal's spellings, the longest that is there: one may begin with another."""
    longest_first = sorted(word.spellings, key=len, reverse=True)
    return f"(?>{'|'.join(map(re.escape, longest_first))})"


_DATA = re.compile(r'[][{}", ]++\Z').match


def twice(opener: Literal | None) -> tuple[str, ...]:
    """What an opener looks like where it is there again; nothing where that could be data."""
    return () if opener is None or _DATA(opener.text) else opener.spellings


def headers(envelope: Envelope) -> list[str]:
    """For each route what opens its message, its header, and what its body begins with."""
    opener = f"(?:{re.escape(envelope.opens.text)})?"
    return [f"{opener}{each.header}{re.escape(each.body)}" for each in envelope.routes]


def _word(word: Word, space: str) -> str | None:
    match word:
        case Literal():
            # White space in front of it would be taken by the Space before it.
            return None if word.text[0].isspace() else any_of(word)
        case Space():
            return space
        case Markup():
            return f"(?>(?:{word.pattern})?)"
        case Name():
            before = f"(?:{re.escape(word.before)})?+" if word.before else ""
            after = f"(?>(?:{word.after})?)" if word.after else ""
            return f"{before}((?>{word.pattern})){after}"
        case Key():
            return f"((?>{word.pattern}))"
        case Attribute():
            return "([A-Za-z]{0,16}+)"
        case Maybe():
            inner = row(word.words, space=space)  # none: they are left to recovering readers
            first = row(word.words[:1])
            return first and f"(?>{inner}|(?!{first}))" if inner else first and f"(?!{first})"
    return None


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
