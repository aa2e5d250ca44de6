r"""Strings of any dialect: read from a window as they grow, written as pieces of sound JSON.

What needs no thought, escapes included, is taken in one stride; the reader stops only at a quote,
an odd escape or an odd control character. What it does there is a rule of the string's `Style`:

- `escape` looks at the backslash at the window's position.
- `ends` looks at a quote: it ends the string if what follows, after white space, is legal there.
- `goes_on` looks, behind a quote that ends nothing, for what shows that the string ended long ago,
  and then raises `UnreadableError` with the position where it should have ended.

A rule returns None (`goes_on`: False) if only more text can decide. Each looks a fixed number of
characters ahead, so that whole texts and streams decide alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import TypeAlias

from tunaeval.limits import (
    CALL_KEY_AHEAD,
    KEY_AHEAD,
    MARGIN,
    MAX_DIGITS,
    QUOTE_AHEAD,
    SPACE_AHEAD,
    STRING_PIECES,
    UNICODE_NAME,
)
from tunaeval.types import ARGUMENTS_KEYS, NAME_KEYS
from tunaeval.window import Window

from .repairs import CutError, Draft, UnreadableError
from .values import ODD_SPACES, SPACES

Escape: TypeAlias = tuple[str, int, str]
"""What is written for an escape, how many characters it has, and its repair.

