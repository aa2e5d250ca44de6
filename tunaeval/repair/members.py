"""Members of objects and elements of arrays that can be taken whole, because nothing is odd there.

Each pattern is a shorter way to what the reader would do step by step, and never says otherwise:
where it could, it does not match. That holds in a stream too, as all it looks at is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import TypeAlias

from .repairs import Draft, escaped

Match: TypeAlias = Callable[[str, int], "re.Match[str] | None"]

SPACE = r"[ \t\r\n]*+"
NUMBER = r"-?(?:0|[1-9][0-9]{0,17}+)(?:\.[0-9]{1,30}+)?+(?:[eE][+-]?[0-9]{1,2}+)?+"

(KEY, SINGLE_KEY, BARE_KEY, SOUND, MORE, OPENER, SINGLE, WORD, RAW, END) = range(1, 11)
"""The groups of members: one of the first three and one of the others, or the last alone.

A key in double quotes, in single ones, in none; a sound value and perhaps more sound members behind
it; the bracket that opens a value; the inside of a string in single quotes; a word of Python; the
inside of a string in double quotes that is not yet JSON.
"""

ELEMENTS, ELEMENTS_END = 1, 2
"""The groups of elements, or the end."""

WORDS = {"True": "true", "False": "false", "None": "null"}
"""Python's words, as JSON."""


@dataclass(frozen=True, slots=True)
class Members:
    """How an object's members are found, and what has to be done to them."""

    first: Match
    """A key, its sign, and a value or the bracket that opens it; or the end."""
    behind: Match
    """A comma and a member, or the end and perhaps a comma before it."""
    each: Callable[[str], list[tuple[str, str]]]
    """The keys and values of sound members."""
    repairs: Mapping[int, str]
    """By the group."""


@dataclass(frozen=True, slots=True)
class Elements:
    """How an array's elements are found."""

    first: Match
    """Sound elements with the commas between them, and the end of the array: both, or one of them.

    It matches nothing, too.
    """
    behind: Match
    """A comma and such elements, and the end."""
    each: Callable[[str], list[str]]
    """The elements without the white space between them, so that chunks do not matter."""


def members_of(
    keys: tuple[str, str, str],
    sign: str,
    scalar: tuple[str, str],
    otherwise: str,
    closer: str,
    *,
    repairs: Mapping[int, str],
) -> Members:
    """What finds members: `keys` with its groups, as sound members have it, and with one group.

    `scalar` is a sound value, and what finds it where it is known to be one; `otherwise` has the
    groups of other values.
    """
    key, sound_key, one_key = keys
    more = rf"((?:{SPACE},{SPACE}{sound_key}{sign}{scalar[0]})*+)"
    member = rf"{key}{sign}(?:({scalar[0]}){more}|{otherwise})"
    first = re.compile(rf"{SPACE}(?:{member}|({closer}))")
    behind = re.compile(rf"{SPACE}(?:,{SPACE}{member}|(,?{SPACE}{closer}))")
    each = re.compile(rf"{one_key}{sign}({scalar[1]})")
    return Members(first.match, behind.match, each.findall, repairs)


def elements_of(scalar: tuple[str, str]) -> Elements:
    """What finds elements; see `members_of`."""
    elements = rf"({scalar[0]}(?:{SPACE},{SPACE}{scalar[0]})*+)"
    first = re.compile(rf"(?:{SPACE}{elements})?+(?:{SPACE}(\]))?+")
    behind = re.compile(rf"(?:{SPACE},{SPACE}{elements})?+(?:{SPACE}(\]))?+")
    return Elements(first.match, behind.match, re.compile(scalar[1]).findall)


_ODD = re.compile(r"""\\.|["\x00-\x1f]""")
_CONTROL = re.compile(r"[\x00-\x1f]")


def _as_json(found: re.Match[str]) -> str:
    char = found[0]
    return escaped(char) if len(char) == 1 else "'" if char == "\\'" else char


def quoted(inside: str) -> str:
    r"""A string as JSON, by its inside, whose escapes are JSON's, but for `\'`."""
    if "\\" not in inside:
        return encode_basestring(inside)
    return f'"{_ODD.sub(_as_json, inside)}"'


def repaired_key(found: re.Match[str], repairs: Mapping[int, str], draft: Draft, base: int) -> str:
    """The key of a member that has none in double quotes; `base` is where its text begins."""
    kind = SINGLE_KEY if found.group(BARE_KEY) is None else BARE_KEY
    if code := repairs.get(kind):
        draft.repair(code, base + found.start(kind) - (kind == SINGLE_KEY))
    return found.group(kind)


def repaired_value(
    found: re.Match[str], repairs: Mapping[int, str], draft: Draft, base: int
) -> str:
    """The value of a member whose value is not JSON as it is written."""
    kind = found.lastindex or END
    value, at = found.group(kind), base + found.start(kind)
    if kind == WORD:
        draft.repair(repairs[kind], at)
        return WORDS[value]
    control = _CONTROL.search(value) if kind == RAW else None
    draft.repair(repairs[kind], at + control.start() if control else at - (kind == SINGLE))
    return quoted(value)
