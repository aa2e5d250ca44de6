"""Texts, values and calls made from a tape of bytes, in which each byte is a choice.

Hypothesis generates and shrinks one string of bytes far faster than a tree of strategies: a call
takes microseconds instead of milliseconds, so that hundreds of examples of every law are cheap. A
byte of 0, and any choice after the tape's end, is the simplest: zeroed tapes are small examples.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

from tunaeval.files.plain_files import table_of
from tunaeval.types.calls import JsonValue, ToolCall

T = TypeVar("T")

_TABLE = table_of(__package__, "tape.toml")
FRAGMENTS: tuple[str, ...] = (*_TABLE["fragments"], "\ud800")  # which no file can have
"""Pieces of formats and of damage, from which hostile texts are made."""
WORDS: tuple[str, ...] = tuple(_TABLE["words"])
"""Words of sentences in several languages."""

NAMES = ("f", "bash", "read_file", "get_weather", "add")
"""Names of tools that occur often, so that some calls have the name of a given tool."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_USUAL = f"{_LETTERS}ABCXYZ0123456789 _-./:,;=+*!?%&|~^$@#()[]{{}}<>'\"`\\\n\t"
_ODD = (
    "\x00\x01\x0b\x1b\x7f\x85\xa0\xad\u200b\u200d\u2028\u2029\ufeff\ufffe\ud800\udfff“”‘’…é中🙂\r"
)
_NUMBERS = (1.5, -0.0, 1e300, 5e-324, 0.1, 1e16, -2.5e-8, 1e22)
_INTEGERS = (0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**25)


class Tape:
    """A string of bytes that is read once, from its beginning."""

    __slots__ = ("_at", "_bytes")

    def __init__(self, raw: bytes) -> None:
        self._bytes = raw
        self._at = 0

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes; after the end, zeros."""
        self._at += count
        return self._bytes[self._at - count : self._at].ljust(count, b"\0")

    def below(self, limit: int) -> int:
        """Return an integer from 0 to `limit` - 1."""
        count = 1 if limit <= 256 else 2 if limit <= 65536 else 4
        return int.from_bytes(self.take(count), "big") % limit

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def row(self, make: Callable[[Tape], T], most: int, least: int = 0) -> list[T]:
        """Return a list of `least` to `most` results of `make`."""
        return [make(self) for _ in range(least + self.below(most - least + 1))]


def character(tape: Tape) -> str:
    """Make a character: mostly a usual one, sometimes an odd one, or any code point."""
    choice = tape.below(256)
    if choice < 176:
        return _USUAL[choice % len(_USUAL)]
    return _ODD[choice % len(_ODD)] if choice < 240 else chr(tape.below(0x110000))


def text(tape: Tape, most: int) -> str:
    return "".join(tape.row(character, most))


def fragment(tape: Tape) -> str:
    """Make a piece of markup, or up to three characters."""
    return tape.pick(FRAGMENTS) if tape.below(2) else text(tape, 3)


def hostile(tape: Tape, most: int) -> str:
    """Make a text of up to `most` fragments."""
    return "".join(tape.row(fragment, most))


def prose(tape: Tape) -> str:
    return " ".join(tape.row(lambda tape: tape.pick(WORDS), 8))


def word(tape: Tape, most: int = 12) -> str:
    """Make a word of small letters, sometimes with an underscore."""
    letters = tape.row(lambda tape: tape.pick(_LETTERS), most, 1)
    middle = len(letters) // 2
    return "_".join(("".join(letters[:middle]), "".join(letters[middle:]))).strip("_")


def name(tape: Tape) -> str:
    return tape.pick(NAMES) if tape.below(2) else word(tape)


def value(tape: Tape, leaves: int) -> JsonValue:
    """Make a JSON value: strings full of markup, any numbers, nested values."""
    kind = tape.below(8 if leaves > 1 else 6)
    if kind < 6:
        return _ATOMS[kind](tape)
    inner = tape.row(lambda tape: value(tape, leaves // 2), 3)
    return inner if kind == 6 else {_string(tape): item for item in inner}


def _string(tape: Tape) -> str:
    return hostile(tape, 4) if tape.below(3) == 2 else text(tape, 20)


def _integer(tape: Tape) -> int:
    return tape.pick(_INTEGERS) if tape.below(4) else tape.below(1 << 32) - (1 << 31)


def _number(tape: Tape) -> float:
    if tape.below(4):
        return tape.pick(_NUMBERS)
    made: float = struct.unpack("<d", tape.take(8))[0]
    return made if math.isfinite(made) else 0.5


_ATOMS: tuple[Callable[[Tape], JsonValue], ...] = (
    _string,
    _integer,
    lambda tape: tape.pick((None, True, False)),
    _string,
    _number,
    lambda tape: hostile(tape, 4),
)


def call(tape: Tape, key: Callable[[Tape], str], member: Callable[[Tape], JsonValue]) -> ToolCall:
    """Make a call with up to four arguments, whose keys and values `key` and `member` make."""
    return ToolCall(name(tape), dict(tape.row(lambda tape: (key(tape), member(tape)), 4)))


def chunks(tape: Tape, of: str) -> list[str]:
    """Return the text cut into characters, equal steps, or at random places."""
    step = tape.pick((0, 1, 2, 3, 4, 7, 16, 0))
    if step:
        return [of[at : at + step] for at in range(0, len(of), step)]
    cuts = tape.row(lambda tape: tape.below(len(of) + 1), 8)
    return [of[start:end] for start, end in pairwise([0, *sorted(cuts), len(of)])]


def damage(tape: Tape, sound: str, marks: Sequence[str], most: int) -> str:
    """Return the text with random deletions and insertions, and cut; `marks` may be inserted."""
    for _ in range(tape.below(most + 1)):
        start = tape.below(len(sound) + 1)
        end = start + tape.below(4)
        inserted = tape.pick(marks) if marks and tape.below(2) else fragment(tape)
        sound = sound[:start] + inserted + sound[end:]
    return sound[: tape.below(len(sound) + 1)] if tape.below(2) else sound
