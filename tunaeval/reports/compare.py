"""Two runs of the same questions: what changed, by how much, and how certain that is.

Scenarios are paired by their ids, repeats of a scenario are averaged, and dependent scenarios form
a cluster. A scenario that either run did not answer is left out and counted, because it shows
nothing about the models. Runs of different suites, prompts, profiles or levels are refused, unless
a comparison of their common scenarios is requested; then each difference is reported.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from string import ascii_uppercase
from typing import NoReturn

from tunaeval.errors import ComparisonError
from tunaeval.showing import counted, shows, visible
from tunaeval.types.calls import JsonObject
from tunaeval.types.parsing import LEVELS, Level
from tunaeval.types.runs import ExpectedCall, RunInfo
from tunaeval.types.tables import REACTIONS, calls_words

from .sides import (
    GROUPS,
    NO_RESULT,
    Question,
    RunFigures,
    RunSource,
    ScenarioCounts,
    Side,
    no_result,
    read_side,
    sole_group,
)
from .statistics import (
    Weighed,
    detectable_effect,
    holm,
    mcnemar,
    needed_scenarios,
    paired_difference,
    sign_flip,
)
from .wording import answered_words, of_one_group

_SAME = (
    ("suite_digest", "another suite"),
    ("profile", "another profile of matching"),
    ("level", "another level"),
)
"""Fields of a run that have to be equal in both, with the words for a difference."""
_PROMPTS = "other prompts or tools"

_SETTINGS = (
    "model", "client", "format", "ask", "calls", "abstain", "attempts", "max_tokens",
    "temperature", "seed", "repeats", "profile", "level", "suite",
)  # fmt: skip
"""Fields of a run that may differ, and are reported if they do."""


@shows
@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """How the answers of run `b` differ from those of run `a` to the same questions."""

    a: RunFigures
    b: RunFigures
    level: Level
    overall: Difference
    weighted: Difference | None
    """Like `overall`, but weighted by scenario; None if all weights are equal."""
    parts: tuple[Difference, ...]
    """The differences by tool and by tag; their p values are adjusted among each other."""
    unanswered: tuple[Unanswered, ...]
    """The tools and tags without a difference, as too few of their scenarios were answered."""
    lost: tuple[Flip, ...]
    gained: tuple[Flip, ...]
    left_out: dict[str, int]
    """The number of scenarios that are not paired, by reason."""
    settings: dict[str, tuple[object, object]]
    """The settings that differ, as (a, b)."""
    notes: tuple[str, ...]
    letter: str = "B"
    """The letter of `b` in reports: of several runs that are compared with A, B, C, and so on."""

    def _in_short(self) -> str:
        overall, runs = self.overall, f"{self.b.run_id} against {self.a.run_id}"
        flips = f"{len(self.lost)} lost, {len(self.gained)} gained"
        return f"Comparison of {runs}: {overall.in_points}, {flips}"

    def _in_rows(self) -> Iterator[tuple[str, ...]]:
        for one in (self.overall, *self.parts):
            yield one.section, one.name, counted(one.scenarios, "scenario"), one.in_points
        for lost in self.unanswered:
            yield lost.section, lost.name, *lost.words

    def __bool__(self) -> NoReturn:
        """Raise TypeError, because a comparison as such is neither good nor bad."""
        raise TypeError(
            "a Comparison has no truth value: ask comparison.overall.clears(margin), or use the "
            "gate of the command line (tunaeval compare A B --fail-if-worse PERCENT)"
        )


def letter_of(number: int) -> str:
    """Return a run's name in reports, by its number from 0: A to Z, then "run 27" and so on."""
    return ascii_uppercase[number] if number < len(ascii_uppercase) else f"run {number + 1}"


