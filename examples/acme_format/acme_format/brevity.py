"""A scoring category: whether the agent got there in few calls."""

from __future__ import annotations

import tunaeval
from tunaeval import CategoryScore
from tunaeval.types.history import History

ENOUGH = 3


@tunaeval.scorer("acme-brevity", weight=0.1)
def brevity(history: History) -> CategoryScore | None:
    """1 for up to `ENOUGH` calls, then `ENOUGH` divided by the calls; None where there are none.

    What does not apply is None and not a good score: the weights of the others take its place.
    """
    if not history.calls:
        return None
    count = len(history.calls)
    return CategoryScore(
        value=min(1.0, ENOUGH / count),
        reason=f"{count} calls, and {ENOUGH} are enough",
        evidence=tuple(sorted({call.message for call in history.calls})),
    )
