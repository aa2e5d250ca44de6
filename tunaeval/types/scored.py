"""A transcript's score as data: the categories' verdicts with their reasons, and the total."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from pydantic import Field

from tunaeval.showing import shows

from .judged import JudgeRecord
from .rates import Data

ScoreOutcome: TypeAlias = Literal[
    "scored", "undecided", "check_failure", "judge_failure", "category_failure", "run_failure"
]
"""How a scoring ended; with any but the first there is no total.

    scored              there is a total
    undecided           nothing decides whether the goal was reached, or no category applies
    check_failure       the check raised, hung, could not be started, or said neither yes nor no
    judge_failure       a judge was asked and gave no verdict on some category
    category_failure    a scoring category raised, or returned something else than a score
    run_failure         the run itself ended in an error: its record says so, or its session saw it
"""


class CategoryScore(Data):
    """A category's verdict from 0 to 1 with its reason; None if the category does not apply."""

    value: float | None = Field(ge=0, le=1, allow_inf_nan=False)
    reason: str
    evidence: tuple[int, ...] = ()
    """Indices of the messages that the verdict is based on."""
    judged: JudgeRecord | None = None
    """The judge's replies, if one was asked."""
    failure: str | None = None
    """Why there is no verdict although the category applies: it, its judge or its check failed."""


class WeightedScore(CategoryScore):
    """A category's verdict in a score, with the category's weight. The total is the sum of `share`
    times value; `share` is None if the category has no value, or if the categories make no total.
    """

    weight: float = Field(ge=0, allow_inf_nan=False)
    share: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)


class ScoreDetails(Data):
    """The counts in a transcript, by the rules of the preset, and how the total came about. A
    dangling call has no result: it neither succeeded nor failed.
    """

    tool_calls: int
    failed_calls: int
    dangling_calls: int
    retries: int
    reasoning: str
    outcome: ScoreOutcome = "scored"


@shows
class ScoreResult(Data):
    """A transcript's score: each category from 0 to 1, or None if it does not apply."""

    preset: str
    weighted_total: float | None = Field(ge=0, le=1, allow_inf_nan=False)
    """The categories that apply, combined by their weights as the preset does; 0 after a failed
    check or a forbidden call. None if nothing decides it, or if what had to decide failed; see
    `details.outcome`.
    """
    details: ScoreDetails
    categories: dict[str, WeightedScore]

    def _in_short(self) -> str:
        return f"ScoreResult by {self.preset!r}: {_number(self.weighted_total)}"

    def _in_rows(self) -> Iterator[tuple[str, ...]]:
        for name, one in self.categories.items():
            yield name, _number(one.value), f"weight {one.weight:g}", one.reason

    @property
    def goal_completion(self) -> float | None:
        return self._value("goal-completion")

    @property
    def plan_correctness(self) -> float | None:
        return self._value("plan-correctness")

    @property
    def success_ratio(self) -> float | None:
        return self._value("success-ratio")

    @property
    def context_efficiency(self) -> float | None:
        return self._value("context-efficiency")

    def _value(self, category: str) -> float | None:
        found = self.categories.get(category)
        return found.value if found else None


def _number(value: float | None) -> str:
    return "undecided" if value is None else f"{value:.2f}"


SCORES_VERSION = 2
"""The version of the lines in a file of scores. Lines of version 1 have no number; in the preset
`default`, signs of an end had a weight, where now a check, expectation or judge has to decide.
"""


class ScoreRecord(Data):
    """A line of a file of scores: what was asked, the score, and what failed."""

    schema_version: int = 1
    query: str
    score: ScoreResult | None
    """None if there is no score; then `failure` says why."""
    timestamp: str
    """When the task was scored, in ISO 8601."""
    failure: str | None = None
    """What failed: the scoring, or the run itself, whose score then has no total."""
    ended_by: str | None = None
    """The exception that ended the scored run, or its scoring."""
