r"""The syntax of regular expressions: a pattern becomes a tree of five kinds of nodes.

The syntax is that of Python's `re`; what an automaton cannot match is refused with its place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

MAX_LENGTH = 1000
MAX_NESTING = 50
MAX_REPEAT = 1000


@dataclass(frozen=True, slots=True)
class Characters:
    """One character out of a set: single ones, ranges, and classes such as `d` and `W`."""

    singles: frozenset[str] = frozenset()
    ranges: tuple[tuple[str, str], ...] = ()
    classes: str = ""
    negated: bool = False
    any_case: bool = False

    def has(self, character: str) -> bool:
        cases = _cases(character) if self.any_case else (character,)
        return any(map(self._lists, cases)) is not self.negated

    def _lists(self, character: str) -> bool:
        return (
            character in self.singles
            or any(low <= character <= high for low, high in self.ranges)
            or any(_in_class(character, name) for name in self.classes)
        )


@dataclass(frozen=True, slots=True)
class Assertion:
    """A condition on the position between two characters: `^`, `$`, `A`, `Z`, `b` or `B`."""

    kind: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """Parts that follow one another."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Parts of which one matches."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part that is repeated `least` to `most` times; None is unlimited."""

    part: Node
    least: int
    most: int | None


Node: TypeAlias = Characters | Assertion | Sequence | Alternatives | Repeat

_FLAGS = re.compile(r"\(\?([ims]{1,3})\)")
_COUNT = re.compile(r"\{([0-9]{0,4})(?:(,)([0-9]{0,4}))?\}")
_REPEATS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_CLASSES = frozenset("dDwWsS")
_ASSERTIONS = frozenset("AZbB")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "0": "\0"}
_CODES = {"x": 2, "u": 4, "U": 8}


def read_pattern(pattern: str) -> tuple[Node, str]:
    """Return the tree and the flags in front, plus `?` if a repeat is lazy.

    Raises ValueError with the place of the fault.
    """
    if len(pattern) > MAX_LENGTH:
        raise ValueError(f"the pattern has {len(pattern)} characters, at most {MAX_LENGTH} may be")
    reading = _Reading(pattern)
    node = reading.alternatives(0)
    if reading.more():
        reading.refuse("closes a group that was not opened")
    return node, reading.flags


class _Reading:
    """A parser that reads a pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        front = _FLAGS.match(pattern)
        self.flags = front[1] if front else ""
        self._text = pattern
        self._at = front.end() if front else 0

    def more(self) -> bool:
        return self._at < len(self._text)

    def refuse(self, why: str, *, at: int | None = None) -> NoReturn:
        at = self._at if at is None else at
        raise ValueError(f"{self._text[at : at + 10]!r} at character {at} {why}")

    def alternatives(self, depth: int) -> Node:
        if depth > MAX_NESTING:
            self.refuse(f"is nested more than {MAX_NESTING} deep")
        parts = [self._sequence(depth)]
        while self._taken("|"):
            parts.append(self._sequence(depth))
        return parts[0] if len(parts) == 1 else Alternatives(tuple(parts))

    def _sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        while self.more() and self._text[self._at] not in "|)":
            parts.append(self._repeated(self._one(depth)))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _repeated(self, part: Node) -> Node:
        found = self._repeat()
        if found is None:
            return part
        if isinstance(part, Assertion):
            self.refuse("follows a repeated anchor, which says nothing", at=self._at - 1)
        if self._taken("?") and "?" not in self.flags:  # laziness changes no search result
            self.flags += "?"
        if self._text[self._at : self._at + 1] == "+":
            self.refuse("makes a possessive repeat, which is not supported")
        if self._repeat() is not None:
            self.refuse("comes after a repeat that repeats already", at=self._at - 1)
        return Repeat(part, *found)

    def _repeat(self) -> tuple[int, int | None] | None:
        at = self._at
        simple = _REPEATS.get(self._text[at : at + 1])
        if simple is not None:
            self._at += 1
            return simple
        count = _COUNT.match(self._text, at)
        if count is None or count[0] == "{}":
            return None
        self._at = count.end()
        least = int(count[1] or 0)
        most = least if count[2] is None else int(count[3]) if count[3] else None
        if most is not None and most < least:
            self.refuse("wants at least more than at most", at=at)
        if max(least, most or 0) > MAX_REPEAT:
            self.refuse(f"repeats more than {MAX_REPEAT} times", at=at)
        return least, most

    def _one(self, depth: int) -> Node:
        at, character = self._at, self._next()
        match character:
            case "(":
                return self._group(at, depth)
            case "[":
                return self._set(at)
            case "\\":
                return self._escape(at)
            case ".":
                none = frozenset[str]() if "s" in self.flags else frozenset("\n")
                return Characters(none, negated=True)
            case "^" | "$":
                return Assertion(character)
            case "*" | "+" | "?":
                self.refuse("has nothing before it to repeat", at=at)
        return self._literal(character)

    def _group(self, at: int, depth: int) -> Node:
        if self._taken("?"):
            if self._taken("P<"):
                end = self._text.find(">", self._at)
                if end < 0 or not self._text[self._at : end].isidentifier():
                    self.refuse("is a group with a name that is none", at=at)
                self._at = end + 1
            elif not self._taken(":"):
                self.refuse("is a kind of group that is not supported", at=at)
        inside = self.alternatives(depth + 1)
        if not self._taken(")"):
            self.refuse("is a group that is not closed", at=at)
        return inside

    def _set(self, at: int) -> Node:
        negated = self._taken("^")
        singles: set[str] = set()
        ranges: list[tuple[str, str]] = []
        classes = ""
        first = True
        while first or not self._taken("]"):
            first = False
            if not self.more():
                self.refuse("is a set that is not closed", at=at)
            low = self._member(at)
            after = self._text[self._at : self._at + 2]
            if len(low) > 1:
                classes += low[1]
            elif after[:1] == "-" and after != "-]":
                self._at += 1
                high = self._member(at)
                if len(high) > 1 or high < low:
                    self.refuse("has a range that is none", at=at)
                ranges.append((low, high))
            else:
                singles.add(low)
        return Characters(frozenset(singles), tuple(ranges), classes, negated, "i" in self.flags)

    def _member(self, at: int) -> str:
        r"""Return a character, or a class as it is written (`\d`)."""
        if not self.more():
            self.refuse("is a set that is not closed", at=at)
        place, character = self._at, self._next()
        if character != "\\":
            return character
        name = self._text[self._at : self._at + 1]
        if name in _CLASSES and name:
            return "\\" + self._next()
        if self._taken("b"):
            return "\b"
        return self._escaped(place)

    def _escape(self, at: int) -> Node:
        name = self._text[self._at : self._at + 1]
        if name and name in _CLASSES:
            return Characters(classes=self._next())
        if name and name in _ASSERTIONS:
            return Assertion(self._next())
        return self._literal(self._escaped(at))

    def _escaped(self, at: int) -> str:
        name = self._next() if self.more() else ""
        if name in _CODES:
            digits = self._text[self._at : self._at + _CODES[name]]
            self._at += len(digits)
            if len(digits) == _CODES[name] and all(c in "0123456789abcdefABCDEF" for c in digits):
                code = int(digits, 16)
                if code <= 0x10FFFF:
                    return chr(code)
        elif name == "0" and self._text[self._at : self._at + 1].isdigit():
            self.refuse("is an octal escape, which is not supported", at=at)
        elif name in _ESCAPES:
            return _ESCAPES[name]
        elif name and not (name.isascii() and name.isalnum()):
            return name
        return self.refuse("is an escape that is not supported", at=at)

    def _literal(self, character: str) -> Node:
        return Characters(frozenset(character), any_case="i" in self.flags)

    def _next(self) -> str:
        character = self._text[self._at]
        self._at += 1
        return character

    def _taken(self, text: str) -> bool:
        if self._text.startswith(text, self._at):
            self._at += len(text)
            return True
        return False


def _in_class(character: str, name: str) -> bool:
    match name.lower():
        case "d":
            found = character.isdecimal()
        case "s":
            found = character.isspace()
        case _:
            found = character.isalnum() or character == "_"
    return found is name.islower()


def _cases(character: str) -> set[str]:
    """Return the character in all its cases, except those that are longer than one character."""
    lower, upper = character.lower(), character.upper()
    every = {character, lower, upper, lower.upper(), upper.lower()}
    return {form for form in every if len(form) == 1}
