"""The error budget: how many failures of infrastructure a gate tolerates."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tunaeval.errors import UsageError
from tunaeval.showing import visible

from .output import Output

if TYPE_CHECKING:
    # At run time this is imported when a budget is read, not for --help.
    from tunaeval.reports.budget import ErrorBudget

TOO_MANY_FAILURES = 3
"""The exit code of a gate that cannot judge."""


def add_budget(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--max-errors",
        type=read_budget,
        metavar="N|P%",
        help="exit 3, with nothing judged, when more results than these got no answer: a number, "
        "or a share of all (0 where a gate is asked for)",
    )


def is_over(
    arguments: argparse.Namespace,
    causes: Mapping[str, int],
    output: Output,
    *,
    gate: object,
    of: int,
    whose: str = "",
) -> bool:
    """Return whether so much failed that the run cannot be judged, and print why. Without a gate
    and without a budget, any number of failures is fine. `causes` counts failures, `of` is the
    number of all results, and `whose` names the run if there are several.
    """
    from tunaeval.reports.budget import ErrorBudget, over_budget  # noqa: PLC0415 - not for --help

    budget: ErrorBudget | None = arguments.max_errors
    if budget is None:
        if gate is None:
            return False
        budget = ErrorBudget()
    words = over_budget(budget, causes, of=of)
    if words:
        output.note(f"tunaeval: {visible(whose + words)}")
    return words is not None


def read_budget(text: str) -> ErrorBudget:
    """Read "3" or "5%", for argparse and for `run.json`."""
    from tunaeval.reports.budget import ErrorBudget  # noqa: PLC0415 - not for --help

    try:
        return ErrorBudget.read(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
