"""Estimates from several answers to a scenario: pass@k, pass^k, and the parts of the variance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb, sqrt
from typing import Literal


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Return the chance that at least one of `k` answers passes, if `c` of `n` did; None if n < k.

    1 - C(n-c, k) / C(n, k), which is unbiased. Source: M. Chen and others, Evaluating Large
    Language Models Trained on Code, arXiv 2107.03374 (2021), section 2.1.
    """
    _check(n, c, k)
    return None if n < k else (comb(n, k) - comb(n - c, k)) / comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """Return pass^k, the chance that `k` answers all pass, if `c` of `n` did; None if n < k.

    C(c, k) / C(n, k), which is unbiased. Source: S. Yao, N. Shinn, P. Razavi and K. Narasimhan,
    τ-bench, arXiv 2406.12045 (2024).
    """
    _check(n, c, k)
    return None if n < k else comb(c, k) / comb(n, k)


def _check(n: int, c: int, k: int) -> None:
    if not (0 <= c <= n and k >= 1):
        raise ValueError(f"{c} passed of {n}, k = {k}: wanted 0 <= c <= n and k >= 1")


@dataclass(frozen=True, slots=True)
class VarianceSplit:
    """The parts of the variance of a mean score, and which of them to reduce first.

    `between` is the variance of the scenarios' true rates, `within` the mean variance of one answer
    to a scenario; the variance of the mean is (between + within/repeats) / scenarios.
    """

    scenarios: int
    repeats: float
    """The mean number of answers to a scenario."""
    between: float
    within: float

    @property
    def standard_error(self) -> float:
        return self._error(1, 1)

    @property
    def share_within(self) -> float:
        """The share of the mean's variance that more repeats could remove, from 0 to 1."""
        whole = self.between + self.within / self.repeats
        return self.within / self.repeats / whole if whole else 0.0

    @property
    def with_more_scenarios(self) -> float:
        """The standard error with twice the scenarios."""
        return self._error(2, 1)

    @property
    def with_more_repeats(self) -> float:
        """The standard error with twice the repeats."""
        return self._error(1, 2)

    @property
    def buy(self) -> Literal["scenarios", "repeats"]:
        """What to add first: repeats if they can remove more than half of the variance.

        Twice the scenarios are never worse than twice the repeats, for the same number of answers,
        but repeats need no new scenarios to be written.
        """
        return "repeats" if self.share_within > 0.5 else "scenarios"

    def _error(self, scenarios: int, repeats: int) -> float:
        within = self.within / (self.repeats * repeats)
        return sqrt((self.between + within) / (self.scenarios * scenarios))


def variance_split(counts: Mapping[tuple[int, int], int]) -> VarianceSplit | None:
    """Split the variance of scenarios that passed c of n times; None with fewer than two of n > 1.

    `counts` maps (c, n) to the number of scenarios. Those with one answer cannot show chance and
    are left out. within = mean of c(n-c)/(n(n-1)); between = the variance of c/n less the mean of
    within/n, at least 0: the one-way random effects model.
    Source: S. R. Searle, G. Casella and C. E. McCulloch, Variance Components (1992), chapter 3.
    """
    several = {(c, n): times for (c, n), times in counts.items() if n > 1}
    scenarios = sum(several.values())
    if scenarios < 2:
        return None
    answers = sum(n * times for (_, n), times in several.items())
    mean = sum(c / n * times for (c, n), times in several.items()) / scenarios
    spread = sum((c / n - mean) ** 2 * times for (c, n), times in several.items()) / (scenarios - 1)
    chance = {(c, n): c * (n - c) / (n * (n - 1)) for c, n in several}
    within = sum(chance[c, n] * times for (c, n), times in several.items()) / scenarios
    noise = sum(chance[c, n] / n * times for (c, n), times in several.items()) / scenarios
    return VarianceSplit(scenarios, answers / scenarios, max(0.0, spread - noise), within)
