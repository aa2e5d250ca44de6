"""The error budget: how many results of a run may lack an answer before it cannot be judged.

A scenario without an answer is in no score, because it shows nothing about the model. So a gate on
the score alone could pass on the few scenarios that were answered.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from tunaeval.showing import counted, visible
from tunaeval.types.error_budget import ErrorBudget

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
