"""Strings of nearly-JSON: read from a window as they grow, written as pieces of sound JSON.

What needs no thought, escapes included, is taken in one stride; the reader stops only at a quote,
an odd escape or a raw control character.
"""

from __future__ import annotations

import re

from tunaeval.types import ARGUMENTS_KEYS, NAME_KEYS
from tunaeval.window import MARGIN, Window

from .mends import CutError, Draft, UnreadableError, controls_escaped, escaped
from .quotes import CLOSING, quote_ends

QUOTES = "\"'“”‘’"
"""Characters that begin a string."""

SOUND_ESCAPE = r'\\(?:["\\/nrt]|u[0-9a-fA-F]{4})'
r"""An escape that is copied as it is. \b and \f are sound too, but see `StringReader`."""


def _run(odd: str) -> re.Pattern[str]:
    """What is taken at once in a string where the characters `odd` need thought."""
    char = rf"[^{odd}\\]"
    return re.compile(rf"{char}*+(?:{SOUND_ESCAPE}{char}*+)*+")


_MAY_END = {'"': '"', "'": "'\"", "“": '“”"', "‘": "‘’'\""}
_PLAIN = {quote: _run(ends + r"\x00-\x1f") for quote, ends in _MAY_END.items()}
_WITH_CONTROLS = {quote: _run(ends) for quote, ends in _MAY_END.items()}
"""Used from the first raw control character on, as those who write one write more."""

_GATHERED = 64
"""So many pieces of one string are made into one, for a piece takes far more than its text."""
_LEFT = {"”": "“", "’": "‘"}
_QUOTE_MENDS = {"'": "single-quotes", "“": "smart-quotes", "‘": "smart-quotes"}

_DOUBTFUL = {"b": "\b", "f": "\f"}
r"""What \b and \f are held back as: raw control characters, which no piece else holds."""

_HEX_ESCAPE = 6
_CUT_HEX = re.compile(r"\\u[0-9a-fA-F]{0,3}\Z")

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


class StringReader:
    r"""Reads a string that begins with a quote at the window's position, into `out`; used once.

    `role` is "key", "value" or "element".

    In a string with unknown escapes, \b and \f are meant as written: a regular expression like
    `\bclass\s` would else become half backspace, half text. So what follows the first of them is
    held back until an unknown escape comes, or the end.
    """

    __slots__ = (
        "_began", "_closing", "_control", "_draft", "_held_from", "_literal", "_out", "_plain",
        "_quote", "_role", "_stops", "_told", "_window",
    )  # fmt: skip

    def __init__(
        self, window: Window, draft: Draft, out: list[str], role: str, stops: tuple[str, ...]
    ) -> None:
        char = window.text[window.pos]
        quote = self._quote = _LEFT.get(char, char)
        self._plain, self._closing = _PLAIN[quote], CLOSING[quote]
        self._window, self._draft, self._out = window, draft, out
        self._role, self._stops = role, stops
        self._control = self._literal = False
        self._told = 0
        """How many pieces may have been looked at; those behind them may still be joined."""
        self._held_from: list[str] | None = None
        """Where to write to once what is held back is released."""
        if quote != '"':
            draft.mend(_QUOTE_MENDS[quote])
        window.pos += 1
        self._began = window.offset
        out.append('"')

    def advance(self) -> bool:
        """Read on; whether the string has ended. If not, more text is needed."""
        window = self._window
        self._told = len(self._out)
        while True:
            if len(self._out) > self._told + _GATHERED:
                self._gather()
            run = self._plain.match(window.text, window.pos)
            if run and run.end() > window.pos:
                text = run.group()
                self._out.append(controls_escaped(text) if self._control else text)
                window.pos = run.end()
            char = self._at(0)
            if not char:
                return False
            if char == "\\":
                if not self._escape():
                    return False
                continue
            if char < " ":
                self._draft.mend("control-character")
                self._plain, self._control = _WITH_CONTROLS[self._quote], True
                continue
            if char in self._closing and (ended := self._quote_ended()) is not False:
                return bool(ended)
            self._out.append(escaped(char))
            window.pos += 1

    def _quote_ended(self) -> bool | None:
        """Whether the quote here has ended the string; None to wait."""
        window = self._window
        ends = quote_ends(window, self._role, self._stops)
        if ends:
            self._end()
            window.pos += 1
        elif ends is None or not self._goes_on():
            return None
        else:
            self._draft.mend("inner-quote")
        return ends

    def _gather(self) -> None:
        """Make one piece of those that nobody has seen."""
        self._out[self._told :] = ["".join(self._out[self._told :])]
        self._told += 1

    def _at(self, ahead: int) -> str:
        """The character `ahead` of the position, "" to wait; a string that is cut is closed."""
        window = self._window
        index = window.pos + ahead
        if index < len(window.text):
            return window.text[index]
        if window.final:
            window.pos = len(window.text)
            self._end()
            raise CutError("truncated")
        return ""

    def _end(self) -> None:
        self._release(literal=False)
        self._out.append('"')

    # --- escapes -----------------------------------------------------------------------------

    def _escape(self) -> bool:
        """Pass over a backslash and what it escapes; false to wait. Sound ones are plain."""
        window = self._window
        char = self._at(1)
        if not char:
            return False
        if char == "u" and len(window.text) - window.pos < _HEX_ESCAPE:
            if not window.final:
                return False
            if _CUT_HEX.match(window.text, window.pos):
                self._at(_HEX_ESCAPE)
        if char in "bf":
            self._hold(char)
        elif char == "'" and self._quote != '"':
            self._out.append("'")
        else:
            self._draft.mend("invalid-escape")
            self._literal = True
            self._release(literal=True)
            self._out.append("'" if char == "'" else "\\\\" + escaped(char))
        window.pos += 2
        return True

    def _hold(self, char: str) -> None:
        r"""Write \b or \f, so that it can still become what it says."""
        if self._literal:
            self._out.append("\\\\" + char)
            return
        if self._held_from is None:
            self._held_from, self._out = self._out, []
            self._told = 0
        self._out.append(_DOUBTFUL[char])

    def _release(self, *, literal: bool) -> None:
        if self._held_from is None:
            return
        held, self._out, self._held_from = "".join(self._out), self._held_from, None
        self._told = len(self._out)
        for char, raw in _DOUBTFUL.items():
            held = held.replace(raw, ("\\\\" if literal else "\\") + char)
        self._out.append(held)

    # --- quotes ------------------------------------------------------------------------------

    def _goes_on(self) -> bool:
        """False to wait. Gives up, back where the string should have ended, if it met a call."""
        window = self._window
        start = max(0, window.pos - MARGIN, self._began - window.base)
        behind = window.text[start : window.pos]
        restart = _RESTART.search(behind) if behind.rstrip()[-1:] == "{" else None
        if restart is None:
            return True
        if len(window.text) - window.pos <= _LONGEST_KEY and not window.final:
            return False
        if _FIRST_KEY.match(window.text, window.pos):
            closer = _CLOSER.search(behind)
            ended = min(restart.start(), closer.start() if closer else len(behind))
            window.pos -= len(behind) - ended
            raise UnreadableError("invalid-json", "a string that never ends")
        return True
