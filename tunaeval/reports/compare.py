"""Two runs of the same questions: what changed, by how much, and how sure that is.

Scenarios are paired by their ids, repeats of a scenario are averaged, and what hangs together is a
cluster. A scenario that either run has no answer to says nothing of the models: it is left out, and
counted. Runs that were asked different things are refused, or the scenarios that they share are
compared on request, and every difference is said.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NoReturn

from tunaeval.errors import ComparisonError
from tunaeval.plural import number_of
from tunaeval.types import LEVELS, Level
from tunaeval.types.runs import RunInfo

from .flips import Flip, flips
from .sides import GROUPS, Asked, Question, RunFigures, RunSource, Side, read_side
from .statistics import (
    detectable_effect,
    holm,
    mcnemar,
    needed_scenarios,
    paired_difference,
    sign_flip,
)
from .summary import REACTIONS
from .weights import Weighed

_SAME = (
    ("suite_digest", "another suite"),
    ("prompt_digest", "other prompts or tools"),
    ("profile", "another profile of matching"),
    ("level", "another level"),
)
"""What has to be the same in both runs."""

_SETTINGS = (
    "model", "client", "format", "ask", "calls", "attempts", "max_tokens", "temperature", "seed",
    "repeats", "profile", "level", "suite",
)  # fmt: skip
"""What may differ, and is told where it does: it is what is compared."""


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

    def needed(self, effect: float) -> int:
        """How many such scenarios find a true difference of `effect` with a probability of 80 %."""
        return needed_scenarios(effect, between=self.standard_error**2 * self.scenarios)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The second run, `b`, against the first, `a`."""

    a: RunFigures
    b: RunFigures
    level: Level
    overall: Difference
    weighted: Difference | None
    """As `overall`, with each scenario counted by its weight; None where all weigh the same."""
    parts: tuple[Difference, ...]
    """By tool and by tag, adjusted among each other."""
    lost: tuple[Flip, ...]
    gained: tuple[Flip, ...]
    left_out: dict[str, int]
    """Scenarios that are not paired, by why."""
    settings: dict[str, tuple[object, object]]
    """What differs between the runs."""
    notes: tuple[str, ...]

    def __bool__(self) -> NoReturn:
        """Two runs compared are neither good nor bad: say what you ask of them."""
        raise TypeError(
            "a Comparison has no truth value: ask comparison.overall.clears(margin), or use the "
            "gate of the command line (tunaeval compare A B --fail-if-worse PERCENT)"
        )


def compare_runs(
    sources: Sequence[RunSource],
    *,
    level: Level | None = None,
    cluster: str = GROUPS,
    intersect: bool = False,
) -> tuple[Comparison, ...]:
    """Each further run against the first; among several, their p values are adjusted after Holm.

    `level`: at which level the verdicts are taken, None for that of the runs. `cluster`:
    "scenario", "group" or "tag:PREFIX". `intersect` compares runs that were not asked the same, in
    the scenarios that both were asked alike. Raises ComparisonError.
    """
    if len(sources) < 2:
        raise ComparisonError(f"{len(sources)} run given; wanted two or more")
    first, *others = sources
    notes = [_checked(first.info, other.info, intersect, level) for other in others]
    lowest = min((one.info.level for one in sources), key=LEVELS.index)
    chosen = lowest if level is None else level
    read = partial(
        read_side,
        level=chosen,
        cluster=cluster,
        alike=len({one.info.suite_digest for one in sources}) == 1,
    )
    base = read(first)
    found = [
        _compare(base, read(other, known=base), said)
        for other, said in zip(others, notes, strict=True)
    ]
    overall = _adjusted([one.overall for one in found])
    weighted = _adjusted([one.weighted for one in found if one.weighted is not None])
    return tuple(
        replace(one, overall=next(overall), weighted=one.weighted and next(weighted))
        for one in found
    )


def _checked(a: RunInfo, b: RunInfo, intersect: bool, level: Level | None) -> list[str]:
    """What makes the runs hard to compare; refused unless that was asked for."""
    told = (*_SAME[:-1], *(() if level else _SAME[-1:]))
    differ = [words for name, words in told if getattr(a, name) != getattr(b, name)]
    if differ and not intersect:
        raise ComparisonError(
            f"run {b.run_id!r} ({_asked_as(b)}) has {', '.join(differ)} than run {a.run_id!r} "
            f"({_asked_as(a)}); ask for the intersection (--intersect) to compare the scenarios "
            "that both were asked alike, or for one level (--level) where only that differs"
        )
    if "another level" in differ:
        differ.append(f"both are read at level {min(a.level, b.level, key=LEVELS.index)}")
    return differ


