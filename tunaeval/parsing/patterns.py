"""Rows of words as possessive patterns: what a word matches is never given back.

So a pattern walks a text as recovering readers do, word by word; where they would have to wait,
repair or try again, it does not match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from tunaeval.grammar import Attribute, Envelope, Key, Literal, Markup, Maybe, Name, Space, Word

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
