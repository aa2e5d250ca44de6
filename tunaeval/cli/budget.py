"""The error budget: how many results of a run may lack an answer before it cannot be judged.

A scenario without an answer is in no score, because it shows nothing about the model. So a gate on
the score alone could pass on the few scenarios that were answered.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from typing import NamedTuple

from tunaeval.showing import counted, visible

from .output import Output

TOO_MANY_FAILURES = 3
"""The exit code of a gate that cannot judge."""


def is_over(
    arguments: argparse.Namespace,
    causes: Mapping[str, int],
    output: Output,
    *,
    gate: object,
    of: int,
    empty: bool = False,
    whose: str = "",
) -> bool:
    """Return whether so much failed that the run cannot be judged, and print why. Without a gate
    and without a budget, any number of failures is fine. `causes` counts failures by cause, `of` is
    the number of all results, `empty` says that every reply is empty, and `whose` names the run if
    there are several.
    """
    budget: ErrorBudget | None = arguments.max_errors
    if budget is None:
        if gate is None:
            return False
        budget = ErrorBudget()
    words = over_budget(budget, causes, of=of) or (_EMPTY if empty else None)
    if words:
        output.note(f"tunaeval: {visible(whose + words)}")
    return words is not None


_EMPTY = (
    "every reply is empty: no text, no reasoning and no call; that shows nothing about the model, "
    "so nothing is judged; look at the server"
)


def is_empty(answers: int, outcomes: Mapping[str, int], empty_replies: int) -> bool:
    """Whether all replies are empty. They would pass every scenario that wants no call."""
    return 0 < answers == outcomes.get("no_call") == empty_replies


class ErrorBudget(NamedTuple):
    """The most failures that are tolerated: a number, or a percentage of all results."""

    most: float = 0
    is_percentage: bool = False

    @classmethod
    def read(cls, text: str) -> ErrorBudget:
        """Return the budget in a text such as "3" or "5%". Raises ArgumentTypeError."""
        is_percentage = text.strip().endswith("%")
        try:
            number = float(text.strip().removesuffix("%"))
        except ValueError:
            number = -1.0
        top = 100.0 if is_percentage else math.inf
        if not 0 <= number <= top or not (is_percentage or number.is_integer()):
            raise argparse.ArgumentTypeError(
                f"found {text!r}, wanted the most failures that are allowed: a whole number such "
                "as 3, or a percentage such as 5%"
            )
        return cls(number, is_percentage)

    def allows(self, failed: int, of: int) -> bool:
        """Whether `failed` failures in `of` results are within the budget."""
        return failed * 100 <= self.most * of if self.is_percentage else failed <= self.most

    def __str__(self) -> str:
        return f"{self.most:g}{'%' if self.is_percentage else ''}"


def over_budget(budget: ErrorBudget, causes: Mapping[str, int], *, of: int) -> str | None:
    """Return why the run cannot be judged, as a sentence; None if it is within the budget."""
    failed = sum(causes.values())
    if budget.allows(failed, of):
        return None
    listed = "; ".join(f"{count} x {cause}" for cause, count in causes.items())
    return (
        f"{failed} of {counted(of, 'result')} failed, more than --max-errors {budget} allows, "
        f"so nothing is judged; by cause: {listed}"
    )
