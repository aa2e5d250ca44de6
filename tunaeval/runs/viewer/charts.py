"""The numbers behind the page's charts: positions on an axis, in percent of its length.

The marks themselves are in the template, which escapes every text. A charting library could not
follow the page's light and dark colours under a policy that forbids inline styles.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tunaeval.reports.wording import share
from tunaeval.types.runs import Rate

BINS = 28  # bars of a histogram
_TAIL = 0.995
"""The share of values that determines the axis; values beyond are in the last bar."""


@dataclass(frozen=True, slots=True)
class Whisker:
    """A rate with its interval on an axis from 0 to 100; None if nothing was counted."""

    passed: int
    total: int
    words: str
    at: float | None
    low: float | None
    high: float | None
    interval: str


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a whole: its count, and its position on a bar."""

    name: str
    count: int
    words: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a histogram; `height` is in percent of the tallest."""

    start: float
    width: float
    height: float
    words: str


@dataclass(frozen=True, slots=True)
class Histogram:
    """The distribution of values in bins of equal width, with the median and 95 % quantile."""

    bars: tuple[Bar, ...]
    low: str
    high: str
    median: str
    median_at: float
    late: str
    late_at: float
    count: int


@dataclass(frozen=True, slots=True)
class Between:
    """A difference with its interval, on an axis around 0."""

    at: float
    low: float
    high: float


def whisker(rate: Rate) -> Whisker:
    """Return a rate's positions on the axis."""
    at, low, high = (
        None if one is None else 100 * one for one in (rate.value, rate.low, rate.high)
    )
    interval = "" if low is None or high is None else f"{low:.1f} – {high:.1f}"
    return Whisker(rate.passed, rate.total, share(rate.value), at, low, high, interval)


def slices(counts: Mapping[str, int]) -> tuple[Slice, ...]:
    """Return the parts of a whole, each starting where the one before ends."""
    total, start, found = sum(counts.values()), 0.0, []
    for name, count in counts.items():
        width = 100 * count / total if total else 0.0
        found.append(Slice(name, count, share(count / total if total else None), start, width))
        start += width
    return tuple(found)


def histogram(values: Sequence[float], unit: str) -> Histogram | None:
    """Return the distribution of values, or None if there are none."""
    if not values:
        return None
    ordered = sorted(values)
    top = _rounded_up(_quantile(ordered, _TAIL))
    counts = [0] * BINS
    for value in ordered:
        counts[min(BINS - 1, int(BINS * value / top))] += 1
    width, most = 100 / BINS, max(counts)
    bars = tuple(
        Bar(
            start=index * width,
            width=width * 0.86,
            height=max(3.0, 100 * count / most),
            words=f"{_number(top * index / BINS)} to {_number(top * (index + 1) / BINS)} {unit}: "
            f"{count}",
        )
        for index, count in enumerate(counts)
        if count
    )
    middle, late = _quantile(ordered, 0.5), _quantile(ordered, 0.95)
    return Histogram(
        bars=bars,
        low=f"0 {unit}",
        high=f"{_number(top)} {unit}",
        median=f"{_number(middle)} {unit}",
        median_at=min(100.0, 100 * middle / top),
        late=f"{_number(late)} {unit}",
        late_at=min(100.0, 100 * late / top),
        count=len(ordered),
    )


def between(value: float, low: float, high: float) -> Between:
    """Return a difference on an axis that just fits it, with zero in the middle."""
    reach = max(abs(low), abs(high), 0.01)
    at, first, last = (50 + 48 * one / reach for one in (value, low, high))
    return Between(at, first, last)


def _quantile(ordered: Sequence[float], q: float) -> float:
    """Return a quantile by the nearest rank."""
    return ordered[min(len(ordered) - 1, max(0, math.ceil(q * len(ordered)) - 1))]


def _rounded_up(value: float) -> float:
    """Round up to two digits, for the end of an axis."""
    if value <= 0 or not math.isfinite(value):
        return 1.0
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / step - 1e-9) * step * (1 + 1e-9)  # so that `value` is below the top


def _number(value: float) -> str:
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"
