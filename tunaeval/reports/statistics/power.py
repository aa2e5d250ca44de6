"""The smallest difference that can be found, and the number of scenarios that it takes.

Source of both: E. Miller, Adding Error Bars to Evals, arXiv 2411.00640 (2024).
"""

from __future__ import annotations

from math import ceil

from .distributions import normal_quantile


def detectable_effect(standard_error: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the true difference that a two-sided test finds with `power`: (z_α/2 + z_β)·SE."""
    return _reach(alpha, power) * standard_error


def needed_scenarios(
    effect: float,
    *,
    between: float,
    within: float = 0.0,
    repeats: int = 1,
    alpha: float = 0.05,
    power: float = 0.8,
) -> int:
    """Return the number of scenarios that find a true difference of `effect` with `power`.

    n = (z_α/2 + z_β)²·(ω² + σ²/K) / δ². `between` is ω², the variance between scenarios of the true
    differences; `within` is σ², the variance of a single answer to a scenario, summed over both
    models; each scenario is asked `repeats` times. Single answers cannot separate the two: then
    give the variance of the differences as `between`.
    """
    if not effect:
        raise ValueError("effect is 0: no number of scenarios can show a difference of nothing")
    return ceil(_reach(alpha, power) ** 2 * (between + within / repeats) / effect**2)


def _reach(alpha: float, power: float) -> float:
    return normal_quantile(1 - alpha / 2) + normal_quantile(power)
