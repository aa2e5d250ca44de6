r"""Regular expressions over model text in linear time: a pattern becomes a tree, then an automaton.

Python's own engine backtracks, so `(a+)+$` can take hours on forty characters, and models write
such patterns. Here all alternatives are followed at once (Thompson 1968): each character costs at
most one look at each of at most `MAX_STATES` states, and mostly one look-up in a dict. A pattern
can be searched for in a text (`found_in`), and all its matches be found (`spans`).

The syntax is `re`'s: characters, `.`, `[...]`, `\d \w \s \b` and their negations, `^ $ \A \Z`,
groups, `|`, `* + ? {m,n}`, and `(?i)`, `(?s)`, `(?m)` in front. What needs backtracking is refused
with its place: back references, look-around, possessive and atomic parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
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
    """Parts of which any one has to match."""

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
    """Return a pattern's tree, and its flags: those in front of it, and `?` if a repeat is lazy.

    Raises ValueError with the place of the fault.
    """
    if len(pattern) > MAX_LENGTH:
        raise ValueError(
            f"the pattern has {len(pattern)} characters; at most {MAX_LENGTH} are allowed"
        )
    reading = _PatternParser(pattern)
    node = reading.alternatives(0)
    if reading.more():
        reading.refuse("closes a group that was not opened")
    return node, reading.flags


class _PatternParser:
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
            self.refuse("repeats an anchor, which has no effect", at=self._at - 1)
        if self._taken("?") and "?" not in self.flags:  # laziness changes no search result
            self.flags += "?"
        if self._text[self._at : self._at + 1] == "+":
            self.refuse("makes a possessive repeat, which is not supported")
        if self._repeat() is not None:
            self.refuse("repeats what is repeated already", at=self._at - 1)
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
            self.refuse("has a least number above the greatest", at=at)
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
                    self.refuse("is a group with an invalid name", at=at)
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
                    self.refuse("has an invalid range", at=at)
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


MAX_STATES = 1000
_MAX_MOVES = 20_000
_REMEMBERED = 64

_FINAL_NEWLINE = "\n$"
"""The symbol for a newline that ends the text: `$` matches before it as well."""

_START, _WORD, _NEWLINE, _OTHER = "start", "word", "newline", "other"


@dataclass(slots=True)
class _State:
    """A state of an automaton: it reads a character, checks an assertion, forks, or ends."""

    outs: tuple[int, ...]
    characters: Characters | None = None
    assertion: str | None = None


class _Position(dict[str, "_Position"]):
    """The states possible after some text; as a dict, it caches the next position by character."""

    __slots__ = ("before", "states")

    def __init__(self, states: frozenset[int], before: str) -> None:
        super().__init__()
        self.states = states
        self.before = before


_Key: TypeAlias = tuple[frozenset[int], str]
_END = 0
_FOUND = _Position(frozenset(), _OTHER)


class Pattern:
    """A regular expression that is searched for in linear time."""

    def __init__(self, pattern: str) -> None:
        """Raises ValueError, with the place in the pattern, for what would need backtracking."""
        node, flags = read_pattern(pattern)
        self._multiline = "m" in flags
        self.is_lazy = "?" in flags
        """Whether a repeat is lazy, which `spans` cannot respect: it finds the longest matches."""
        self._states = [_State(())]
        self._first = self._added(node, _END)
        self._positions: dict[_Key, _Position] = {}
        self._moves = 0
        self._steps: dict[tuple[frozenset[int], str, str], tuple[bool, frozenset[int]]] = {}

    def found_in(self, text: str) -> bool:
        """Whether the pattern matches somewhere in the text, like `re.search`."""
        position = self._position(frozenset((self._first,)), _START)
        symbols: Iterable[str] = text
        if text.endswith("\n"):
            symbols = chain(text[:-1], (_FINAL_NEWLINE,))
        for symbol in symbols:
            after = position.get(symbol)
            if after is None:
                after = self._moved(position, symbol)
            if after is _FOUND:
                return True
            position = after
        return _END in self._closure(position, None)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each match: the longest one at its place, and never empty.

        The states of a failed attempt are stored at every 64th character, and no other attempt
        continues from them (Reps 1998, "Maximal-munch tokenization in linear time").
        """
        lost: set[tuple[frozenset[int], str, int]] = set()
        at = 0
        while at < len(text):
            end = self._longest(text, at, lost)
            if end > at:
                yield at, end
            at = max(end, at + 1)

    def _longest(self, text: str, start: int, lost: set[tuple[frozenset[int], str, int]]) -> int:
        """Return the end of the longest match that begins at `start`, or -1 if there is none."""
        states, before = frozenset((self._first,)), _kind(text[start - 1]) if start else _START
        end, walked, last = -1, [], len(text) - 1
        for at in range(start, len(text)):
            if at % _REMEMBERED == 0:
                walk = (states, before, at)
                if walk in lost:
                    break
                walked.append(walk)
            symbol = text[at]
            fits, states = self._step(
                states, before, _FINAL_NEWLINE if at == last and symbol == "\n" else symbol
            )
            if fits:
                end = at
                walked.clear()
            if not states:
                break
            before = _kind(symbol)
        else:
            if _END in self._closure(_Position(states, before), None):
                return len(text)
        lost.update(walked)
        return end

    def _step(
        self, states: frozenset[int], before: str, symbol: str
    ) -> tuple[bool, frozenset[int]]:
        """Return whether a match may end before the symbol, and the states after it."""
        known = self._steps.get((states, before, symbol))
        if known is None:
            if len(self._steps) > _MAX_MOVES:
                self._steps.clear()
            reached = self._closure(_Position(states, before), symbol)
            after: set[int] = set()
            for index in reached:
                state = self._states[index]
                if state.characters is not None and state.characters.has(symbol[0]):
                    after.update(state.outs)
            known = self._steps[states, before, symbol] = _END in reached, frozenset(after)
        return known

    def _moved(self, position: _Position, symbol: str) -> _Position:
        reached = self._closure(position, symbol)
        if _END in reached:
            after = _FOUND
        else:
            states = {self._first}  # a match may begin at any character
            for index in reached:
                state = self._states[index]
                if state.characters is not None and state.characters.has(symbol[0]):
                    states.update(state.outs)
            after = self._position(frozenset(states), _kind(symbol[0]))
        self._moves += 1
        position[symbol] = after
        return after

    def _position(self, states: frozenset[int], before: str) -> _Position:
        if self._moves > _MAX_MOVES:  # the caches are cleared, so that memory is bounded
            for known in self._positions.values():
                known.clear()
            self._positions.clear()
            self._moves = 0
        position = self._positions.get((states, before))
        if position is None:
            position = self._positions[states, before] = _Position(states, before)
        return position

    def _closure(self, position: _Position, symbol: str | None) -> set[int]:
        """Return all states that are reached from a position without reading its next symbol."""
        reached: set[int] = set()
        stack = list(position.states)
        while stack:
            index = stack.pop()
            if index in reached:
                continue
            reached.add(index)
            state = self._states[index]
            if state.characters is None and (
                state.assertion is None or self._holds(state.assertion, position.before, symbol)
            ):
                stack += state.outs
        return reached

    def _holds(self, assertion: str, before: str, symbol: str | None) -> bool:
        match assertion:
            case "^":
                return before == _START or (self._multiline and before == _NEWLINE)
            case "$":
                ends = symbol is None or symbol == _FINAL_NEWLINE
                return ends or (self._multiline and symbol == "\n")
            case "A":
                return before == _START
            case "Z":
                return symbol is None
        edge = (before == _WORD) != (symbol is not None and _kind(symbol[0]) == _WORD)
        return edge == (assertion == "b")

    def _added(self, node: Node, then: int) -> int:
        """Add the states that read `node` and continue with `then`; return the first of them."""
        match node:
            case Characters():
                return self._new(_State((then,), characters=node))
            case Assertion(kind):
                return self._new(_State((then,), assertion=kind))
            case Sequence(parts):
                for part in reversed(parts):
                    then = self._added(part, then)
                return then
            case Alternatives(parts):
                return self._new(_State(tuple(self._added(part, then) for part in parts)))
            case Repeat(part, least, most):
                if most is None:
                    loop = self._new(_State(()))
                    self._states[loop].outs = (self._added(part, loop), then)
                    return self._repeated(part, least, loop)
                for _ in range(most - least):
                    then = self._new(_State((self._added(part, then), then)))
                return self._repeated(part, least, then)

    def _repeated(self, part: Node, times: int, then: int) -> int:
        for _ in range(times):
            before = self._added(part, then)
            if before == then:  # an empty part stays empty, however often it is repeated
                break
            then = before
        return then

    def _new(self, state: _State) -> int:
        self._states.append(state)
        if len(self._states) > MAX_STATES:
            raise ValueError(
                f"the pattern needs more than {MAX_STATES} states; use fewer or smaller repeats"
            )
        return len(self._states) - 1


def _kind(character: str) -> str:
    if character.isalnum() or character == "_":
        return _WORD
    return _NEWLINE if character == "\n" else _OTHER


compiled = lru_cache(maxsize=512)(Pattern)
"""Return a `Pattern`, from a cache."""
