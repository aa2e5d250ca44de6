"""Intervals of what hangs together, and of pairs: their laws, and what they fall back to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import sqrt
from statistics import mean as plain_mean
from statistics import stdev

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tunaeval.reports.statistics import (
    beta_cdf,
    beta_quantile,
    bootstrap,
    clopper_pearson,
    clustered_rate,
    mean,
    paired_difference,
    student_quantile,
    wilson,
)


def clusters_of(scores: Iterable[tuple[int, float]]) -> Counter[tuple[float, float]]:
    """Count the clusters by (sum of scores, size); each pair is a cluster and one of its scores."""
    clusters: dict[int, list[float]] = {}
    for cluster, score in scores:
        clusters.setdefault(cluster, []).append(score)
    return Counter((sum(found), len(found)) for found in clusters.values())


scores = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0.0, 0.25, 0.5, 1.0])), min_size=2)

# scipy 1.17: betainc, betaincinv, t.ppf
PUBLISHED = [
    (beta_cdf(0.3, 3, 27), 0.9971665),
    (beta_cdf(0.999, 1000, 3), 0.9194224),
    (beta_quantile(0.025, 99, 2), 0.9455406),
    (student_quantile(0.975, 5), 2.5705818),
    (student_quantile(0.975, 29), 2.0452296),
    (student_quantile(0.9, 1), 3.0776835),
]


@pytest.mark.parametrize(("found", "wanted"), PUBLISHED)
def test_distributions_are_those_of_the_tables(found: float, wanted: float) -> None:
    assert found == pytest.approx(wanted, abs=5e-8)


@given(st.floats(0.01, 0.99), st.floats(0.5, 500), st.floats(0.5, 500))
def test_a_beta_quantile_is_where_its_distribution_reaches_it(p: float, a: float, b: float) -> None:
    assert beta_cdf(beta_quantile(p, a, b), a, b) == pytest.approx(p, abs=1e-6)


def test_scipy_says_the_same() -> None:
    special = pytest.importorskip("scipy.special", reason="scipy is no dependency of ours")
    stats = pytest.importorskip("scipy.stats", reason="as above")
    for a, b in ((0.5, 30), (3, 27), (1000, 3), (5e4, 5e4)):
        for x in (0.01, 0.3, 0.5, 0.99):
            assert beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-8)
    for freedom in (1, 5, 30, 10_000):
        wanted = stats.t.ppf(0.975, freedom)
        assert student_quantile(0.975, freedom) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    ("passed", "total", "low", "high"), [(0, 20, 0.0, 0.1684), (4, 10, 0.1216, 0.7376)]
)
def test_published_exact_intervals_are_met(
    passed: int, total: int, low: float, high: float
) -> None:
    rate = clopper_pearson(passed, total)
    assert rate.low == pytest.approx(low, abs=5e-5)
    assert rate.high == pytest.approx(high, abs=5e-5)


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_exact_interval_holds_wilsons_rate(passed: int, failed: int) -> None:
    exact = clopper_pearson(passed, passed + failed)
    if exact.low is None or exact.high is None or exact.value is None:
        assert passed + failed == 0
    else:
        assert 0 <= exact.low <= exact.value <= exact.high <= 1


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_alone_scores_have_the_ordinary_standard_error(values: list[float]) -> None:
    found = mean(clusters_of(enumerate(values)))
    assert found.value == pytest.approx(plain_mean(values))
    assert found.standard_error == pytest.approx(stdev(values) / sqrt(len(values)), abs=1e-9)


@given(scores)
def test_the_order_of_scores_does_not_matter(drawn: list[tuple[int, float]]) -> None:
    assert clusters_of(drawn) == clusters_of(reversed(drawn))


@given(scores)
def test_a_clustered_interval_holds_the_rate_within_0_and_1(
    drawn: list[tuple[int, float]],
) -> None:
    found = clustered_rate(clusters_of(drawn))
    assert found.low is not None
    assert found.high is not None
    assert -1e-12 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1 + 1e-12


def test_repeats_of_a_scenario_are_not_as_sure_as_scenarios() -> None:
    naive = wilson(40, 60)
    repeated = clustered_rate({(3, 3): 10, (1, 3): 10, (0, 3): 0, (2, 3): 0})
    assert repeated.value == pytest.approx(2 / 3)
    assert naive.low is not None
    assert repeated.low is not None
    assert repeated.low < naive.low


def test_where_all_passed_a_cluster_counts_once() -> None:
    assert clustered_rate({(5, 5): 6}).low == wilson(6, 6).low


def test_the_mean_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no scores"):
        mean({})


def test_no_difference_seen_does_not_mean_that_none_is_possible() -> None:
    found = paired_difference({(0.0, 1.0): 100})
    assert found.value == 0
    assert found.low == pytest.approx(-0.0278, abs=1e-3)
    assert found.high == pytest.approx(0.0278, abs=1e-3)


shares = st.lists(st.integers(-4, 4).map(lambda k: k / 4), min_size=2, max_size=40)


@given(shares)
def test_with_repeats_the_interval_is_students(differences: list[float]) -> None:
    assume(len({*differences}) > 1)
    assume(any(one % 1 for one in differences))
    found = paired_difference(Counter((one, 1.0) for one in differences))
    count = len(differences)
    error = stdev(differences) / sqrt(count)
    half = student_quantile(0.975, count - 1) * error
    value = plain_mean(differences)
    assert found.standard_error == pytest.approx(error)
    assert found.low == pytest.approx(max(-1.0, value - half))
    assert found.high == pytest.approx(min(1.0, value + half))


@given(st.floats(-0.999, 0.999), st.integers(1, 200))
def test_differences_that_are_all_equal_have_an_interval_around_them(
    value: float, count: int
) -> None:
    for clusters in ({(value, 1.0): count}, {(3 * value, 3.0): count, (value, 1.0): 1}):
        found = paired_difference(clusters)
        assert found.low is not None
        assert found.high is not None
        assert found.low < found.value < found.high


def test_differences_that_rounding_alone_separates_are_equal() -> None:
    found = paired_difference({(0.3 - 0.2, 1.0): 10, (0.1, 1.0): 10})
    assert found.low is not None
    assert found.low < 0.05


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.floats(0.1, 10))
def test_single_verdicts_have_two_more_whatever_they_weigh(
    won: int, lost: int, same: int, weight: float
) -> None:
    """Bonett and Price: a sure gate needs more than one verdict that changed."""
    assume(won + lost + same)
    counts = Counter({weight: won, -weight: lost, 0.0: same})
    found = paired_difference({(score, weight): n for score, n in counts.items() if n})
    adjusted = [1.0] * (won + 1) + [-1.0] * (lost + 1) + [0.0] * same
    if weight == 1:
        error = stdev(adjusted) / sqrt(len(adjusted))
        half = student_quantile(0.975, len(adjusted) - 1) * error
        assert found.low == pytest.approx(max(-1.0, plain_mean(adjusted) - half))
        assert found.standard_error == pytest.approx(error * len(adjusted) / (won + lost + same))
    assert found.freedom == len(adjusted) - 1


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_swapping_the_runs_turns_the_difference_around(won: int, lost: int, same: int) -> None:
    assume(won + lost + same)

    def difference(up: int, down: int) -> tuple[float, float]:
        counts = Counter({(1.0, 1.0): up, (-1.0, 1.0): down, (0.0, 1.0): same})
        found = paired_difference(counts)
        assert found.low is not None
        assert found.high is not None
        assert found.low <= found.value <= found.high
        return found.low, found.high

    low, high = difference(won, lost)
    assert list(difference(lost, won)) == pytest.approx([-high, -low])


def test_a_bootstrap_is_repeated_by_its_seed() -> None:
    items = [0.1, 0.5, 0.9, 0.4, 0.7] * 10
    first = bootstrap(items, plain_mean, rounds=200, seed=7)
    assert first == bootstrap(items, plain_mean, rounds=200, seed=7)
    assert first[0] < plain_mean(items) < first[1]
    with pytest.raises(ValueError, match="no items"):
        bootstrap([], plain_mean)
