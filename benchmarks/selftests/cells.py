"""Situations in which the truth is known: what is drawn there, and whether an interval covers it.

A cell draws the counts of one made-up evaluation and says whether the interval made of them has
the truth (or, for a test, whether it raises an alarm where there is nothing). Counts recur, so
what is made of them is kept in a table for each cell.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, product
from math import comb, exp, lgamma, log
from random import Random
from typing import TypeAlias

from tunaeval.reports.statistics import (
    Estimate,
    bootstrap,
    clopper_pearson,
    clustered_rate,
    cohen_kappa,
    detectable_effect,
    mcnemar,
    mean,
    paired_difference,
    rogan_gladen,
    sign_flip,
    wilson,
)
from tunaeval.types.runs import Rate

PROMISED = 0.95
BAND = (0.93, 0.97)
"""Where the coverage of a 95 % interval has to lie."""
FOUND = (0.75, 0.85)
"""How often the difference that is printed as found 80 % of the time has to be found."""
REPEATED = ((30, 1), (30, 4), (12, 4), (100, 16), (30, 16))
"""Scenarios and repeats of the evaluations whose paired intervals and power are measured."""

Drawn: TypeAlias = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """`draw` makes an evaluation's counts, `hit` says what the method makes of them.

    The share of hits has to lie between `low` and `high`. Edges that are `exact` are what
    arithmetic gives, so a simulation may miss them by its noise.
    """

    method: str
    setting: str
    draw: Callable[[Random], Drawn]
    hit: Callable[..., bool]
    low: float = BAND[0]
    high: float = BAND[1]
    exact: bool = False


def cells() -> Iterator[Cell]:
    """Every method in the settings that it is used in, hard ones among them."""
    for n, p in ((30, 0.95), (100, 0.99), (1000, 0.95), (1000, 0.99)):
        yield from _proportions(n, p)
    for count, size, p, together in ((30, 5, 0.8, 0.3), (100, 4, 0.7, 0.5), (60, 5, 0.9, 0.3)):
        yield _clustered(count, size, p, together)
    yield _scores(100, 4, 0.7, 0.4)
    for n, lost, gained in ((200, 0.05, 0.05), (500, 0.03, 0.07), (1000, 0.05, 0.05)):
        yield _paired(n, lost, gained)
        yield _false_alarm(n, lost + gained)
    yield _paired(2000, 0.04, 0.06)
    yield _false_alarm(2000, 0.1)
    yield _paired_clusters(60, 5)
    for count, repeats in REPEATED:
        yield from _repeated(count, repeats)
    yield _bootstrapped(200, 0.8)
    yield _kappa(200, (0.55, 0.10, 0.08, 0.27))
    yield _corrected(500, 0.7, 0.9, 0.85, 200)
    yield _signs(40)


def _proportions(n: int, p: float) -> Iterator[Cell]:
    """Wilson's interval, and the exact one, which promises at least, and that is asked of it.

    Where n is small and p near 1, few counts ever occur: no interval may then come within the band,
    and the coverage that is nearest to the promise is as good as any.
    """
    chances, setting = _binomial(n, p), f"n={n} p={p}"
    nearest = _nearest(chances)
    low, high = min(BAND[0], nearest), max(BAND[1], nearest)
    coarse = (low, high) != BAND

    def held(make: Callable[[int, int], Rate]) -> Callable[[int], bool]:
        return lambda passed: _holds(make(passed, n), p)

    draw = _one(chances)
    yield Cell("wilson", setting, draw, held(wilson), low, high, exact=coarse)
    yield Cell("clopper-pearson", setting, draw, held(clopper_pearson), PROMISED, 1.0, exact=True)


def _holds(rate: Rate, truth: float) -> bool:
    return rate.low is not None and rate.high is not None and rate.low <= truth <= rate.high


def _nearest(chances: Sequence[float]) -> float:
    """The coverage nearest to the promise that any range of counts has."""
    ends = list(accumulate(chances, initial=0.0))
    likely = [k for k, chance in enumerate(chances) if chance > 1e-5]
    shares = (ends[high + 1] - ends[low] for low in likely for high in likely if low <= high)
    return min(shares, key=lambda share: abs(share - PROMISED))


def _clustered(count: int, size: int, p: float, together: float) -> Cell:
    """Scenarios of a template, or repeats of a scenario: `together` is how much they agree."""
    draw = _each(count, _beta_binomial(size, p, together))

    def hit(*passed: int) -> bool:
        found = clustered_rate(_counted(passed, size))
        return found.low is not None and found.high is not None and found.low <= p <= found.high

    return Cell("clustered rate", f"{count} of {size} p={p} icc={together}", draw, hit)


def _scores(count: int, steps: int, p: float, together: float) -> Cell:
    """Weighted scores, in steps from 0 to 1."""
    draw = _each(count, _beta_binomial(steps, p, together))

    def hit(*reached: int) -> bool:
        found = mean(Counter({(k / steps, 1): n for k, n in Counter(reached).items()}))
        return found.low is not None and found.high is not None and found.low <= p <= found.high

    return Cell("mean of scores", f"n={count} p={p}", draw, hit)


def _counted(sums: Sequence[int], size: int) -> Counter[tuple[float, float]]:
    return Counter((float(total), float(size)) for total in sums)


def _paired(n: int, lost: float, gained: float) -> Cell:
    truth = gained - lost

    def hit(away: int, won: int) -> bool:
        found = paired_difference({(1.0, 1.0): won, (-1.0, 1.0): away - won, (0.0, 1.0): n - away})
        return found.low is not None and found.high is not None and found.low <= truth <= found.high

    setting = f"n={n} lost={lost} gained={gained}"
    return Cell("paired difference", setting, _discordant(n, lost, gained), hit)


def _paired_clusters(count: int, size: int) -> Cell:
    """Templates in which the second model wins often, or loses sometimes, all together."""
    kinds = ((0.02, 0.30), (0.12, 0.02))
    spread = [_differences(size, lost, gained) for lost, gained in kinds]
    sums = [sum(both) / 2 for both in zip(*spread, strict=True)]
    truth = sum(gained - lost for lost, gained in kinds) / 2
    draw = _each(count, sums)

    def hit(*reached: int) -> bool:
        found = paired_difference(_counted([total - size for total in reached], size))
        return found.low is not None and found.high is not None and found.low <= truth <= found.high

    return Cell("paired difference, clustered", f"{count} of {size}", draw, hit)


def _repeated(count: int, repeats: int) -> Iterator[Cell]:
    """Two models asked repeatedly; the second is better in every scenario, by what is printed."""
    truth = _printed(count, repeats)
    draw = _each(count, _shifted(repeats, truth))

    def interval(*reached: int) -> tuple[float, float]:
        found = _between(reached, repeats)
        assert found.low is not None
        assert found.high is not None
        return found.low, found.high

    def covers(*reached: int) -> bool:
        low, high = interval(*reached)
        return low <= truth <= high

    def finds(*reached: int) -> bool:
        low, high = interval(*reached)
        return not low <= 0 <= high

    setting = f"{count} × {repeats}, rates 0.2 to 0.5, B better by {100 * truth:.1f} points"
    yield Cell("paired difference, repeats", setting, draw, covers)
    yield Cell("interval excludes 0, repeats", setting, draw, finds, *FOUND)


@cache
def _printed(count: int, repeats: int) -> float:
    """The detectable difference that comparisons print in the mean, if it is the true one."""
    truth = 0.0
    for _ in range(3):  # it hardly depends on the truth, so that this is nearly a fixed point
        draw, chance = _each(count, _shifted(repeats, truth)), Random(f"{count}/{repeats}")
        found = [_between(draw(chance), repeats) for _ in range(2_000)]
        effects = [detectable_effect(one.standard_error, one.freedom) for one in found]
        truth = sum(effects) / len(effects)
    return truth


def _between(reached: Sequence[int], repeats: int) -> Estimate:
    """What is said of differences that are numbers of repeats, counted from -`repeats`."""
    counted = Counter(reached).items()
    return paired_difference({((k - repeats) / repeats, 1.0): times for k, times in counted})


def _shifted(repeats: int, shift: float) -> list[float]:
    """The chances of each difference in passes: rates are 0.2 to 0.5, and those of B higher."""
    chances = [0.0] * (2 * repeats + 1)
    for step in range(_STEPS):
        rate = 0.2 + 0.3 * (step + 0.5) / _STEPS
        a, b = _binomial(repeats, rate), _binomial(repeats, rate + shift)
        for (lost, one), (won, other) in product(enumerate(a), enumerate(b)):
            chances[won - lost + repeats] += one * other / _STEPS
    return chances


_STEPS = 100
"""Rates that stand for all between 0.2 and 0.5."""


def _bootstrapped(n: int, p: float) -> Cell:
    def hit(passed: int) -> bool:
        low, high = bootstrap(
            [1] * passed + [0] * (n - passed), lambda drawn: sum(drawn) / n, rounds=1_000
        )
        return low <= p <= high

    return Cell("bootstrap", f"n={n} p={p}", _one(_binomial(n, p)), hit)


def _kappa(n: int, chances: tuple[float, float, float, float]) -> Cell:
    """Two judges: both pass, the first alone, the second alone, both fail."""
    pairs = ((1, 1), (1, 0), (0, 1), (0, 0))
    whole = dict(zip(pairs, (round(chance * 100) for chance in chances), strict=True))
    truth = cohen_kappa(Counter(whole).elements()).value or 0.0

    def draw(chance: Random) -> Drawn:
        counted = Counter(chance.choices(pairs, chances, k=n))
        return tuple(counted[pair] for pair in pairs)

    def hit(*counted: int) -> bool:
        seen = Counter(dict(zip(pairs, counted, strict=True)))
        found = cohen_kappa(seen.elements())
        return found.low is not None and found.high is not None and found.low <= truth <= found.high

    return Cell("cohen's kappa", f"n={n} kappa={truth:.2f}", draw, hit)


def _corrected(n: int, truth: float, sens: float, spec: float, labelled: int) -> Cell:
    passed = _one(_binomial(n, truth * sens + (1 - truth) * (1 - spec)))
    good, bad = _one(_binomial(labelled, sens)), _one(_binomial(labelled, spec))

    def draw(chance: Random) -> Drawn:
        return (*passed(chance), *good(chance), *bad(chance))

    def hit(judged: int, right: int, wrong: int) -> bool:
        found = rogan_gladen((judged, n), (right, labelled), (wrong, labelled))
        return found.low <= truth <= found.high

    return Cell("rogan-gladen", f"n={n} rate={truth} sens={sens} spec={spec}", draw, hit)


def _false_alarm(n: int, away: float) -> Cell:
    def hit(discordant: int, won: int) -> bool:
        return mcnemar(discordant - won, won) <= 1 - PROMISED

    setting = f"n={n} discordant={away:g}"
    return Cell("mcnemar", setting, _discordant(n, away / 2, away / 2), hit, 0.0, 1 - PROMISED)


def _signs(n: int) -> Cell:
    """Scenarios asked three times by either model, which are the same."""
    chances = _differences(3, 0.15, 0.15)

    def hit(*reached: int) -> bool:
        differences = Counter((total - 3) / 3 for total in reached)
        return sign_flip(differences) <= 1 - PROMISED

    return Cell("sign flip", f"n={n}, 3 repeats", _each(n, chances), hit, 0.0, 1 - PROMISED)


def _one(chances: Sequence[float]) -> Callable[[Random], Drawn]:
    """One number, drawn by its chance."""
    ends = list(accumulate(chances))
    return lambda chance: (min(bisect(ends, chance.random()), len(ends) - 1),)


def _each(count: int, chances: Sequence[float]) -> Callable[[Random], tuple[int, ...]]:
    """A number for each of `count` clusters; sorted, because their order says nothing."""
    numbers, ends = range(len(chances)), list(accumulate(chances))
    return lambda chance: tuple(sorted(chance.choices(numbers, cum_weights=ends, k=count)))


def _discordant(n: int, lost: float, gained: float) -> Callable[[Random], Drawn]:
    """How many pairs disagree, and how many of these the second model won."""
    away = _one(_binomial(n, lost + gained))
    won = cache(lambda count: _one(_binomial(count, gained / (lost + gained))))

    def draw(chance: Random) -> Drawn:
        (count,) = away(chance)
        return (count, *won(count)(chance))

    return draw


def _binomial(n: int, p: float) -> list[float]:
    """The chances of 0, 1, ... n."""
    return [
        exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log(1 - p))
        for k in range(n + 1)
    ]


def _beta_binomial(n: int, p: float, together: float) -> list[float]:
    """As `_binomial`, for answers that agree: their correlation is `together`."""
    a, b = p * (1 / together - 1), (1 - p) * (1 / together - 1)

    def beta(x: float, y: float) -> float:
        return exp(lgamma(x) + lgamma(y) - lgamma(x + y))

    return [comb(n, k) * beta(k + a, n - k + b) / beta(a, b) for k in range(n + 1)]


def _differences(n: int, lost: float, gained: float) -> list[float]:
    """The chances that `n` differences of -1, 0 or 1 sum to -n, ... n."""
    one, sums = (lost, 1 - lost - gained, gained), [1.0]
    for _ in range(n):
        grown = [0.0] * (len(sums) + 2)
        for at, share in enumerate(sums):
            for step, chance in enumerate(one):
                grown[at + step] += share * chance
        sums = grown
    return sums
