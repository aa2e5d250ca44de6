"""What can be repaired in nearly-JSON, at which level, and the draft that a reader writes.

The draft is sound JSON at any moment, once the brackets that are still open are closed: a comma or
a key waits until the value behind it begins. What was written is never taken back, but for the
bracket of what turns out to be no tuple or no dictionary of Python.
"""

from __future__ import annotations

from tunaeval.limits import MAX_REPAIRS
from tunaeval.types import Repair, Span, cheap
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
"""Every repair of JSON: its level, and what was found.

Repairs of level "standard" change no value; those of level "lenient" lose or guess.
"""

CLOSER = {"{": "}", "[": "]", "(": ")", "(,": ")", "{,": "}", "**": "}", "f": ")"}
"""What ends a bracket, by its kind. Only Python has more than two kinds.

A value in parentheses, which a comma makes a tuple; a set; an unpacked dictionary; arguments.
"""

OPENED = {"{": "{", "[": "[", "(": "[", "**": "", "f": "{"}
"""What is written for a bracket of each kind."""

CLOSED = {"{": "}", "[": "]", "(": "]", "(,": "]", "{,": "]", "**": "", "f": "}"}
"""What is written for its end."""

_new_tuple = tuple.__new__

repair_of = cheap(Repair)
"""Make a `Repair` in half the time that its own class takes."""


class UnreadableError(Exception):
    """Raised by a step to give up; never leaves this package."""

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

    def __init__(
        self, window: Window, outer: str = "", trailing_comma: str = "trailing-comma"
    ) -> None:
        """`outer` ends what is around the value: it closes whatever is still open.

        `trailing_comma` is the repair of a comma before a closer.
        """
        self.pieces: list[str] = []
        self.open: list[str] = []
        """The kinds of brackets that are open; see `CLOSER`."""
        self.pending = ""
        """A key with its colon, written when its value begins."""
        self.comma: int | None = None
        """Where a comma was read; it is written when something follows it."""
        self.groups: list[int] = []
        """Which pieces open what may be a tuple."""
        self._window = window
        self._outer = outer
        self._trailing_comma = trailing_comma
        self._lost_comma = 0
        """How many pieces there were right behind a closer that lost the comma before it."""
        self._noted: list[tuple[str, int]] = []
        self._levels: set[str] = set()
        """The levels of the repairs that are noted."""

    def begin_value(self, written: str = "") -> None:
        """Write the key or the comma that waited for a value, and the beginning of it."""
        if self.pending:
            self.pieces.append(self.pending)
            self.pending = ""
        elif self.comma is not None:
            self.pieces.append(",")
        self.comma = None
        if written:
            self.pieces.append(written)

    def begin_member(self, key: str) -> None:
        """Keep a key, written as JSON, until its value begins."""
        self.pending = f"{key}:" if self.comma is None else f",{key}:"
        self.comma = None

    def close(self, char: str) -> bool:
        """Close what the closer `char` ends; return False if it ends nothing that is open."""
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
            self._close_innermost()
        self._close_innermost()
        return True

    def _close_innermost(self) -> None:
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
        """Return the whole text, once it is complete.

        The pieces, which may take many times its memory, are dropped, but for a bracket and a key.
        """
        written = "".join(self.pieces)
        self.pieces = self.pieces[:2]
        return written

    def repair(self, code: str, at: int | None = None) -> None:
        """Note a repair at the offset `at`, by default the window's.

        Beyond `MAX_REPAIRS` only the first repair of a level that has none yet is noted.
        """
        level = REPAIRS[code][0]
        if len(self._noted) < MAX_REPAIRS or level not in self._levels:
            self._noted.append((code, self._window.offset if at is None else at))
            self._levels.add(level)

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs, in the order in which they were made."""
        return tuple(
            [
                repair_of(code, REPAIRS[code][1], _new_tuple(Span, (at, at + 1)), REPAIRS[code][0])
                for code, at in self._noted
            ]
        )
