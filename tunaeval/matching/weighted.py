"""Assignment of two rows of things so that the sum of the pairs' worth is the greatest.

The result is optimal: successive shortest paths with potentials (Kuhn 1955, Munkres 1957, in the
form of Jonker and Volgenant 1987), so the order of equal things does not change the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

Worth = Callable[[int, int], float]
"""Returns the worth, at least 0, of pairing these indices of the first and the second row."""

Pairs = tuple[tuple[int, int], ...]

MOST_PAIRS = 16_384
"""The largest number of possible pairs for which an assignment is computed."""


def best_pairs(first: int, second: int, worth: Worth) -> Pairs:
    """Return the pairs of `first` things with `second` others whose total worth is the greatest.

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
    """Return a different column for each row with the greatest sum; rows <= columns."""
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
    """Assign a column to the row by the cheapest path of reassignments to a free one."""
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
    """Like `best_pairs`, but for pairs that do not cross (an alignment)."""
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
