"""Turn votes into a verdict: the median or the majority, with their spread; or a judge failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean, median
from typing import Literal, NamedTuple, TypeAlias

from tunaeval.types.runs import CategoryScore, JudgeRecord, JudgeVote

from .calibration import JudgeIdentity, Standing
from .view import View

DecidedBy: TypeAlias = Literal["median", "majority"]

FAILURE = "judge failure: "
_WORDS = 500
"""The most characters of a judge's words in a reason; the vote has all of them."""


class Ruling(NamedTuple):
    """The context of a verdict: the judge, its calibration, the rule, and the judge's view."""

    client: str
    identity: JudgeIdentity
    standing: Standing
    decided_by: DecidedBy
    view: View


def verdict_of(votes: Sequence[JudgeVote], ruling: Ruling) -> CategoryScore:
    """Return the verdict on one category; it fails unless over half of the votes are verdicts."""
    values = [vote.value for vote in votes if vote.value is not None]
    decided = _decided(votes, values, ruling.decided_by)
    failure = decided if isinstance(decided, str) else None
    value = None if isinstance(decided, str) else decided
    record = JudgeRecord(
        client=ruling.client,
        model=ruling.identity.model,
        prompt_version=ruling.identity.prompt_version,
        calibrated=ruling.standing.calibrated,
        calibration=ruling.standing.words,
        votes=tuple(votes),
        spread=max(values) - min(values) if values else None,
        left_out="; ".join(ruling.view.left_out),
        failure=failure,
    )
    reason = f"{FAILURE}{failure}" if value is None else _reason(value, votes, record)
    evidence = () if value is None else tuple(sorted(ruling.view.messages))
    return CategoryScore(value=value, reason=reason, evidence=evidence, judged=record)


def _decided(
    votes: Sequence[JudgeVote], values: Sequence[float], decided_by: DecidedBy
) -> float | str:
    """Return the decided value, or a text that says why there is none."""
    lost = [vote.words for vote in votes if vote.value is None]
    if 2 * len(values) <= len(votes):
        return lost[0] if len(votes) == 1 else f"{len(lost)} of {len(votes)} votes: {lost[0]}"
    if decided_by == "median":
        return median(values)
    value, times = Counter(values).most_common(1)[0]
    if 2 * times > len(votes):
        return value
    return f"no majority among the votes {_listed(values)}"


def _reason(value: float, votes: Sequence[JudgeVote], record: JudgeRecord) -> str:
    """Return the words of the vote nearest to the value, and remarks on how far to trust it."""
    given = [vote for vote in votes if vote.value is not None]
    words = min(given, key=lambda vote: abs((vote.value or 0.0) - value)).words[:_WORDS]
    parts = [f"{record.model or record.client} judges: {words}", record.calibration]
    if len(votes) > 1:
        values = [vote.value for vote in given if vote.value is not None]
        parts.append(f"votes {_listed(values)}, spread {record.spread:.2f}")
    if len(given) < len(votes):
        parts.append(f"{len(votes) - len(given)} of {len(votes)} votes gave no verdict")
    orders = {
        order: [vote.value for vote in given if vote.order == order and vote.value is not None]
        for order in ("as-written", "swapped")
    }
    if all(orders.values()):
        between = abs(fmean(orders["as-written"]) - fmean(orders["swapped"]))
        parts.append(f"the two orders differ by {between:.2f}")
    if record.left_out:
        parts.append(f"not shown: {record.left_out[:_WORDS]}")
    return "; ".join(parts)


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)
