"""The distributions behind intervals and tests, without a numerical library."""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt
from statistics import NormalDist

_TINY = 1e-300
_PRECISION = 1e-15
_MOST_TERMS = 100_000
"""Far more than needed: the fraction converges in about sqrt(max(a, b)) terms."""

_NORMAL = NormalDist()


def normal_quantile(probability: float) -> float:
    """Return the z below which a standard normal value is with `probability`, between 0 and 1."""
    return _NORMAL.inv_cdf(probability)


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b), for a, b > 0 and x in 0 to 1.

    It is a continued fraction, evaluated with Lentz's method on the side where it converges fast.
    Source: NIST Digital Library of Mathematical Functions, 8.17.22 (and 8.17.4 for the other side).
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Return 1/(1+ d1/(1+ d2/(1+ ...))) with the coefficients of DLMF 8.17.22."""
    over, under = 1.0, _away_from_zero(1 - (a + b) * x / (a + 1))
    under = 1 / under
    value = under
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for term in (even, odd):
            under = 1 / _away_from_zero(1 + term * under)
            over = _away_from_zero(1 + term / over)
            change = over * under
            value *= change
        if abs(change - 1) < _PRECISION:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def beta_quantile(probability: float, a: float, b: float) -> float:
    """Return the x at which I_x(a, b) is `probability`, by bisection to the last float."""
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if beta_cdf(middle, a, b) < probability:
            low = middle
        else:
            high = middle
    return high


@lru_cache(maxsize=4096)
def student_quantile(probability: float, freedom: int) -> float:
    """Return the t below which Student's variable with `freedom` degrees is with `probability`.

    From the beta distribution: P(|T| > t) = I_x(freedom/2, 1/2) with x = freedom/(freedom + t²).
    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.1 and 26.5.27.
    """
    if probability < 0.5:
        return -student_quantile(1 - probability, freedom)
    # Solved for 1 - x = t²/(freedom + t²), which stays precise for small t.
    share = beta_quantile(2 * probability - 1, 0.5, freedom / 2)
    return sqrt(freedom * share / (1 - share)) if share < 1 else float("inf")
