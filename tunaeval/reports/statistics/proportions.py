"""Intervals of a rate of independent results that passed."""

from __future__ import annotations

from math import sqrt

from tunaeval.types.runs import Rate

from .distributions import beta_quantile, normal_quantile


def wilson(passed: int, total: int, *, confidence: float = 0.95) -> Rate:
    """Return `passed` of `total` with Wilson's score interval, all None if `total` is 0.

    The interval contains every rate p that a test of the observed rate would not reject:
    (p' + z²/2n ± z·sqrt(p'(1-p')/n + z²/4n²)) / (1 + z²/n), with p' = passed/total.
    Source: E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference,
    JASA 22 (1927), 209-212. Unlike p' ± z·sqrt(p'(1-p')/n) its coverage is right for small n and
    near 0 and 1.
    """
    _check(passed, total)
    if total == 0:
        return Rate(passed=0, total=0, value=None, low=None, high=None)
    low, high = score_bounds(passed / total, total, normal_quantile((1 + confidence) / 2))
    return Rate(passed=passed, total=total, value=passed / total, low=low, high=high)


def score_bounds(rate: float, total: float, z: float) -> tuple[float, float]:
    """Return Wilson's bounds for a rate over `total` results, which need not be whole."""
    weight = z * z / total
    middle = (rate + weight / 2) / (1 + weight)
    half = z * sqrt(rate * (1 - rate) / total + weight / total / 4) / (1 + weight)
    # At the ends the exact bounds are 0 and 1, and rounding must not change that.
    return 0.0 if rate == 0 else middle - half, 1.0 if rate == 1 else middle + half


def clopper_pearson(passed: int, total: int, *, confidence: float = 0.95) -> Rate:
    """Return `passed` of `total` with the exact interval, all None if `total` is 0.

    Its coverage is never less than promised, and mostly more: use it for bars that must hold for
    every true rate. The bounds are quantiles of Beta(x, n-x+1) and Beta(x+1, n-x).
    Source: C. J. Clopper and E. S. Pearson, The Use of Confidence or Fiducial Limits Illustrated
    in the Case of the Binomial, Biometrika 26 (1934), 404-413.
    """
    _check(passed, total)
    if total == 0:
        return Rate(passed=0, total=0, value=None, low=None, high=None)
    tail, failed = (1 - confidence) / 2, total - passed
    low = beta_quantile(tail, passed, failed + 1) if passed else 0.0
    high = beta_quantile(1 - tail, passed + 1, failed) if failed else 1.0
    return Rate(passed=passed, total=total, value=passed / total, low=low, high=high)


def _check(passed: int, total: int) -> None:
    if not 0 <= passed <= total:
        raise ValueError(f"{passed} passed of {total}: wanted 0 <= passed <= total")
