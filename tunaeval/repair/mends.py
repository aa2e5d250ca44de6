"""What can be mended in nearly-JSON, at which level, and the draft that a reader writes.

The draft is sound JSON at any moment, once the brackets that are still open are closed: a comma or
a key is held back until the value behind it begins.
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from tunaeval.types import Repair, Span
from tunaeval.window import Window

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

CLOSER = {"{": "}", "[": "]"}

_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class UnreadableError(Exception):
    """How a deep step gives up; never leaves this room."""

    def __init__(self, code: str, message: str, *, cut: bool = False) -> None:
        self.code = code
        self.cut = cut
        super().__init__(message)


class CutError(Exception):
    """The text, or the frame around the value, ended inside it; never leaves this room."""

    def __init__(self, mend: str) -> None:
        self.mend = mend
        super().__init__(mend)


class Mark(NamedTuple):
    """Where a member begins (its key as JSON, the number of its value's first piece).

    Without a key: where an object or array ends, by the number of the piece behind it. `depth`
    counts the brackets that are open around it.
    """

    depth: int
    key: str
    at: int


_MARKED_DEPTH = 2


class Draft:
    """What has been understood, as pieces of sound JSON, and what was mended for it."""

    def __init__(self, window: Window) -> None:
        self.pieces: list[str] = []
        self._written = self.pieces
        self.repairs: list[Repair] = []
        self.open: list[str] = []
        self.pending = ""
        """A key with its colon, written when its value begins."""
        self.comma: int | None = None
        """Where a comma was read; it is written when something follows it."""
        self.bare_key = False
        self.marks: list[Mark] = []
        """The members of the outer two objects, for those who follow the value while it grows."""
        self.doubtful: int | None = None
        """The first piece that may still be written otherwise."""
        self._window = window
        self._levels: set[str] = set()

    def begin_value(self) -> None:
        """Write what was held back until a value came."""
        if self.pending or self.comma is not None:
            self.pieces.append(self.pending or ",")
        if self.pending and len(self.open) <= _MARKED_DEPTH:
            self.marks.append(Mark(len(self.open), self.pending.strip(",:"), len(self.pieces)))

    def drop_value(self) -> NoReturn:
        """The text ends inside a word or number: take back what was written for it, and stop."""
        if self.pending or self.comma is not None:
            self.pieces.pop()
            if self.pending and len(self.open) <= _MARKED_DEPTH:
                self.marks.pop()
        self._window.pos = len(self._window.text)
        raise CutError("truncated")

    def end_value(self) -> None:
        self.pending, self.comma = "", None

    def close(self) -> None:
        """Close the innermost bracket."""
        self.pieces.append(CLOSER[self.open.pop()])
        if len(self.open) <= _MARKED_DEPTH:
            self.marks.append(Mark(len(self.open), "", len(self.pieces)))

    def close_all(self) -> None:
        """Close every bracket that is still open."""
        while self.open:
            self.close()

    def firm(self) -> int:
        """How many pieces will not change any more."""
        return len(self._written) if self.doubtful is None else self.doubtful

    def mend(self, code: str, at: int | None = None) -> None:
        """Note a mend, at the window's position unless said otherwise."""
        level, message = MENDS[code]
        if len(self.repairs) < MAX_REPAIRS or level not in self._levels:
            self._levels.add(level)
            at = self._window.offset if at is None else at
            self.repairs.append(Repair(code, message, Span(at, at + 1), level))


def escaped(char: str) -> str:
    """A character as it stands inside a JSON string."""
    if char in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[char]
    return char if char >= " " else f"\\u{ord(char):04x}"