An escape of no characters is one that the end of the text cuts off.
"""


@dataclass(frozen=True, slots=True)
class Style:
    """How a string is written: what ends it, and what its characters and escapes mean."""

    quote: str
    """A character, or several."""
    closing: str
    """The characters that may end it."""
    plain: re.Pattern[str]
    """What is taken at once."""
    with_controls: re.Pattern[str]
    """The same from the first odd control character on, as those who write one write more."""
    escapes: Mapping[str, str]
    """What is written for the escapes that need no repair, by their letter."""
    escape: Callable[[Window, Mapping[str, str]], Escape | None]
    ends: Callable[[Window, str, tuple[str, ...]], bool | None]
    goes_on: Callable[[Window, int, tuple[str, ...]], bool]
    repair: str = ""
    """The repair that its quotes are."""
    encode: Callable[[str], str] | None = None
    """Makes JSON of what is taken at once, where it is not copied as it is."""


class StringReader:
    r"""Reads a string that begins with a quote at the window's position, into `out`; used once.

    The caller writes the quote before it. `role` is "key", "value" or "element".

    In a string of JSON with unknown escapes, \b and \f are meant as written: a regular expression
    like `\bclass\s` would else become half backspace, half text. So what follows the first of them
    is kept back until an unknown escape comes, or the end.
    """

    _quoted = False
    """Whether a quote was met that ended nothing."""
    _literal = False
    """Whether an unknown escape was met."""
    _released: list[str] | None = None
    """Where to write to once what is kept back is released."""

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
        self._plain, self._encode = style.plain, style.encode
        self._first = self._seen = len(out)
        if style.repair:
            draft.repair(style.repair)
        window.pos += len(style.quote)
        self._began = window.offset

    def advance(self) -> bool:
        """Read on, and return whether the string has ended. If not, more text is needed."""
        window, style = self._window, self._style
        self._seen = len(self._out)  # who follows the pieces knows these; later ones may be joined
        while True:
            text, at = window.text, window.pos
            run = self._plain.match(text, at)
            if run and (end := run.end()) > at:
                taken = run.group()
                self._out.append(self._encode(taken) if self._encode else taken)
                window.pos = at = end
            char = text[at] if at < len(text) else self._at(0)
            if not char:
                return False
            if char in style.closing:
                ends = style.ends(window, self._role, self._stops)
                if ends:
                    self._end()
                    window.pos += len(style.quote)
                    return True
                if ends is None or not self._goes_on():
                    return False
            elif char == "\\":
                if not self._escape():
                    return False
                continue
            elif char < " ":
                self._draft.repair("control-character")
                self._plain, self._encode = style.with_controls, controls_escaped
                continue
            self._write(escaped(char))
            window.pos += 1

    def _write(self, piece: str) -> None:
        self._out.append(piece)
        if len(self._out) > self._seen + STRING_PIECES:
            self._out[self._seen :] = ["".join(self._out[self._seen :])]
            self._seen += 1

    def _goes_on(self) -> bool:
        """Note that the quote here ends nothing; return False to wait."""
        style = self._style
        if len(style.quote) == 1:
            self._end_at_stop()
            self._quoted = True
            if not style.goes_on(self._window, self._began, self._stops):
                return False
            self._draft.repair("inner-quote")
        return True

    def _end_at_stop(self, *, behind_bracket: bool = False) -> None:
        """End a string of JSON that was never closed where its frame ends, if that is inside it.

        Not behind a quote that ended nothing, for both may be the text's own. The brackets before
        the frame's end are no part of the string; `behind_bracket`: only where there is one.
        """
        if self._quoted or self._style.goes_on is not no_call_within:
            return
        stops = tuple(stop for stop in self._stops if any(map(str.isalpha, stop)))
        text = "".join(self._out[self._first :]) if stops and self._released is None else ""
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

    def _at(self, ahead: int) -> str:
        """Return the character `ahead` of the position, "" to wait; close a string that is cut."""
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
        if self._released is not None:
            self._release(literal=False)
        self._out.append('"')

    def _escape(self) -> bool:
        """Pass over a backslash and what it escapes; return False to wait."""
        if not self._at(1):
            return False
        found = self._style.escape(self._window, self._style.escapes)
        if found is None:
            return False
        written, size, repair = found
        if not size:
            self._at(len(self._window.text))  # the text ends within the escape
        if written in ("\b", "\f"):
            self._keep_back(written)
        else:
            if repair:
                self._draft.repair(repair)
            if repair == "invalid-escape":
                self._literal = True
                self._release(literal=True)
            self._write(written)
        self._window.pos += size
        return True

    def _keep_back(self, raw: str) -> None:
        r"""Write \b or \f so that it can still become a character or two."""
        if self._literal:
            self._write("\\\\b" if raw == "\b" else "\\\\f")
            return
        if self._released is None:
            self._released, self._out = self._out, []
            self._seen = 0
        self._write(raw)

    def _release(self, *, literal: bool) -> None:
        if self._released is None:
            return
        kept, self._out, self._released = "".join(self._out), self._released, None
        self._seen = len(self._out)
        for char, raw in _DOUBTFUL.items():
            kept = kept.replace(raw, ("\\\\" if literal else "\\") + char)
        self._out.append(kept)


def _without_brackets(text: str, most: int) -> str:
    """Return the inside of a string, as JSON, without the last brackets, at most so many."""
    for _ in range(most):
        bare = text.rstrip()
        while bare.endswith(("\\n", "\\r", "\\t")):
            bare = bare[:-2].rstrip()
        if bare[-1:] not in ("}", "]"):
            break
        text = bare[:-1]
    return text


# --- characters that JSON escapes ----------------------------------------------------------------

_CONTROL = re.compile(r"[\x00-\x1f]")
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escaped(char: str) -> str:
    """Return a character as it is written inside a JSON string."""
    if char in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[char]
    return char if char >= " " else f"\\u{ord(char):04x}"


def controls_escaped(text: str) -> str:
    """Escape the control characters of a JSON string's inside, in one pass for each kind."""
    while control := _CONTROL.search(text):
        text = text.replace(control[0], escaped(control[0]))
    return text


# --- escapes -------------------------------------------------------------------------------------

SOUND_ESCAPE = r'\\(?:["\\/nrt]|u[0-9a-fA-F]{4})'
r"""An escape of JSON that is copied as it is. \b and \f are sound too, but see `StringReader`."""

JSON_ESCAPES = {**{char: "\\" + char for char in '"\\bfnrt'}, "/": "/", "'": "'"}
PYTHON_ESCAPES = {**JSON_ESCAPES, "a": "\\u0007", "v": "\\u000b", "\n": ""}
del PYTHON_ESCAPES["/"]

_DOUBTFUL = {"b": "\b", "f": "\f"}
r"""What \b and \f are kept back as: raw control characters, which no other piece contains."""

