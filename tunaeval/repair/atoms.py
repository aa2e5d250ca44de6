"""Strings, numbers and words of nearly-JSON, read from a window into a draft.

Each waits until more text could not change what it is.
"""

from __future__ import annotations

import re
from collections.abc import Generator

from tunaeval.types import ARGUMENTS_KEYS, NAME_KEYS
from tunaeval.window import MARGIN, Reading, Window

from .mends import CutError, Draft, UnreadableError, escaped
from .quotes import CLOSING, quote_ends
from .values import MAX_DIGITS

QUOTES = "\"'“”‘’"
"""Characters that begin a string."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+")
_CUT_NUMBER = re.compile(r"-?+[0-9]*+\.?+[0-9]*+(?:[eE][+-]?+[0-9]*+)?+\Z")
_WORD = re.compile(r"[A-Za-z_$][\w$-]*+")
_UNQUOTED = re.compile(r"[A-Za-z0-9_./*~:@ -]{1,200}+(?=[,}\]\n])")
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_CUT_HEX = re.compile(r"\\u[0-9a-fA-F]{0,3}\Z")
_PLAIN = {
    '"': re.compile(r'[^"\\\x00-\x1f]++'),
    "'": re.compile(r"""[^'"\\\x00-\x1f]++"""),
    "“": re.compile(r'[^“”"\\\x00-\x1f]++'),
    "‘": re.compile(r"""[^‘’'"\\\x00-\x1f]++"""),
}
_RESTART = re.compile(
    r"(?:\n[ \t]*+|</[\w:|-]{1,40}>|```)[ \t\r\n]{0,24}(?:<[\w:|-]{1,40}>|```[\w+-]{0,24})?"
    r"[ \t\r\n]{0,24}\[?[ \t\r\n]{0,24}\{[ \t\r\n]{0,24}\Z"
)
"""A new line or a closer, perhaps an opener, and a bracket: what stands before a call's first key.

Met before a quote that cannot end the string, with a key of calls behind it, they show that the
string ended long ago.
"""
_FIRST_KEY = re.compile(rf"\"(?:{'|'.join((*NAME_KEYS, *ARGUMENTS_KEYS))})\"")
_CLOSER = re.compile(r"</[\w:|-]{1,40}>|```")
_LONGEST_KEY = 12

_LEFT = {"”": "“", "’": "‘"}
_QUOTE_MENDS = {"'": "single-quotes", "“": "smart-quotes", "‘": "smart-quotes"}
_WORDS = {"true": "true", "false": "false", "null": "null"}
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
_NEVER = {"NaN", "nan", "Infinity", "inf", "undefined"}
_ENDS_ATOM = frozenset(" \t\r\n,}]/#")


def read_string(
    window: Window, draft: Draft, char: str, role: str, stops: tuple[str, ...]
) -> Reading[None]:
    """A string that begins with the quote `char`; `role` is "key", "value" or "element"."""
    quote = _LEFT.get(char, char)
    plain, closing, pieces = _PLAIN[quote], CLOSING[quote], draft.pieces
    if quote != '"':
        draft.mend(_QUOTE_MENDS[quote])
    window.pos += 1
    pieces.append('"')
    control, doubtful, began = False, _Doubtful(draft), window.offset
    while True:
        run = plain.match(window.text, window.pos)
        if run:
            pieces.append(run.group())
            window.pos = run.end()
        char = yield from _inside(window, 0, pieces)
        if char == "\\":
            yield from _escape(window, draft, quote, doubtful)
            continue
        if char in closing:
            if (yield from quote_ends(window, role, stops)):
                window.pos += 1
                pieces.append('"')
                draft.doubtful = None
                return
            yield from _refuse_swallowing(window, began)
            draft.mend("inner-quote")
        elif char < " " and not control:
            control = True
            draft.mend("control-character")
        pieces.append(escaped(char))
        window.pos += 1


class _Doubtful:
    r"""Escapes \b and \f of one string: in one with unknown escapes they are meant as written.

    A regular expression like `\bclass\s` would else become half backspace, half text.
    """

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._pieces = draft.pieces
        self._at: list[int] | None = []

    def add(self, char: str) -> None:
        if self._at is None:
            self._pieces.append("\\\\" + char)
        else:
            if not self._at:
                self._draft.doubtful = len(self._pieces)
            self._at.append(len(self._pieces))
            self._pieces.append("\\" + char)

    def settle(self) -> None:
        """The string has an unknown escape."""
        for index in self._at or ():
            self._pieces[index] = "\\" + self._pieces[index]
        self._at = self._draft.doubtful = None


def _refuse_swallowing(window: Window, began: int) -> Reading[None]:
    """Give up, back where the string should have ended, if it has run into the next call."""
    start = max(0, window.pos - MARGIN, began - window.base)
    behind = window.text[start : window.pos]
    restart = _RESTART.search(behind)
    if restart is None:
        return
    while len(window.text) - window.pos <= _LONGEST_KEY and not window.final:
        yield
    if _FIRST_KEY.match(window.text, window.pos):
        closer = _CLOSER.search(behind)
        ended = min(restart.start(), closer.start() if closer else len(behind))
        window.pos -= len(behind) - ended
        raise UnreadableError("invalid-json", "a string that never ends")


