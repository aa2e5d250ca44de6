"""The keywords of scores and of sessions, in one place for all functions that take them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    # These import pydantic, which a session that is off does not need.
    from tunaeval.tools.recorder import Recorder
    from tunaeval.types.roles import Client, Scorer
    from tunaeval.types.runs import Expectation, ExpectedCall

    from .checks import Check
    from .judging.judge import Judge
    from .scorers import ScoringFunction
    from .settings import ScoreSettings


class ScoreKeywords(TypedDict, total=False):
    """The optional keywords of `tunaeval.score`, except `executions` and `start`."""

    preset: str
    categories: Iterable[str | Scorer | ScoringFunction]
    settings: ScoreSettings
    check: Check | None
    check_timeout: float
    expect: Expectation | Mapping[str, Any] | None
    forbid: Sequence[str | Mapping[str, Any] | ExpectedCall]
    judge: Judge | Client | None
    notes: Sequence[str]


class TaskKeywords(ScoreKeywords, total=False):
    """The keywords of a session, except the query and the messages."""

    start: int | None
    out: Path | str | None
    recorder: Recorder | None
    enabled: bool


class SessionKeywords(TaskKeywords, total=False):
    """The keywords of a session, except the query."""

    messages: object
