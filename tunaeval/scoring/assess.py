"""How categories make a score: each asked about the transcript, then joined as the preset says."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import ValidationError

from tunaeval.errors import UsageError
from tunaeval.registry import shown, who, words_of
from tunaeval.types.roles import Scorer, Transcript
from tunaeval.types.runs import (
    CategoryScore,
    ScoreDetails,
    ScoreOutcome,
    ScoreResult,
    WeightedScore,
)

from .categories import Category, Counts, Finding
from .forbidden import forbidden_calls, forbidden_words
from .history import History, history_of
from .presets import FIXED, Preset, preset_of
from .settings import USUAL_SETTINGS, ScoreSettings


async def assess(
    transcript: Transcript,
    scorers: Sequence[Scorer],
    *,
    preset: str = "default",
    settings: ScoreSettings = USUAL_SETTINGS,
    notes: Sequence[str] = (),
) -> ScoreResult:
    """Ask each category, in order, and join their verdicts. `preset` says how calls are counted,
    and whether the goal comes first. `notes` are said beside the total.

    A category that raises has no value, and its reason says what it raised; the others' verdicts
    are kept, but there is no total: its weight is never given to them. Raises UsageError for two
    categories of one name, or a weight that is none.
    """
    _check(scorers)
    rules = preset_of(preset)
    history = history_of(transcript, settings)
    verdicts: list[_Verdict] = []
    for scorer in scorers:
        if isinstance(scorer, Category):
            verdicts.append(_found(scorer, history))
        else:
            verdicts.append(await _told(scorer, transcript))
    named = dict(zip((scorer.name for scorer in scorers), verdicts, strict=True))
    ending = _ending(history, named, fixed=preset == FIXED)
    shares = _shares_of(scorers, named, rules, ending)
    weighed = _weighed(scorers, named, shares)
    total = _total(ending, shares, named)
    if total is None and ending is None:
        ending = _undecided(named, rules)
    return ScoreResult.checked(
        preset=preset,
        weighted_total=total,
        details=_details(rules.counts(history), (*history.notes, *notes), weighed, total, ending),
        categories=weighed,
    )


_Verdict: TypeAlias = Finding | CategoryScore


def _found(category: Category, history: History) -> _Verdict:
    try:
        found = category.verdict(history)
        value = found.value
        is_sound = value is None or (type(value) is float and 0 <= value <= 1)
        return found if is_sound else found.checked()
    except Exception as error:  # noqa: BLE001 - a failed category is a result, named as such
        return _failed(f"{type(error).__name__}: {error}")


async def _told(scorer: Scorer, transcript: Transcript) -> _Verdict:
    this = f"the {who(scorer, 'scoring category')}"
    try:
        given: object = await scorer.score(transcript)
        if not isinstance(given, CategoryScore | WeightedScore | Finding):
            return _failed(
                f"{this} returned {shown(given)}; wanted a "
                'CategoryScore(value=0.5, reason="why"), whose value is from 0 to 1, or None'
            )
        # Built anew: a plug-in may have got past the check of its numbers.
        score = CategoryScore(
            value=given.value,
            reason=given.reason,
            evidence=given.evidence,
            judged=given.judged,
            failure=given.failure or (given.judged.failure if given.judged else None),
        )
    except (Exception, SystemExit) as error:  # noqa: BLE001 - as above
        return _failed(f"{this} raised {_words(error)}")
    count = len(transcript.messages)
    for index in score.evidence:
        if not 0 <= index < count:
            return _failed(
                f"{this} gave the evidence {index}; wanted indices of the {count} messages"
            )
    return score


def _words(error: BaseException) -> str:
    """An exception in one line; of a score's check, what it found where."""
    if not isinstance(error, ValidationError):
        return words_of(error)
    first = error.errors()[0]
    place = ", ".join([error.title, *map(str, first["loc"])])
    return f"ValidationError: {place}: found {shown(first['input'])}; {first['msg']}"


def _failed(why: str) -> Finding:
    return Finding(None, f"it failed: {why}", failure=why)


