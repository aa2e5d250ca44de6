"""Texts, values and calls made from a tape of bytes: each byte is a choice.

Hypothesis makes and shrinks one row of bytes far faster than a tree of strategies: a call costs
microseconds instead of milliseconds, so that hundreds of examples of every law are cheap. A byte of
0, and any choice behind the tape's end, is the simplest choice: zeroed tapes are small examples.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

from tunaeval.types.calls import JsonValue, ToolCall

T = TypeVar("T")

FRAGMENTS = (
    "<tool_call>", "</tool_call>", "<tools>", "</tools>", "<think>", "</think>", "```", "```json\n",
    "`", "{", "}", "[", "]", '"', "'", ":", ",", "\\", "\\\\", '\\"', "\\u00e9", "\\ud83d", "\n",
    " ", "name", '"name": "bash"', '"arguments": {', '"arguments": {}', "{'name': 'bash', ", "/*",
    "//", "#", "*/", "True", "None", "NaN", "1", "-", "1.5e", "...", "…", "“", "”", "<", "</",
    "\x00", "\ud800", "\u2028", "é", "中文", ", ", "= ", ";", "\t", "\r\n", '{"a": 1}', "bash",
    "</tool_call", "<tool_cal", "command", '"a": "say "hi"', "(", ")", "call:f", "f(a=1)",
    '{"name": "bash", "arguments": {"command": "ls"}}',
)  # fmt: skip
"""Pieces that formats and damage are made of, to build hostile texts from."""

_WORDS = (
    "Sure", "the", "file", "das", "Größe", "is", "à", "noël", "文件", "を読む", "да", "नमस्ते",
    "مرحبا", "42", "e.g.", "a-b", "x=1", "(see", "below)", "100%", "it's", "🙂", "done",
    "next:", "a/b.py",
)  # fmt: skip

NAMES = ("f", "bash", "read_file", "get_weather", "add")
"""Names of tools that come up again and again, so that the names of calls and tools meet."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_USUAL = f"{_LETTERS}ABCXYZ0123456789 _-./:,;=+*!?%&|~^$@#()[]{{}}<>'\"`\\\n\t"
_ODD = (
    "\x00\x01\x0b\x1b\x7f\x85\xa0\xad\u200b\u200d\u2028\u2029\ufeff\ufffe\ud800\udfff“”‘’…é中🙂\r"
)
_NUMBERS = (1.5, -0.0, 1e300, 5e-324, 0.1, 1e16, -2.5e-8, 1e22)
_INTEGERS = (0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**25)


class Tape:
    """A row of bytes, read once from its beginning."""

    __slots__ = ("_at", "_bytes")

    def __init__(self, raw: bytes) -> None:
        self._bytes = raw
        self._at = 0

    def take(self, count: int) -> bytes:
        """The next `count` bytes; zeros behind the end."""
        self._at += count
        return self._bytes[self._at - count : self._at].ljust(count, b"\0")

    def below(self, limit: int) -> int:
        """A whole number from 0 to `limit`, which is left out."""
        count = 1 if limit <= 256 else 2 if limit <= 65536 else 4
        return int.from_bytes(self.take(count), "big") % limit

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def row(self, make: Callable[[Tape], T], most: int, least: int = 0) -> list[T]:
        """From `least` to `most` of what `make` makes."""
        return [make(self) for _ in range(least + self.below(most - least + 1))]


def character(tape: Tape) -> str:
    """Mostly usual ones; odd ones; now and then any code point, half of a pair included."""
    choice = tape.below(256)
    if choice < 176:
        return _USUAL[choice % len(_USUAL)]
    return _ODD[choice % len(_ODD)] if choice < 240 else chr(tape.below(0x110000))


def text(tape: Tape, most: int) -> str:
    return "".join(tape.row(character, most))


def fragment(tape: Tape) -> str:
    """A piece of markup, or up to three characters."""
    return tape.pick(FRAGMENTS) if tape.below(2) else text(tape, 3)


def hostile(tape: Tape, most: int) -> str:
    """A row of fragments."""
    return "".join(tape.row(fragment, most))


def prose(tape: Tape) -> str:
    return " ".join(tape.row(lambda tape: tape.pick(_WORDS), 8))


def word(tape: Tape, most: int = 12) -> str:
    """Small letters, with an underscore in between now and then."""
    letters = tape.row(lambda tape: tape.pick(_LETTERS), most, 1)
    middle = len(letters) // 2
    return "_".join(("".join(letters[:middle]), "".join(letters[middle:]))).strip("_")


def name(tape: Tape) -> str:
    return tape.pick(NAMES) if tape.below(2) else word(tape)


def value(tape: Tape, leaves: int) -> JsonValue:
    """A value of JSON: texts full of markup, numbers of any size, nested."""
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
    """A call of up to four arguments, made by `key` and `member`."""
    return ToolCall(name(tape), dict(tape.row(lambda tape: (key(tape), member(tape)), 4)))


def chunks(tape: Tape, of: str) -> list[str]:
    """A text, cut: each character alone, in equal steps, or anywhere."""
    step = tape.pick((0, 1, 2, 3, 4, 7, 16, 0))
    if step:
        return [of[at : at + step] for at in range(0, len(of), step)]
    cuts = tape.row(lambda tape: tape.below(len(of) + 1), 8)
    return [of[start:end] for start, end in pairwise([0, *sorted(cuts), len(of)])]


def damage(tape: Tape, sound: str, marks: Sequence[str], most: int) -> str:
    """A text, deleted from, inserted into and cut; `marks` are its format's own pieces."""
    for _ in range(tape.below(most + 1)):
        start = tape.below(len(sound) + 1)
        end = start + tape.below(4)
        inserted = tape.pick(marks) if marks and tape.below(2) else fragment(tape)
        sound = sound[:start] + inserted + sound[end:]
    return sound[: tape.below(len(sound) + 1)] if tape.below(2) else sound
