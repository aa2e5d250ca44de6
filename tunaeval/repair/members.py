"""Members of objects and elements of arrays that can be taken whole, because nothing is odd there.

Each pattern is a shorter way to what the reader would do step by step, and never says otherwise:
where it could, it does not match. That holds in a stream too, as all it looks at is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from .mends import Draft, escaped

_Match: TypeAlias = Callable[[str, int], "re.Match[str] | None"]

SPACE = r"[ \t\r\n]*+"
NUMBER = r"-?(?:0|[1-9][0-9]{0,17}+)(?:\.[0-9]{1,30}+)?+(?:[eE][+-]?[0-9]{1,2}+)?+"

(RUN, KEY, SINGLE_KEY, BARE_KEY, SOUND, OPENER, SINGLE, WORD, RAW, END) = range(1, 11)
"""The groups of members: a run of sound ones; or a key and a value; or the end.

A key in double quotes, in single ones, in none; a value that is JSON; the bracket that opens one;
the inside of a string in single quotes; a word of Python; the inside of a string
in double quotes that is not yet JSON.
"""

ELEMENTS, ELEMENTS_END = 1, 2
"""The groups of elements, or the end."""

WORDS = {"True": "true", "False": "false", "None": "null"}
"""Python's words, as JSON."""


class Members(NamedTuple):
    """How an object's members are found, and what has to be done to them."""

    first: _Match
    """A key, its sign, and a value or the bracket that opens it; or the end."""
    behind: _Match
    """A comma and a member, or the end and perhaps a comma before it."""
    run: Callable[[str], Iterable[tuple[str, str]]]
    """The keys and values of a run, as JSON but for the quotes of the keys."""
    repairs: Mapping[int, str] = {}
    """By the group."""


class Elements(NamedTuple):
    """How an array's elements are found, and written as JSON."""

    first: _Match
    """Sound elements with the commas between them."""
    behind: _Match
    """A comma and such elements, or the end of the array."""
    written: Callable[[str], str]
    """The elements without the white space between them, so that chunks do not matter."""


def patterns_of_members(
    sound: str, key: str, sign: str, value: str, closer: str
) -> tuple[_Match, _Match]:
    """What finds the first members and the others; `sound` are such as make a run."""
    run = rf"({sound}(?:{SPACE},{SPACE}{sound})*+)"
    member = rf"(?:{run}|{key}{sign}{value})"
    first = re.compile(rf"{SPACE}(?:{member}|({closer}))")
    behind = re.compile(rf"{SPACE}(?:,{SPACE}{member}|(,?{SPACE}{closer}))")
    return first.match, behind.match


def patterns_of_elements(element: str) -> tuple[_Match, _Match]:
    """What finds the first elements and the others."""
    elements = rf"{SPACE}({element}(?:{SPACE},{SPACE}{element})*+)"
    behind = re.compile(rf"{SPACE}(?:,{elements}|(\]))")
    return re.compile(elements).match, behind.match


_ODD = re.compile(r"""\\.|["\x00-\x1f]""")
_CONTROL = re.compile(r"[\x00-\x1f]")


def _as_json(found: re.Match[str]) -> str:
    char = found[0]
    return escaped(char) if len(char) == 1 else "'" if char == "\\'" else char


def inside_as_json(text: str) -> str:
    r"""The inside of a string whose escapes are JSON's, but for `\'`."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return text
    return _ODD.sub(_as_json, text)


def repaired_key(found: re.Match[str], members: Members, draft: Draft, base: int) -> str:
    """The key of a member that has none in double quotes; `base` is where its text begins."""
    kind = SINGLE_KEY if found.group(BARE_KEY) is None else BARE_KEY
    if code := members.repairs.get(kind):
        draft.mend(code, base + found.start(kind) - (kind == SINGLE_KEY))
    return found.group(kind)


def repaired_value(found: re.Match[str], members: Members, draft: Draft, base: int) -> str:
    """The value of a member whose value is not JSON as it is written."""
    kind = found.lastindex or END
    value = found.group(kind)
    if code := members.repairs.get(kind):
        control = _CONTROL.search(value) if kind == RAW else None
        at = found.start(kind) + (control.start() if control else -(kind == SINGLE))
        draft.mend(code, base + at)
    return WORDS[value] if kind == WORD else f'"{inside_as_json(value)}"'
