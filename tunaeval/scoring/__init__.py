"""Scores from transcripts."""

from .assess import PRESETS, assess, scorers_of, weighted_total
from .categories import Category
from .history import history_of

SCORERS: dict[str, str] = {
    "context-efficiency": "tunaeval.scoring.categories:context_efficiency",
    "goal-completion": "tunaeval.scoring.categories:goal_completion",
    "plan-correctness": "tunaeval.scoring.categories:plan_correctness",
    "success-ratio": "tunaeval.scoring.categories:success_ratio",
}
"""The built-ins of the group `tunaeval.scorers`."""

__all__ = [
    "PRESETS",
    "SCORERS",
    "Category",
    "assess",
    "history_of",
    "scorers_of",
    "weighted_total",
]
