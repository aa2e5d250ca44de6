"""Score a transcript: categories give values, and a preset says how these add up to a total."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, cast

from tunaeval.errors import UsageError
from tunaeval.types.conversations import Transcript
from tunaeval.types.roles import Scorer
from tunaeval.types.runs import (
    CategoryScore,
    ScoreDetails,
    ScoreOutcome,
    ScoreResult,
    WeightedScore,
)
from tunaeval.types.wanted import wanted_name

from . import default, evals2, trajectory
from .goal import GOAL, forbidden_calls, forbidden_words, goal_completion
from .history import Category, CategoryFinding, Counts, SettledHistory, history_of
from .scorers import failed, is_weight, verdict_of
from .settings import USUAL_SETTINGS, ScoreSettings


class Preset(NamedTuple):
    """The categories of a score, whose weights add up to 1, and the function that counts its calls.

    `goal` names a category by whose value all others are multiplied; without its value there is no
    total. If `goal` is None, the total is the weighted mean.
    """

    categories: tuple[Category, ...]
    counts: Callable[[SettledHistory], Counts]
    goal: str | None = None


PRESETS = {
    "default": Preset(
        (goal_completion, default.plan_correctness, default.success_ratio, trajectory.repetition,
         default.context_efficiency),
        default.counts_of, GOAL,
    ),
    "evals2": Preset(
        (evals2.goal_completion, evals2.plan_correctness, evals2.success_ratio,
         evals2.context_efficiency),
        evals2.counts_of,
    ),
    "none": Preset((), default.counts_of),
}  # fmt: skip
"""The presets by name; `none` is for callers who pass all categories themselves."""

FIXED = "evals2"
"""The preset that no setting changes: only a failure of the run affects its total."""


def preset_of(name: str) -> Preset:
    """Return the preset with this name. Raises UnknownNameError if there is none."""
    return PRESETS[wanted_name(name, "preset", PRESETS)]


def scorers_of(preset: str) -> tuple[Scorer, ...]:
    """Return the categories of the preset with this name. Raises UnknownNameError."""
    # For mypy the attributes of a protocol are writable, but a category is frozen.
    return cast("tuple[Scorer, ...]", preset_of(preset).categories)


async def assess(
    transcript: Transcript,
    scorers: Sequence[Scorer],
    *,
    preset: str = "default",
    settings: ScoreSettings = USUAL_SETTINGS,
    notes: Sequence[str] = (),
) -> ScoreResult:
    """Ask each category for its value, in order, and combine the values into a score.

    `preset` says how calls are counted, and whether the goal's value multiplies the others. `notes`
    are appended to the reasoning.

    A category that raises has no value, and its reason names the exception. The other values are
    kept, but there is no total, because the missing weight is never given to them. Raises
    UsageError for two categories of one name, or for an invalid weight.
    """
    _check_names(scorers)
    rules = preset_of(preset)
    history = history_of(transcript, settings)
    verdicts: list[_Verdict] = []
    for scorer in scorers:
        if isinstance(scorer, Category):
            verdicts.append(_found(scorer, history))
        else:
            verdicts.append(await verdict_of(scorer, history))
    named = dict(zip((scorer.name for scorer in scorers), verdicts, strict=True))
    ending = _ending(history, named, fixed=preset == FIXED)
    shares = _shares_of(scorers, named, rules, ending)
    weighed = _weighed(scorers, named, shares)
    values = [named[name].value or 0.0 for name in shares]
    total = _mean(list(shares.values()), values) if ending is None else ending.total
    if total is None and ending is None:
        goal = rules.goal if rules.goal in named else None
        why = "no category applies" if goal is None else f"{goal} is {named[goal].reason}"
        ending = _Ending("undecided", None, why)
    counts = rules.counts(history)
    return ScoreResult.checked(
        preset=preset,
        weighted_total=total,
        details=ScoreDetails.checked(
            tool_calls=counts.calls,
            failed_calls=counts.failed,
            dangling_calls=counts.dangling,
            retries=counts.retries,
            reasoning="; ".join((_sum(weighed, total, ending), *history.notes, *notes)),
            outcome="scored" if ending is None else ending.outcome,
        ),
        categories=weighed,
    )


_Verdict: TypeAlias = CategoryFinding | CategoryScore


def _found(category: Category, history: SettledHistory) -> _Verdict:
    try:
        found = category.verdict(history)
        value = found.value
        is_sound = value is None or (type(value) is float and 0 <= value <= 1)
        return found if is_sound else found.checked()
    except Exception as error:  # noqa: BLE001 - a failed category is a result, named as such
        return failed(f"{type(error).__name__}: {error}")


@dataclass(frozen=True, slots=True)
class _Ending:
    """What decides the total in place of the categories: an outcome with its total and reason."""

    outcome: ScoreOutcome
    total: float | None
    why: str


def _ending(
    history: SettledHistory, verdicts: Mapping[str, _Verdict], *, fixed: bool
) -> _Ending | None:
    """Return what decides the total in place of the categories, or None.

    A failure of the run, a check, a judge or a category leaves no total. A check that says no, or a
    forbidden call (unless the preset is `fixed`), makes the total 0.
    """
    transcript = history
    if transcript.failure is not None:
        return _Ending("run_failure", None, f"the run ended in an error: {transcript.failure}")
    checked = transcript.checked
    if checked is not None and checked.ok is None:
        return _Ending("check_failure", None, str(checked))
    for name, verdict in verdicts.items():
        if verdict.failure is not None:
            kind: ScoreOutcome = "judge_failure" if verdict.judged else "category_failure"
            return _Ending(kind, None, f"{name} has no verdict: {verdict.failure}")
    forbidden = [] if fixed else forbidden_calls(history)
    if forbidden:
        return _Ending("scored", 0.0, forbidden_words(forbidden))
    if checked is not None and not checked.ok:
        return _Ending("scored", 0.0, str(checked))
    return None


def _shares_of(
    scorers: Sequence[Scorer],
    verdicts: Mapping[str, _Verdict],
    rules: Preset,
    ending: _Ending | None,
) -> dict[str, float]:
    """Map categories to their shares of the total; the map is empty if `ending` decides the total.

    If the preset puts the goal first, the other shares are multiplied by the goal's value.
    """
    applying = [one for one in scorers if verdicts[one.name].value is not None]
    goal = None if rules.goal is None else verdicts.get(rules.goal)
    reached = 1.0 if goal is None else goal.value
    if ending is not None or reached is None:
        return {}
    shares = _shares([one.weight for one in applying])
    return {
        one.name: share if one.name == rules.goal else share * reached
        for one, share in zip(applying, shares, strict=bool(shares))
    }


def weighted_total(scores: Iterable[WeightedScore]) -> float | None:
    """Return the weighted mean of all scores with a value, or None if no weight is left."""
    parts = [(score.value, score.weight) for score in scores if score.value is not None]
    return _mean(_shares([weight for _, weight in parts]), [value for value, _ in parts])


def _mean(shares: Sequence[float], values: Sequence[float]) -> float | None:
    # Rounding may make the sum exceed 1 by its last bit.
    return min(1.0, math.fsum(map(operator.mul, shares, values))) if shares else None


def _shares(weights: Sequence[float]) -> list[float]:
    """Return the weights scaled to a sum of 1, or an empty list if they are all 0."""
    # Scaling by a power of two is exact, and keeps the sum of huge weights from overflowing.
    _, exponent = math.frexp(max(weights, default=0.0))
    scaled = [math.ldexp(weight, -exponent) for weight in weights]
    total = math.fsum(scaled)
    return [weight / total for weight in scaled] if total else []


def _weighed(
    scorers: Sequence[Scorer], verdicts: Mapping[str, _Verdict], shares: Mapping[str, float]
) -> dict[str, WeightedScore]:
    """Map each category's name to its verdict, with its weight and its share of the total."""
    found = {}
    for scorer in scorers:
        verdict = verdicts[scorer.name]
        found[scorer.name] = WeightedScore.checked(
            value=verdict.value,
            reason=verdict.reason,
            evidence=verdict.evidence,
            judged=verdict.judged,
            failure=verdict.failure,
            weight=float(scorer.weight),
            share=shares.get(scorer.name),
        )
    return found


def _check_names(scorers: Sequence[Scorer]) -> None:
    names: list[object] = [scorer.name for scorer in scorers]
    for scorer, name in zip(scorers, names, strict=True):
        if not isinstance(name, str):
            raise UsageError(f"a scoring category is called {name!r}; wanted a text")
        if names.count(name) > 1:
            raise UsageError(f"two scoring categories have the name {name!r}; leave one out")
        if not is_weight(scorer.weight):
            raise UsageError(
                f"scoring category {name!r} has the weight {scorer.weight!r}; "
                "wanted a number from 0 up"
            )


def _sum(verdicts: Mapping[str, WeightedScore], total: float | None, ending: _Ending | None) -> str:
    """Explain the total: "0.51 = 0.40 x 0.30 goal-completion + ...", or the reason of `ending`."""
    if ending is not None:
        return f"no total: {ending.why}" if total is None else f"{total:.2f}: {ending.why}"
    parts = " + ".join(
        f"{score.share:.2f} x {score.value:.2f} {name}"
        for name, score in verdicts.items()
        if score.share is not None
    )
    left = "".join(
        f"; {name} does not apply" for name, score in verdicts.items() if score.value is None
    )
    return f"{total:.2f} = {parts}{left}"
