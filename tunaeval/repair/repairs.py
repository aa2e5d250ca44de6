"""What can be repaired in nearly-JSON, at which level, and the draft that a reader writes.

The draft is sound JSON at any moment, once the brackets that are still open are closed: a comma or
a key is held back until the value behind it begins. What was written is never taken back, but for
the bracket of what turns out to be no tuple or no dictionary of Python.
"""

from __future__ import annotations

import re
from typing import Any

from tunaeval.limits import MAX_REPAIRS
from tunaeval.types import Repair, Span
from tunaeval.window import Window

REPAIRS = {
    "single-quotes": ("standard", "a string in single quotes"),
    "smart-quotes": ("standard", "a string in typographic quotes"),
    "python-literal": ("standard", "True, False or None"),
    "bare-key": ("standard", "a key without quotes"),
    "comment": ("standard", "a comment"),
    "trailing-comma": ("standard", "a comma before a closer"),
    "missing-comma": ("standard", "no comma between two members"),
    "extra-comma": ("standard", "a comma too many"),
    "odd-space": ("standard", "white space that JSON does not know, between its parts"),
    "control-character": ("standard", "a raw control character in a string"),
    "leading-zero": ("standard", "a number that begins with a zero"),
    "python-set": ("standard", "a set, which is read as a list"),
    "other-quotes": ("standard", "a text in other quotes than the format's"),
    "one-dictionary": ("standard", "all arguments as one dictionary, whose keys the tool declares"),
    "unmarked-text": ("standard", "words without the format's marks around them"),
    "unknown-escape": ("standard", "a backslash that escapes nothing and is kept, as in Python"),
    "guessed-comma": ("lenient", "no comma between two members, and it could be elsewhere"),
    "missing-colon": ("lenient", "no colon after a key"),
    "separator": ("lenient", "'=' where a colon belongs, or a colon for '='"),
    "invalid-escape": ("lenient", "an escape that JSON does not know"),
    "inner-quote": ("lenient", "a quote inside a string without a backslash"),
    "odd-number": ("lenient", "a number as programs write it, and JSON does not"),
    "unquoted-string": ("lenient", "a string without quotes"),
    "missing-quote": ("lenient", "a text without the mark that should begin it"),
    "positional-arguments": ("lenient", "an argument without a name, named by its place"),
    "missing-closer": ("lenient", "a bracket that was never closed"),
    "extra-closer": ("lenient", "a bracket that closes nothing"),
    "truncated": ("lenient", "the text ends inside the value; what is missing is unknown"),
}
"""Every repair of JSON: its level, and what was found."""

CLOSER = {"{": "}", "[": "]", "(": ")", "(,": ")", "{,": "}", "**": "}", "f": ")"}
"""What ends a bracket, by its kind. Only Python has more than two kinds.

A value in parentheses, which a comma makes a tuple; a set; an unpacked dictionary; arguments.
"""

OPENED = {"{": "{", "[": "[", "(": "[", "**": "", "f": "{"}
"""What is written for a bracket of each kind."""

CLOSED = {"{": "}", "[": "]", "(": "]", "(,": "]", "{,": "]", "**": "", "f": "}"}
"""What is written for its end."""

_CONTROL = re.compile(r"[\x00-\x1f]")
_new_tuple = tuple.__new__
_NO_LEVELS: frozenset[str] = frozenset()
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class UnreadableError(Exception):
    """How a deep step gives up; never leaves this package."""

    def __init__(self, code: str, message: str, *, cut: bool = False) -> None:
        self.code = code
        self.cut = cut
        super().__init__(message)


class CutError(Exception):
    """The text, or the frame around the value, ended inside it; never leaves this package."""

    def __init__(self, repair: str) -> None:
        self.repair = repair
        super().__init__(repair)


