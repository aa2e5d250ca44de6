"""The numbers of saved reports: rates with intervals, repeats, transcripts' scores with reasons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from tunaeval.showing import shows

_DEPRECATED = frozenset(
    name
    for name, one in vars(BaseModel).items()
    if hasattr(getattr(one, "__func__", getattr(one, "fget", one)), "__deprecated__")
) | {"model_fields", "model_computed_fields"}  # these two of an instance alone


def undeprecated(model: BaseModel) -> list[str]:
    """Return the names of a model for `dir`, without those that pydantic deprecates."""
    return [name for name in object.__dir__(model) if name not in _DEPRECATED]


class Data(BaseModel):
    """What the models for files have in common: they are immutable and refuse unknown keys."""

    __dir__ = undeprecated

    # A model is compiled when it is first used, which saves an import a third of its time.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def checked(cls, **fields: Any) -> Self:
        """Return an instance without validation; the caller passes all fields, validated before. It
        takes a third of the time of a validation, and a fifth of that of `model_construct`.
        """
        made = cls.__new__(cls)
        _set(made, "__dict__", fields)
        _set(made, "__pydantic_fields_set__", set(fields))
        _set(made, "__pydantic_extra__", None)
        _set(made, "__pydantic_private__", None)
        return made


_set = object.__setattr__
"""Sets an attribute although the model is frozen, as pydantic itself does."""


class Rate(Data):
    """How many of `total` results passed. `value` is that share, and `low` to `high` its 95 %
    interval; the three are None if `total` is 0. The interval is Wilson's; repeated or grouped
    scenarios count by the effective number of results.
    """

    passed: int
    total: int
    value: float | None
    low: float | None
    high: float | None


def rate_words(rate: Rate) -> str:
    """Return a rate in words, such as "3 of 4 passed, 75.0 % (30.1 to 95.4)"."""
    words = f"{rate.passed} of {rate.total} passed"
    if rate.value is None or rate.low is None or rate.high is None:
        return words
    return f"{words}, {100 * rate.value:.1f} % ({100 * rate.low:.1f} to {100 * rate.high:.1f})"


class AtK(Data):
    """Estimates of pass@k (`any_passes`: at least one of k answers passes) and pass^k (`all_pass`:
    all k pass), as shares of the `scenarios` with at least k answers; None without such scenarios.
    """

    k: int
    scenarios: int
    any_passes: float | None
    all_pass: float | None


class Variance(Data):
    """Why the score of a repeated run is uncertain, and what to add first (`buy`). `between` is the
    variance between scenarios, `within` that between answers to one; more repeats could remove its
    share of the total, `share_within`. "With more" means twice as many.
    """

    between: float
    within: float
    share_within: float
    standard_error: float
    with_more_scenarios: float
    with_more_repeats: float
    buy: Literal["scenarios", "repeats"]


class Repeats(Data):
    """The statistics of a repeated run."""

    repeats: int
    answers: dict[str, int]
    """How many scenarios passed c of n times, by "c of n"."""
    at: tuple[AtK, ...]
    variance: Variance | None
    """None if fewer than two scenarios were answered twice."""


JudgeOrder: TypeAlias = Literal["as-written", "swapped"]
"""As written: the lowest score is described first; swapped: the highest, with criteria reversed."""


class JudgeVote(Data):
    """A reply of a judge for one category."""

    raw: str
    """The reply's text as it came, with lone surrogates as escapes."""
    value: float | None = Field(ge=0, le=1, allow_inf_nan=False)
    """The score from 0 to 1, or None if the reply is no verdict."""
    words: str
    """The judge's reason, or why the reply is no verdict."""
    order: JudgeOrder
    cached: bool


class JudgeRecord(Data):
    """How a judged score, or the failure to get one, came about."""

    client: str
    model: str | None
    prompt_version: str
    """A digest of the prompt's text and of the limits on how much of a transcript is shown."""
    calibrated: bool
    calibration: str
    """How well this judge agreed with people's labels, in words."""
    votes: tuple[JudgeVote, ...]
    spread: float | None
    """The difference between the highest and the lowest vote; None if there is no vote."""
    left_out: str = ""
    """Which parts of the transcript the judge was not shown."""
    failure: str | None = None
    """Why there is no verdict."""


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
    """A category's verdict from 0 to 1 with its reason; None if the category does not apply.

    Examples:
        >>> score = tunaeval.CategoryScore(value=0.5, reason="half of it", evidence=(3,))
        >>> score.value, score.reason
        (0.5, 'half of it')
    """

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
"""The version of the lines in a file of scores; lines of another version are refused."""


class ScoreRecord(Data):
    """A line of a file of scores: what was asked, the score, and what failed."""

    schema_version: int = SCORES_VERSION
    query: str
    score: ScoreResult | None
    """None if there is no score; then `failure` says why."""
    timestamp: str
    """When the task was scored, in ISO 8601."""
    failure: str | None = None
    """What failed: the scoring, or the run itself, whose score then has no total."""
    ended_by: str | None = None
    """The exception that ended the scored run, or its scoring."""
