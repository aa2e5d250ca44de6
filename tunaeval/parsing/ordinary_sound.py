r"""What orjson does not tell of the JSON it has read, looked for apart.

It keeps the last of duplicate keys, makes floats of integers beyond 64 bits, takes NUL and deep
nesting without a word. Overwritten keys are told by counting quotes: every key and string that
arrived has two in the text, and one for each quote inside it; a key that was overwritten leaves two
too many. An escape spelled `\u0022` could hide that, so with quotes inside strings there is none.
"""

from __future__ import annotations

from tunaeval.repair import LONG_NUMBER, MAX_DEPTH, MAX_DIGITS
from tunaeval.types import JsonObject, JsonValue

_LARGE = float(2**63)


def nothing_hidden(arguments: JsonObject, piece: str, outer: tuple[str, ...]) -> bool:
    """Whether `piece` holds nothing but `arguments`, and `outer`, the texts that stand around it.

    Where it is false, there may still be nothing odd.
    """
    quotes = 2 * (len(outer) + len(arguments))
    for value in arguments.values():
        kind = type(value)
        if kind is str:
            quotes += 2
        elif kind is float:
            if not -_LARGE < value < _LARGE:
                return False
        elif kind is dict or kind is list:
            return _nothing_hidden_deep(arguments, piece, outer)
    if len(piece) > MAX_DIGITS and LONG_NUMBER.search(piece):
        return False
    if "\\" not in piece:
        return piece.count('"') == quotes
    texts = [text for text in arguments.values() if type(text) is str]
    return _accounted(piece, quotes, "".join((*outer, *arguments, *texts)))


def _nothing_hidden_deep(arguments: JsonObject, piece: str, outer: tuple[str, ...]) -> bool:
    """The same for arguments that hold arrays and objects."""
    strings = [*outer]
    if not _gather(arguments, strings):
        return False
    if len(piece) > MAX_DIGITS and LONG_NUMBER.search(piece):
        return False
    return _accounted(piece, 2 * len(strings), "".join(strings))


def _accounted(piece: str, quotes: int, joined: str) -> bool:
    inner = joined.count('"')
    if "\x00" in joined or piece.count('"') != quotes + inner:
        return False
    return not inner or "\\u0022" not in piece


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