def compare_runs(
    sources: Sequence[RunSource],
    *,
    level: Level | None = None,
    cluster: str = GROUPS,
    intersect: bool = False,
    different_prompts: bool = False,
) -> tuple[Comparison, ...]:
    """Compare the first run with each of the others; several p values are adjusted after Holm.

    `level` is the level of the verdicts, by default the lowest of the runs' own. `cluster` is
    "scenario", "group" or "tag:PREFIX". `intersect` allows other suites, profiles and levels, and
    compares the scenarios that both runs have. `different_prompts` allows other prompts and tools.
    Raises ComparisonError.
    """
    if len(sources) < 2:
        raise ComparisonError(f"{len(sources)} run given; wanted two or more")
    first, *others = sources
    checked = partial(
        _checked, first.info, level=level, intersect=intersect, different_prompts=different_prompts
    )
    notes = [checked(other.info) for other in others]
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
        _compare(base, read(other, known=base), note)
        for other, note in zip(others, notes, strict=True)
    ]
    overall = adjusted([one.overall for one in found])
    weighted = adjusted([one.weighted for one in found if one.weighted is not None])
    return tuple(
        replace(
            one,
            overall=next(overall),
            weighted=one.weighted and next(weighted),
            letter=letter_of(number),
        )
        for number, one in enumerate(found, start=1)
    )