def _escape(window: Window, draft: Draft, quote: str, doubtful: _Doubtful) -> Reading[None]:
    pieces = draft.pieces
    char = yield from _inside(window, 1, pieces)
    if char in "bf":
        doubtful.add(char)
    elif char in '"\\/nrt':
        pieces.append("\\" + char)
    elif char == "u":
        while len(window.text) - window.pos < 6 and not window.final:
            yield
        if _CUT_HEX.match(window.text, window.pos):
            yield from _inside(window, 6, pieces)
        if _HEX.match(window.text, window.pos + 2):
            pieces.append(window.text[window.pos : window.pos + 6])
            window.pos += 6
            return
        draft.mend("invalid-escape")
        doubtful.settle()
        pieces.append("\\\\u")
    elif char == "'" and quote != '"':
        pieces.append("'")
    else:
        draft.mend("invalid-escape")
        doubtful.settle()
        pieces.append("'" if char == "'" else "\\\\" + escaped(char))
    window.pos += 2


def _inside(window: Window, ahead: int, pieces: list[str]) -> Generator[None, None, str]:
    """The character `ahead` of the position; a string that the text ends in is closed and cut."""
    while window.pos + ahead >= len(window.text):
        if window.final:
            window.pos = len(window.text)
            pieces.append('"')
            raise CutError("truncated")
        yield
    return window.text[window.pos + ahead]


def read_key_word(window: Window, draft: Draft, char: str) -> Generator[None, None, str]:
    """A key without quotes, as JSON."""
    word = yield from _longest(window, _WORD)
    if not word:
        raise UnreadableError("invalid-json", f"{char!r} where a key was expected")
    draft.mend("bare-key")
    window.pos += len(word)
    return f'"{word}"'


def read_number(window: Window, draft: Draft, stops: tuple[str, ...]) -> Reading[None]:
    """A number, or something that begins like one."""
    while not window.final and _CUT_NUMBER.match(window.text, window.pos):
        if len(window.text) - window.pos > MAX_DIGITS:
            break
        yield
    number = yield from _longest(window, _NUMBER)
    if len(number) > MAX_DIGITS:
        raise UnreadableError("too-many-digits", f"a number of more than {MAX_DIGITS} digits")
    after = yield from char_at(window, len(number))
    if number and _ends_atom(after, stops):
        draft.pieces.append(number)
        window.pos += len(number)
        return
    if not after or _CUT_NUMBER.match(window.text, window.pos):
        draft.drop_value()
    yield from _unquoted(window, draft)


def read_word(window: Window, draft: Draft, stops: tuple[str, ...]) -> Reading[None]:
    """true, false, null, their Python forms, or a string that lost its quotes."""
    word = yield from _longest(window, _WORD)
    after = yield from char_at(window, len(word))
    known = _WORDS.get(word) or _PYTHON_WORDS.get(word)
    if known and _ends_atom(after, stops):
        if word in _PYTHON_WORDS:
            draft.mend("python-literal")
        draft.pieces.append(known)
        window.pos += len(word)
        return
    if word and not after:
        draft.drop_value()
    yield from _unquoted(window, draft)


def _unquoted(window: Window, draft: Draft) -> Reading[None]:
    """Plain characters up to the end of the member."""
    while not (run := _UNQUOTED.match(window.text, window.pos)):
        if window.final or len(window.text) - window.pos > 200:
            found = window.text[window.pos : window.pos + 20]
            raise UnreadableError("invalid-json", f"{found!r} is no JSON value")
        yield
    text = run.group().rstrip()
    if text.lstrip("-") in _NEVER or text[:1] in "-.0123456789":
        raise UnreadableError("invalid-json", f"{text[:40]!r} is no JSON value")
    draft.mend("unquoted-string")
    draft.pieces.append(f'"{text}"')
    window.pos += len(text)


def _longest(window: Window, pattern: re.Pattern[str]) -> Generator[None, None, str]:
    """What `pattern` matches here, when more text could not make it longer."""
    while True:
        found = pattern.match(window.text, window.pos)
        end = found.end() if found else window.pos
        if end < len(window.text) or window.final or end - window.pos > 2 * MAX_DIGITS:
            return window.text[window.pos : end]
        yield


def char_at(window: Window, ahead: int) -> Generator[None, None, str]:
    """The character `ahead` of the position, "" at the end of the text."""
    while window.pos + ahead >= len(window.text):
        if window.final:
            return ""
        yield
    return window.text[window.pos + ahead]


def _ends_atom(after: str, stops: tuple[str, ...]) -> bool:
    return not after or after in _ENDS_ATOM or any(stop.startswith(after) for stop in stops)
