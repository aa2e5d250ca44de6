"""Two runs of the same questions: what changed, by how much, and how certain that is.

Scenarios are paired by their ids, repeats of a scenario are averaged, and dependent scenarios form
a cluster. A scenario that either run did not answer is left out and counted, because it shows
nothing about the models. Runs of different suites, prompts, profiles or levels are refused, unless
a comparison of their common scenarios is requested; then each difference is reported.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NoReturn

from tunaeval.errors import ComparisonError
from tunaeval.showing import counted, shows
from tunaeval.types.parsing import LEVELS, Level
from tunaeval.types.runs import RunInfo

from .differences import Difference, Differences, adjusted
from .flips import Flip, flips
from .sides import GROUPS, Asked, Question, RunFigures, RunSource, Side, read_side
from .summary import REACTIONS

_SAME = (
    ("suite_digest", "another suite"),
    ("prompt_digest", "other prompts or tools"),
    ("profile", "another profile of matching"),
    ("level", "another level"),
)
"""Fields of a run that have to be equal in both, with the words for a difference."""

_SETTINGS = (
    "model", "client", "format", "ask", "calls", "abstain", "attempts", "max_tokens",
    "temperature", "seed", "repeats", "profile", "level", "suite",
)  # fmt: skip
"""Fields of a run that may differ, and are reported if they do."""


@shows
@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """The comparison of the second run, `b`, with the first, `a`."""

    a: RunFigures
    b: RunFigures
    level: Level
    overall: Difference
    weighted: Difference | None
    """Like `overall`, but weighted by scenario; None if all weights are equal."""
    parts: tuple[Difference, ...]
    """The differences by tool and by tag; their p values are adjusted among each other."""
    lost: tuple[Flip, ...]
    gained: tuple[Flip, ...]
    left_out: dict[str, int]
    """The number of scenarios that are not paired, by reason."""
    settings: dict[str, tuple[object, object]]
    """The settings that differ, as (a, b)."""
    notes: tuple[str, ...]

    def _in_short(self) -> str:
        overall, runs = self.overall, f"{self.b.run_id} against {self.a.run_id}"
        flips = f"{len(self.lost)} lost, {len(self.gained)} gained"
        return f"Comparison of {runs}: {overall.in_points}, {flips}"

    def _in_rows(self) -> Iterator[tuple[str, ...]]:
        for one in (self.overall, *self.parts):
            yield one.section, one.name, counted(one.scenarios, "scenario"), one.in_points

    def __bool__(self) -> NoReturn:
        """Raise TypeError, because a comparison as such is neither good nor bad."""
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
    """Compare each further run with the first; adjust p values after Holm if there are several.

    `level` is the level of the verdicts, by default the lowest of the runs' own. `cluster` is
    "scenario", "group" or "tag:PREFIX". `intersect` allows runs that were asked differently, and
    compares the scenarios that both were asked alike. Raises ComparisonError.
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
    overall = adjusted([one.overall for one in found])
    weighted = adjusted([one.weighted for one in found if one.weighted is not None])
    return tuple(
        replace(one, overall=next(overall), weighted=one.weighted and next(weighted))
        for one in found
    )


def _checked(a: RunInfo, b: RunInfo, intersect: bool, level: Level | None) -> list[str]:
    """Return the differences between what the runs were asked; raise unless `intersect`."""
    reported = (*_SAME[:-1], *(() if level else _SAME[-1:]))
    differ = [words for name, words in reported if getattr(a, name) != getattr(b, name)]
    if differ and not intersect:
        raise ComparisonError(
            f"run {b.run_id!r} ({_described(b)}) has {', '.join(differ)} than run {a.run_id!r} "
            f"({_described(a)}); ask for the intersection (--intersect) to compare the scenarios "
            "that both were asked alike, or for one level (--level) where only that differs"
        )
    if "another level" in differ:
        differ.append(f"both are read at level {min(a.level, b.level, key=LEVELS.index)}")
    return differ


def _described(info: RunInfo) -> str:
    scenarios = counted(info.scenarios, "scenario")
    return f"suite {info.suite}, {scenarios}, {info.profile}, level {info.level}"


def _compare(a: Side, b: Side, notes: Sequence[str]) -> Comparison:
    overall, parts = Differences(), defaultdict[tuple[str, str], Differences](Differences)
    weighted = Differences()
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
    reported = flips(a, b, lost=lost, gained=gained)
    return Comparison(
        a=a.figures(),
        b=b.figures(),
        level=a.level,
        overall=overall.difference("score", "all"),
        weighted=weighted.difference("score", "weighted") if weighted.differ else None,
        parts=tuple(adjusted([parts[key].difference(*key) for key in sorted(parts, key=_order)])),
        lost=reported.lost,
        gained=reported.gained,
        left_out=dict(left_out),
        settings=dict(_settings(a.source.info, b.source.info)),
        notes=(*notes, *_interrupted(a), *_interrupted(b), *_leaking(a), *_leaking(b)),
    )


def _reactions(a: Side, b: Side, scenario: str) -> Iterator[tuple[str, float, float]]:
    """Yield a reaction to injected faults, in words, and its share in each run, if both have it."""
    for name, words in REACTIONS.items():
        both = [side.reactions.get(name, {}).get(scenario) for side in (a, b)]
        if all(both):
            did, now = (c / n for c, n in filter(None, both))
            yield words, did, now


def _places(question: Question) -> Iterator[tuple[str, str] | None]:
    """Yield the sections and names under which a scenario counts; None stands for the total."""
    yield None
    for tool in question.tools:
        yield "tool", tool
    for tag in dict.fromkeys(question.tags):
        yield "tag", tag


def _order(key: tuple[str, str]) -> tuple[int, str]:
    """Return a sort key that puts tools before tags, and both before reactions to faults."""
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
            f"{counted(finished + side.missing, 'result')}"
        )


def _leaking(side: Side) -> Iterator[str]:
    for words in side.figures().warnings:
        yield f"run {side.source.info.run_id}: {words}"


def _settings(a: RunInfo, b: RunInfo) -> Iterator[tuple[str, tuple[object, object]]]:
    for name in _SETTINGS:
        one, other = getattr(a, name), getattr(b, name)
        if one != other:
            yield name, (one, other)
