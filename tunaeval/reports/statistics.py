"""Statistics of passes and scores: pure functions of numbers.

Every formula has its source in its docstring; `tunaeval selftest stats` measures how often
each interval covers the true value, and how often each test raises a false alarm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations
from math import ceil, comb, erfc, exp, lgamma, log, log1p, prod, sqrt
from random import Random
from statistics import NormalDist
from typing import Literal, TypeAlias, TypeVar

from tunaeval.types.runs import Rate


def wilson(passed: int, total: int, *, confidence: float = 0.95) -> Rate:
    """Return `passed` of `total` with Wilson's score interval, all None if `total` is 0.

    The interval contains every rate p that a test of the observed rate would not reject:
    (p' + z²/2n ± z·sqrt(p'(1-p')/n + z²/4n²)) / (1 + z²/n), with p' = passed/total.
    Source: E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference,
    JASA 22 (1927), 209-212. Unlike p' ± z·sqrt(p'(1-p')/n) its coverage is right for small n and
    near 0 and 1.
    """
    _check_counts(passed, total)
    if total == 0:
        return Rate(passed=0, total=0, value=None, low=None, high=None)
    low, high = score_bounds(passed / total, total, normal_quantile((1 + confidence) / 2))
    return Rate(passed=passed, total=total, value=passed / total, low=low, high=high)


def score_bounds(rate: float, total: float, z: float) -> tuple[float, float]:
    """Return Wilson's bounds for a rate over `total` results, which need not be whole."""
    weight = z * z / total
    middle = (rate + weight / 2) / (1 + weight)
    half = z * sqrt(rate * (1 - rate) / total + weight / total / 4) / (1 + weight)
    # At the ends the exact bounds are 0 and 1, and rounding must not change that.
    return 0.0 if rate == 0 else middle - half, 1.0 if rate == 1 else middle + half


def clopper_pearson(passed: int, total: int, *, confidence: float = 0.95) -> Rate:
    """Return `passed` of `total` with the exact interval, all None if `total` is 0.

    Its coverage is never less than promised, and mostly more: use it for bars that must hold for
    every true rate. The bounds are quantiles of Beta(x, n-x+1) and Beta(x+1, n-x).
    Source: C. J. Clopper and E. S. Pearson, The Use of Confidence or Fiducial Limits Illustrated
    in the Case of the Binomial, Biometrika 26 (1934), 404-413.
    """
    _check_counts(passed, total)
    if total == 0:
        return Rate(passed=0, total=0, value=None, low=None, high=None)
    tail, failed = (1 - confidence) / 2, total - passed
    low = beta_quantile(tail, passed, failed + 1) if passed else 0.0
    high = beta_quantile(1 - tail, passed + 1, failed) if failed else 1.0
    return Rate(passed=passed, total=total, value=passed / total, low=low, high=high)


def _check_counts(passed: int, total: int) -> None:
    if not 0 <= passed <= total:
        raise ValueError(f"{passed} passed of {total}: wanted 0 <= passed <= total")


Clusters: TypeAlias = Mapping[tuple[float, float], int]
"""Maps (sum of scores, number of scores) to the number of clusters that have both.

Dependent results, such as repeats of a scenario and scenarios of one template, form a cluster, and
only clusters count as independent. An estimate needs only the sum and the number of the scores of a
cluster, so a hundred thousand verdicts are a handful of rows.
"""


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
    freedom: int
    """The degrees of freedom of the standard error."""


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
        raise ValueError("there are no scores, so there is no mean")
    value = sum(total * times for (total, _), times in clusters.items()) / size
    if count < 2:
        return Estimate(value, None, None, 0.0, size, count, 0)
    squares = sum((total - value * n) ** 2 * times for (total, n), times in clusters.items())
    error = sqrt(squares * count / (count - 1)) / size
    half = error * student_quantile((1 + confidence) / 2, count - 1)
    return Estimate(value, value - half, value + half, error, size, count, count - 1)


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
    return replace(found, value=rate, low=low, high=high)


def paired_difference(clusters: Clusters, *, confidence: float = 0.95) -> Estimate:
    """Return the mean of differences from -1 to 1 with its interval.

    `value` is the plain mean. With repeats, a scenario's difference is one of two shares, and the
    interval is Student's over clusters. Two cases would make that too narrow. Single verdicts (-1,
    0 and 1, or whole sums of them) are mostly 0: they get the adjusted Wald interval of D. G.
    Bonett and R. M. Price, Adjusted Wald Confidence Interval for a Difference of Binomial
    Proportions Based on Paired Data, Journal of Educational and Behavioral Statistics 37 (2012),
    479-488, which adds 1 to each count of discordant pairs: two more differences, +1 and -1, each
    as its own cluster. So do differences that are all equal, whose interval would have no width.
    `standard_error` and `freedom` belong to the interval; the two more differences shrink the mean
    in its middle, so that `standard_error` is larger by as much, to be on the scale of `value`.
    """
    plain = mean(clusters, confidence=confidence)
    single = all(abs(total) in (0, size) or total % 1 == size % 1 == 0 for total, size in clusters)
    found = plain
    if single or plain.standard_error <= _SLACK:
        discordant = {(1.0, 1.0): 1, (-1.0, 1.0): 1}
        found = mean(Counter(clusters) + Counter(discordant), confidence=confidence)
    assert found.low is not None and found.high is not None  # noqa: S101, PT018 - two clusters or more
    low = max(-1.0, min(found.low, plain.value))
    high = min(1.0, max(found.high, plain.value))
    error = found.standard_error * found.size / plain.size
    return replace(plain, low=low, high=high, standard_error=error, freedom=found.freedom)


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Return the chance that at least one of `k` answers passes, if `c` of `n` did; None if n < k.

    1 - C(n-c, k) / C(n, k), which is unbiased. Source: M. Chen and others, Evaluating Large
    Language Models Trained on Code, arXiv 2107.03374 (2021), section 2.1.
    """
    _check_draws(n, c, k)
    return None if n < k else (comb(n, k) - comb(n - c, k)) / comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """Return pass^k, the chance that `k` answers all pass, if `c` of `n` did; None if n < k.

    C(c, k) / C(n, k), which is unbiased. Source: S. Yao, N. Shinn, P. Razavi and K. Narasimhan,
    τ-bench, arXiv 2406.12045 (2024).
    """
    _check_draws(n, c, k)
    return None if n < k else comb(c, k) / comb(n, k)


def _check_draws(n: int, c: int, k: int) -> None:
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
    """Split the variance of scenarios that passed c of n times; None if fewer than two have n > 1.

    `counts` maps (c, n) to the number of scenarios. Those with one answer cannot show chance and
    are left out. within = mean of c(n-c)/(n(n-1)); between = the variance of c/n less the mean of
    within/n, at least 0: the one-way random effects model. Source: S. R. Searle, G. Casella and C.
    E. McCulloch, Variance Components (1992), chapter 3.
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


_EXACT = 50_000
"""The largest number of sums that are all computed."""
_ROUNDS = 10_000
_MANY = 1_000
"""From this many different sizes on, the sum of signed differences is treated as normal."""
_SLACK = 1e-9
"""The tolerance for sums of the same floats in another order."""


def mcnemar(lost: int, gained: int) -> float:
    """Return the p value of the exact test that a scenario is as likely to be lost as to be gained.

    2 · P(Binomial(lost + gained, 1/2) <= min(lost, gained)), at most 1: pairs that agree do not
    matter. Source: Q. McNemar, Note on the Sampling Error of the Difference between Correlated
    Proportions or Percentages, Psychometrika 12 (1947), 153-157, in its exact, binomial form.
    """
    fewer, more = sorted((lost, gained))
    if fewer < 0:
        raise ValueError(f"{lost} lost, {gained} gained: wanted whole numbers, 0 or more")
    return min(1.0, 2 * beta_cdf(0.5, more, fewer + 1)) if more else 1.0


def sign_flip(differences: Mapping[float, int], *, seed: int = 0) -> float:
    """Return the p value of the test that each difference could as well have the opposite sign.

    `differences` maps each size to its count; those of a cluster are summed before. Two-sided: the
    share of all choices of signs whose sum is as far from 0 as the observed one. All choices are
    computed where that is cheap; otherwise 10,000 random ones and the observed one; with over a
    thousand different sizes the normal limit is used. For scores of 0 and 1 it equals `mcnemar`.
    Source: R. A. Fisher, The Design of Experiments (1935), section 21; B. Phipson and G. K. Smyth,
    Permutation P-values Should Never Be Zero, Statistical Applications in Genetics and Molecular
    Biology 9 (2010), article 39, for including the observed sum.
    """
    sizes: Counter[float] = Counter()
    for difference, times in differences.items():
        if difference:
            sizes[abs(difference)] += times
    seen = abs(sum(difference * times for difference, times in differences.items()))
    if not sizes:
        return 1.0
    far = seen * (1 - _SLACK) - _SLACK
    if len(sizes) > _MANY:
        return erfc(seen / sqrt(2 * sum(size * size * times for size, times in sizes.items())))
    if prod(times + 1 for times in sizes.values()) <= _EXACT:
        sums = _all_sums(sizes)
        return min(1.0, sum(share for total, share in sums.items() if abs(total) >= far))
    return _drawn(sizes, far, Random(seed))


def _all_sums(sizes: Mapping[float, int]) -> dict[float, float]:
    """Return the probability of each sum of signed sizes, if a fair coin decides each sign."""
    sums = {0.0: 1.0}
    for size, times in sizes.items():
        chances = _fair(times)
        grown: dict[float, float] = {}
        for total, share in sums.items():
            for heads, chance in enumerate(chances):
                reached = total + size * (2 * heads - times)
                grown[reached] = grown.get(reached, 0.0) + share * chance
        sums = grown
    return sums


def _fair(times: int) -> list[float]:
    """Return the probabilities of 0, 1, ... heads in `times` throws of a fair coin."""
    ways = [1]
    for heads in range(times):
        ways.append(ways[-1] * (times - heads) // (heads + 1))
    return [way / 2**times for way in ways]


def _drawn(sizes: Mapping[float, int], far: float, chance: Random) -> float:
    rows = list(sizes.items())
    reached = sum(
        # The number of bits set in a random number is the number of heads in as many throws.
        abs(sum(size * (2 * chance.getrandbits(n).bit_count() - n) for size, n in rows)) >= far
        for _ in range(_ROUNDS)
    )
    return (1 + reached) / (1 + _ROUNDS)


def holm(values: Sequence[float]) -> list[float]:
    """Return p values adjusted so that the chance of any false alarm is that of a single test.

    The i-th smallest of m becomes the largest of (m-j+1)·p_j up to i, at most 1; the order is
    kept. Source: S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian
    Journal of Statistics 6 (1979), 65-70.
    """
    adjusted = [0.0] * len(values)
    least = 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        least = max(least, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = least
    return adjusted


def benjamini_hochberg(values: Sequence[float]) -> list[float]:
    """Return p values adjusted so that a threshold on them bounds the share of false alarms.

    The i-th smallest of m becomes the smallest of m·p_j/j from i on, at most 1; order is kept.
    Source: Y. Benjamini and Y. Hochberg, Controlling the False Discovery Rate, Journal of the
    Royal Statistical Society B 57 (1995), 289-300.
    """
    adjusted = [0.0] * len(values)
    most = 1.0
    order = sorted(range(len(values)), key=values.__getitem__)
    for rank, index in reversed(list(enumerate(order, start=1))):
        most = min(most, len(values) * values[index] / rank)
        adjusted[index] = most
    return adjusted


def detectable_effect(standard_error: float, freedom: int | None = None) -> float:
    """Return the smallest true difference that a test probably finds.

    The test is two-sided at 5 %, and finds such a difference in 80 % of cases.

    (t_α/2 + t_β)·SE with Student's quantiles of `freedom` degrees; None stands for so many that
    they are the normal ones. Source, also of `needed_scenarios`: E. Miller, Adding Error Bars to
    Evals, arXiv 2411.00640 (2024), which has the normal quantiles.
    """
    if freedom is None:
        return _REACH * standard_error
    return (student_quantile(0.975, freedom) + student_quantile(0.8, freedom)) * standard_error


def needed_scenarios(effect: float, *, between: float) -> int:
    """Return the number of scenarios that find a true difference of `effect` 80 % of the time.

    n = (z_α/2 + z_β)²·ω² / δ². `between` is ω², the variance of the differences between scenarios.
    """
    if not effect:
        raise ValueError(
            "effect is 0; wanted a difference, since no number of scenarios can show none"
        )
    return ceil(_REACH**2 * between / effect**2)


_REACH = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)

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
        raise ValueError("there are no items to draw from; wanted one or more")
    draw, count = Random(seed).choices, len(items)
    drawn = sorted(statistic(draw(items, k=count)) for _ in range(rounds))
    cut = int(rounds * (1 - confidence) / 2)
    return drawn[cut], drawn[-1 - cut]


_Label = TypeVar("_Label", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa with its interval, from -1 to 1; None if chance explains all agreement."""

    value: float | None
    low: float | None
    high: float | None
    items: int


def cohen_kappa(pairs: Iterable[tuple[Hashable, Hashable]], *, confidence: float = 0.95) -> Kappa:
    """Return the agreement of two judges on the same items, beyond what chance would give.

    (p_o - p_e) / (1 - p_e), with the large-sample variance. Sources: J. Cohen, A Coefficient of
    Agreement for Nominal Scales, Educational and Psychological Measurement 20 (1960), 37-46; J. L.
    Fleiss, J. Cohen and B. S. Everitt, Large Sample Standard Errors of Kappa and Weighted Kappa,
    Psychological Bulletin 72 (1969), 323-327.
    """
    cells = Counter(pairs)
    items = sum(cells.values())
    if not items:
        return Kappa(None, None, None, 0)
    rows, columns = Counter[Hashable](), Counter[Hashable]()
    for (one, other), times in cells.items():
        rows[one] += times
        columns[other] += times
    observed = sum(times for (one, other), times in cells.items() if one == other) / items
    expected = sum(rows[label] * columns[label] for label in rows) / items**2
    if expected == 1:
        return Kappa(None, None, None, items)
    kappa = (observed - expected) / (1 - expected)
    same = cross = 0.0
    for (one, other), times in cells.items():
        if one == other:
            margins = (rows[one] + columns[one]) / items
            same += times / items * (1 - margins * (1 - kappa)) ** 2
        else:
            cross += times / items * ((columns[one] + rows[other]) / items) ** 2
    chance = (kappa - expected * (1 - kappa)) ** 2
    spread = max(0.0, same + (1 - kappa) ** 2 * cross - chance)
    error = sqrt(spread / items) / (1 - expected)
    half = error * normal_quantile((1 + confidence) / 2)
    return Kappa(kappa, max(-1.0, kappa - half), min(1.0, kappa + half), items)


def nominal(one: Hashable, other: Hashable) -> float:
    """Return the distance of two labels: 0 if they are equal, else 1."""
    return float(one != other)


def interval(one: float, other: float) -> float:
    """Return the distance of two numbers: the square of their difference."""
    return (one - other) ** 2


def krippendorff_alpha(
    units: Iterable[Sequence[_Label]], distance: Callable[[_Label, _Label], float] = nominal
) -> float | None:
    """Return the agreement of any number of judges; None if all labels are equal.

    Each unit is a sequence of the labels of one item; labels may be missing. 1 - D_o/D_e compares
    the distances within units with those between all labels; units with one label are skipped.
    `distance` is any metric (`interval`). Source: K. Krippendorff, Content Analysis (2013), ch. 12.
    """
    paired = [Counter(unit) for unit in units if len(unit) > 1]
    labels: Counter[_Label] = sum(paired, Counter())
    total = sum(labels.values())
    within = sum(_distances(unit, distance) / (sum(unit.values()) - 1) for unit in paired)
    between = _distances(labels, distance) / (total - 1) if total > 1 else 0.0
    return 1 - within / between if between else None


def _distances(labels: Counter[_Label], distance: Callable[[_Label, _Label], float]) -> float:
    """Return the sum of the distances over all ordered pairs of different labels."""
    return sum(
        labels[one] * labels[other] * distance(one, other) for one, other in permutations(labels, 2)
    )


@dataclass(frozen=True, slots=True)
class Corrected:
    """A rate corrected for a judge's errors, with its interval, from 0 to 1."""

    value: float
    low: float
    high: float
    standard_error: float


def rogan_gladen(
    positive: tuple[int, int],
    sensitivity: tuple[int, int],
    specificity: tuple[int, int],
    *,
    confidence: float = 0.95,
) -> Corrected:
    """Return the true rate behind the rate that a fallible judge found.

    Each argument is (count, total): items that the judge passed, of all; good items that it
    passed, of those labelled good; bad items that it failed, of those labelled bad. (p +
    spec - 1) / (sens + spec - 1), with the variances of all three propagated. Raises ValueError
    if the judge is no better than a coin. Source: W. J. Rogan and B. Gladen, Estimating
    Prevalence from the Results of a Screening Test, American Journal of Epidemiology 107 (1978),
    71-76.
    """
    (p, p_spread), (sens, sens_spread), (spec, spec_spread) = map(
        _rate, (positive, sensitivity, specificity)
    )
    skill = sens + spec - 1
    if skill <= 0:
        raise ValueError(
            f"sensitivity {sens:.3f} and specificity {spec:.3f} add up to 1 or less; "
            "such a judge says nothing about the true rate"
        )
    rate = min(1.0, max(0.0, (p + spec - 1) / skill))
    spread = p_spread + rate**2 * sens_spread + (1 - rate) ** 2 * spec_spread
    error = sqrt(spread) / skill
    half = error * normal_quantile((1 + confidence) / 2)
    return Corrected(rate, max(0.0, rate - half), min(1.0, rate + half), error)


def _rate(counted: tuple[int, int]) -> tuple[float, float]:
    """Return a rate and its variance from (count, total). Raises ValueError for bad counts."""
    count, total = counted
    if not 0 <= count <= total or not total:
        raise ValueError(f"{count} of {total}: wanted 0 <= count <= total, and a total")
    return count / total, count * (total - count) / total**3


_TINY = 1e-300
_PRECISION = 1e-15
_MOST_TERMS = 100_000
"""Far more than needed: the fraction converges in about sqrt(max(a, b)) terms."""

_NORMAL = NormalDist()


def normal_quantile(probability: float) -> float:
    """Return the z below which a standard normal variable falls with this probability."""
    return _NORMAL.inv_cdf(probability)


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b), for a, b > 0 and x in 0 to 1.

    It is a continued fraction, evaluated with Lentz's method on the side where it converges fast.
    Source: NIST Digital Library of Mathematical Functions, 8.17.22 (and 8.17.4 for the other side).
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Return 1/(1+ d1/(1+ d2/(1+ ...))) with the coefficients of DLMF 8.17.22."""
    over, under = 1.0, _away_from_zero(1 - (a + b) * x / (a + 1))
    under = 1 / under
    value = under
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for term in (even, odd):
            under = 1 / _away_from_zero(1 + term * under)
            over = _away_from_zero(1 + term / over)
            change = over * under
            value *= change
        if abs(change - 1) < _PRECISION:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def beta_quantile(probability: float, a: float, b: float) -> float:
    """Return the x at which I_x(a, b) is `probability`, by bisection to the last float."""
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if beta_cdf(middle, a, b) < probability:
            low = middle
        else:
            high = middle
    return high


@lru_cache(maxsize=4096)
def student_quantile(probability: float, freedom: int) -> float:
    """Return the t below which Student's variable, of `freedom` degrees, falls with `probability`.

    From the beta distribution: P(|T| > t) = I_x(freedom/2, 1/2) with x = freedom/(freedom + t²).
    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.1 and 26.5.27.
    """
    if probability < 0.5:
        return -student_quantile(1 - probability, freedom)
    # Solved for 1 - x = t²/(freedom + t²), which stays precise for small t.
    share = beta_quantile(2 * probability - 1, 0.5, freedom / 2)
    return sqrt(freedom * share / (1 - share)) if share < 1 else float("inf")


class Weighed:
    """Sums of weighted scores and of weights by cluster; a score in no cluster is one by itself.

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

    def gather(self, cluster: str) -> None:
        """Make all scores so far one cluster."""
        several = [*self._alone.elements(), *self._together.values()]
        self._alone.clear()
        self._together = {cluster: [sum(column) for column in zip(*several, strict=True)]}

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