# --- the total -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Ending:
    """What settles the total whatever the categories say: how, at which total, and why."""

    outcome: ScoreOutcome
    total: float | None
    why: str


def _ending(history: History, verdicts: Mapping[str, _Verdict], *, fixed: bool) -> _Ending | None:
    """A failure of ours, of the run's or of a grader's leaves no total; what a check or a list of
    forbidden calls rules out leaves 0.
    """
    transcript = history.transcript
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


def _undecided(verdicts: Mapping[str, _Verdict], rules: Preset) -> _Ending:
    if rules.goal is not None and rules.goal in verdicts:
        return _Ending("undecided", None, f"{rules.goal} is {verdicts[rules.goal].reason}")
    return _Ending("undecided", None, "no category applies")


def _shares_of(
    scorers: Sequence[Scorer],
    verdicts: Mapping[str, _Verdict],
    rules: Preset,
    ending: _Ending | None,
) -> dict[str, float]:
    """What each category that applies counts for; none does where the total is settled already.

    Where the goal comes first, the others count as far as it was reached.
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


def _total(
    ending: _Ending | None, shares: Mapping[str, float], verdicts: Mapping[str, _Verdict]
) -> float | None:
    if ending is not None:
        return ending.total
    values = [verdicts[name].value or 0.0 for name in shares]
    return _mean(list(shares.values()), values)


def weighted_total(scores: Iterable[WeightedScore]) -> float | None:
    """The weighted mean of the scores that have a value; None when there is none, or no weight."""
    parts = [(score.value, score.weight) for score in scores if score.value is not None]
    return _mean(_shares([weight for _, weight in parts]), [value for value, _ in parts])


def _mean(shares: Sequence[float], values: Sequence[float]) -> float | None:
    # A last bit may be too much.
    return min(1.0, math.fsum(map(operator.mul, shares, values))) if shares else None


def _shares(weights: Sequence[float]) -> list[float]:
    """The weights, made to add up to 1; none when they are all 0."""
    # A power of two changes no digit, and keeps the sum of huge weights from overflowing.
    _, exponent = math.frexp(max(weights, default=0.0))
    scaled = [math.ldexp(weight, -exponent) for weight in weights]
    total = math.fsum(scaled)
    return [weight / total for weight in scaled] if total else []


def _weighed(
    scorers: Sequence[Scorer], verdicts: Mapping[str, _Verdict], shares: Mapping[str, float]
) -> dict[str, WeightedScore]:
    """Each verdict with its category's weight, and what it counts for in the total."""
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


def _check(scorers: Sequence[Scorer]) -> None:
    names: list[object] = [scorer.name for scorer in scorers]
    for scorer, name in zip(scorers, names, strict=True):
        if not isinstance(name, str):
            raise UsageError(f"a scoring category is called {name!r}; wanted a text")
        if names.count(name) > 1:
            raise UsageError(f"two scoring categories are called {name!r}; leave one out")
        if not is_weight(scorer.weight):
            raise UsageError(
                f"scoring category {name!r} has the weight {scorer.weight!r}; "
                "wanted a number from 0 up"
            )


def is_weight(weight: Any) -> bool:
    """Whether a category can have this weight: a finite number from 0 up."""
    try:
        return math.isfinite(weight) and bool(weight >= 0)
    except (TypeError, ValueError, OverflowError):  # what is no number
        return False


# --- what is said of it --------------------------------------------------------------------------


def _details(
    counts: Counts,
    notes: Sequence[str],
    verdicts: Mapping[str, WeightedScore],
    total: float | None,
    ending: _Ending | None,
) -> ScoreDetails:
    return ScoreDetails.checked(
        tool_calls=counts.calls,
        failed_calls=counts.failed,
        dangling_calls=counts.dangling,
        retries=counts.retries,
        reasoning="; ".join((_sum(verdicts, total, ending), *notes)),
        outcome="scored" if ending is None else ending.outcome,
    )


def _sum(verdicts: Mapping[str, WeightedScore], total: float | None, ending: _Ending | None) -> str:
    """The total as the sum that it is: "0.51 = 0.40 x 0.30 goal-completion + ..."."""
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
