"""The figures of a report: rates with their intervals, and statistics of repeats."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict


class Data(BaseModel):
    """An immutable model that refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
    """How many passed of how many, with a 95 % interval; its three numbers are None if `total` is
    0. The interval is Wilson's; repeated or grouped scenarios count by the effective number of
    results.
    """

    passed: int
    total: int
    value: float | None
    low: float | None
    high: float | None


def rate_words(rate: Rate) -> str:
    """Return a rate in words: how many passed, the percentage, and its interval."""
    words = f"{rate.passed} of {rate.total} passed"
    if rate.value is None or rate.low is None or rate.high is None:
        return words
    return f"{words}, {100 * rate.value:.1f} % ({100 * rate.low:.1f} to {100 * rate.high:.1f})"


class AtK(Data):
    """The estimated shares of scenarios of which at least one of k answers passes (pass@k), or all
    do (pass^k), over the scenarios that have at least k answers; None if there is no such scenario.
    """

    k: int
    scenarios: int
    any_passes: float | None
    all_pass: float | None


class Variance(Data):
    """The causes of uncertainty in a repeated run's score, and what would reduce it most. `between`
    is the variance between scenarios, `within` that between answers to one; more repeats could
    reduce its share of the total, `share_within`. "More" is twice as many.
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
