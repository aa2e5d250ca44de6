"""Tests whether a difference may be due to chance, for one comparison and for many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import erfc, prod, sqrt
from random import Random

from .distributions import beta_cdf

_EXACT = 50_000
"""The largest number of sums that are all computed."""
_ROUNDS = 10_000
_MANY = 1_000
"""From this many different sizes on, the sum of signed differences is treated as normal."""
_SLACK = 1e-9
"""The tolerance for sums of the same floats in another order."""


def mcnemar(lost: int, gained: int) -> float:
    """Return the p of the exact test that a scenario is as likely to be lost as to be gained.

    2 · P(Binomial(lost + gained, 1/2) <= min(lost, gained)), at most 1: pairs that agree do not
    matter. Source: Q. McNemar, Note on the Sampling Error of the Difference between Correlated
    Proportions or Percentages, Psychometrika 12 (1947), 153-157, in its exact, binomial form.
    """
    fewer, more = sorted((lost, gained))
    if fewer < 0:
        raise ValueError(f"{lost} lost, {gained} gained: wanted counts")
    return min(1.0, 2 * beta_cdf(0.5, more, fewer + 1)) if more else 1.0


def sign_flip(differences: Mapping[float, int], *, seed: int = 0) -> float:
    """Return the p of the test that each difference could as well have the opposite sign.

    `differences` maps each size to its count; those of a cluster are summed before. Two-sided: the
    share of all choices of signs whose sum is as far from 0 as the observed one. All choices are
    computed where that is cheap; otherwise 10,000 random ones and the observed one; with over a
    thousand different sizes the normal limit is used. For scores of 0 and 1 it equals `mcnemar`.
    Source: R. A. Fisher, The Design of Experiments (1935), section 21; B. Phipson and G. K. Smyth,
    Permutation P-values Should Never Be Zero, Statistical Applications in Genetics and Molecular
    Biology 9 (2010), article 39, for including the observed sum.
    """
    sizes: Counter[float] = Counter()
    for difference, times in differences.items():
        if difference:
            sizes[abs(difference)] += times
    seen = abs(sum(difference * times for difference, times in differences.items()))
    if not sizes:
        return 1.0
    far = seen * (1 - _SLACK) - _SLACK
    if len(sizes) > _MANY:
        return erfc(seen / sqrt(2 * sum(size * size * times for size, times in sizes.items())))
    if prod(times + 1 for times in sizes.values()) <= _EXACT:
        sums = _all_sums(sizes)
        return min(1.0, sum(share for total, share in sums.items() if abs(total) >= far))
    return _drawn(sizes, far, Random(seed))


def _all_sums(sizes: Mapping[float, int]) -> dict[float, float]:
    """Return the probability of each sum, if each sign is decided by a fair coin."""
    sums = {0.0: 1.0}
    for size, times in sizes.items():
        chances = _fair(times)
        grown: dict[float, float] = {}
        for total, share in sums.items():
            for heads, chance in enumerate(chances):
                reached = total + size * (2 * heads - times)
                grown[reached] = grown.get(reached, 0.0) + share * chance
        sums = grown
    return sums


def _fair(times: int) -> list[float]:
    """Return the probabilities of 0, 1, ... heads in `times` throws."""
    ways = [1]
    for heads in range(times):
        ways.append(ways[-1] * (times - heads) // (heads + 1))
    return [way / 2**times for way in ways]


def _drawn(sizes: Mapping[float, int], far: float, chance: Random) -> float:
    rows = list(sizes.items())
    reached = sum(
        # The number of bits set in a random number is the number of heads in as many throws.
        abs(sum(size * (2 * chance.getrandbits(n).bit_count() - n) for size, n in rows)) >= far
        for _ in range(_ROUNDS)
    )
    return (1 + reached) / (1 + _ROUNDS)


def holm(values: Sequence[float]) -> list[float]:
    """Return p values adjusted so that the chance of any false alarm is that of a single test.

    The i-th smallest of m becomes the largest of (m-j+1)·p_j up to i, at most 1; the order is
    kept. Source: S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian
    Journal of Statistics 6 (1979), 65-70.
    """
    adjusted = [0.0] * len(values)
    least = 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        least = max(least, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = least
    return adjusted


def benjamini_hochberg(values: Sequence[float]) -> list[float]:
    """Return p values adjusted so that a threshold on them bounds the share of false alarms.

    The i-th smallest of m becomes the smallest of m·p_j/j from i on, at most 1; order is kept.
    Source: Y. Benjamini and Y. Hochberg, Controlling the False Discovery Rate, Journal of the
    Royal Statistical Society B 57 (1995), 289-300.
    """
    adjusted = [0.0] * len(values)
    most = 1.0
    order = sorted(range(len(values)), key=values.__getitem__)
    for rank, index in reversed(list(enumerate(order, start=1))):
        most = min(most, len(values) * values[index] / rank)
        adjusted[index] = most
    return adjusted
