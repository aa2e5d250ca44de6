"""The presets: which categories make a score together, and how their calls are counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, cast

from tunaeval.errors import UnknownNameError
from tunaeval.types.roles import Scorer

from . import default, evals2
from .categories import Category, Counts
from .history import History


class Preset(NamedTuple):
    """Categories whose weights add up to 1, and the rules that a score's details count by."""

    categories: tuple[Category, ...]
    counts: Callable[[History], Counts]


PRESETS = {
    "default": Preset(
        (
            default.goal_completion,
            default.plan_correctness,
            default.success_ratio,
            default.context_efficiency,
        ),
        default.counts_of,
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


def preset_of(name: str) -> Preset:
    """The preset of that name. Raises UnknownNameError."""
    if name not in PRESETS:
        raise UnknownNameError("preset", name, PRESETS)
    return PRESETS[name]


def scorers_of(preset: str) -> tuple[Scorer, ...]:
    """The categories of a preset. Raises UnknownNameError."""
    # To mypy a protocol's attributes can be set; a category is frozen.
    return cast("tuple[Scorer, ...]", preset_of(preset).categories)
