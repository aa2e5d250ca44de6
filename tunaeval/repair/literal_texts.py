"""Texts between quotes as Python and its relatives write them: to the inside of a JSON string."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from json.encoder import encode_basestring
from typing import NoReturn

from tunaeval.window import MARGIN, Reading, Window

from .literals import char_at
from .mends import CutError, Draft, UnreadableError

_RUNS = {quote: re.compile(rf"[^{quote}\\]++") for quote in "'\""}
_SPACE = re.compile(r"[ \t\r\n]{0,80}+")
_MOST_SPACE = 80
_ENDINGS = ",:)]}#'\""
"""What may stand behind a text; its quote is one of the text's own before anything else."""

JSON_ESCAPES = {
    **{char: "\\" + char for char in '"\\bfnrt'},
    "/": "/",
    "'": "'",
}
PYTHON_ESCAPES = {
    **JSON_ESCAPES,
    "a": "\\u0007",
    "v": "\\u000b",
    "\n": "",
}
del PYTHON_ESCAPES["/"]

_SIZES = {"x": 2, "u": 4, "U": 8}
"""How many hexadecimal digits stand behind these letters."""
_HEX = re.compile(r"[0-9a-fA-F]{0,8}+")
_OCTAL = re.compile(r"[0-7]{1,3}+")
_NAMED = re.compile(r"\{([A-Za-z0-9 ()-]{0,90}+)(\}?)")


@dataclass(frozen=True, slots=True)
class Quoting:
    """How a text stands here: its quotes, whether backslashes mean anything, and what they mean.

    `stops` end the frame around the value. `member` matches white space and what may be the next
    member, if its group `sign` is there and its group `more` is not.
    """

    quote: str
    raw: bool = False
    stops: tuple[str, ...] = ()
    escapes: Mapping[str, str] = field(default_factory=lambda: PYTHON_ESCAPES)
    member: re.Pattern[str] | None = None


def read_text(window: Window, draft: Draft, pieces: list[str], quoting: Quoting) -> Reading[None]:
    """A text behind its opening quotes, up to behind the closing ones, added to `pieces`."""
    quote, control, start = quoting.quote, False, window.offset
    run, single = _RUNS[quote[0]], len(quote) == 1
    while True:
        plain = run.match(window.text, window.pos)
        if plain:
            pieces.append(_inner(plain.group()))
            newline = plain.group().find("\n")
            if single and not control and newline >= 0:
                control = True
                draft.mend("control-character", window.offset + newline)
            window.pos = plain.end()
        char = yield from char_at(window, 0)
        if not char:
            _cut(window, pieces)
        if char not in ("\\", quote[0]):  # it has only just arrived
            continue
        if char == "\\":
            yield from _backslash(window, draft, pieces, quoting)
        elif (yield from (_ends(window, quoting) if single else _stands(window, quote))):
            window.pos += len(quote)
            return
        else:
            if single:
                _refuse_swallowing(window, start, quoting.stops)
                draft.mend("inner-quote")
            pieces.append(_inner(char))
            window.pos += 1


def _refuse_swallowing(window: Window, start: int, stops: tuple[str, ...]) -> None:
    """Give up, back at the end of the frame, if a text that began at `start` ran over it.

    Told by a quote inside of it: with every quote in its place, a text may hold what it likes.
    """
    first = max(window.pos - MARGIN, start - window.base, 0)
    found = max((window.text.rfind(stop, first, window.pos) for stop in stops), default=-1)
    if found >= 0:
        window.pos = found
        raise UnreadableError("invalid-json", "a text that never ends")


def _inner(text: str) -> str:
    """A text as it stands inside a JSON string."""
    return encode_basestring(text)[1:-1]


# There may be an escape for every other character, so what is written for it is shared.


@lru_cache(maxsize=512)
def _with_backslash(char: str) -> str:
    """A backslash that escapes nothing, and what stands behind it."""
    return "\\\\" + _inner(char)


@lru_cache(maxsize=512)
def _numbered(number: int) -> str:
    """The character of that number, as JSON spells it by four digits."""
    return f"\\u{number:04x}"


def _cut(window: Window, pieces: list[str]) -> NoReturn:
    """The text ends here: what was read of it is closed."""
    window.pos = len(window.text)
    pieces.append('"')
    raise CutError("truncated")


