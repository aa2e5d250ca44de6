"""Estimates from dependent results: repeats of a scenario, scenarios of one template.

Dependent results form a cluster, and only clusters count as independent. An estimate needs only
the sum and the number of the scores of a cluster, so clusters are given as `Clusters`: the number
of clusters for each (sum, size). A hundred thousand verdicts are then a handful of rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import TypeAlias

from .distributions import normal_quantile, student_quantile
from .proportions import score_bounds

Clusters: TypeAlias = Mapping[tuple[float, float], int]
"""Maps (sum of scores, number of scores) to the number of clusters that have both."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval; `low` and `high` are None if there is only one cluster."""

    value: float
    low: float | None
    high: float | None
    standard_error: float
    size: float
    """The number of scores in all clusters."""
    clusters: int


def clusters_of(scores: Iterable[tuple[Hashable, float]]) -> Counter[tuple[float, float]]:
    """Return `Clusters` from pairs of a cluster and a score."""
    sums: Counter[Hashable] = Counter()
    sizes: Counter[Hashable] = Counter()
    for cluster, score in scores:
        sums[cluster] += score  # type: ignore[assignment]  # a Counter adds floats as well
        sizes[cluster] += 1
    return Counter((sums[cluster], size) for cluster, size in sizes.items())


def mean(clusters: Clusters, *, confidence: float = 0.95) -> Estimate:
    """Return the mean score, its clustered standard error, and Student's interval over clusters.

    SE² = C/(C-1) · Σ_c (Σ_{i in c} (s_i - mean))² / n², with C - 1 degrees of freedom.
    Source: E. Miller, Adding Error Bars to Evals, arXiv 2411.00640 (2024); the factor
    C/(C-1) as in A. C. Cameron and D. L. Miller, A Practitioner's Guide to Cluster-Robust
    Inference, Journal of Human Resources 50 (2015), 317-372. Clusters of one score each give the
    ordinary standard error. Raises ValueError without a score.
    """
    count = sum(clusters.values())
    size = sum(n * times for (_, n), times in clusters.items())
    if not size:
        raise ValueError("no scores: the mean of nothing is not known")
    value = sum(total * times for (total, _), times in clusters.items()) / size
    if count < 2:
        return Estimate(value, None, None, 0.0, size, count)
    squares = sum((total - value * n) ** 2 * times for (total, n), times in clusters.items())
    error = sqrt(squares * count / (count - 1)) / size
    half = error * student_quantile((1 + confidence) / 2, count - 1)
    return Estimate(value, value - half, value + half, error, size, count)


def clustered_rate(clusters: Clusters, *, confidence: float = 0.95) -> Estimate:
    """Return the mean of scores from 0 to 1, with Wilson's interval at the effective sample size.

    n* = p(1-p) / SE² is the number of independent results with the same precision, at most the
    number of scores; Student's quantile replaces z. If SE is useless (all scores are 0, or all are
    1, or there is one cluster), a cluster counts as one result. Source: C. Franco, R. Little,
    T. Louis and E. Slud, Comparative Study of Confidence Intervals for Proportions in Complex
    Sample Surveys, Journal of Survey Statistics and Methodology 7 (2019), 334-364.
    """
    found = mean(clusters)
    rate = min(max(found.value, 0.0), 1.0)  # sums of floats may end a hair outside
    spread, error, certain = rate * (1 - rate), found.standard_error, (1 + confidence) / 2
    if not spread or found.clusters < 2:
        low, high = score_bounds(rate, found.clusters, normal_quantile(certain))
    else:
        effective = min(found.size, spread / error**2) if error else found.size
        low, high = score_bounds(rate, effective, student_quantile(certain, found.clusters - 1))
    return Estimate(rate, low, high, error, found.size, found.clusters)


def paired_difference(clusters: Clusters, *, confidence: float = 0.95) -> Estimate:
    """Return the mean of differences from -1 to 1, with an interval valid if most of them are 0.

    `value` is the plain mean. The interval is Student's for the differences and two more, +1 and
    -1, each as its own cluster: without them, differences of 0 alone would give an interval of 0.
    For passes and failures it is the adjusted Wald interval of D. G. Bonett and R. M. Price,
    Adjusted Wald Confidence Interval for a Difference of Binomial Proportions Based on Paired
    Data, Journal of Educational and Behavioral Statistics 37 (2012), 479-488, which adds 1 to each
    count of discordant pairs. `standard_error` belongs to the interval.
    """
    plain = mean(clusters)
    wider = mean(
        Counter(clusters) + Counter({(1.0, 1.0): 1, (-1.0, 1.0): 1}), confidence=confidence
    )
    assert wider.low is not None and wider.high is not None  # noqa: S101, PT018 - three clusters or more
    low = max(-1.0, min(wider.low, plain.value))
    high = min(1.0, max(wider.high, plain.value))
    return Estimate(plain.value, low, high, wider.standard_error, plain.size, plain.clusters)
