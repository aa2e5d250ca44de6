"""Numbers and words of JSON: each waits until more text could not change what it is.

Every reading here returns the value as JSON text and passes over it, or None to wait.
"""

from __future__ import annotations

import re
from typing import NoReturn

from tunaeval.limits import MAX_DIGITS
from tunaeval.window import Window

from .between import ODD_SPACES
from .members import WORDS
from .repairs import CutError, Draft, UnreadableError

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+")
_CUT_NUMBER = re.compile(r"-?+[0-9]*+\.?+[0-9]*+(?:[eE][+-]?+[0-9]*+)?+\Z")
BARE_WORD = r"[A-Za-z_$][\w$-]{0,255}+"
"""A key without quotes; no longer, so that it is known when it ends."""

KEY_WORD = re.compile(BARE_WORD)
_UNQUOTED = re.compile(r"[A-Za-z0-9_./*~:@ -]{1,200}+(?=[,}\]\n])")

_ODD_NUMBER = re.compile(
    r"(?P<sign>-?)(?=\.?\d)(?P<whole>(?:0(?![\d_])|[1-9]\d{0,17}(?:_\d{1,18}){0,6})?)"
    r"(?:\.(?P<part>\d{0,17}))?"
)
"""One that programs know and JSON does not: .25, 1. and 1_000."""

_JSON_WORDS = {"true": "true", "false": "false", "null": "null"}
_NEVER = {"NaN", "nan", "Infinity", "inf", "undefined"}
_ENDS_ATOM = frozenset(f" \t\r\n,}}]/#{ODD_SPACES}")


ARITHMETIC = "arithmetic"
"""The diagnosis of a value that would have to be computed from constants."""

_CONSTANTS = re.compile(r"[-+(]{0,8}[\d.]{1,40}[) ]{0,8}(?:\*\*|//|[-*/%+])[ (+-]{0,8}[\d.]")


def refused_value(text: str, otherwise: str) -> str:
    """Return the code of a value that is refused: `ARITHMETIC` where constants are computed.

    Nothing is evaluated, at any level. A date such as 2024-05-01 is no arithmetic.
    """
    constants = _CONSTANTS.match(text) and not _DATE.match(text)
    return ARITHMETIC if constants else otherwise


_DATE = re.compile(r"\d{1,4}[-/]\d{1,2}[-/]\d{1,4}\b")
_PLAIN_WORDS = re.compile(r"[^\W\d][\w .'/-]*+")


def read_number(window: Window, draft: Draft, stops: tuple[str, ...]) -> str | None:
    """A number, or something that begins like one."""
    known = len(window.text) - window.pos
    cut = _CUT_NUMBER.match(window.text, window.pos)
    if cut and not window.final and known <= MAX_DIGITS:
        return None
    number = longest(window, _NUMBER)
    if number is not None and len(number) > MAX_DIGITS:
        raise UnreadableError("too-many-digits", f"a number of more than {MAX_DIGITS} digits")
    after = None if number is None else behind(window, len(number))
    if number is None or after is None:
        return None
    if number and _ends_atom(after, stops):
        window.pos += len(number)
        return number
    if cut or not after:
        cut_off(window)
    return _unquoted(window, draft)


def read_word(
    window: Window, draft: Draft, stops: tuple[str, ...], *, words: str = "unquoted-string"
) -> str | None:
    """true, false, null, their Python forms, or a string that lost its quotes.

    `words` is the repair of such a string if it is nothing but words.
    """
    word = longest(window, KEY_WORD)
    after = None if word is None else behind(window, len(word))
    if word is None or after is None:
        return None
    known = _JSON_WORDS.get(word) or WORDS.get(word)
    if not known and words == "unquoted-string":
        known = _JSON_WORDS.get(word.lower())
    if known and _ends_atom(after, stops):
        if word not in _JSON_WORDS:
            draft.repair("python-literal")
        window.pos += len(word)
        return known
    if word and not after:
        cut_off(window)
    return _unquoted(window, draft, words)


def _unquoted(window: Window, draft: Draft, words: str = "unquoted-string") -> str | None:
    """Plain characters up to the end of the member."""
    run = _UNQUOTED.match(window.text, window.pos)
    if run is None:
        if window.final or len(window.text) - window.pos > 200:
            found = window.text[window.pos : window.pos + 20]
            raise UnreadableError("invalid-json", f"{found!r} is no JSON value")
        return None
    text = run.group().rstrip()
    number = _ODD_NUMBER.fullmatch(text)
    if number:
        draft.repair("odd-number")
        window.pos += len(text)
        whole, part = number["whole"].replace("_", ""), number["part"]
        return f"{number['sign']}{whole or 0}{f'.{part or 0}' if part is not None else ''}"
    if text.lstrip("-") in _NEVER or text[:1] in "-.0123456789":
        code = refused_value(text, "invalid-json")
        raise UnreadableError(code, f"{text[:40]!r} is no JSON value")
    draft.repair(words if _PLAIN_WORDS.fullmatch(text) else "unquoted-string")
    window.pos += len(text)
    return f'"{text}"'


def cut_off(window: Window) -> NoReturn:
    """The text ends inside a word or number, which is dropped."""
    window.pos = len(window.text)
    raise CutError("truncated")


def longest(window: Window, pattern: re.Pattern[str], most: int = 2 * MAX_DIGITS) -> str | None:
    """What `pattern` matches here, when more text could not make it longer."""
    found = pattern.match(window.text, window.pos)
    end = found.end() if found else window.pos
    if end < len(window.text) or window.final or end - window.pos > most:
        return window.text[window.pos : end]
    return None


def behind(window: Window, length: int) -> str | None:
    """The character so far behind the position, "" at the end of the text."""
    index = window.pos + length
    return window.text[index : index + 1] if index < len(window.text) or window.final else None


def _ends_atom(after: str, stops: tuple[str, ...]) -> bool:
    return not after or after in _ENDS_ATOM or any(stop.startswith(after) for stop in stops)