def _stands(window: Window, quotes: str) -> Generator[None, None, bool]:
    """Whether all of the three quotes stand here."""
    while True:
        rest = window.text[window.pos : window.pos + len(quotes)]
        if rest == quotes:
            return True
        if window.final or not quotes.startswith(rest):
            return False
        yield


def _ends(window: Window, quoting: Quoting) -> Generator[None, None, bool]:
    """Whether the quote here ends its text: if what follows may follow a text."""
    while True:
        space = _SPACE.match(window.text, window.pos + 1)
        end = space.end() if space else window.pos + 1
        if end < len(window.text):
            char, far = window.text[end], end - window.pos > _MOST_SPACE
            if far or char in _ENDINGS or any(stop[0] == char for stop in quoting.stops):
                return True
            return quoting.member is not None and (yield from _member(window, quoting.member))
        if window.final:
            return True
        yield


def _member(window: Window, pattern: re.Pattern[str]) -> Generator[None, None, bool]:
    """Whether the next member stands behind the quote, which only lacks its comma."""
    while True:
        found = pattern.match(window.text, window.pos + 1)
        if not found or found.end() < len(window.text) or window.final:
            return bool(found and found["sign"] and not found["more"])
        yield


def _backslash(window: Window, draft: Draft, pieces: list[str], quoting: Quoting) -> Reading[None]:
    char = yield from char_at(window, 1)
    if not char:
        _cut(window, pieces)
    if quoting.raw:
        pieces.append(_with_backslash(char))
        window.pos += 2
    elif char in quoting.escapes:
        pieces.append(quoting.escapes[char])
        window.pos += 2
    elif char in _SIZES:
        yield from _code(window, draft, pieces, quoting, _SIZES[char])
    elif char in "01234567":
        octal = yield from _longest(window, _OCTAL, 1, 3)
        pieces.append(_numbered(int(octal.group(), 8)))
        window.pos += 1 + len(octal.group())
    elif char == "N":
        yield from _named(window, draft, pieces)
    else:
        draft.mend("unknown-escape")
        pieces.append(_with_backslash(char))
        window.pos += 2


def _code(
    window: Window, draft: Draft, pieces: list[str], quoting: Quoting, size: int
) -> Reading[None]:
    r"""A character by its number: \x41, \u0041, \U00000041. JSON joins surrogates, Python not."""
    digits = (yield from _longest(window, _HEX, 2, size)).group()[:size]
    number = int(digits, 16) if len(digits) == size else -1
    if 0 <= number <= 0x10FFFF:
        joins = quoting.escapes is JSON_ESCAPES and number <= 0xFFFF
        pieces.append(_numbered(number) if joins else _inner(chr(number)))
        window.pos += 2 + size
    elif number < 0 and window.pos + 2 + len(digits) >= len(window.text):
        _cut(window, pieces)
    else:
        _kept(window, draft, pieces)


def _named(window: Window, draft: Draft, pieces: list[str]) -> Reading[None]:
    r"""A character by its name: \N{BULLET}."""
    import unicodedata  # noqa: PLC0415 - a large table that next to no text asks for

    if (yield from char_at(window, 2)) != "{":
        _kept(window, draft, pieces)
        return
    named = yield from _longest(window, _NAMED, 2, 92)
    if not named[2] and named.end() >= len(window.text):
        _cut(window, pieces)
    try:
        pieces.append(_inner(unicodedata.lookup(named[1] if named[2] else "")))
        window.pos = named.end()
    except KeyError:
        _kept(window, draft, pieces)


def _kept(window: Window, draft: Draft, pieces: list[str]) -> None:
    """An escape that names no character: kept as it is written."""
    draft.mend("invalid-escape")
    pieces.append(_with_backslash(window.text[window.pos + 1]))
    window.pos += 2


def _longest(
    window: Window, pattern: re.Pattern[str], ahead: int, most: int
) -> Generator[None, None, re.Match[str]]:
    """What `pattern`, which always matches, matches `ahead` of the position, of `most` at most."""
    while True:
        found = pattern.match(window.text, window.pos + ahead)
        assert found  # noqa: S101 - each of the patterns matches where it is asked for
        short = found.end() >= len(window.text) and len(found.group()) < most
        if window.final or not short:
            return found
        yield