_CUT: Escape = ("", 0, "")
_HEX_ESCAPE = 6
_CUT_HEX = re.compile(r"\\u[0-9a-fA-F]{0,3}\Z")
_OCTAL = re.compile(r"[0-7]{0,2}+")
_CODES = {
    "x": (re.compile(r"[0-9a-fA-F]{0,2}+"), 2),
    "u": (re.compile(r"[0-9a-fA-F]{0,4}+"), 4),
    "U": (re.compile(r"[0-9a-fA-F]{0,8}+"), 8),
    "N": (re.compile(r"(?:\{[A-Za-z0-9 ()-]{0,90}+\}?+)?+"), UNICODE_NAME),
    **dict.fromkeys("01234567", (_OCTAL, 2)),
}
"""What follows a letter that escapes a character by its number or name, and how long it may be."""


def json_escape(window: Window, escapes: Mapping[str, str]) -> Escape | None:
    """Read an escape of JSON that is not copied as it is."""
    char, left = window.text[window.pos + 1], len(window.text) - window.pos
    if char == "u" and left < _HEX_ESCAPE:
        if not window.final:
            return None
        if _CUT_HEX.match(window.text, window.pos):
            return _CUT
    if char in escapes:
        return escapes[char], 2, ""
    return "'" if char == "'" else "\\\\" + escaped(char), 2, "invalid-escape"


def raw_escape(window: Window, _: Mapping[str, str]) -> Escape:
    """Read a backslash that means nothing."""
    return _with_backslash(window.text[window.pos + 1], "")


def python_escape(window: Window, escapes: Mapping[str, str]) -> Escape | None:
    """Read an escape by a letter of `escapes`, or by a character's number or name."""
    char = window.text[window.pos + 1]
    if char in escapes:
        return escapes[char], 2, ""
    if char not in _CODES:
        return _with_backslash(char, "unknown-escape")
    code = longest(window, *_CODES[char], ahead=2)
    if code is None:
        return None
    chars, size = _chars_of(char, code), 2 + len(code)
    if chars is not None:
        return _by_code(chars, size, joins=escapes is JSON_ESCAPES)
    whole = code.endswith("}") or len(code) == _CODES[char][1] or (char == "N" and not code)
    if not whole and window.pos + size >= len(window.text):
        return _CUT
    return _with_backslash(char, "invalid-escape")


def _chars_of(letter: str, code: str) -> str | None:
    """What an escape by a number or a name means; None if it is cut off or means nothing."""
    if letter == "N":
        import unicodedata  # noqa: PLC0415 - a large table that hardly any text needs

        try:
            return unicodedata.lookup(code[1:-1] if code.endswith("}") else "")
        except KeyError:
            return None
    if letter.isdigit():
        return chr(int(letter + code, 8))
    number = int(code, 16) if len(code) == _CODES[letter][1] else -1
    return chr(number) if 0 <= number <= 0x10FFFF else None


# There may be an escape for every other character, so what is written for it is shared.


@lru_cache(maxsize=512)
def _with_backslash(char: str, repair: str) -> Escape:
    """A backslash that escapes nothing, and the character behind it."""
    return "\\\\" + encode_basestring(char)[1:-1], 2, repair


@lru_cache(maxsize=512)
def _by_code(chars: str, size: int, *, joins: bool) -> Escape:
    """What is written for an escape; in JSON two of them may be one character, in Python not."""
    encode = encode_basestring_ascii if joins else encode_basestring
    return encode(chars)[1:-1], size, ""


def longest(
    window: Window, pattern: re.Pattern[str], most: int = 2 * MAX_DIGITS, *, ahead: int = 0
) -> str | None:
    """Return what `pattern` matches `ahead` of the position, or None if more text could extend it.

    It is not extended beyond `most` characters.
    """
    start = window.pos + ahead
    found = pattern.match(window.text, start)
    end = found.end() if found else start
    if end < len(window.text) or window.final or end - start >= most:
        return window.text[start:end]
    return None


# --- where a string of JSON ends -----------------------------------------------------------------

