"""Scores from transcripts."""

from .assess import assess, weighted_total
from .categories import Category, Finding
from .history import history_of
from .presets import PRESETS, Preset, scorers_of
from .settings import USUAL_SETTINGS, Price, ScoreSettings, Steps

SCORERS: dict[str, str] = {
    "argument-validity": "tunaeval.scoring.trajectory:argument_validity",
    "context-efficiency": "tunaeval.scoring.default:context_efficiency",
    "cost": "tunaeval.scoring.spending:cost",
    "expected-trajectory": "tunaeval.scoring.trajectory:expected_trajectory",
    "goal-completion": "tunaeval.scoring.default:goal_completion",
    "latency": "tunaeval.scoring.spending:latency",
    "plan-correctness": "tunaeval.scoring.default:plan_correctness",
    "repetition": "tunaeval.scoring.trajectory:repetition",
    "success-ratio": "tunaeval.scoring.default:success_ratio",
}
"""The built-ins of the group `tunaeval.scorers`."""

__all__ = [
    "PRESETS",
    "SCORERS",
    "USUAL_SETTINGS",
    "Category",
    "Finding",
    "Preset",
    "Price",
    "ScoreSettings",
    "Steps",
    "assess",
    "history_of",
    "scorers_of",
    "weighted_total",
]
