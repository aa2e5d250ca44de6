"""The presets: which categories make a score together, and how their calls are counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, cast

from tunaeval.types.roles import Scorer
from tunaeval.types.wanted import wanted_name

from . import default, evals2, trajectory
from .categories import Category, Counts
from .goal import GOAL, goal_completion
from .history import History


class Preset(NamedTuple):
    """Categories whose weights add up to 1, and the rules that a score's details count by.

    `goal` names the category that comes first: the others count as far as its value goes, and
    without one there is no total. None: a total is the plain mean.
    """

    categories: tuple[Category, ...]
    counts: Callable[[History], Counts]
    goal: str | None = None


PRESETS = {
    "default": Preset(
        (
            goal_completion,
            default.plan_correctness,
            default.success_ratio,
            trajectory.repetition,
            default.context_efficiency,
        ),
        default.counts_of,
        GOAL,
    ),
    "evals2": Preset(
        (
            evals2.goal_completion,
            evals2.plan_correctness,
            evals2.success_ratio,
            evals2.context_efficiency,
        ),
        evals2.counts_of,
    ),
    "none": Preset((), default.counts_of),
}
"""By name; `none` is for those who give all categories themselves."""

FIXED = "evals2"
"""The preset that nothing changes but a failure: it stays as it was written."""


def preset_of(name: str) -> Preset:
    """The preset of that name. Raises UnknownNameError."""
    return PRESETS[wanted_name(name, "preset", PRESETS)]


def scorers_of(preset: str) -> tuple[Scorer, ...]:
    """The categories of a preset. Raises UnknownNameError."""
    # To mypy a protocol's attributes can be set; a category is frozen.
    return cast("tuple[Scorer, ...]", preset_of(preset).categories)
