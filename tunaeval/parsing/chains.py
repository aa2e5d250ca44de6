"""What a row of words looks like from its beginning: patterns made from the grammar.

They tell formats apart that begin alike, and the closer of a value from the same text inside it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

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

_SPACE = r"[ \t\r\n]{0,40}+"
_ARRAY = r"(?:\{|\[[ \t\r\n]{0,24}+[^\w\s])"
"""An object, or an array of anything that cannot be a list of Python calls."""
_OBJECT = r"[ \t\r\n]{0,24}+\{"
_LITERALS = 3
"""So many fixed texts are looked at, and what stands between them."""


def start_of(form: Format) -> str:
    """What has to stand behind a format's opener, as a pattern."""
    return _chain(form.words[1:], _LITERALS, "")


@dataclass(frozen=True, slots=True)
class Closing:
    """How a bare value ends: at `closer`, if `follow` (in the text) or `at_end` fits there.

    `restart`, if it comes first, is the end of the call and the beginning of the next one, which
    shows that the closer was forgotten; `call_closer` is the text it begins with.
    """

    closer: str
    call_closer: str
    follow: re.Pattern[str]
    at_end: re.Pattern[str]
    restart: re.Pattern[str]
    first: re.Pattern[str]
    """Either text, whichever stands first."""


_MOST_CLOSINGS = 512
"""The built-in formats have some twenty; each takes about 2 KB."""

_closings: dict[tuple[int, int, int], tuple[Format, Word, Closing]] = {}
"""Each with what its key is made of, so that no other object has that identity."""


def closing_of(form: Format, word: Word, after: tuple[Word, ...]) -> Closing:
    """How a value of `form` ends that is in front of `after`; kept, up to a number.

    By identity: to hash a whole format costs more than to read a short value.
    """
    key = id(form), id(word), len(after)
    known = _closings.get(key)
    if known is None:
        if len(_closings) >= _MOST_CLOSINGS:
            _closings.clear()  # at once: formats made by the hundred are used for one text each
        _closings[key] = known = (form, word, _closing(form, after))
    return known[2]


def _closing(form: Format, after: tuple[Word, ...]) -> Closing:
    closer, last = after[0], form.closer
    assert isinstance(closer, Literal)  # noqa: S101 - a format without it is refused when built
    restart, texts = "(?!)", [closer.text]
    if last and form.opener and last.text != closer.text:
        opener = "|".join(map(re.escape, form.opener.spellings))
        restart = f"{re.escape(last.text)}{_SPACE}(?:{opener}){start_of(form)}"
        texts.append(last.text)
    return Closing(
        closer.text,
        texts[-1],
        re.compile(_chain(after, _LITERALS, "")),
        re.compile(_chain(after, _LITERALS, r"\Z")),
        re.compile(restart),
        re.compile("|".join(map(re.escape, sorted(texts, key=len, reverse=True)))),
    )


def stops_of(form: Format, after: tuple[Word, ...]) -> tuple[str, ...]:
    """The fixed text behind a JSON object, which closes what was left open in it.

    One that begins as a list does is none: inside of an object it could be one.
    """
    ends = form.envelope.closes if form.envelope else None
    found = next((word for word in after if isinstance(word, Literal)), ends)
    if not found or not found.text.strip() or any(text[0] == "[" for text in found.spellings):
        return ()
    return found.spellings


def shows_end(words: tuple[Word, ...], index: int) -> bool:
    """Whether this is the first fixed text behind arguments one by one: only it shows their end."""
    many = max(i for i, word in enumerate(words) if isinstance(word, Many | Elements))
    return not any(isinstance(word, Literal) for word in words[many + 1 : index])


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
            space = _SPACE if isinstance(word, Many) and not starts_with_space(word) else ""
            return f"{space}(?:(?:{again})|{_chain(rest, literals, end)})"
        case Name() | Markup() | Key():
            before = f"(?:{re.escape(word.before)})?" if isinstance(word, Name) else ""
            behind = f"(?:{word.after})?" if isinstance(word, Name) and word.after else ""
            return f"{before}(?:{word.pattern}){behind}{_chain(rest, literals, end)}"
        case CallObject():
            return _ARRAY if word.array else r"(?:\{|\[[ \t\r\n]{0,24}+\{)"
        case PythonCalls():
            return r"(?:\[[ \t\r\n]{0,24}+)?[^\W\d]"
        case Arguments(optional=True):
            return rf"(?:{_OBJECT}|{_chain(rest, literals, end)})"
    return _OBJECT


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