def _checked(
    a: RunInfo, b: RunInfo, *, level: Level | None, intersect: bool, different_prompts: bool
) -> list[str]:
    """Return in words how the questions and rules of two runs differ.

    Raises `ComparisonError` for a difference that neither `intersect` nor `different_prompts`
    allows.
    """
    reported = (*_SAME[:-1], *(() if level else _SAME[-1:]))
    if a.scenarios_digest is not None and a.scenarios_digest == b.scenarios_digest:
        # Another system prompt alone makes another digest of the suite, and one of the prompts.
        reported = tuple(one for one in reported if one[0] != "suite_digest")
    differ = [words for name, words in reported if getattr(a, name) != getattr(b, name)]
    prompts = [_PROMPTS] if a.prompt_digest != b.prompt_digest else []
    wanted = []
    if differ and not intersect:
        wanted.append("--intersect (or --level, if only the level differs)")
    if prompts and not different_prompts:
        wanted.append("--different-prompts")
    differ += prompts
    if wanted:
        raise ComparisonError(
            f"run {b.run_id!r} ({_described(b)}) has {', '.join(differ)} than run {a.run_id!r} "
            f"({_described(a)}); to compare them, give {' and '.join(wanted)}"
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
    sole = sole_group(one.question for name, one in a.asked.items() if name in b.asked)
    for scenario in dict.fromkeys((*a.asked, *b.asked, *a.lost, *b.lost)):
        one, other = a.asked.get(scenario), b.asked.get(scenario)
        if one is None or other is None or one.question.asks != other.question.asks:
            left_out[_why_left_out(scenario, one, other, a, b)] += 1
            continue
        question = one.question.alone(sole)
        overall.add(question, one.rate, other.rate)
        for key in question.parts:
            parts[key].add(question, one.rate, other.rate)
        for words, did, now in _reactions(a, b, scenario):
            parts["faults", words].add(question, did, now)
        if weigh:
            weighted.add(question, one.rate, other.rate, weight=question.weight)
        if one.rate >= 0.5 > other.rate:
            lost.append(scenario)
        elif one.rate < 0.5 <= other.rate:
            gained.append(scenario)
    if not overall.scenarios:
        raise _nothing_in_common(a.source.info, b.source.info, left_out)
    flips_lost, flips_gained = flips(a, b, lost=lost, gained=gained)
    infos = a.source.info, b.source.info
    settings = {name: (getattr(infos[0], name), getattr(infos[1], name)) for name in _SETTINGS}
    return Comparison(
        a=a.figures(),
        b=b.figures(),
        level=a.level,
        overall=overall.difference("score", "all"),
        weighted=weighted.difference("score", "weighted") if weighted.differ else None,
        parts=tuple(adjusted([parts[key].difference(*key) for key in sorted(parts, key=in_order)])),
        unanswered=tuple(_unanswered(a, b, parts)),
        lost=flips_lost,
        gained=flips_gained,
        left_out=dict(left_out),
        settings={name: both for name, both in settings.items() if both[0] != both[1]},
        notes=(*notes, *of_one_group(sole), *_doubts(a), *_doubts(b)),
    )


def _reactions(a: Side, b: Side, scenario: str) -> Iterator[tuple[str, float, float]]:
    """Yield reactions to injected faults that both runs have, in words, with each run's share."""
    for name, words in REACTIONS.items():
        both = [side.reactions.get(name, {}).get(scenario) for side in (a, b)]
        if all(both):
            did, now = (c / n for c, n in filter(None, both))
            yield words, did, now


def in_order(key: tuple[str, str]) -> tuple[int, str]:
    """Return a sort key that puts tools before tags, and both before reactions to faults."""
    section, name = key
    return ("tool", "tag", "faults").index(section), name


def _unanswered(a: Side, b: Side, paired: Container[tuple[str, str]]) -> Iterator[Unanswered]:
    """Yield the tools and tags of which results got no answer and no scenario is paired."""
    found = defaultdict[tuple[str, str], list[int]](lambda: [0, 0, 0, 0])
    for at, side in enumerate((a, b)):
        for place, scenarios in ((2 * at, side.asked), (2 * at + 1, side.unanswered)):
            for one in scenarios.values():
                for key in one.question.parts:
                    found[key][place] += one.total
    for key in sorted(found.keys(), key=in_order):
        answered_a, lost_a, answered_b, lost_b = found[key]
        if (lost_a or lost_b) and key not in paired:
            asked_a, asked_b = answered_a + lost_a, answered_b + lost_b
            yield Unanswered(*key, answered_a, asked_a, answered_b, asked_b)


def _why_left_out(
    scenario: str, one: ScenarioCounts | None, other: ScenarioCounts | None, a: Side, b: Side
) -> str:
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


def _doubts(side: Side) -> Iterator[str]:
    """Yield notes on what is missing in a run, and on what makes its answers doubtful."""
    if side.missing:
        finished = sum(side.outcomes.values())
        yield (
            f"run {side.source.info.run_id} was interrupted: it has {finished} of "
            f"{counted(finished + side.missing, 'result')}"
        )
    for words in side.figures().warnings:
        yield f"run {side.source.info.run_id}: {words}"


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A tool or tag without a paired scenario: how many results of each run got an answer."""

    section: str
    name: str
    answered_a: int
    asked_a: int
    answered_b: int
    asked_b: int

    @property
    def words(self) -> tuple[str, str]:
        a = answered_words(self.answered_a, self.asked_a)
        return a, answered_words(self.answered_b, self.asked_b)


@dataclass(frozen=True, slots=True)
class Difference:
    """The second run's mean score minus the first's, over paired scenarios, with a 95 % interval.

    `p` is the p value of the test named `test`, for the hypothesis of no difference; `p_adjusted`
    is `p` adjusted after Holm. `detectable` is the size that a true difference needs to be found
    with a probability of 80 %, None if above 1.
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
        """Whether the interval excludes a loss of `margin` or more; 0.02 is 2 points."""
        return self.low > -margin

    @property
    def in_points(self) -> str:
        """The difference and its interval as text, in percentage points."""
        value, low, high = (100 * one for one in (self.value, self.low, self.high))
        return f"{value:+.1f} points ({low:+.1f} to {high:+.1f})"

    def needed(self, effect: float) -> int:
        """Return how many scenarios like these would find a true `effect` 80 % of the time."""
        return needed_scenarios(effect, between=self.standard_error**2 * self.scenarios)


class Differences:
    """Collects the scores of paired scenarios by cluster, and computes their difference."""

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
        """Whether scenarios have different weights, so that weighting changes the result."""
        return self._between.differ

    def difference(self, section: str, name: str) -> Difference:
        clusters = self._between.clusters()
        found = paired_difference(clusters)
        assert found.low is not None and found.high is not None  # noqa: S101, PT018 - always set
        test, p = _tested(clusters)
        effect = detectable_effect(found.standard_error, found.freedom)
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
            detectable=effect if effect <= 1 else None,
        )


