"""How much two runs differ over some scenarios, paired, and how sure that is."""

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
    """The second run's mean score less the first's, over paired scenarios, with its 95 % interval.

    `p` is of the hypothesis that there is none, by `test`; `p_adjusted` after Holm among its like.
    `detectable` is found with a probability of 80 % if it is true; None where none can be so large.
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
        """Whether the second run is surely not worse by `margin`; 0.02 is 2 points."""
        return self.low > -margin

    @property
    def in_points(self) -> str:
        """The difference and its interval, in words."""
        value, low, high = (100 * one for one in (self.value, self.low, self.high))
        return f"{value:+.1f} points ({low:+.1f} to {high:+.1f})"

    def needed(self, effect: float) -> int:
        """How many such scenarios find a true difference of `effect` with a probability of 80 %."""
        return needed_scenarios(effect, between=self.standard_error**2 * self.scenarios)


class Differences:
    """Paired scores of some scenarios, by cluster."""

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
        """Whether it matters that they were weighed."""
        return self._between.differ

    def difference(self, section: str, name: str) -> Difference:
        clusters = self._between.clusters()
        found = paired_difference(clusters)
        assert found.low is not None and found.high is not None  # noqa: S101, PT018 - it always has them
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
    """McNemar's test where each pair is a verdict by itself; else signs are flipped by cluster."""
    if all(size == 1 and total in (-1, 0, 1) for total, size in clusters):
        return "McNemar", mcnemar(clusters[-1.0, 1.0], clusters[1.0, 1.0])
    sums: Counter[float] = Counter()
    for (total, _), times in clusters.items():
        sums[total] += times
    return "sign flip", sign_flip(sums)


def adjusted(found: Sequence[Difference]) -> Iterator[Difference]:
    """Their p values adjusted among each other, after Holm."""
    for one, p in zip(found, holm([one.p for one in found]), strict=True):
        yield replace(one, p_adjusted=p)