_ANY_SPACE = SPACES + ODD_SPACES
_SPACE = re.compile(rf"[{_ANY_SPACE}]*+")
_SHORT, _LONG = f"{{0,{KEY_AHEAD}}}+", f"{{{KEY_AHEAD + 1}}}"
_KEY = re.compile(
    rf"""(?:"(?:[^"\\\n]|\\.){_SHORT}"|'(?:[^'\\\n]|\\.){_SHORT}'|“[^”\n]{_SHORT}”|‘[^’\n]{_SHORT}’"""
    rf"""|[A-Za-z_$][\w$-]{_SHORT})"""
    rf"(?:[{_ANY_SPACE}]{{0,{SPACE_AHEAD}}}+[:=]|[{_ANY_SPACE}]{{{SPACE_AHEAD + 1}}})"
    rf"""|(?:"(?:[^"\\\n]|\\.){_LONG}|['“‘](?:[^"'“”‘’\\\n]|\\.){_LONG})"""
)
"""A key and its sign, or one too long to be seen whole."""

_CUT_KEY = re.compile(r"""["'“‘]?[^"'“”‘’\n:]{0,70}+\Z""")
_ELEMENT = re.compile(r"""["'“‘{\[\]0-9-]|(?:true|false|null|True|False|None)\b|//|/\*|#""")
_WORD_START = re.compile(r"[a-zA-Z]{1,5}\Z")


def quote_ends(window: Window, role: str, stops: tuple[str, ...]) -> bool | None:
    """Whether the quote at the window's position ends its string of JSON.

    JSON is damaged most, so this takes the longest look. In an object a value's string is followed
    by a closer, or by a comma and something that looks like a key; in an array by a closer, or by
    a comma and the start of a value. Every other quote is one that the writer forgot to escape.
    A key ends at its first quote.
    """
    if role == "key":
        return True
    text, final = window.text, window.final
    index, char = _skip(text, window.pos + 1)
    if char == ",":
        return _ends_before_comma(text, index, role, final=final)
    if not char:
        return True if final or char is None else None
    if char in "}]":
        return True
    if char == "/":
        return text[index + 1 : index + 2] in ("/", "*") if final or index + 1 < len(text) else None
    if role == "element":
        return char in "\"'“‘{["
    if char in "\"'“‘":
        return _key_at(text, index, final=final)
    return _stop_at(text, index, stops, final=final)


def _ends_before_comma(text: str, comma: int, role: str, *, final: bool) -> bool | None:
    index, char = _skip(text, comma + 1)
    if not char:
        return True if final or char is None else None
    if char == ",":  # one comma too many
        return True
    if role == "element":
        return _element_at(text, index, final=final)
    return True if char in "}]" else _key_at(text, index, final=final)


def _skip(text: str, index: int) -> tuple[int, str | None]:
    """The next index that is no white space and its character, "" at the end, None if too far."""
    space = _SPACE.match(text, index, index + SPACE_AHEAD)
    end = space.end() if space else index
    if end - index >= SPACE_AHEAD:
        return end, None
    return end, text[end : end + 1]


def _key_at(text: str, index: int, *, final: bool) -> bool | None:
    """Whether a key and a colon begin here, or a comment. A key too long to see counts as one."""
    if _KEY.match(text, index) or text.startswith(("//", "/*", "#"), index):
        return True
    char = text[index]
    if not (char in "\"'“‘/_$" or char.isalpha()):
        return False
    if final:
        return bool(_CUT_KEY.match(text, index))
    undecided = len(text) - index < 2 * KEY_AHEAD + SPACE_AHEAD + 30
    return None if undecided else False


def _element_at(text: str, index: int, *, final: bool) -> bool | None:
    if _ELEMENT.match(text, index):
        short = not final and index + 5 >= len(text) and text[index].isalpha()
        return None if short else True
    if not final and (_WORD_START.match(text, index) or text[index:] == "/"):
        return None
    return False


def _stop_at(text: str, index: int, stops: tuple[str, ...], *, final: bool) -> bool | None:
    near = False
    for stop in stops:
        if text.startswith(stop, index):
            return True
        near = near or stop.startswith(text[index : index + len(stop)])
    return None if near and not final else False


_RESTART = re.compile(
    r"(?:\n[ \t]*+|</[\w:|-]{1,40}>|```)[ \t\r\n]{0,24}(?:<[\w:|-]{1,40}>|```[\w+-]{0,24})?"
    r"[ \t\r\n]{0,24}\[?[ \t\r\n]{0,24}\{[ \t\r\n]{0,24}\Z"
)
"""A new line or a closer, perhaps an opener, and a bracket: what is before a call's first key.

Before a quote that cannot end the string, with a key of calls behind it, they show that the
string ended long ago.
"""
_FIRST_KEY = re.compile(rf"\"(?:{'|'.join((*NAME_KEYS, *ARGUMENTS_KEYS))})\"")
_CLOSER = re.compile(r"</[\w:|-]{1,40}>|```")


