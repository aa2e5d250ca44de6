"""Strings of any dialect: read from a window as they grow, written as pieces of sound JSON.

What needs no thought, escapes included, is taken in one stride; the reader stops only at a quote,
an odd escape or an odd control character.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tunaeval.limits import MARGIN, STRING_PIECES
from tunaeval.window import Window

from .escapes import SOUND_ESCAPE, Escape, json_escape, python_escape, raw_escape
from .quotes import (
    WITHOUT_BRACE,
    WITHOUT_RESTART,
    inner_quotes,
    may_restart,
    no_call_within,
    no_stop_within,
    quote_ends,
    text_ends,
)
from .repairs import CutError, Draft, UnreadableError, controls_escaped, escaped

Ends: TypeAlias = Callable[[Window, str, tuple[str, ...]], bool | None]
"""Whether the quote at the window's position ends its string; see `quotes`."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a string is written: what ends it, and what its characters and escapes mean."""

    quote: str
    """A character, or three of them."""
    closing: str
    """The characters that may end it."""
    plain: re.Pattern[str]
    """What is taken at once."""
    with_controls: re.Pattern[str]
    """The same from the first odd control character on, as those who write one write more."""
    escapes: Mapping[str, str]
    escape: Callable[[Window, Mapping[str, str]], Escape | None]
    ends: Ends
    goes_on: Callable[[Window, int, tuple[str, ...]], bool]
    repair: str = ""
    """What its quotes cost."""
    controls: bool = False
    """Whether there are control characters that are not odd."""


def _run(odd: str) -> re.Pattern[str]:
    """What is taken at once in JSON where the characters `odd` need thought."""
    char = rf"[^{odd}\\]"
    return re.compile(rf"{char}*+(?:{SOUND_ESCAPE}{char}*+)*+")


_DOUBTFUL = {"b": "\b", "f": "\f"}
r"""What \b and \f are held back as: raw control characters, which no piece else holds."""


def _json_style(quote: str, closing: str, odd: str, repair: str) -> Style:
    escapes = _DOUBTFUL if quote == '"' else {**_DOUBTFUL, "'": "'"}
    plain, with_controls = _run(odd + r"\x00-\x1f"), _run(odd)
    rules = (json_escape, quote_ends, no_call_within)
    return Style(quote, closing, plain, with_controls, escapes, *rules, repair)


_SINGLE = _json_style("'", "'", "'\"", "single-quotes")
_SMART = _json_style("“", '“”"', '“”"', "smart-quotes")
_SMART_SINGLE = _json_style("‘", "‘’'", "‘’'\"", "smart-quotes")

JSON_STYLES = {
    '"': _json_style('"', '"', '"', ""),
    "'": _SINGLE,
    "“": _SMART,
    "”": _SMART,
    "‘": _SMART_SINGLE,
    "’": _SMART_SINGLE,
}
"""By the character that begins a string."""


def text_style(
    quote: str, escapes: Mapping[str, str] | None, *, ends: Ends = text_ends, repair: str = ""
) -> Style:
    """A text of Python or one of its relatives; without `escapes` a raw one."""
    lone = len(quote) == 1
    char = rf"[^{quote[0]}\"\\]"
    sound = "" if escapes is None else rf"""(?:\\["\\nrt]{char}*+)*+"""
    with_controls = re.compile(rf"{char}*+{sound}")
    plain = re.compile(with_controls.pattern.replace("[^", r"[^\n")) if lone else with_controls
    escape = raw_escape if escapes is None else python_escape
    rules = (escapes or {}, escape, ends, no_stop_within, repair, True)
    return Style(quote, quote[0], plain, with_controls, *rules)


def _without_brackets(text: str, most: int) -> str:
    """The inside of a string, as JSON, without the brackets that it ends with, up to so many."""
    for _ in range(most):
        bare = text.rstrip()
        while bare.endswith(("\\n", "\\r", "\\t")):
            bare = bare[:-2].rstrip()
        if bare[-1:] not in ("}", "]"):
            break
        text = bare[:-1]
    return text