def _asked_as(info: RunInfo) -> str:
    scenarios = number_of(info.scenarios, "scenario")
    return f"suite {info.suite}, {scenarios}, {info.profile}, level {info.level}"


def _compare(a: Side, b: Side, notes: Sequence[str]) -> Comparison:
    overall, parts = _Differences(), defaultdict[tuple[str, str], _Differences](_Differences)
    weighted = _Differences()
    weigh = len({asked.question.weight for asked in a.asked.values()}) > 1
    left_out: Counter[str] = Counter()
    lost, gained = [], []
    for scenario in dict.fromkeys((*a.asked, *b.asked, *a.lost, *b.lost)):
        one, other = a.asked.get(scenario), b.asked.get(scenario)
        if one is None or other is None or one.question.asks != other.question.asks:
            left_out[_why_left_out(scenario, one, other, a, b)] += 1
            continue
        for key in _places(one.question):
            (parts[key] if key else overall).add(one.question, one.rate, other.rate)
        for words, did, now in _reactions(a, b, scenario):
            parts["faults", words].add(one.question, did, now)
        if weigh:
            weighted.add(one.question, one.rate, other.rate, weight=one.question.weight)
        if one.rate >= 0.5 > other.rate:
            lost.append(scenario)
        elif one.rate < 0.5 <= other.rate:
            gained.append(scenario)
    if not overall.scenarios:
        raise _nothing_in_common(a.source.info, b.source.info, left_out)
    told = flips(a, b, lost=lost, gained=gained)
    return Comparison(
        a=a.figures(),
        b=b.figures(),
        level=a.level,
        overall=overall.difference("score", "all"),
        weighted=weighted.difference("score", "weighted") if weighted.differ else None,
        parts=tuple(
            _adjusted([parts[key].difference(*key) for key in sorted(parts, key=_told_at)])
        ),
        lost=told.lost,
        gained=told.gained,
        left_out=dict(left_out),
        settings=dict(_settings(a.source.info, b.source.info)),
        notes=(*notes, *_interrupted(a), *_interrupted(b), *_leaking(a), *_leaking(b)),
    )


def _reactions(a: Side, b: Side, scenario: str) -> Iterator[tuple[str, float, float]]:
    """What was made of faults where both runs decide it: in words, and how often by each."""
    for name, words in REACTIONS.items():
        both = [side.reactions.get(name, {}).get(scenario) for side in (a, b)]
        if all(both):
            did, now = (c / n for c, n in filter(None, both))
            yield words, did, now


def _places(question: Question) -> Iterator[tuple[str, str] | None]:
    """Where a scenario counts; None is the whole."""
    yield None
    for tool in question.tools:
        yield "tool", tool
    for tag in dict.fromkeys(question.tags):
        yield "tag", tag


def _told_at(key: tuple[str, str]) -> tuple[int, str]:
    """Tools come before tags, and both before what was made of faults."""
    section, name = key
    return ("tool", "tag", "faults").index(section), name


def _why_left_out(scenario: str, one: Asked | None, other: Asked | None, a: Side, b: Side) -> str:
    if one is not None and other is not None:
        return "asked differently"
    if scenario in a.lost and scenario in b.lost:
        return "failed in both runs"
    failed = (a if one is None else b).lost.get(scenario)
    if failed is not None:
        return failed
    return "only in the first run" if other is None else "only in the second run"


def _nothing_in_common(a: RunInfo, b: RunInfo, left_out: Counter[str]) -> ComparisonError:
    why = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
    return ComparisonError(
        f"runs {a.run_id!r} and {b.run_id!r} have no scenario in common that both answered "
        f"({why or 'neither has an answer'})"
    )


def _interrupted(side: Side) -> Iterator[str]:
    if side.missing:
        finished = sum(side.outcomes.values())
        yield (
            f"run {side.source.info.run_id} was interrupted: it has {finished} of "
            f"{number_of(finished + side.missing, 'result')}"
        )


def _leaking(side: Side) -> Iterator[str]:
    for words in side.figures().warnings:
        yield f"run {side.source.info.run_id}: {words}"


def _settings(a: RunInfo, b: RunInfo) -> Iterator[tuple[str, tuple[object, object]]]:
    for name in _SETTINGS:
        one, other = getattr(a, name), getattr(b, name)
        if one != other:
            yield name, (one, other)


class _Differences:
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


def _adjusted(found: Sequence[Difference]) -> Iterator[Difference]:
    for one, p in zip(found, holm([one.p for one in found]), strict=True):
        yield replace(one, p_adjusted=p)
