"""The bootstrap: an interval for any statistic, by resampling the scenarios."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

_Item = TypeVar("_Item")


def bootstrap(
    items: Sequence[_Item],
    statistic: Callable[[Sequence[_Item]], float],
    *,
    confidence: float = 0.95,
    rounds: int = 2_000,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the percentile interval of `statistic` over `rounds` resamples of `items`.

    An item has to be independent: a scenario with all of its repeats, or a cluster. Below a few
    hundred items, and for rates near 0 or 1, the coverage is less than `confidence`; the other
    intervals of this package are better there. Source: B. Efron, Bootstrap Methods: Another
    Look at the Jackknife, Annals of Statistics 7 (1979), 1-26; percentiles as in B. Efron and
    R. Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
    """
    if not items:
        raise ValueError("no items: nothing can be drawn from nothing")
    draw, count = Random(seed).choices, len(items)
    drawn = sorted(statistic(draw(items, k=count)) for _ in range(rounds))
    cut = int(rounds * (1 - confidence) / 2)
    return drawn[cut], drawn[-1 - cut]