class StringReader:
    r"""Reads a string that begins with a quote at the window's position, into `out`; used once.

    Who makes it writes the quote before it. `role` is "key", "value" or "element".

    In a string of JSON with unknown escapes, \b and \f are meant as written: a regular expression
    like `\bclass\s` would else become half backspace, half text. So what follows the first of them
    is held back until an unknown escape comes, or the end.
    """

    __slots__ = (
        "_began", "_controls", "_draft", "_first", "_held_from", "_literal", "_out", "_plain",
        "_quoted", "_role", "_stops", "_style", "_told", "_window",
    )  # fmt: skip

    def __init__(
        self,
        window: Window,
        draft: Draft,
        out: list[str],
        style: Style,
        *,
        role: str,
        stops: tuple[str, ...],
    ) -> None:
        self._window, self._draft, self._out = window, draft, out
        self._style, self._role, self._stops = style, role, stops
        self._plain, self._controls = style.plain, style.controls
        self._first, self._quoted = len(out), False
        self._literal = False
        self._told = 0
        """How many pieces may have been looked at; those behind them may still be joined."""
        self._held_from: list[str] | None = None
        """Where to write to once what is held back is released."""
        if style.repair:
            draft.repair(style.repair)
        window.pos += len(style.quote)
        self._began = window.offset

    def advance(self) -> bool:
        """Read on; whether the string has ended. If not, more text is needed."""
        window = self._window
        self._told = len(self._out)
        while True:
            if len(self._out) > self._told + STRING_PIECES:
                self._gather()
            run = self._plain.match(window.text, window.pos)
            if run and run.end() > window.pos:
                text = run.group()
                self._out.append(controls_escaped(text) if self._controls else text)
                window.pos = run.end()
            char = self._at(0)
            if not char:
                return False
            if char == "\\":
                if not self._escape():
                    return False
                continue
            if char < " ":
                self._draft.repair("control-character")
                self._plain, self._controls = self._style.with_controls, True
                continue
            if char in self._style.closing and (ended := self._quote_ended()) is not False:
                return bool(ended)
            self._pass(char)

    def take(self, chunk: str) -> str | None:
        """Read on in a chunk, if no character of it needs thought; a last backslash may wait.

        What is written of it; None, and nothing is done, if one does.
        """
        window = self._window
        text = window.text[window.pos :] + chunk
        run = self._plain.match(text)
        end = run.end() if run else 0
        left = len(text) - end
        if not end or left > 1 or (left and text[-1] != "\\") or self._held_from is not None:
            return None
        window.pass_over(chunk)
        window.pos -= left
        written = text[:end] if left else text
        if self._controls:
            written = controls_escaped(written)
        self._out.append(written)
        return written

    def _pass(self, quote: str) -> None:
        """Pass over a quote that ends nothing; over a flood of them once all repairs are listed."""
        window = self._window
        flood = self._flood() if self._draft.lists_no_more("inner-quote") else None
        if flood is None:
            self._out.append(escaped(quote))
            window.pos += 1
            return
        written = flood.group().replace('"', '\\"')
        self._out.append(controls_escaped(written) if self._controls else written)
        window.pos = flood.end()

    def _flood(self) -> re.Match[str] | None:
        """Quotes from the one here on that end nothing, as it does, with what is between them."""
        window = self._window
        if self._style is not JSON_STYLES['"'] or self._role == "key":
            return None
        behind = may_restart(window, self._began)
        if behind and (behind.rstrip()[-1:] == "{" or not self._controls):
            return None
        between = WITHOUT_BRACE if behind else WITHOUT_RESTART
        return inner_quotes(self._role, self._stops, between).match(window.text, window.pos)

    def _quote_ended(self) -> bool | None:
        """Whether the quote here has ended the string; None to wait."""
        window, style = self._window, self._style
        ends = style.ends(window, self._role, self._stops)
        if ends:
            self._end()
            window.pos += len(style.quote)
        elif ends is False and len(style.quote) == 1:
            self._end_at_stop()
            self._quoted = True
            if not style.goes_on(window, self._began, self._stops):
                return None
            self._draft.repair("inner-quote")
        return ends

    def _end_at_stop(self, *, behind_bracket: bool = False) -> None:
        """End a string of JSON that was never closed where its frame ends, if that is inside it.

        Not behind a quote that ended nothing, for both may be the text's own. The brackets before
        it are no part of the string; `behind_bracket`: only where there is one.
        """
        if self._quoted or self._style.goes_on is not no_call_within:
            return
        stops = tuple(stop for stop in self._stops if any(map(str.isalpha, stop)))
        text = "".join(self._out[self._first :]) if stops and self._held_from is None else ""
        if not any(stop in text for stop in stops):
            return
        window = self._window
        start = max(window.pos - MARGIN, self._began - window.base, 0)
        near = window.text[start : window.pos]
        is_near = all(text.count(stop) == near.count(stop) for stop in stops)
        at = min(near.find(stop) for stop in stops if stop in near) if is_near else -1
        if behind_bracket and (at < 0 or near[:at].rstrip()[-1:] not in ("}", "]")):
            return
        if at < 0:
            raise UnreadableError("invalid-json", "a string that never ends")
        window.pos, kept = start + at, text[: min(text.find(s) for s in stops if s in text)]
        self._out[self._first :] = [
            _without_brackets(kept, len(self._draft.open)),
            *[""] * (len(self._out) - self._first - 1),
        ]  # as many pieces as before, for who follows them
        self._end()
        raise CutError("missing-closer")

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
            self._end_at_stop(behind_bracket=True)
            self._end()
            raise CutError("truncated")
        return ""

    def _end(self) -> None:
        self._release(literal=False)
        self._out.append('"')

    # --- escapes -----------------------------------------------------------------------------

    def _escape(self) -> bool:
        """Pass over a backslash and what it escapes; false to wait. Sound ones are plain."""
        if not self._at(1):
            return False
        found = self._style.escape(self._window, self._style.escapes)
        if found is None:
            return False
        written, size, repair = found
        if not size:
            self._at(len(self._window.text))  # the text ends within the escape
        if written in ("\b", "\f"):
            self._hold(written)
        else:
            if repair:
                self._draft.repair(repair)
            if repair == "invalid-escape":
                self._literal = True
                self._release(literal=True)
            self._out.append(written)
        self._window.pos += size
        return True

    def _hold(self, raw: str) -> None:
        r"""Write \b or \f, so that it can still become what it says."""
        if self._literal:
            self._out.append("\\\\b" if raw == "\b" else "\\\\f")
            return
        if self._held_from is None:
            self._held_from, self._out = self._out, []
            self._told = 0
        self._out.append(raw)

    def _release(self, *, literal: bool) -> None:
        if self._held_from is None:
            return
        held, self._out, self._held_from = "".join(self._out), self._held_from, None
        self._told = len(self._out)
        for char, raw in _DOUBTFUL.items():
            held = held.replace(raw, ("\\\\" if literal else "\\") + char)
        self._out.append(held)
