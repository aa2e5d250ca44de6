"""The notation of `Format.of`: the text that a model writes, with placeholders in ⟨ ⟩.

Those brackets occur in no format, so everything else is fixed text. The placeholders, and what
white space means, are described at `Format.of`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, TypeVar

from tunaeval.errors import FormatError

from .words import (
    ANY_NAME,
    ANY_SPACE,
    TYPE_NAME,
    WITH_COLONS,
    Arguments,
    CallObject,
    Elements,
    Key,
    Literal,
    Many,
    Markup,
    Maybe,
    Name,
    PythonCalls,
    Space,
    Value,
    Word,
)

_W = TypeVar("_W", bound=Word)

PLACEHOLDERS: dict[str, Word] = {
    "call": CallObject(),
    "[call]": CallObject(array=True, listed=True),
    "calls": PythonCalls(listed=False),
    "[calls]": PythonCalls(),
    "name": Name(WITH_COLONS),
    "arguments": Arguments(),
    "key": Key(),
    "value": Value(),
    "type": TYPE_NAME,
    "elements": Elements(""),
    "skip": Markup("", ""),
}
"""The words without their options, which are the fields of the word."""

_MARKS: dict[str, Many | Maybe] = {"each": Many(()), "maybe": Maybe(())}
"""What is in pairs, as in `⟨each⟩...⟨/each⟩`, with the word that is made of what is between."""

_OPENS: dict[type, tuple[tuple[str, ...], ...]] = {
    CallObject: (("{", ANY_SPACE, '"'), ("[", ANY_SPACE, "{", ANY_SPACE, '"')),
    PythonCalls: (("[", ANY_SPACE, ANY_NAME, "("),),
}
"""What a call that has no fixed text before it begins with."""

_TOKEN = re.compile("⟨([^⟨⟩]*)⟩|([^⟨⟩]+)|.")
_EXACT = re.compile("⟨=([^⟨⟩¦]*)⟩")
_GAP = re.compile(r"(\A[ \t\r\n]+|[ \t\r]*\n[ \t\r\n]*|[ \t\r\n]+\Z)")
_OPTION = re.compile(r"\s+(\w+)(?:=(?:`([^`]*)`|(\S*)))?(?=\s|\Z)")

_KEPT = {ord(char): 0xE000 + ord(char) for char in " \t\r\n"}
_BACK = {kept: char for char, kept in _KEPT.items()}
"""White space that is meant to the letter, while the pattern is split at all other."""


def words_of(pattern: str) -> tuple[Word, ...]:
    """Return the words that a pattern means; raises `FormatError` with what is wrong in it."""
    if not isinstance(pattern, str):
        raise FormatError(f"the pattern is {pattern!r:.60}, and has to be a text")
    exact = _EXACT.sub(lambda found: found[1].translate(_KEPT), pattern.strip(" \t\r\n"))
    rows: list[tuple[str, list[Word]]] = [("", [])]  # the marks that are open, with what is in them
    for token in _TOKEN.finditer(exact):
        inside, text = token.groups()
        if text is not None:
            _add_text(rows[-1][1], text)
        elif inside is None:
            raise FormatError(f"{token[0]} at {_excerpt(pattern, token[0])} has no other bracket")
        elif inside != "|" and not _is_mark(inside, rows):
            _add(rows[-1][1], _word(inside))
    if opened := rows[-1][0].partition(" ")[0]:
        raise FormatError(f"⟨{opened}⟩ has no ⟨/{opened}⟩ behind it")
    return _finished(rows[0][1])


def fixed_text(pattern: str | Literal) -> Literal:
    """Return the one fixed text that a pattern means, with its other spellings."""
    if not isinstance(pattern, str):
        return pattern
    match words_of(pattern):
        case (Literal() as word,):
            return word
        case ():
            return Literal("")
    raise FormatError(f"{pattern!r} has more than one fixed text")


def bare(words: tuple[Word, ...], opens: Iterable[tuple[str, ...]] | None) -> tuple[Word, ...]:
    """Return the words of a format without markers: its call knows what it begins with."""
    match words:
        case (CallObject(inside=()) as word,):
            rows = _OPENS[CallObject][: 1 + word.array]
        case (PythonCalls(loose=False) as word,):
            rows = _OPENS[PythonCalls]
        case _:
            return words
    return (replace(word, opens=rows if opens is None else tuple(opens)),)


def _add_text(row: list[Word], text: str) -> None:
    for at, piece in enumerate(_GAP.split(text)):
        if piece:
            _add(row, Space(piece) if at % 2 else Literal(piece.translate(_BACK)))


def _add(row: list[Word], word: Word) -> None:
    """Add a word; two white spaces side by side are one."""
    if isinstance(word, Space) and row and isinstance(row[-1], Space):
        word = Space(row[-1].text + word.text)
        row.pop()
    row.append(word)


def _is_mark(inside: str, rows: list[tuple[str, list[Word]]]) -> bool:
    """Open or close what repeats or may be missing; return False for all other placeholders."""
    kind = inside.removeprefix("/").partition(" ")[0]
    if "¦" in inside or not (inside.startswith("/") or kind in _MARKS):
        return False
    if not inside.startswith("/"):
        rows.append((inside, []))
        return True
    opened, row = rows[-1]
    if kind != opened.partition(" ")[0]:
        raise FormatError(f"⟨{inside}⟩ has no ⟨{kind}⟩ before it")
    if kind == "each" and not {Key, Value} <= {type(word) for word in row}:
        raise FormatError("⟨each⟩ is once for each argument, so ⟨key⟩ and ⟨value⟩ are in it")
    rows.pop()
    rows[-1][1].append(replace(_with_options(_MARKS[kind], opened, kind), words=_finished(row)))
    return True


def _word(inside: str) -> Word:
    inside = inside.translate(_BACK)
    if "¦" in inside:
        text, *also = inside.split("¦")
        return Literal(text, (*also,))
    if not inside.strip(" \t\r\n"):
        return Space(inside)
    kind = inside.partition(" ")[0]
    if kind not in PLACEHOLDERS:
        known = ", ".join(f"⟨{name}⟩" for name in (*PLACEHOLDERS, *_MARKS))
        raise FormatError(
            f"⟨{inside}⟩ is no placeholder; there are {known}, ⟨text¦other spelling⟩, "
            "⟨=exact text⟩, ⟨⟩, ⟨ ⟩, ⟨|⟩"
        )
    return _with_options(PLACEHOLDERS[kind], inside, kind)


def _with_options(word: _W, inside: str, kind: str) -> _W:
    """Return the word with the options behind its name; they are called as its fields are."""
    changes: dict[str, Any] = {}
    at, end = len(kind), len(inside)
    known = [field.name for field in fields(word) if field.name not in ("words", "opens")]
    while at < end:
        found = _OPTION.match(inside, at)
        if found is None or found[1] not in known:
            raise FormatError(
                f"⟨{inside}⟩ has the option {inside[at:].strip()!r}; "
                f"⟨{kind}⟩ has {', '.join(known) or 'none'}, as in ⟨skip text=1 pattern=`[0-9]?`⟩"
            )
        usual, at = getattr(word, found[1]), found.end()
        value = found[2] if found[2] is not None else found[3]
        if (value is None) != isinstance(usual, bool):
            what = "is written without a value" if value is not None else "needs a value"
            raise FormatError(f"⟨{inside}⟩: the option {found[1]} {what}")
        if isinstance(usual, tuple):
            value = (*value.split(","),)
        changes[found[1]] = True if value is None else value
    return replace(word, **changes)


def _finished(row: list[Word]) -> tuple[Word, ...]:
    """Return the words; a name has no colon in it where one may be behind it."""
    for at, word in enumerate(row):
        if isinstance(word, Name) and word.pattern == WITH_COLONS:
            first = next(iter(row[at + 1 :]), None)
            first = first.words[0] if isinstance(first, Many | Maybe) and first.words else first
            texts = first.spellings if isinstance(first, Literal) else ()
            if ":" in word.after or any(text.startswith(":") for text in texts):
                row[at] = replace(word, pattern=Name().pattern)
    return (*row,)


def _excerpt(pattern: str, bracket: str) -> str:
    at = pattern.rfind(bracket)
    return repr(pattern[max(0, at - 20) : at + 20])
