"""Weighted scores of scenarios by cluster; the suite gives each scenario's weight."""

from __future__ import annotations

from collections import Counter


class Weighed:
    """Sums of scores and of weights, by cluster; None is a cluster by itself.

    A scenario of weight 0 does not count. Only relative weights matter: they are scaled to a mean
    of 1, so that the sizes of clusters are numbers of scenarios again.
    """

    def __init__(self) -> None:
        self.scores = 0
        self._alone: Counter[tuple[float, float]] = Counter()
        self._together: dict[str, list[float]] = {}
        self._weights: set[float] = set()

    def add(self, score: float, weight: float, cluster: str | None) -> None:
        self._weights.add(weight)
        if not weight:
            return
        self.scores += 1
        if cluster is None:
            self._alone[weight * score, weight] += 1
        else:
            counted = self._together.setdefault(cluster, [0.0, 0.0])
            counted[0] += weight * score
            counted[1] += weight

    @property
    def differ(self) -> bool:
        """Whether the weights differ, so that weighting changes the result."""
        return len(self._weights) > 1 and self.scores > 0

    def clusters(self) -> Counter[tuple[float, float]]:
        """Return the number of clusters for each (sum of scores, size)."""
        sums = self._alone + Counter((score, size) for score, size in self._together.values())
        every = sorted(sums.items())  # float sums must not depend on the order of the results
        scale = self.scores / sum(weight * times for (_, weight), times in every)
        return Counter({(score * scale, weight * scale): times for (score, weight), times in every})
