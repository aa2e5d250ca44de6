"""What a backslash in a string means: in JSON, and in Python and its relatives.

A rule looks at the backslash at the window's position and returns an `Escape`, or None to wait.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from json.encoder import encode_basestring
from typing import NamedTuple

from tunaeval.limits import UNICODE_NAME
from tunaeval.window import Window

from .repairs import escaped


class Escape(NamedTuple):
    """What is written for an escape, how many characters it has, and its repair.

    Of no characters is one that the end of the text cuts off.
    """

    written: str
    size: int = 2
    repair: str = ""


CUT = Escape("", 0)

SOUND_ESCAPE = r'\\(?:["\\/nrt]|u[0-9a-fA-F]{4})'
r"""An escape of JSON that is copied as it is. \b and \f are sound too, but see `StringReader`."""

JSON_ESCAPES = {**{char: "\\" + char for char in '"\\bfnrt'}, "/": "/", "'": "'"}
PYTHON_ESCAPES = {**JSON_ESCAPES, "a": "\\u0007", "v": "\\u000b", "\n": ""}
del PYTHON_ESCAPES["/"]

_SIZES = {"x": 2, "u": 4, "U": 8}
"""How many hexadecimal digits follow these letters."""

_HEX_ESCAPE = 6
_CUT_HEX = re.compile(r"\\u[0-9a-fA-F]{0,3}\Z")
_HEX = re.compile(r"[0-9a-fA-F]{0,8}+")
_OCTAL = re.compile(r"[0-7]{0,3}+")
_NAMED = re.compile(r"\{([A-Za-z0-9 ()-]{0,90}+)(\}?)")


def json_escape(window: Window, escapes: Mapping[str, str]) -> Escape | None:
    """An escape that is not copied as it is: `escapes` has those that need no repair."""
    char, left = window.text[window.pos + 1], len(window.text) - window.pos
    if char == "u" and left < _HEX_ESCAPE:
        if not window.final:
            return None
        if _CUT_HEX.match(window.text, window.pos):
            return CUT
    if char in escapes:
        return Escape(escapes[char])
    return Escape("'" if char == "'" else "\\\\" + escaped(char), 2, "invalid-escape")


def raw_escape(window: Window, _: Mapping[str, str]) -> Escape:
    """A backslash that means nothing."""
    return _with_backslash(window.text[window.pos + 1], "")


def python_escape(window: Window, escapes: Mapping[str, str]) -> Escape | None:
    """An escape by a letter of `escapes`, or by a character's number or name."""
    char = window.text[window.pos + 1]
    if char in escapes:
        return Escape(escapes[char])
    if char in _SIZES:
        return _code(window, _SIZES[char], joins=escapes is JSON_ESCAPES)
    if char in "01234567":
        octal = _longest(window, _OCTAL, 1, 3)
        return octal and _numbered(int(octal[0], 8), 1 + len(octal[0]))
    if char == "N":
        return _named(window)
    return _with_backslash(char, "unknown-escape")


# There may be an escape for every other character, so what is written for it is shared.


@lru_cache(maxsize=512)
def _with_backslash(char: str, repair: str) -> Escape:
    """A backslash that escapes nothing, and what is behind it."""
    return Escape("\\\\" + encode_basestring(char)[1:-1], 2, repair)


@lru_cache(maxsize=512)
def _numbered(number: int, size: int) -> Escape:
    """The character of that number, as JSON spells it by four digits."""
    return Escape(f"\\u{number:04x}", size)


def _code(window: Window, size: int, *, joins: bool) -> Escape | None:
    r"""A character by its number: \x41, \u0041, \U00000041. JSON joins surrogates, Python not."""
    found = _longest(window, _HEX, 2, size)
    if found is None:
        return None
    digits = found[0][:size]
    number = int(digits, 16) if len(digits) == size else -1
    if 0 <= number <= 0x10FFFF:
        if joins and number <= 0xFFFF:
            return _numbered(number, 2 + size)
        return Escape(encode_basestring(chr(number))[1:-1], 2 + size)
    if number < 0 and window.pos + 2 + len(digits) >= len(window.text):
        return CUT
    return _with_backslash(window.text[window.pos + 1], "invalid-escape")


def _named(window: Window) -> Escape | None:
    r"""A character by its name: \N{BULLET}."""
    import unicodedata  # noqa: PLC0415 - a large table that next to no text asks for

    if window.pos + 2 >= len(window.text) and not window.final:
        return None
    if not window.text.startswith("{", window.pos + 2):
        return _with_backslash("N", "invalid-escape")
    named = _longest(window, _NAMED, 2, UNICODE_NAME)
    if named is None:
        return None
    if not named[2] and named.end() >= len(window.text):
        return CUT
    try:
        char = unicodedata.lookup(named[1] if named[2] else "")
    except KeyError:
        return _with_backslash("N", "invalid-escape")
    return Escape(encode_basestring(char)[1:-1], named.end() - window.pos)


def _longest(
    window: Window, pattern: re.Pattern[str], ahead: int, most: int
) -> re.Match[str] | None:
    """What `pattern`, which always matches, matches `ahead` of the position, of `most` at most."""
    found = pattern.match(window.text, window.pos + ahead)
    short = found and found.end() >= len(window.text) and len(found[0]) < most
    return None if short and not window.final else found
