"""What a count of passes says about the model behind it."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

from tunaeval.types.runs import Rate


def wilson(passed: int, total: int, *, confidence: float = 0.95) -> Rate:
    """`passed` of `total` with Wilson's score interval, all None when `total` is 0.

    The interval holds every rate p that a test of the observed rate would not reject:
    (p' + z²/2n ± z·sqrt(p'(1-p')/n + z²/4n²)) / (1 + z²/n), with p' = passed/total.
    Source: E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference,
    JASA 22 (1927), 209-212. Unlike p' ± z·sqrt(p'(1-p')/n) it covers what it promises at small n
    and near 0 and 1.
    """
    if not 0 <= passed <= total:
        raise ValueError(f"{passed} passed of {total}: wanted 0 <= passed <= total")
    if total == 0:
        return Rate(passed=0, total=0, value=None, low=None, high=None)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate, weight = passed / total, z * z / total
    middle = (rate + weight / 2) / (1 + weight)
    half = z * sqrt(rate * (1 - rate) / total + weight / total / 4) / (1 + weight)
    # At the ends the formula gives 0 and 1 exactly, and rounding must not move them.
    low = 0.0 if passed == 0 else middle - half
    high = 1.0 if passed == total else middle + half
    return Rate(passed=passed, total=total, value=rate, low=low, high=high)