def no_call_within(window: Window, began: int, _: tuple[str, ...]) -> bool:
    """Refuse a string that began at offset `began` if it ran into a call."""
    text, at = window.text, window.pos
    before = text[max(0, at - MARGIN, began - window.base) : at]
    restart = _RESTART.search(before) if before.rstrip()[-1:] == "{" else None
    if restart is None:
        return True
    if len(text) - at <= CALL_KEY_AHEAD and not window.final:
        return False
    if _FIRST_KEY.match(text, at):
        closer = _CLOSER.search(before)
        ended = min(restart.start(), closer.start() if closer else len(before))
        window.pos -= len(before) - ended
        raise UnreadableError("invalid-json", "a string that never ends")
    return True


# --- where a text of Python and its relatives ends -----------------------------------------------

_SPACE_BEHIND = re.compile(rf"[{_ANY_SPACE}]{{0,{QUOTE_AHEAD}}}+")
_BEHIND_TEXT = ",:)]}#'\""


def text_ends(window: Window, _role: str, stops: tuple[str, ...]) -> bool | None:
    """Whether the quote here ends a text: if what follows may follow one."""
    space = _SPACE_BEHIND.match(window.text, window.pos + 1)
    end = space.end() if space else window.pos + 1
    if end >= len(window.text):
        return True if window.final else None
    char, far = window.text[end], end - window.pos > QUOTE_AHEAD
    return far or char in _BEHIND_TEXT or any(stop[0] == char for stop in stops)


def whole_quote_ends(quote: str, window: Window, _role: str, _: tuple[str, ...]) -> bool | None:
    """Whether all of `quote`, which has several characters, is here."""
    rest = window.text[window.pos : window.pos + len(quote)]
    near = not window.final and quote.startswith(rest)
    return True if rest == quote else None if near else False


def no_stop_within(window: Window, began: int, stops: tuple[str, ...]) -> bool:
    """Refuse a text that began at offset `began`, at the end of the frame, if it ran over that.

    With every quote in its place, a text may contain what it likes.
    """
    first = max(window.pos - MARGIN, began - window.base, 0)
    found = max((window.text.rfind(stop, first, window.pos) for stop in stops), default=-1)
    if found < 0:
        return True
    window.pos = found
    raise UnreadableError("invalid-json", "a text that never ends")


# --- styles --------------------------------------------------------------------------------------


def _run(odd: str) -> re.Pattern[str]:
    """What is taken at once in JSON where the characters `odd` need thought."""
    char = rf"[^{odd}\\]"
    return re.compile(rf"{char}*+(?:{SOUND_ESCAPE}{char}*+)*+")


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
    quote: str,
    escapes: Mapping[str, str] | None,
    *,
    ends: Callable[[Window, str, tuple[str, ...]], bool | None] = text_ends,
    repair: str = "",
) -> Style:
    """A text of Python or one of its relatives; without `escapes` a raw one."""
    lone = len(quote) == 1
    char = rf"[^{quote[0]}\"\\]"
    sound = "" if escapes is None else rf"""(?:\\["\\nrt]{char}*+)*+"""
    with_controls = re.compile(rf"{char}*+{sound}")
    plain = re.compile(with_controls.pattern.replace("[^", r"[^\n")) if lone else with_controls
    escape = raw_escape if escapes is None else python_escape
    ends = ends if lone else partial(whole_quote_ends, quote)
    rules = (escapes or {}, escape, ends, no_stop_within, repair, controls_escaped)
    return Style(quote, quote[0], plain, with_controls, *rules)


@lru_cache(maxsize=64)
def marked_style(mark: str) -> Style:
    """A text between two marks, where no character but the mark means anything."""
    plain = re.compile(rf"[^{re.escape(mark[0])}]*+")
    rules = (raw_escape, partial(whole_quote_ends, mark), no_stop_within, "", _inside_quotes)
    return Style(mark, mark[0], plain, plain, {}, *rules)


def _inside_quotes(text: str) -> str:
    return encode_basestring(text)[1:-1]
