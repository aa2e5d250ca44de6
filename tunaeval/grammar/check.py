"""What is wrong with the words of a format: their order, and patterns that ordinary text matches.

Each message has advice for the format's author.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice, product
from typing import get_args

from .words import (
    Arguments,
    Attribute,
    CallObject,
    Key,
    Literal,
    Many,
    Maybe,
    Name,
    PythonCalls,
    Space,
    Word,
)

_NAMES = {
    "L": "fixed text", "S": "white space", "M": "⟨skip⟩", "C": "⟨call⟩", "P": "⟨calls⟩",
    "N": "⟨name⟩", "A": "⟨arguments⟩", "K": "⟨key⟩", "T": "⟨type⟩", "V": "⟨value⟩", "?": "⟨maybe⟩",
    "*": "⟨each⟩", "E": "⟨elements⟩", "O": "⟨arguments optional⟩",
}  # fmt: skip
"""Each word as it is in patterns, by the character that stands for it in `_ORDER`."""

_CODES = dict(zip(get_args(Word), _NAMES, strict=False))

_ORDER = {
    "block": r"(?:[CP]|LS*PS*L?|L[LSM]*C[LS]*|L[LSM?]*N[LSM?O]*[AE*][LSM?]*)(?<=[LCPA])",
    "addressed": r"L[LSM?O]*[AE*][LSM?]*(?<=[LA*])",
    "each": r"L[LSM?]*K[LSM?]+(?:T[LSM?]+)*VL[LSM?]*",
    "maybe": r"L[LSM?AO]*",
    "maybe in each": r"L[LSM?T]*",
}
"""Regular expressions of the sequences of words that can be read, by where they are."""

_ENDS = ("", "L", "A", "C", "NA", "LC", "LA", "VL", "LVL", "KLVL", "LKLVL")
"""Completions: one of them completes the beginning of every valid sequence of """


def order_fault(row: Sequence[Word], kind: str) -> str | None:
    """Return which word of `row` is in a place where it cannot be read; None if all can be read."""
    for word in row:
        if isinstance(word, Many | Maybe):
            inside = "maybe in each" if kind in ("each", "maybe in each") else "maybe"
            inside = "each" if isinstance(word, Many) else inside
            if fault := order_fault(word.words, inside):
                return fault
    codes = "".join(map(_code, row))
    matches = re.compile(_ORDER[kind]).fullmatch

    def begins(codes: str) -> bool:
        return any(matches(codes + rest) for rest in _ENDS)

    for at, word in enumerate(row):
        if not begins(codes[: at + 1]):
            known = " or ".join(name for code, name in _NAMES.items() if begins(codes[:at] + code))
            where = "" if kind in ("block", "addressed") else f"in ⟨{kind.partition(' ')[0]}⟩, "
            place = f"follows {shown(row[at - 1])}" if at else "comes first"
            why = ", which shows where an argument begins" if kind == "each" and not at else ""
            why += _cure(row, codes, at, begins)
            return f"{where}{shown(word)} {place}, where {known or 'nothing'} may be{why}"
    return None if matches(codes) else _lack(codes, kind)


def _cure(row: Sequence[Word], codes: str, at: int, begins: Callable[[str], bool]) -> str:
    """Return advice on the word at `at`, found by trying what would be valid up to there."""
    before, code, rest = codes[:at], codes[at], codes[at:]
    if code in "KTV" and "N" in before:
        return "; put ⟨each⟩ and ⟨/each⟩ around what repeats for each argument"
    if code == "S" and begins(f"{before}L") and not begins("C"):
        return r"; white space that has to be there is fixed text, as in ⟨=\n⟩"
    for other, old in enumerate(before):
        if not {old, code} & {*"LSM?"} and begins(before[:other] + codes[other + 1 : at + 1]):
            return f"; {shown(row[other])} is there already, so leave one of them out"
    for new, to in product((*_NAMES, *(f"{one}L" for one in _NAMES)), range(at, -1, -1)):
        if begins(before[:to] + new + codes[to : at + 1]):
            here, needed = shown(row[to]), " and ".join(_NAMES[one] for one in new)
            if new != "L" and new[0] in rest:
                return f"; {_NAMES[new[0]]} has to be before {here}; another order needs a Parser"
            other_way = "" if new == "L" else ", or, if the model writes none, write a Parser"
            return f"; put {needed} before {here}{other_way}"
    return ""


def _lack(codes: str, kind: str) -> str:
    """Return what a row of words still needs at its end; `codes` has a letter for each word."""
    if kind == "each" and "V" in codes:
        return "nothing is behind ⟨value⟩, so it never knows where it ends; put fixed text there"
    if kind == "each":
        return "⟨each⟩ is once for each argument, so ⟨key⟩ and ⟨value⟩ are in it, once"
    if kind not in ("block", "addressed"):
        return "⟨maybe⟩ has nothing in it"
    if not codes or (kind == "block" and not re.search("[CPN]", codes)):
        needed = "in these brackets (U+27E8) it needs ⟨call⟩, ⟨calls⟩, or ⟨name⟩ and arguments"
        return f"nothing in it says which tool is called; {needed}"
    if not re.search("[CPAE*]", codes):
        return "it has a name and no arguments; give it ⟨arguments⟩, ⟨each⟩ or ⟨elements⟩"
    return f"it ends with {_NAMES[codes[-1]]}, so a block never knows where; put fixed text there"


def _code(word: Word) -> str:
    return "O" if isinstance(word, Arguments) and word.optional else _CODES[type(word)]


def shown(word: object) -> str:
    """Return a word as an author writes it in a pattern, for messages."""
    if isinstance(word, Literal):
        return repr(word.text)
    return _NAMES[_CODES[type(word)]] if type(word) in _CODES else repr(word)


_CLASS = r"(?:\\.|\[\^?(?:\\.|[^\]\\])*\]|[^\\\[\](){}?*+|^$])"
_ROW = re.compile(rf"(?:{_CLASS}(?:\{{[01](?:,\d+)?\}}|\?)?)?(?:{_CLASS}(?:\{{0,\d+\}}|\?))*")
"""Patterns a stream can pause in: one character or class, then others that may be missing."""


def bound_fault(pattern: str) -> str | None:
    """Return why a pattern is invalid or its matches have no maximum length; None if it is fine."""
    try:
        re.compile(pattern)
    except re.error as error:
        return f"the pattern {pattern!r} is no regular expression: {error}"
    outside_classes = re.sub(r"\[(?:\\.|[^\]])*\]", "x", pattern)
    if re.search(r"(?<!\\)[*+]|,\}", outside_classes):
        return f"the pattern {pattern!r} has no bound; write {{0,24}} instead of * or +"
    return None


def word_faults(word: Word) -> Iterator[str | None]:
    for pattern in (getattr(word, "pattern", ""), getattr(word, "after", "")):
        yield bound_fault(pattern)
        if not _ROW.fullmatch(pattern):
            form = "one character or class, and others with ? or {0,24}: '[a-z][a-z0-9]{0,24}'"
            yield f"a text that arrives may end inside of the pattern {pattern!r}; write {form}"
    match word:
        case Literal() if not all(word.spellings):
            yield "fixed text is empty, so it is found everywhere"
        case Space() if word.text.strip():
            yield f"white space is read there, and {word.text!r} has more; write it as fixed text"
        case Name() | Key() if not fitting(word.pattern):
            yield f"the pattern {word.pattern!r} matches no single character; begin it with one"
        case Attribute() if not (word.text and word.json):
            yield "⟨type⟩ needs words for both, texts and JSON"
        case CallObject() | PythonCalls():
            begins = ("[",) if isinstance(word, PythonCalls) else ("[", "{")
            for row in word.opens:
                if not "".join(row).startswith(begins):
                    yield f"`opens` has the row {row!r}; a call begins with {' or '.join(begins)}"


@cache
def fitting(pattern: str) -> list[str]:
    """Return up to two characters that each match a pattern, common ones first."""
    matches = re.compile(pattern).fullmatch
    usual = (*"aA0_-.é中", *map(chr, range(33, 127)), *map(chr, range(128, 0x250)))
    return [*islice(filter(matches, usual), 2)]


def is_usual(text: str, *, opens_calls: bool = False) -> bool:
    """Whether a text is too common in prose to be a marker.

    Too common are white space, one character, and two of which one is a letter, digit or `_`. What
    follows the opener of a call decides, too, so that it may be two characters, or one of `[{<|`.
    """
    text = text.strip(UNSEEN)
    if opens_calls and (text in _FIRST_OF_CALLS or len(text) > 1):
        return False
    return not text or bool(re.fullmatch(r"[!-~\w]|\w.|.\w", text, re.DOTALL))


UNSEEN = " \t\n\v\f\r\xa0\xad\u200b\u200c\u200d\u2060\u3000\ufeff"
_FIRST_OF_CALLS = frozenset("[{<|")
