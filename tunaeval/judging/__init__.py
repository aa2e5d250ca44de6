"""Scores by a model: what it is asked, how its reply is read, how far it agrees with people."""

from .answers import Answer, read_answers, reply_schema
from .cache import ReplyCache
from .calibrating import Calibrating, calibrate
from .calibration import (
    Calibration,
    CategoryCalibration,
    JudgeIdentity,
    Standing,
    rough,
    standing_of,
)
from .frame import frames
from .judge import USUAL, Judge
from .labels import Labelled, Labels, read_labels
from .payloads import PAYLOADS, injected
from .prompts import Question, messages_for
from .rubrics import RUBRICS, Rubric
from .scorers import judged
from .view import Shown, View, view_of

__all__ = [
    "PAYLOADS",
    "RUBRICS",
    "USUAL",
    "Answer",
    "Calibrating",
    "Calibration",
    "CategoryCalibration",
    "Judge",
    "JudgeIdentity",
    "Labelled",
    "Labels",
    "Question",
    "ReplyCache",
    "Rubric",
    "Shown",
    "Standing",
    "View",
    "calibrate",
    "frames",
    "injected",
    "judged",
    "messages_for",
    "read_answers",
    "read_labels",
    "reply_schema",
    "rough",
    "standing_of",
    "view_of",
]
