r"""What orjson does not tell of the JSON it has read, looked for apart.

It keeps the last of duplicate keys, makes floats of integers beyond 64 bits, takes NUL and deep
nesting without a word. Overwritten keys are told by counting quotes: every key and string that
arrived has two in the text, and one for each quote inside it; a key that was overwritten leaves two
too many. An escape spelled `\u0022` could hide that, so with quotes inside strings there is none.
"""

from __future__ import annotations

import re

from tunaeval.limits import MAX_DEPTH, MAX_DIGITS
from tunaeval.types import JsonObject, JsonValue

_LARGE = float(2**63)
ATOMS = frozenset({int, bool, type(None)})
"""What hides nothing: integers of more than 64 bits arrive as floats."""

_LONG_NUMBER = re.compile(rf"[0-9][0-9.eE+-]{{{MAX_DIGITS}}}")
_STEP = MAX_DIGITS // 2
_RUN = re.compile(rf"[0-9.eE+-]{{{_STEP}}}")


def nothing_hidden(arguments: JsonObject, piece: str, outer: tuple[str, ...]) -> bool:
    """Whether `piece` holds nothing but `arguments`, and `outer`, the texts that stand around it.

    Where it is false, there may still be nothing odd.
    """
    strings = [*outer, *arguments]
    for value in arguments.values():
        kind = type(value)
        if kind is str:
            strings.append(value)
        elif kind is dict or kind is list:
            strings = [*outer]
            if not _gather(arguments, strings):
                return False
            break
        elif kind is float and not -_LARGE < value < _LARGE:
            return False
    if len(piece) > MAX_DIGITS and has_long_number(piece, 0, len(piece)):
        return False
    inner = piece.count('"') - 2 * len(strings)
    if "\\" not in piece:
        return not inner
    joined = "".join(strings)
    if inner and (inner != joined.count('"') or piece.rfind("\\u0022") >= 0):
        return False
    return "\x00" not in joined


def has_long_number(text: str, start: int, end: int) -> bool:
    """Whether what may be a number of too many digits (or stand in a string) is there.

    A look at every so many characters is enough to know that there is none.
    """
    if end - start <= MAX_DIGITS:
        return False
    looked = range(start, end, _STEP)
    if not any(_RUN.match(text, at, end) for at in looked):
        return False
    return _LONG_NUMBER.search(text, start, end) is not None


def _gather(arguments: JsonObject, strings: list[str]) -> bool:
    """Add all keys and strings; false if there is a number or a depth to look at more closely."""
    level: list[JsonValue] = [arguments]
    for _ in range(MAX_DEPTH - 2):  # two levels are those of a call object and of its array
        below: list[JsonValue] = []
        for outer in level:
            if type(outer) is dict:
                strings += outer
            for item in outer.values() if type(outer) is dict else outer:
                kind = type(item)
                if kind is str:
                    strings.append(item)
                elif kind is dict or kind is list:
                    below.append(item)
                elif kind is float and not -_LARGE < item < _LARGE:
                    return False
        if not below:
            return True
        level = below
    return False
