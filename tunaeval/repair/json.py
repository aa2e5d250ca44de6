"""Nearly-JSON, read once: one object or array, with every mend named.

`JsonReader` reads from a window, so it works while the text grows. It writes what it understood
as pieces of sound JSON and lets the decoder make the value of them; there is no second builder of
values. Where it has to decide, it decides from the next few characters only, and never again.

Mends of level "standard" change no value; those of level "lenient" lose or guess (see `MENDS`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias

from tunaeval.types import JsonValue, Repair, Span
from tunaeval.window import Reading, Window, read_all

from .quotes import CLOSING, quote_ends
from .values import MAX_DEPTH, MAX_DIGITS, Note, Unreadable, scan

MENDS = {
    "single-quotes": ("standard", "a string in single quotes"),
    "smart-quotes": ("standard", "a string in typographic quotes"),
    "python-literal": ("standard", "True, False or None"),
    "bare-key": ("standard", "a key without quotes"),
    "comment": ("standard", "a comment"),
    "trailing-comma": ("standard", "a comma before a closer"),
    "missing-comma": ("standard", "no comma between two members"),
    "extra-comma": ("standard", "a comma too many"),
    "control-character": ("standard", "a raw control character in a string"),
    "guessed-comma": ("lenient", "no comma between two strings; they could be one"),
    "missing-colon": ("lenient", "no colon after a key"),
    "separator": ("lenient", "'=' where a colon belongs"),
    "invalid-escape": ("lenient", "an escape that JSON does not know"),
    "inner-quote": ("lenient", "a quote inside a string without a backslash"),
    "unquoted-string": ("lenient", "a string without quotes"),
    "missing-closer": ("lenient", "a bracket that was never closed"),
    "extra-closer": ("lenient", "a bracket that closes nothing"),
    "truncated": ("lenient", "the text ends inside the value; what is missing is unknown"),
}
"""Every mend of JSON: its level, and what was found."""

MAX_REPAIRS = 64
"""Of one value; mends beyond are made but no longer listed. A level once needed stays listed."""

_SPACE = re.compile(r"[ \t\r\n]*+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+")
_LONG_NUMBER = re.compile(rf"[0-9][0-9.eE+-]{{{MAX_DIGITS}}}")
_CUT_NUMBER = re.compile(r"-?+[0-9]*+\.?+[0-9]*+(?:[eE][+-]?+[0-9]*+)?+\Z")
_WORD = re.compile(r"[A-Za-z_$][\w$-]*+")
_UNQUOTED = re.compile(r"[A-Za-z0-9_./*~:@ -]{1,200}+(?=[,}\]\n])")
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_PLAIN = {
    '"': re.compile(r'[^"\\\x00-\x1f]++'),
    "'": re.compile(r"""[^'"\\\x00-\x1f]++"""),
    "“": re.compile(r'[^“”"\\\x00-\x1f]++'),
    "‘": re.compile(r"""[^‘’'"\\\x00-\x1f]++"""),
}
_QUOTE_MEND = {"'": "single-quotes", "“": "smart-quotes", "‘": "smart-quotes"}
_WORDS = {"true": "true", "false": "false", "null": "null"}
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
_NEVER = {"NaN", "nan", "Infinity", "inf", "undefined"}
_CLOSER = {"{": "}", "[": "]"}
_ENDS_TOKEN = frozenset(" \t\r\n,}]")


_Step: TypeAlias = Callable[[str], Generator[None, None, Any]]
"""What to do with the next character; returns the step after it (a type that holds itself)."""


@dataclass(frozen=True, slots=True)
class Read:
    """A value and what it took to read it; `truncated` when the text ended inside it."""

    value: JsonValue
    repairs: tuple[Repair, ...] = ()
    notes: tuple[Note, ...] = ()
    truncated: bool = False


class _Unreadable(Exception):  # noqa: N818 - never leaves this file: how a deep step gives up
    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class _Cut(Exception):  # noqa: N818 - as _Unreadable: the text, or its frame, ended inside the value
    def __init__(self, mend: str) -> None:
        self.mend = mend


def read_json(text: str) -> Read | Unreadable:
    """Read a text that is one object or array, white space around it apart."""
    window = Window(text, final=True)
    window.pos = len(text) - len(text.lstrip())
    result = read_all(text, JsonReader(window).read())
    rest = text[window.pos :].strip()
    if isinstance(result, Read) and rest:
        return Unreadable("invalid-json", f"{rest[:40]!r} stands after the value", window.pos)
    return result


