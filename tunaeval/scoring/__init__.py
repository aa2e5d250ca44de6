"""Scores from transcripts."""

from .assess import assess, is_weight, weighted_total
from .categories import Category, Finding
from .goal import GOAL, is_decided
from .history import CallRun, History, history_of
from .presets import FIXED, PRESETS, Preset, scorers_of
from .running_tests import TEST_COMMANDS
from .settings import (
    TUNACODE_0_2,
    TUNACODE_2025_12,
    USUAL_SETTINGS,
    Price,
    ScoreSettings,
    Steps,
)

SCORERS: dict[str, str] = {
    "argument-validity": "tunaeval.scoring.trajectory:argument_validity",
    "context-efficiency": "tunaeval.scoring.default:context_efficiency",
    "cost": "tunaeval.scoring.spending:cost",
    "expected-trajectory": "tunaeval.scoring.trajectory:expected_trajectory",
    "goal-completion": "tunaeval.scoring.goal:goal_completion",
    "latency": "tunaeval.scoring.spending:latency",
    "plan-correctness": "tunaeval.scoring.default:plan_correctness",
    "repetition": "tunaeval.scoring.trajectory:repetition",
    "success-ratio": "tunaeval.scoring.default:success_ratio",
}
"""The built-ins of the group `tunaeval.scorers`."""

__all__ = [
    "FIXED",
    "GOAL",
    "PRESETS",
    "SCORERS",
    "TEST_COMMANDS",
    "TUNACODE_0_2",
    "TUNACODE_2025_12",
    "USUAL_SETTINGS",
    "CallRun",
    "Category",
    "Finding",
    "History",
    "Preset",
    "Price",
    "ScoreSettings",
    "Steps",
    "assess",
    "history_of",
    "is_decided",
    "is_weight",
    "scorers_of",
    "weighted_total",
]
