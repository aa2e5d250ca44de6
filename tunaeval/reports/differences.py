"""How much two runs differ over paired scenarios, and how certain that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .sides import Question
from .statistics.clusters import paired_difference
from .statistics.hypotheses import holm, mcnemar, sign_flip
from .statistics.power import detectable_effect, needed_scenarios
from .weights import Weighed


@dataclass(frozen=True, slots=True)
class Difference:
    """The second run's mean score minus the first's, over paired scenarios, with a 95 % interval.

    `p` is that of `test`, for the hypothesis that there is no difference; `p_adjusted` is adjusted
    after Holm. `detectable` is the true difference found with a probability of 80 %, None above 1.
    """

    section: str
    name: str
    scenarios: int
    clusters: int
    a: float
    b: float
    value: float
    low: float
    high: float
    standard_error: float
    p: float
    p_adjusted: float
    test: str
    detectable: float | None

    def clears(self, margin: float) -> bool:
        """Whether the interval excludes a loss of `margin` or more; 0.02 is 2 points."""
        return self.low > -margin

    @property
    def in_points(self) -> str:
        """The difference and its interval as text, in percentage points."""
        value, low, high = (100 * one for one in (self.value, self.low, self.high))
        return f"{value:+.1f} points ({low:+.1f} to {high:+.1f})"

    def needed(self, effect: float) -> int:
        """Return how many scenarios like these find a difference of `effect`, 80 % of the time."""
        return needed_scenarios(effect, between=self.standard_error**2 * self.scenarios)


class Differences:
    """Collects paired scores of scenarios, by cluster."""

    def __init__(self) -> None:
        self._a = self._b = self._weight = 0.0
        self._between = Weighed()

    def add(self, question: Question, a: float, b: float, *, weight: float = 1.0) -> None:
        self._weight += weight
        self._a += weight * a
        self._b += weight * b
        self._between.add(b - a, weight, question.cluster)

    @property
    def scenarios(self) -> int:
        return self._between.scores

    @property
    def differ(self) -> bool:
        """Whether weights change the result."""
        return self._between.differ

    def difference(self, section: str, name: str) -> Difference:
        clusters = self._between.clusters()
        found = paired_difference(clusters)
        assert found.low is not None and found.high is not None  # noqa: S101, PT018 - always set
        test, p = _tested(clusters)
        return Difference(
            section=section,
            name=name,
            scenarios=self.scenarios,
            clusters=found.clusters,
            a=self._a / self._weight,
            b=self._b / self._weight,
            value=found.value,
            low=found.low,
            high=found.high,
            standard_error=found.standard_error,
            p=p,
            p_adjusted=p,
            test=test,
            detectable=effect if (effect := detectable_effect(found.standard_error)) <= 1 else None,
        )


def _tested(clusters: Counter[tuple[float, float]]) -> tuple[str, float]:
    """Return the name and p of McNemar's test for single verdicts, else of a sign flip test."""
    if all(size == 1 and total in (-1, 0, 1) for total, size in clusters):
        return "McNemar", mcnemar(clusters[-1.0, 1.0], clusters[1.0, 1.0])
    sums: Counter[float] = Counter()
    for (total, _), times in clusters.items():
        sums[total] += times
    return "sign flip", sign_flip(sums)


def adjusted(found: Sequence[Difference]) -> Iterator[Difference]:
    """Yield the differences with their p values adjusted among each other, after Holm."""
    for one, p in zip(found, holm([one.p for one in found]), strict=True):
        yield replace(one, p_adjusted=p)
