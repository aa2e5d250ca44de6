r"""Regular expressions over model text in linear time: a pattern becomes an automaton.

Python's own engine backtracks, so `(a+)+$` can take hours on forty characters, and models write
such patterns. Here all alternatives are followed at once (Thompson 1968): each character costs at
most one look at each of at most `MAX_STATES` states, and mostly one look-up in a dict. A pattern
can be searched for in a text (`found_in`), and all its matches be found (`spans`).

The syntax is `re`'s: characters, `.`, `[...]`, `\d \w \s \b` and their negations, `^ $ \A \Z`,
groups, `|`, `* + ? {m,n}`, and `(?i)`, `(?s)`, `(?m)` in front. What needs backtracking is refused:
back references, look-around, possessive and atomic parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import TypeAlias

from .syntax import Alternatives, Assertion, Characters, Node, Repeat, Sequence, read_pattern

MAX_STATES = 1000
_MAX_MOVES = 20_000
_REMEMBERED = 64

_FINAL_NEWLINE = "\n$"
"""The symbol for a newline that ends the text: `$` matches before it as well."""

_START, _WORD, _NEWLINE, _OTHER = "start", "word", "newline", "other"


class _State:
    """A state that reads a character, checks an assertion, or (with neither) forks or ends."""

    __slots__ = ("assertion", "characters", "outs")

    def __init__(
        self,
        outs: tuple[int, ...],
        characters: Characters | None = None,
        assertion: str | None = None,
    ) -> None:
        self.outs = outs
        self.characters = characters
        self.assertion = assertion


class _Position(dict[str, "_Position"]):
    """The set of states after some text; as a dict, it caches the next position by character."""

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
        """Yield the start and end of each match, from left to right, the longest and never empty.

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
        """Return all states that are reached without reading, before the next symbol."""
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
                f"the pattern unfolds to more than {MAX_STATES} states; repeat less of it"
            )
        return len(self._states) - 1


def _kind(character: str) -> str:
    if character.isalnum() or character == "_":
        return _WORD
    return _NEWLINE if character == "\n" else _OTHER


compiled = lru_cache(maxsize=512)(Pattern)
"""Return a `Pattern`, from a cache."""
