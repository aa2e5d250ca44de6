"""Members of objects and elements of arrays that can be taken whole, because nothing is odd there.

Each pattern is a shorter way to what the reader would do step by step, and never says otherwise:
where it could, it does not match. That holds in a stream too, as all it looks at is there.
"""

from __future__ import annotations

import re

from .atoms import BARE_WORD, PYTHON_WORDS
from .mends import Draft, controls_escaped
from .quotes import SURELY
from .strings import SOUND_ESCAPE

_SPACE = r"[ \t\r\n]*+"
_INNER = rf"[^\"'\\\x00-\x1f]*+(?:{SOUND_ESCAPE}[^\"'\\\x00-\x1f]*+)*+"
_STRING = rf'"[^"\\\x00-\x1f]*+(?:{SOUND_ESCAPE}[^"\\\x00-\x1f]*+)*+"'
_RAW = rf'[^"\\]*+(?:{SOUND_ESCAPE}[^"\\]*+)*+'
_BEHIND_ATOM = r"(?=[ \t\r\n,}\]])"
_NUMBER = r"-?(?:0|[1-9][0-9]{0,17}+)(?:\.[0-9]{1,30}+)?+(?:[eE][+-]?[0-9]{1,2}+)?+"
_ATOM = rf"(?:{_NUMBER}|true|false|null){_BEHIND_ATOM}"

_KEY = rf"""(?:("[^"\\\x00-\x1f]*+")|'([^"'\\\x00-\x1f]*+)'|({BARE_WORD}))"""
_VALUE = (
    rf"(?:({_STRING}{SURELY['value']}|{_ATOM})|([{{\[])"
    rf"|'({_INNER})'{SURELY['value']}|({'|'.join(PYTHON_WORDS)}){_BEHIND_ATOM}"
    rf'|("{_RAW}"){SURELY["value"]})'
)
_MEMBER = rf"{_SPACE}{_KEY}{_SPACE}:{_SPACE}{_VALUE}"

FIRST_MEMBER = re.compile(rf"{_MEMBER}|{_SPACE}(}})")
"""A key, a colon, and a value or the bracket that opens it; or the end of the object."""

BEHIND_MEMBER = re.compile(rf"{_SPACE}(?:,{_MEMBER}|(,?{_SPACE}}}))")
"""A comma and a member, or the end of the object and perhaps a comma too many."""

(KEY, SINGLE_KEY, BARE_KEY, SOUND, OPENER, SINGLE, WORD, RAW, END) = range(1, 10)
"""The groups: one of the first three and one of the others, or the last alone.

A sound value; the bracket that opens one; the inside of a string in single quotes; a Python
literal; a string with raw control characters.
"""

_ELEMENT = rf"(?:{_STRING}{SURELY['element']}|{_ATOM})"
_ELEMENTS = rf"{_SPACE}({_ELEMENT}(?:{_SPACE},{_SPACE}{_ELEMENT})*+)"

FIRST_ELEMENTS = re.compile(_ELEMENTS)
"""Sound elements with the commas between them."""

BEHIND_ELEMENT = re.compile(rf"{_SPACE}(?:,{_ELEMENTS}|(\]))")
"""A comma and such elements, or the end of the array."""

_ONE_ELEMENT = re.compile(rf'{_STRING}|[^ \t\r\n,"]++')

ELEMENTS, ELEMENTS_END = 1, 2
"""The groups of elements, or the end."""


def elements(found: re.Match[str]) -> str:
    """The elements without the white space between them, so that chunks do not matter."""
    return ",".join(_ONE_ELEMENT.findall(found.group(ELEMENTS)))


_CONTROL = re.compile(r"[\x00-\x1f]")


def mended_key(found: re.Match[str], draft: Draft, base: int) -> str:
    """The key of a member that has none in double quotes; `base` is where its text begins."""
    bare = found.group(BARE_KEY)
    if bare is not None:
        draft.mend("bare-key", base + found.start(BARE_KEY))
        return f'"{bare}"'
    draft.mend("single-quotes", base + found.start(SINGLE_KEY) - 1)
    return f'"{found.group(SINGLE_KEY)}"'


def mended_value(found: re.Match[str], draft: Draft, base: int) -> str:
    """The value of a member whose value is not sound."""
    kind = found.lastindex or END
    value, at = found.group(kind), base + found.start(kind)
    if kind == SINGLE:
        draft.mend("single-quotes", at - 1)
        return f'"{value}"'
    if kind == WORD:
        draft.mend("python-literal", at)
        return PYTHON_WORDS[value]
    control = _CONTROL.search(value)
    draft.mend("control-character", at + control.start() if control else at)
    return controls_escaped(value)
