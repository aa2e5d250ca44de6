"""How far two judges agree beyond chance, and how to correct a rate for a judge's errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import sqrt
from typing import TypeVar

from .distributions import normal_quantile

_Label = TypeVar("_Label", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa with its interval, from -1 to 1; None if chance explains all agreement."""

    value: float | None
    low: float | None
    high: float | None
    items: int


def cohen_kappa(pairs: Iterable[tuple[Hashable, Hashable]], *, confidence: float = 0.95) -> Kappa:
    """Return the agreement of two judges on the same items, beyond what chance would give.

    (p_o - p_e) / (1 - p_e), with the large-sample variance. Sources: J. Cohen, A Coefficient of
    Agreement for Nominal Scales, Educational and Psychological Measurement 20 (1960), 37-46; J. L.
    Fleiss, J. Cohen and B. S. Everitt, Large Sample Standard Errors of Kappa and Weighted Kappa,
    Psychological Bulletin 72 (1969), 323-327.
    """
    cells = Counter(pairs)
    items = sum(cells.values())
    if not items:
        return Kappa(None, None, None, 0)
    rows, columns = Counter[Hashable](), Counter[Hashable]()
    for (one, other), times in cells.items():
        rows[one] += times
        columns[other] += times
    observed = sum(times for (one, other), times in cells.items() if one == other) / items
    expected = sum(rows[label] * columns[label] for label in rows) / items**2
    if expected == 1:
        return Kappa(None, None, None, items)
    kappa = (observed - expected) / (1 - expected)
    same = cross = 0.0
    for (one, other), times in cells.items():
        if one == other:
            margins = (rows[one] + columns[one]) / items
            same += times / items * (1 - margins * (1 - kappa)) ** 2
        else:
            cross += times / items * ((columns[one] + rows[other]) / items) ** 2
    chance = (kappa - expected * (1 - kappa)) ** 2
    spread = max(0.0, same + (1 - kappa) ** 2 * cross - chance)
    error = sqrt(spread / items) / (1 - expected)
    half = error * normal_quantile((1 + confidence) / 2)
    return Kappa(kappa, max(-1.0, kappa - half), min(1.0, kappa + half), items)


def nominal(one: Hashable, other: Hashable) -> float:
    """Return the distance of two labels: 0 if they are equal, else 1."""
    return float(one != other)


def interval(one: float, other: float) -> float:
    """Return the distance of two numbers: the square of their difference."""
    return (one - other) ** 2


def krippendorff_alpha(
    units: Iterable[Sequence[_Label]], distance: Callable[[_Label, _Label], float] = nominal
) -> float | None:
    """Return the agreement of any number of judges; None if all labels are equal.

    Each unit is a sequence of the labels of one item; labels may be missing. 1 - D_o/D_e compares
    the distances within units with those between all labels; units with one label are skipped.
    `distance` is any metric (`interval`). Source: K. Krippendorff, Content Analysis (2013), ch. 12.
    """
    paired = [Counter(unit) for unit in units if len(unit) > 1]
    labels: Counter[_Label] = sum(paired, Counter())
    total = sum(labels.values())
    within = sum(_distances(unit, distance) / (sum(unit.values()) - 1) for unit in paired)
    between = _distances(labels, distance) / (total - 1) if total > 1 else 0.0
    return 1 - within / between if between else None


def _distances(labels: Counter[_Label], distance: Callable[[_Label, _Label], float]) -> float:
    """Return the sum of the distances over all ordered pairs of different labels."""
    return sum(
        labels[one] * labels[other] * distance(one, other) for one, other in permutations(labels, 2)
    )


@dataclass(frozen=True, slots=True)
class Corrected:
    """A rate corrected for a judge's errors, with its interval, from 0 to 1."""

    value: float
    low: float
    high: float
    standard_error: float


def rogan_gladen(
    positive: tuple[int, int],
    sensitivity: tuple[int, int],
    specificity: tuple[int, int],
    *,
    confidence: float = 0.95,
) -> Corrected:
    """Return the true rate behind the rate that a fallible judge found.

    Each argument is (count, total): items that the judge passed, of all; good items that it
    passed, of those labelled good; bad items that it failed, of those labelled bad. (p +
    spec - 1) / (sens + spec - 1), with the variances of all three propagated. Raises ValueError
    if the judge is no better than a coin. Source: W. J. Rogan and B. Gladen, Estimating
    Prevalence from the Results of a Screening Test, American Journal of Epidemiology 107 (1978),
    71-76.
    """
    (p, p_spread), (sens, sens_spread), (spec, spec_spread) = map(
        _rate, (positive, sensitivity, specificity)
    )
    skill = sens + spec - 1
    if skill <= 0:
        raise ValueError(
            f"sensitivity {sens:.3f} and specificity {spec:.3f} add up to 1 or less; "
            "such a judge says nothing of the true rate"
        )
    rate = min(1.0, max(0.0, (p + spec - 1) / skill))
    spread = p_spread + rate**2 * sens_spread + (1 - rate) ** 2 * spec_spread
    error = sqrt(spread) / skill
    half = error * normal_quantile((1 + confidence) / 2)
    return Corrected(rate, max(0.0, rate - half), min(1.0, rate + half), error)


def _rate(counted: tuple[int, int]) -> tuple[float, float]:
    """Return a rate and its variance."""
    count, total = counted
    if not 0 <= count <= total or not total:
        raise ValueError(f"{count} of {total}: wanted 0 <= count <= total, and a total")
    return count / total, count * (total - count) / total**3
