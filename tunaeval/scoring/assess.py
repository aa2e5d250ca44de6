"""How categories make a score: each asked about the transcript, then their weighted mean."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from tunaeval.errors import UsageError
from tunaeval.types.roles import Scorer, Transcript
from tunaeval.types.runs import CategoryScore, ScoreDetails, ScoreResult, WeightedScore

from .categories import Category, Counts, Finding
from .history import History, history_of
from .presets import preset_of
from .settings import USUAL_SETTINGS, ScoreSettings


async def assess(
    transcript: Transcript,
    scorers: Sequence[Scorer],
    *,
    preset: str = "default",
    settings: ScoreSettings = USUAL_SETTINGS,
) -> ScoreResult:
    """Ask each category, in order, and join their verdicts. `preset` says how calls are counted.

    A category that raises is one without a value, whose reason says what it raised: the others'
    verdicts stand. Raises UsageError for two categories of one name, or a weight that is none.
    """
    _check(scorers)
    counts = preset_of(preset).counts
    history = history_of(transcript, settings)
    verdicts: list[_Verdict] = []
    for scorer in scorers:
        if isinstance(scorer, Category):
            verdicts.append(_found(scorer, history))
        else:
            verdicts.append(await _told(scorer, transcript))
    shares = _shares([
        scorer.weight
        for scorer, verdict in zip(scorers, verdicts, strict=True)
        if verdict.value is not None
    ])  # fmt: skip
    total = _mean(shares, [one.value for one in verdicts if one.value is not None])
    weighed = _weighed(scorers, verdicts, shares)
    return ScoreResult.checked(
        preset=preset,
        weighted_total=total,
        details=_details(counts(history), history.notes, weighed, total),
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
        return _failed(error)


async def _told(scorer: Scorer, transcript: Transcript) -> _Verdict:
    try:
        told = await scorer.score(transcript)
        # Built anew: a plug-in may have got past the check of its numbers.
        return CategoryScore(
            value=told.value, reason=told.reason, evidence=told.evidence, judged=told.judged
        )
    except Exception as error:  # noqa: BLE001 - as above
        return _failed(error)


def _failed(error: Exception) -> Finding:
    return Finding(None, f"it failed: {type(error).__name__}: {error}")


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
    scorers: Sequence[Scorer], verdicts: Sequence[_Verdict], shares: Sequence[float]
) -> dict[str, WeightedScore]:
    """Each verdict with its category's weight, and the share of the total that it comes to."""
    left = iter(shares)
    return {
        scorer.name: WeightedScore.checked(
            value=verdict.value,
            reason=verdict.reason,
            evidence=verdict.evidence,
            judged=verdict.judged,
            weight=float(scorer.weight),
            share=None if verdict.value is None else next(left, None),
        )
        for scorer, verdict in zip(scorers, verdicts, strict=True)
    }


def _check(scorers: Sequence[Scorer]) -> None:
    names = [scorer.name for scorer in scorers]
    for scorer in scorers:
        if names.count(scorer.name) > 1:
            raise UsageError(f"two scoring categories are called {scorer.name!r}; leave one out")
        if not (math.isfinite(scorer.weight) and scorer.weight >= 0):
            raise UsageError(
                f"scoring category {scorer.name!r} has the weight {scorer.weight!r}; "
                "wanted a number from 0 up"
            )


def _details(
    counts: Counts,
    notes: Sequence[str],
    verdicts: Mapping[str, WeightedScore],
    total: float | None,
) -> ScoreDetails:
    judging_failed = any(map(_judge_failed, verdicts.values()))
    return ScoreDetails.checked(
        tool_calls=counts.calls,
        failed_calls=counts.failed,
        dangling_calls=counts.dangling,
        retries=counts.retries,
        reasoning="; ".join((_sum(verdicts, total), *notes)),
        outcome="judge_failure" if judging_failed else "scored",
    )


def _sum(verdicts: Mapping[str, WeightedScore], total: float | None) -> str:
    """The total as the sum that it is: "0.51 = 0.40 x 0.30 goal-completion + ..."."""
    if total is None:
        return f"no category applies, so there is no total{_left_out(verdicts)}"
    parts = " + ".join(
        f"{score.share:.2f} x {score.value:.2f} {name}"
        for name, score in verdicts.items()
        if score.share is not None
    )
    return f"{total:.2f} = {parts}{_left_out(verdicts)}"


def _left_out(verdicts: Mapping[str, WeightedScore]) -> str:
    return "".join(
        f"; {name} {'was not judged' if _judge_failed(score) else 'does not apply'}"
        for name, score in verdicts.items()
        if score.value is None
    )


def _judge_failed(score: WeightedScore) -> bool:
    return score.judged is not None and score.judged.failure is not None
