"""The presets: sets of categories, each with the rules for counting calls."""

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
    """Categories whose weights add up to 1, and the rules for the counts in a score's details.

    `goal` names a category whose value multiplies the others, and without which there is no total.
    None: the total is the plain weighted mean.
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
"""The presets by name; `none` is for callers who pass all categories themselves."""

FIXED = "evals2"
"""The preset that no setting changes: only a failure of the run affects its total."""


def preset_of(name: str) -> Preset:
    """Return the preset of that name. Raises UnknownNameError."""
    return PRESETS[wanted_name(name, "preset", PRESETS)]


def scorers_of(preset: str) -> tuple[Scorer, ...]:
    """Return the categories of a preset. Raises UnknownNameError."""
    # For mypy the attributes of a protocol are writable, but a category is frozen.
    return cast("tuple[Scorer, ...]", preset_of(preset).categories)