def _tested(clusters: Counter[tuple[float, float]]) -> tuple[str, float]:
    """Return a test's name and p value: McNemar's for single verdicts, else a sign flip test."""
    if all(size == 1 and total in (-1, 0, 1) for total, size in clusters):
        return "McNemar", mcnemar(clusters[-1.0, 1.0], clusters[1.0, 1.0])
    sums: Counter[float] = Counter()
    for (total, _), times in clusters.items():
        sums[total] += times
    return "sign flip", sign_flip(sums)


def adjusted(found: Sequence[Difference]) -> Iterator[Difference]:
    """Yield the differences with their p values adjusted among each other, after Holm."""
    for one, p in zip(found, holm([one.p for one in found]), strict=True):
        yield replace(one, p_adjusted=p)


_LIMIT = 200
"""Characters of a reply that are kept."""


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """How a run answered a scenario: how often it passed, and a typical reply."""

    passed: int
    total: int
    outcome: str
    calls: str
    words: str
    reason: str


@dataclass(frozen=True, slots=True)
class Flip:
    """A scenario that passes in most repeats of one run, and fails in most of the other's."""

    scenario: str
    a: RunAnswer
    b: RunAnswer


def flips(
    a: Side, b: Side, *, lost: Sequence[str], gained: Sequence[str]
) -> tuple[tuple[Flip, ...], tuple[Flip, ...]]:
    """Return the scenarios that `b` lost and those it gained, with both runs' answers. The runs are
    read a second time, because only the counts were kept.
    """
    before = _answers(a, passing=lost, failing=gained)
    after = _answers(b, passing=gained, failing=lost)

    def reported(names: Iterable[str]) -> tuple[Flip, ...]:
        return tuple(Flip(name, before[name], after[name]) for name in names)

    return reported(lost), reported(gained)


def _answers(side: Side, *, passing: Sequence[str], failing: Sequence[str]) -> dict[str, RunAnswer]:
    """Return an answer by scenario: a passed one for `passing`, a failed one for `failing`."""
    numbers = {side.asked[name].passing for name in passing}
    numbers |= {side.asked[name].failing for name in failing}
    found = {}
    for number, row in zip(sorted(numbers), side.source.rows(numbers), strict=True):
        try:
            asked = side.asked[row["scenario"]]
            found[row["scenario"]] = _run_answer(row, asked.passed, asked.total, side.level)
        except NO_RESULT as error:
            raise no_result(side.source, number, error) from error
    return found


def _run_answer(row: JsonObject, passed: int, total: int, level: Level) -> RunAnswer:
    calls = (
        ExpectedCall.model_construct(name=call["name"], arguments=call["arguments"])
        for call in row["got"]
    )
    words = row["attempts"][-1]["message"].get("content") if row["attempts"] else None
    return RunAnswer(
        passed=passed,
        total=total,
        outcome=row["outcome"],
        calls=calls_words(calls, _LIMIT),
        words=visible(words, _LIMIT) if isinstance(words, str) else "",
        reason=visible(_reason(row, level), _LIMIT),
    )


def _reason(row: JsonObject, level: Level) -> str:
    """Return why a result passes or fails at `level`; its own reason is for its run's level."""
    reason: str = row["reason"]
    passed = [name for name in LEVELS if row["levels"][name]["ok"]]
    if not row["ok"] or level in passed or not passed:
        return reason
    repairs = ", ".join(row["repairs"])
    return f"passes at {passed[0]}, not at {level}" + (f" ({repairs})" if repairs else "")