class JsonReader:
    """Reads the value at the window's position; used once.

    `stops` are texts that end the frame around the value (a closing tag): met outside a string
    they close whatever is still open.
    """

    def __init__(self, window: Window, stops: tuple[str, ...] = ()) -> None:
        self._window = window
        self._stops = stops
        self._out: list[str] = []
        self._stack: list[str] = []
        self._pending = ""
        self._comma = False
        self._repairs: list[Repair] = []
        self._levels: set[str] = set()

    def read(self) -> Reading[Read | Unreadable]:
        """The value. The window stands behind it, or where it stopped making sense."""
        window = self._window
        if window.final:
            sound = scan(window.text, window.pos)
            if not isinstance(sound, Unreadable):
                value, end, notes = sound
                if not _LONG_NUMBER.search(window.text, window.pos, end):
                    window.pos = end
                    return Read(value, notes=notes)
        truncated = False
        try:
            yield from self._value()
        except _Unreadable as reason:
            return Unreadable(reason.code, str(reason), window.offset, "".join(self._out))
        except _Cut as cut:
            truncated = cut.mend == "truncated"
            self._out += [_CLOSER[opener] for opener in reversed(self._stack)]
            self._mend(cut.mend, window.offset)
        return self._made(truncated=truncated)

    def _made(self, *, truncated: bool) -> Read | Unreadable:
        written = "".join(self._out)
        made = scan(written, 0)
        if isinstance(made, Unreadable):
            return Unreadable(made.code, made.message, self._window.offset, written)
        return Read(made[0], tuple(self._repairs), made[2], truncated)

    # --- the value, token by token -----------------------------------------------------------

    def _value(self) -> Reading[None]:
        step = self._element
        while True:
            char = yield from self._next()
            step = yield from step(char)
            if not self._stack:
                return

    def _element(self, char: str) -> Generator[None, None, _Step]:
        """A value is due: after a colon, in an array, or at the start."""
        window = self._window
        in_array = bool(self._stack) and self._stack[-1] == "["
        if in_array and char in "]}":
            return self._close(char)
        if in_array and char == "," and self._comma:
            self._mend("extra-comma", window.offset)
            window.pos += 1
            return self._element
        if self._pending or self._comma:  # held back until a value came
            self._out.append(self._pending or ",")
        if char in "{[":
            return self._open(char)
        if char in _PLAIN or char in "”’":
            yield from self._string(char, "element" if in_array else "value")
        elif char == "-" or char.isdigit():
            yield from self._number()
        else:
            yield from self._word()
        self._pending, self._comma = "", False
        return self._after

    def _open(self, char: str) -> _Step:
        if len(self._stack) >= MAX_DEPTH:
            raise _Unreadable("too-deep", f"nested deeper than {MAX_DEPTH}")
        self._window.pos += 1
        self._out.append(char)
        self._stack.append(char)
        self._pending, self._comma = "", False
        return self._key if char == "{" else self._element

    def _close(self, char: str) -> _Step:
        """A closer: of what is open, or of something around it, or of nothing."""
        window = self._window
        if self._comma:
            self._mend("trailing-comma", window.offset)
            self._comma = False
        if _CLOSER[self._stack[-1]] != char:
            if char not in [_CLOSER[opener] for opener in self._stack]:
                self._mend("extra-closer", window.offset)
                window.pos += 1
                return self._after
            while _CLOSER[self._stack[-1]] != char:
                self._mend("missing-closer", window.offset)
                self._out.append(_CLOSER[self._stack.pop()])
        window.pos += 1
        self._out.append(_CLOSER[self._stack.pop()])
        return self._after

    def _key(self, char: str) -> Generator[None, None, _Step]:
        window = self._window
        if char in "}]":
            return self._close(char)
        if char == "," and self._comma:
            self._mend("extra-comma", window.offset)
            window.pos += 1
            return self._key
        if char in _PLAIN or char in "”’":
            out, self._out = self._out, []
            try:
                yield from self._string(char, "key")
                key = "".join(self._out)
            finally:
                self._out = out
        else:
            word = yield from self._match(_WORD)
            if not word:
                raise _Unreadable("invalid-json", f"{char!r} where a key was expected")
            self._mend("bare-key", window.offset)
            window.pos += len(word)
            key = f'"{word}"'
        self._pending = ("," if self._comma else "") + key + ":"
        self._comma = False
        return self._colon

    def _colon(self, char: str) -> Generator[None, None, _Step]:
        window = self._window
        if char == ":":
            window.pos += 1
        elif char == "=":
            self._mend("separator", window.offset)
            window.pos += 1
            if (yield from self._char(window.pos)) in ">=":
                window.pos += 1
        elif char in "\"'“{[-" or char.isalnum():
            self._mend("missing-colon", window.offset)
        else:
            raise _Unreadable("invalid-json", f"{char!r} where a colon was expected")
        return self._element

    def _after(self, char: str) -> Generator[None, None, _Step]:
        """After a value: a comma, a closer, or the next member without its comma."""
        window = self._window
        in_object = self._stack[-1] == "{"
        if char == ",":
            window.pos += 1
            self._comma = True
        elif char in "}]":
            return self._close(char)
        elif in_object and (char in _PLAIN or char.isalpha() or char == "_"):
            self._mend("missing-comma", window.offset)
            self._comma = True
        elif not in_object and (char in _PLAIN or char in "{["):
            self._mend("missing-comma" if char in "{[" else "guessed-comma", window.offset)
            self._comma = True
        else:
            raise _Unreadable("invalid-json", f"{char!r} after a value")
        return self._key if in_object else self._element
        yield  # pragma: no cover - a step is a generator, even where it never waits

    # --- tokens ------------------------------------------------------------------------------

    def _string(self, quote: str, role: str) -> Reading[None]:
        window, start = self._window, self._window.offset
        quote = {"”": "“", "’": "‘"}.get(quote, quote)
        plain, closing, out = _PLAIN[quote], CLOSING[quote], self._out
        if quote != '"':
            self._mend(_QUOTE_MEND[quote], start)
        window.pos += 1
        out.append('"')
        control = False
        while True:
            run = plain.match(window.text, window.pos)
            if run:
                out.append(run.group())
                window.pos = run.end()
            char = yield from self._char(window.pos, or_cut=out)
            if char == "\\":
                yield from self._escape(out, quote)
            elif char in closing and (yield from quote_ends(window, role, self._stops)):
                window.pos += 1
                out.append('"')
                return
            else:
                if char in closing:
                    self._mend("inner-quote", window.offset)
                elif char < " " and not control:
                    control = True
                    self._mend("control-character", window.offset)
                out.append(_escaped(char))
                window.pos += 1

    def _escape(self, out: list[str], quote: str) -> Reading[None]:
        window = self._window
        char = yield from self._char(window.pos + 1, or_cut=out)
        if char in '"\\/bfnrt':
            out.append("\\" + char)
            window.pos += 2
            return
        if char == "u":
            while len(window.text) < window.pos + 6 and not window.final:
                yield
            if _HEX.match(window.text, window.pos + 2):
                out.append(window.text[window.pos : window.pos + 6])
                window.pos += 6
                return
            if len(window.text) < window.pos + 6:
                self._cut(out)
        if char == "'" and quote != '"':
            out.append("'")
        else:
            self._mend("invalid-escape", window.offset)
            out.append("'" if char == "'" else "\\\\" + _escaped(char))
        window.pos += 2

    def _number(self) -> Reading[None]:
        window = self._window
        while not window.final and _CUT_NUMBER.match(window.text, window.pos):
            if len(window.text) - window.pos > MAX_DIGITS:
                break
            yield
        number = yield from self._match(_NUMBER)
        after = yield from self._char(window.pos + len(number), or_end=True)
        if len(number) > MAX_DIGITS:
            raise _Unreadable("too-many-digits", f"a number of more than {MAX_DIGITS} digits")
        if not number or not self._ends_token(after):
            if not after or _CUT_NUMBER.match(window.text, window.pos):
                self._drop_value()
            yield from self._unquoted()
            return
        self._out.append(number)
        window.pos += len(number)

    def _word(self) -> Reading[None]:
        window = self._window
        word = yield from self._match(_WORD)
        after = yield from self._char(window.pos + len(word), or_end=True)
        known = _WORDS.get(word) or _PYTHON_WORDS.get(word)
        if not known or not self._ends_token(after):
            if not after and word:
                self._drop_value()
            yield from self._unquoted()
            return
        if word in _PYTHON_WORDS:
            self._mend("python-literal", window.offset)
        self._out.append(known)
        window.pos += len(word)

    def _unquoted(self) -> Reading[None]:
        """A string that lost its quotes: plain characters up to the end of the member."""
        window = self._window
        while not (run := _UNQUOTED.match(window.text, window.pos)):
            if window.final or len(window.text) - window.pos > 200:
                found = window.text[window.pos : window.pos + 20]
                raise _Unreadable("invalid-json", f"{found!r} is no JSON value")
            yield
        text = run.group().rstrip()
        if text in _NEVER or text.lstrip("-") in _NEVER or text[0].isdigit() or text[0] in "-.":
            raise _Unreadable("invalid-json", f"{text[:40]!r} is no JSON value")
        self._mend("unquoted-string", window.offset)
        self._out.append(f'"{text}"')
        window.pos += len(text)

    # --- looking ahead -----------------------------------------------------------------------

    def _next(self) -> Generator[None, None, str]:
        """The next character that is neither white space nor part of a comment."""
        window = self._window
        while True:
            space = _SPACE.match(window.text, window.pos)
            window.pos = space.end() if space else window.pos
            if window.pos < len(window.text):
                char = window.text[window.pos]
                if char in "/#" and (yield from self._comment(char)):
                    continue
                if self._stops and (yield from self._at_stop(char)):
                    raise _Cut("missing-closer")
                return char
            if window.final:
                raise _Cut("truncated")
            yield

    def _comment(self, char: str) -> Generator[None, None, bool]:
        window, start = self._window, self._window.offset
        if char == "/":
            second = yield from self._char(window.pos + 1, or_end=True)
            if not second or second not in "/*":
                return False
            window.pos += 1
            closer = "*/" if second == "*" else "\n"
        else:
            closer = "\n"
        window.pos += 1
        while (end := window.text.find(closer, window.pos)) < 0:
            held = len(closer) - 1
            window.pos = max(window.pos, len(window.text) - held)
            if window.final:
                window.pos = len(window.text)
                raise _Cut("truncated")
            yield
        window.pos = end + len(closer)
        self._mend("comment", start)
        return True

    def _at_stop(self, char: str) -> Generator[None, None, bool]:
        window = self._window
        while True:
            near = False
            for stop in self._stops:
                if stop[0] != char:
                    continue
                if window.text.startswith(stop, window.pos):
                    return True
                near = near or stop.startswith(window.text[window.pos :])
            if not near or window.final:
                return False
            yield

    def _match(self, pattern: re.Pattern[str]) -> Generator[None, None, str]:
        """What `pattern` matches here, when more text could not make it longer."""
        window = self._window
        while True:
            found = pattern.match(window.text, window.pos)
            end = found.end() if found else window.pos
            if end < len(window.text) or window.final or end - window.pos > 2 * MAX_DIGITS:
                return window.text[window.pos : end]
            yield

    def _char(
        self, index: int, *, or_cut: list[str] | None = None, or_end: bool = False
    ) -> Generator[None, None, str]:
        """The character at `index`; at the end of the text "" or a cut, inside a string or not."""
        window = self._window
        ahead = index - window.pos
        while window.pos + ahead >= len(window.text):
            if window.final:
                if or_end:
                    return ""
                window.pos = len(window.text)
                self._cut(or_cut)
            yield
        return window.text[window.pos + ahead]

    # --- small words -------------------------------------------------------------------------

    def _cut(self, string: list[str] | None) -> None:
        if string is not None:
            string.append('"')
        raise _Cut("truncated")

    def _drop_value(self) -> None:
        """The text ends inside a word or number: take back what was written for it, and stop."""
        if self._pending or self._comma:
            self._out.pop()
        self._window.pos = len(self._window.text)
        raise _Cut("truncated")

    def _ends_token(self, after: str) -> bool:
        return not after or after in _ENDS_TOKEN or after in "/#" or self._starts_stop(after)

    def _starts_stop(self, char: str) -> bool:
        return any(stop.startswith(char) for stop in self._stops)

    def _mend(self, code: str, at: int) -> None:
        level, message = MENDS[code]
        if len(self._repairs) < MAX_REPAIRS or level not in self._levels:
            self._levels.add(level)
            self._repairs.append(Repair(code, message, Span(at, at + 1), level))


def _escaped(char: str) -> str:
    if char == '"':
        return '\\"'
    if char == "\\":
        return "\\\\"
    if char >= " ":
        return char
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char) or f"\\u{ord(char):04x}"
