"""Statistics of a repeated run, from how often each scenario passed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tunaeval.types.runs import AtK, Repeats, Variance

from .statistics.repeats import VarianceSplit, pass_at_k, pass_hat_k, variance_split

_EACH_UP_TO = 5
"""Each k up to here is reported, then doubled values, and the number of repeats."""


def told_of_repeats(repeats: int, counts: Mapping[tuple[int, int], int]) -> Repeats | None:
    """Return the figures of a run with repeats, or None; `counts` maps (c, n) to scenarios."""
    if repeats < 2:
        return None
    split = variance_split(counts)
    return Repeats(
        repeats=repeats,
        answers={f"{c} of {n}": counts[c, n] for c, n in sorted(counts, reverse=True)},
        at=tuple(_at(k, counts) for k in _ks(repeats)),
        variance=None if split is None else _variance(split),
    )


def _variance(split: VarianceSplit) -> Variance:
    return Variance(
        between=split.between,
        within=split.within,
        share_within=split.share_within,
        standard_error=split.standard_error,
        with_more_scenarios=split.with_more_scenarios,
        with_more_repeats=split.with_more_repeats,
        buy=split.buy,
    )


def _ks(repeats: int) -> list[int]:
    doubled = (_EACH_UP_TO * 2**power for power in range(1, repeats.bit_length()))
    ks = {*range(1, _EACH_UP_TO + 1), *doubled, repeats}
    return sorted(k for k in ks if k <= repeats)


def _at(k: int, counts: Mapping[tuple[int, int], int]) -> AtK:
    """Return the mean chances over the scenarios with k or more answers."""
    enough = {(c, n): times for (c, n), times in counts.items() if n >= k}
    scenarios = sum(enough.values())

    def over(chance: Callable[[int, int, int], float | None]) -> float | None:
        found = sum((chance(n, c, k) or 0.0) * times for (c, n), times in enough.items())
        return found / scenarios if scenarios else None

    return AtK(k=k, scenarios=scenarios, any_passes=over(pass_at_k), all_pass=over(pass_hat_k))
