"""A judge's replies on a transcript, kept beside the score that they led to."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from .rates import Data

JudgeOrder: TypeAlias = Literal["as-written", "swapped"]
"""As written: the lowest score is described first; swapped: the highest, with criteria reversed."""


class JudgeVote(Data):
    """A reply of a judge for one category."""

    raw: str
    """The reply's text as it came, with lone surrogates as escapes."""
    value: float | None = Field(ge=0, le=1, allow_inf_nan=False)
    """The score from 0 to 1, or None if the reply is no verdict."""
    words: str
    """The judge's reason, or why the reply is no verdict."""
    order: JudgeOrder
    cached: bool


class JudgeRecord(Data):
    """How a judged score, or the failure to get one, came about."""

    client: str
    model: str | None
    prompt_version: str
    """A digest of the prompt's text and of the limits on how much of a transcript is shown."""
    calibrated: bool
    calibration: str
    """How well this judge agreed with people's labels, in words."""
    votes: tuple[JudgeVote, ...]
    spread: float | None
    """The difference between the highest and the lowest vote; None if there is no vote."""
    left_out: str = ""
    """Which parts of the transcript the judge was not shown."""
    failure: str | None = None
    """Why there is no verdict."""
