"""A transcript's score as data: verdicts with their reasons, and how they make a total."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .judged import JudgeRecord
from .rates import Data


class CategoryScore(Data):
    """A scoring category's verdict: 0 to 1, or None where it does not apply; never without why."""

    value: float | None = Field(ge=0, le=1, allow_inf_nan=False)
    reason: str
    evidence: tuple[int, ...] = ()
    """Indices of the messages that the verdict rests on."""
    judged: JudgeRecord | None = None
    """What a judge said, where one was asked."""


class WeightedScore(CategoryScore):
    """A category's verdict in a score, with the weight that the category asks for.

    `share` is what that comes to among the categories that apply, None where this one does not.
    """

    weight: float = Field(ge=0, allow_inf_nan=False)
    share: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)


class ScoreDetails(Data):
    """What was counted in a transcript, by the rules of the preset, and how the total came about.

    A dangling call has no result: it neither succeeded nor failed.
    """

    tool_calls: int
    failed_calls: int
    dangling_calls: int
    retries: int
    reasoning: str
    outcome: Literal["scored", "judge_failure"] = "scored"
    """`judge_failure` when a judge was asked and gave no verdict on some category."""


class ScoreResult(Data):
    """A transcript's score: each category from 0 to 1, or None where it does not apply."""

    preset: str
    weighted_total: float | None = Field(ge=0, le=1, allow_inf_nan=False)
    """The mean of the categories that apply, by their weights; None when none does."""
    details: ScoreDetails
    categories: dict[str, WeightedScore]

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
