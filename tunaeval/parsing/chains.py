"""What a row of words looks like from its beginning: patterns made from the grammar.

They tell formats apart that begin alike, and the closer of a value from the same text inside it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tunaeval.grammar import (
    CallObject,
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
)

_SPACE = r"[ \t\r\n]{0,40}+"
_ARRAY = r"(?:\{|\[[ \t\r\n]{0,24}+[^\w\s])"
"""An object, or an array of anything that cannot be a list of Python calls."""
_LITERALS = 3
"""So many fixed texts are looked at, and what stands between them."""


def start_of(form: Format) -> str:
    """What has to stand behind a format's opener, as a pattern."""
    return _chain(form.words[1:], _LITERALS, "")


@lru_cache(maxsize=1024)
def follow_of(after: tuple[Word, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A value's closer with what the grammar allows behind it: in the text, and at its end."""
    chain = _chain(after, _LITERALS, "")
    return re.compile(chain), re.compile(_chain(after, _LITERALS, r"\Z"))


def _chain(words: tuple[Word, ...], literals: int, end: str) -> str:
    """The first words as a pattern; `end` is what may stand instead of any fixed text."""
    if not literals or not words:
        return ""
    word, rest = words[0], words[1:]
    match word:
        case Space():
            return _SPACE + _chain(rest, literals, end)
        case Literal():
            texts = "|".join(map(re.escape, word.spellings))
            cuts = "|".join(_beginnings(text) + end for text in word.spellings) if end else "(?!)"
            return f"(?:(?:{texts}){_chain(rest, literals - 1, end)}|{cuts})"
        case Many() | Maybe():
            first = _first(word).spellings
            again = "|".join(
                [*map(re.escape, first), *(_beginnings(t) + end for t in first if end)]
            )
            space = _SPACE if isinstance(word, Many) else ""
            return f"{space}(?:(?:{again})|{_chain(rest, literals, end)})"
        case Name() | Markup() | Key():
            before = f"(?:{re.escape(word.before)})?" if isinstance(word, Name) else ""
            behind = f"(?:{word.after})?" if isinstance(word, Name) and word.after else ""
            return f"{before}(?:{word.pattern}){behind}{_chain(rest, literals, end)}"
        case CallObject():
            return _ARRAY if word.array else r"(?:\{|\[[ \t\r\n]{0,24}+\{)"
        case PythonCalls():
            return r"(?:\[[ \t\r\n]{0,24}+)?[^\W\d]"
    return r"[ \t\r\n]{0,24}+\{"


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
