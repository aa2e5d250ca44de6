"""Wilson's interval against published figures, an exact computation, and its laws."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.reports.statistics import wilson

# Two-sided 95 %: Newcombe, Statistics in Medicine 17 (1998), table I, method 3; Brown, Cai and
# DasGupta, Statistical Science 16 (2001), give the coverage figures further down.
PUBLISHED = [
    (81, 263, 0.2553, 0.3662),
    (15, 148, 0.0624, 0.1605),
    (0, 20, 0.0, 0.1611),
    (1, 29, 0.0061, 0.1718),
]
Z = Fraction(1959963984540054, 10**15)


@pytest.mark.parametrize(("passed", "total", "low", "high"), PUBLISHED)
def test_published_intervals_are_met(passed: int, total: int, low: float, high: float) -> None:
    rate = wilson(passed, total)
    assert rate.low == pytest.approx(low, abs=5e-5)
    assert rate.high == pytest.approx(high, abs=5e-5)


@given(data=st.data(), total=st.integers(1, 3000))
def test_the_bounds_solve_wilsons_equation(data: st.DataObject, total: int) -> None:
    """(p' - p)² = z² p (1 - p) / n holds at both bounds, computed in exact fractions."""
    passed = data.draw(st.integers(0, total))
    rate = wilson(passed, total)
    for bound in (rate.low, rate.high):
        assert bound is not None
        p = Fraction(bound)
        left = (Fraction(passed, total) - p) ** 2
        assert abs(left - Z * Z * p * (1 - p) / total) < Fraction(1, 10**12)


def test_the_bounds_hold_the_rate_and_lie_between_0_and_1() -> None:
    for total in range(1, 120):
        for passed in range(total + 1):
            rate = wilson(passed, total)
            assert rate.low is not None
            assert rate.high is not None
            assert 0 <= rate.low <= passed / total <= rate.high <= 1


@given(st.integers(0, 200), st.integers(0, 200), st.integers(2, 50))
def test_more_of_the_same_narrows_the_interval(passed: int, failed: int, times: int) -> None:
    few = wilson(passed, passed + failed + 1)
    many = wilson(passed * times, (passed + failed + 1) * times)
    assert few.low is not None
    assert few.high is not None
    assert many.low is not None
    assert many.high is not None
    assert many.high - many.low < few.high - few.low


@given(st.integers(0, 300), st.integers(0, 300))
def test_passes_and_failures_mirror_each_other(passed: int, failed: int) -> None:
    one, other = wilson(passed, passed + failed), wilson(failed, passed + failed)
    if one.low is not None and other.high is not None:
        assert one.low == pytest.approx(1 - other.high, abs=1e-12)


@pytest.mark.parametrize(("n", "p", "covered"), [(30, 0.95, 0.939), (100, 0.99, 0.921)])
def test_the_interval_covers_what_theory_says(n: int, p: float, covered: float) -> None:
    """Exact coverage, summed over the binomial; the naive interval has 0.782 and 0.633 here."""
    total = 0.0
    for passed in range(n + 1):
        rate = wilson(passed, n)
        if rate.low is not None and rate.high is not None and rate.low <= p <= rate.high:
            total += comb(n, passed) * p**passed * (1 - p) ** (n - passed)
    assert total == pytest.approx(covered, abs=5e-4)


def test_nothing_asked_is_no_rate() -> None:
    rate = wilson(0, 0)
    assert (rate.value, rate.low, rate.high) == (None, None, None)


@pytest.mark.parametrize(("passed", "total"), [(-1, 3), (4, 3), (0, -1)])
def test_impossible_counts_are_refused(passed: int, total: int) -> None:
    with pytest.raises(ValueError, match="wanted 0 <= passed <= total"):
        wilson(passed, total)


def test_a_wider_confidence_is_a_wider_interval() -> None:
    narrow, wide = wilson(7, 10, confidence=0.8), wilson(7, 10, confidence=0.99)
    assert narrow.low is not None
    assert wide.low is not None
    assert wide.low < narrow.low
