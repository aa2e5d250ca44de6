"""What a judge said of a transcript, kept beside the score that was made of it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from .rates import Data

JudgeOrder: TypeAlias = Literal["as-written", "swapped"]
"""As written: the lowest score is described first; swapped: the highest, and criteria backwards."""


class JudgeVote(Data):
    """One reply of a judge, for one category."""

    raw: str
    """The reply's text, as it came (lone surrogates as escapes)."""
    value: float | None = Field(ge=0, le=1, allow_inf_nan=False)
    """The score on a scale of 0 to 1; None where the reply is no verdict."""
    words: str
    """The judge's reason, or why the reply is no verdict."""
    order: JudgeOrder
    cached: bool


class JudgeRecord(Data):
    """How a judged score, or the failure to get one, came about."""

    client: str
    model: str | None
    prompt_version: str
    """A digest of every word that is asked, and of how much of a transcript is shown."""
    calibrated: bool
    calibration: str
    """How far this judge was compared with people's labels, in words."""
    votes: tuple[JudgeVote, ...]
    spread: float | None
    """Between the highest and the lowest vote; None where there is no vote."""
    left_out: str = ""
    """What of the transcript the judge was not shown."""
    failure: str | None = None
    """Why there is no verdict."""
