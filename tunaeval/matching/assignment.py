"""Assigns calls to expected calls, by the rule of each match mode or by the worth of each pair.

All but `greedy` and `counted` are optimal, so that the order of equal calls changes nothing. The
weighted assignment finds successive shortest paths with potentials (Kuhn 1955, Munkres 1957, in the
form of Jonker and Volgenant 1987).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import TypeAlias

from tunaeval.types.calls import JsonValue, ToolCall, Tools, ToolSpec

from .bfcl import CheckerCrash
from .values import Failure, Miss, invalid_arguments, wrong_tool

Wish: TypeAlias = tuple[str, Mapping[str, JsonValue] | None]
"""An expected tool and its arguments; None if only the name counts."""

Compare: TypeAlias = Callable[
    [str, Mapping[str, JsonValue], ToolCall, ToolSpec | None], Iterable[Miss]
]
"""Yields each way in which a call differs from the expected name and arguments, given the tool."""

Pairs: TypeAlias = tuple[tuple[int, int], ...]


class Fit:
    """A table of which calls meet which wishes (expected calls), computed when it is asked."""

    __slots__ = ("_compare", "_known", "_specs", "calls", "wishes")

    def __init__(
        self, wishes: Sequence[Wish], calls: Sequence[ToolCall], tools: Tools, compare: Compare
    ) -> None:
        self.wishes = wishes
        self.calls = calls
        self._specs = {name: tools.get(name) for name in {name for name, _ in wishes}}
        self._compare = compare
        self._known: dict[tuple[int, int], bool] = {}

    def __call__(self, wish: int, call: int) -> bool:
        """Whether call number `call` meets wish number `wish`."""
        for _ in self._misses(wish, call):
            return False
        return True

    def known(self, wish: int, call: int) -> bool:
        """Like `__call__`, but cached for algorithms that ask repeatedly."""
        key = (wish, call)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self(wish, call)
        return known

    def in_place(self) -> bool:
        """Whether each wish is met by the call at its index, the common case of a right reply."""
        if len(self.wishes) > len(self.calls):
            return False
        for index, (_, wanted) in enumerate(self.wishes):
            if wanted is not None and self.calls[index].arguments != wanted:
                return False
            if not self(index, index):
                return False
        return True

    def likely_first(self, wish: int) -> list[int]:
        """Return the indices of all calls; those that probably meet the wish come first.

        Calls with equal arguments come first, then the others; in either group the call at the
        index of the wish comes first. So searches end early.
        """
        wanted = self.wishes[wish][1]
        every = list(range(len(self.calls)))
        if wish < len(every):
            every.insert(0, every.pop(wish))
        if wanted is None or (every and self.calls[every[0]].arguments == wanted):
            return every
        return sorted(every, key=lambda call: self.calls[call].arguments != wanted)

    def failures(self, wish: int, call: int) -> Iterator[Failure]:
        """Yield each reason why the call does not meet the wish; a `CheckerCrash` is one, too."""
        try:
            for miss in self._misses(wish, call):
                yield miss()
        except CheckerCrash as crash:
            yield Failure("wrong-value", f"cannot be compared: {crash}", "arguments")

    def _misses(self, wish: int, call: int) -> Iterable[Miss]:
        name, arguments = self.wishes[wish]
        got = self.calls[call]
        if arguments is not None and (got.invalid is None or name != got.name):
            return self._compare(name, arguments, got, self._specs[name])
        if name != got.name:
            return (partial(wrong_tool, name, got.name),)
        return () if arguments is None else (partial(invalid_arguments, got),)


def in_step(fit: Fit) -> Pairs:
    """Pair each wish with the call at the same index if that meets it."""
    both = range(min(len(fit.wishes), len(fit.calls)))
    return tuple((index, index) for index in both if fit(index, index))


def in_order(fit: Fit) -> Pairs:
    """Pair each wish in turn with the earliest remaining call that fits, which is optimal."""
    pairs: list[tuple[int, int]] = []
    call = 0
    for wish in range(len(fit.wishes)):
        while call < len(fit.calls) and not fit(wish, call):
            call += 1
        if call == len(fit.calls):
            break
        pairs.append((wish, call))
        call += 1
    return tuple(pairs)


def largest(fit: Fit) -> Pairs:
    """Return a maximum matching, by shortest augmenting paths (Berge 1957)."""
    if fit.in_place():  # a shortcut to the same result
        return tuple((index, index) for index in range(len(fit.wishes)))
    call_of: dict[int, int] = {}
    wish_of: dict[int, int] = {}
    for wish in range(len(fit.wishes)):
        _place(fit, wish, call_of, wish_of)
    return tuple(sorted(call_of.items()))


def _place(fit: Fit, wish: int, call_of: dict[int, int], wish_of: dict[int, int]) -> None:
    """Find a call for the wish, reassigning other wishes along a shortest augmenting path."""
    via: dict[int, int] = {}
    waiting = [wish]
    for one in waiting:  # grows by the wishes whose calls are needed
        for call in fit.likely_first(one) if one == wish else range(len(fit.calls)):
            if call in via or not fit.known(one, call):
                continue
            via[call] = one
            if call in wish_of:
                waiting.append(wish_of[call])
                continue
            freed: int | None = call
            while freed is not None:
                mover = via[freed]
                left = call_of.get(mover)
                call_of[mover], wish_of[freed] = freed, mover
                freed = left
            return


def counted(fit: Fit) -> Pairs:
    """Like `in_step`, but return no pairs if there are not as many calls as wishes (`bfcl`)."""
    return in_step(fit) if len(fit.wishes) == len(fit.calls) else ()


def greedy(fit: Fit) -> Pairs:
    """Give each wish the first remaining call that fits; stop at the first wish without one.

    BFCL's checker does it like this, so the order of calls may decide (profile `bfcl`).
    """
    pairs: list[tuple[int, int]] = []
    spare = list(range(len(fit.calls)))
    for wish in range(len(fit.wishes) if len(fit.wishes) == len(fit.calls) else 0):
        found = next((call for call in spare if fit(wish, call)), None)
        if found is None:
            break
        spare.remove(found)
        pairs.append((wish, found))
    return tuple(pairs)


ASSIGNMENTS: Mapping[str, Callable[[Fit], Pairs]] = {
    "exactly": in_step,
    "in_order": in_order,
    "any_order": largest,
    "superset": largest,
    "subset": largest,
}
"""The assignment of each match mode."""

NO_OTHERS = frozenset({"exactly", "any_order", "subset"})
"""The modes that allow no calls beside the expected ones."""

Worth = Callable[[int, int], float]
"""Returns the worth, at least 0, of pairing these indices of the first and the second row."""

MOST_PAIRS = 16_384
"""The largest number of possible pairs for which an assignment is computed."""


def best_pairs(first: int, second: int, worth: Worth) -> Pairs:
    """Return pairs (index below `first`, index below `second`) with the greatest total worth.

    Pairs without worth are left out. More than `MOST_PAIRS` possible pairs, which only absurd
    replies have, give no pairs.
    """
    if not first or not second or first * second > MOST_PAIRS:
        return ()
    if first == second == 1:
        return ((0, 0),) if worth(0, 0) > 0 else ()
    if first > second:
        turned = best_pairs(second, first, lambda one, other: worth(other, one))
        return tuple(sorted((other, one) for one, other in turned))
    values = [[worth(one, other) for other in range(second)] for one in range(first)]
    return tuple((one, at) for one, at in enumerate(_assigned(values)) if values[one][at] > 0)


def _assigned(values: Sequence[Sequence[float]]) -> list[int]:
    """Return a different column for each row, for the greatest sum of values; rows <= columns."""
    rows, columns = len(values), len(values[0]) if values else 0
    row_price, column_price = [0.0] * rows, [0.0] * columns
    row_of: list[int | None] = [None] * columns
    for row in range(rows):
        _placed(row, values, row_price, column_price, row_of)
    column_of = [0] * rows
    for column, owner in enumerate(row_of):
        if owner is not None:
            column_of[owner] = column
    return column_of


def _placed(
    row: int,
    values: Sequence[Sequence[float]],
    row_price: list[float],
    column_price: list[float],
    row_of: list[int | None],
) -> None:
    """Assign a column to the row by the cheapest path of reassignments to a free column."""
    infinite = float("inf")
    distance, via = [infinite] * len(row_of), [-1] * len(row_of)
    done: set[int] = set()
    at, column, least = row, -1, 0.0
    while True:
        nearest, found = infinite, -1
        for other in range(len(row_of)):
            if other in done:
                continue
            cost = least - values[at][other] - row_price[at] - column_price[other]
            if cost < distance[other]:
                distance[other], via[other] = cost, column
            if distance[other] < nearest:
                nearest, found = distance[other], other
        least, column = nearest, found
        owner = row_of[column]
        if owner is None:
            break
        done.add(column)
        at = owner
    row_price[row] += least
    for one in done:
        owner = row_of[one]
        if owner is not None:
            row_price[owner] += least - distance[one]
        column_price[one] -= least - distance[one]
    while via[column] >= 0:
        row_of[column], column = row_of[via[column]], via[column]
    row_of[column] = row


def ordered_pairs(first: int, second: int, worth: Worth) -> Pairs:
    """Like `best_pairs`, but the pairs may not cross: both of their indices rise (an alignment)."""
    if first * second > MOST_PAIRS:
        return ()
    best = [[0.0] * (second + 1) for _ in range(first + 1)]
    for one, other in product(range(first - 1, -1, -1), range(second - 1, -1, -1)):
        paired = worth(one, other) + best[one + 1][other + 1]
        best[one][other] = max(paired, best[one + 1][other], best[one][other + 1])
    pairs: list[tuple[int, int]] = []
    one = other = 0
    while one < first and other < second:
        if best[one][other] == best[one + 1][other]:
            one += 1
        elif best[one][other] == best[one][other + 1]:
            other += 1
        else:
            pairs.append((one, other))
            one, other = one + 1, other + 1
    return tuple(pairs)
