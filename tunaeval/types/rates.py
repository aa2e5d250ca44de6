"""The figures of a report: rates with their intervals, and what repeats say."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict


class Data(BaseModel):
    """Immutable, and strict about keys that nobody knows."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def checked(cls, **fields: Any) -> Self:
        """As the class itself, of all its fields, which whoever made them has checked already.

        A third of the time of a validation, and a fifth of that of `model_construct`.
        """
        made = cls.__new__(cls)
        _set(made, "__dict__", fields)
        _set(made, "__pydantic_fields_set__", set(fields))
        _set(made, "__pydantic_extra__", None)
        _set(made, "__pydantic_private__", None)
        return made


_set = object.__setattr__
"""Past `frozen`, as pydantic does it."""


class Rate(Data):
    """Passed of total, with a 95 % interval; all three numbers are None when total is 0.

    The interval is Wilson's; where scenarios are repeated or grouped, at the effective number of
    results.
    """

    passed: int
    total: int
    value: float | None
    low: float | None
    high: float | None


def rate_words(rate: Rate) -> str:
    """Passed, of how many, and how sure that is."""
    words = f"{rate.passed} of {rate.total} passed"
    if rate.value is None or rate.low is None or rate.high is None:
        return words
    return f"{words}, {100 * rate.value:.1f} % ({100 * rate.low:.1f} to {100 * rate.high:.1f})"


class AtK(Data):
    """Of k answers at least one passes (pass@k), or all do (pass^k), over the scenarios that were
    answered k times or more; both are None where there is none.
    """

    k: int
    scenarios: int
    any_passes: float | None
    all_pass: float | None


class Variance(Data):
    """Where the doubt about a repeated run's score comes from, and what to buy against it.

    `between` scenarios, and `within` the answers to one, whose share of the whole more repeats
    could take away. "More" is twice as many.
    """

    between: float
    within: float
    share_within: float
    standard_error: float
    with_more_scenarios: float
    with_more_repeats: float
    buy: Literal["scenarios", "repeats"]


class Repeats(Data):
    """What a repeated run says of luck."""

    repeats: int
    answers: dict[str, int]
    """How many scenarios passed c of n times, by "c of n"."""
    at: tuple[AtK, ...]
    variance: Variance | None
    """None where fewer than two scenarios were answered twice."""