class Draft:
    """What has been understood, as pieces of sound JSON, and what was repaired for it."""

    __slots__ = (
        "_levels", "_lost_comma", "_noted", "_outer", "_trailing_comma", "_window", "comma",
        "groups", "open", "pending", "pieces",
    )  # fmt: skip

    def __init__(
        self, window: Window, outer: str = "", trailing_comma: str = "trailing-comma"
    ) -> None:
        """`outer` ends what is around the value: it closes whatever is still open."""
        self.pieces: list[str] = []
        self.open: list[str] = []
        """The kinds of brackets that are open; see `CLOSER`."""
        self.pending = ""
        """A key with its colon, written when its value begins."""
        self.comma: int | None = None
        """Where a comma was read; it is written when something follows it."""
        self._window = window
        self._outer = outer
        self._trailing_comma = trailing_comma
        self.groups: list[int] = []
        """Which pieces open what may be a tuple."""
        self._lost_comma = 0
        """How many pieces there were right behind a closer that lost the comma before it."""
        self._noted: list[tuple[str, int]] = []
        self._levels = _NO_LEVELS

    def begin_value(self) -> None:
        """Write what was held back until a value came."""
        if self.pending:
            self.pieces.append(self.pending)
            self.pending = ""
        elif self.comma is not None:
            self.pieces.append(",")
        self.comma = None

    def hold_key(self, key: str) -> None:
        """Hold a key, written as JSON, back until its value begins."""
        self.pending = f"{key}:" if self.comma is None else f",{key}:"
        self.comma = None

    def close(self, char: str) -> bool:
        """A closer: of what is open, or of something around it; false if it is of nothing."""
        opened = self.open
        if CLOSER[opened[-1]] != char and char not in [CLOSER[kind] for kind in opened]:
            if char == self._outer:
                raise CutError("missing-closer")
            self.repair("extra-closer")
            return False
        if self.comma is not None:
            if self._trailing_comma:
                self.repair(self._trailing_comma, self.comma)
            self.comma = None
            self._lost_comma = len(self.pieces) + 1
        while CLOSER[opened[-1]] != char:
            self.repair("missing-closer")
            self._end()
        self._end()
        return True

    def _end(self) -> None:
        """The innermost bracket is closed."""
        kind, pieces = self.open.pop(), self.pieces
        if kind[0] == "(":
            at = self.groups.pop()
            if kind == "(" and len(pieces) > at + 1:
                pieces[at] = ""  # a value in parentheses is no tuple
                return
        pieces.append(CLOSED[kind])

    def comma_is_elsewhere(self) -> bool:
        """Whether right before the end of the last value is a comma that should be behind it."""
        return self._lost_comma == len(self.pieces) or "".join(self.pieces[-2:]).endswith(',"')

    def close_all(self) -> None:
        """Close every bracket that is still open."""
        self.pieces += [CLOSED[kind] for kind in reversed(self.open)]

    def written(self) -> str:
        """The whole text, once it is complete.

        Its pieces, which may take many times as much, are let go, but for a bracket and a key.
        """
        written = "".join(self.pieces)
        self.pieces = self.pieces[:2]
        return written

    def repair(self, code: str, at: int | None = None) -> None:
        """Note a repair, at the window's position unless said otherwise."""
        if self.lists_no_more(code):
            return
        if len(self._noted) >= MAX_REPAIRS:
            self._levels |= {REPAIRS[code][0]}
        self._noted.append((code, self._window.offset if at is None else at))

    def lists_no_more(self, code: str) -> bool:
        """Whether so many repairs are noted that one more of this kind is not."""
        if len(self._noted) < MAX_REPAIRS:
            return False
        if not self._levels:
            self._levels = frozenset(REPAIRS[listed][0] for listed, _ in self._noted)
        return REPAIRS[code][0] in self._levels

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs, in the order in which they were made."""
        return tuple(
            [
                repair_of(code, REPAIRS[code][1], _new_tuple(Span, (at, at + 1)), REPAIRS[code][0])
                for code, at in self._noted
            ]
        )


class _Repair:
    """The same slots as `Repair`, cheap to fill; becomes one by its `__class__`."""

    __slots__ = Repair.__slots__
    code: str
    message: str
    span: Span | None
    level: str


def repair_of(code: str, message: str, span: Span | None, level: str = "standard") -> Repair:
    """A repair, made in half the time that its own class takes."""
    repair: Any = _Repair()
    repair.code, repair.message, repair.span, repair.level = code, message, span, level
    repair.__class__ = Repair
    return repair  # type: ignore[no-any-return]  # its class is Repair by now


def escaped(char: str) -> str:
    """A character as it stands inside a JSON string."""
    if char in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[char]
    return char if char >= " " else f"\\u{ord(char):04x}"


def controls_escaped(text: str) -> str:
    """The inside of a JSON string without raw control characters: one pass for each kind."""
    while control := _CONTROL.search(text):
        text = text.replace(control[0], escaped(control[0]))
    return text
