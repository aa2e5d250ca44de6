"""The keyword arguments of a scoring session as types, for editors and type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    # A session imports the scoring code only when it ends, and this module needs only types.
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from tunaeval.scoring.judging.judge import Judge
    from tunaeval.scoring.settings import ScoreSettings
    from tunaeval.tools.recorder import Recorder
    from tunaeval.types.roles import Client, Scorer
    from tunaeval.types.runs import Expectation, ExpectedCall

    from .checks import Check


class ScoreKeywords(TypedDict, total=False):
    """The optional keywords of `tunaeval.score`, but for `executions` and `start`."""

    preset: str
    categories: Iterable[str | Scorer]
    settings: ScoreSettings
    check: Check | None
    check_timeout: float
    expect: Expectation | Mapping[str, Any] | None
    forbid: Sequence[str | Mapping[str, Any] | ExpectedCall]
    judge: Judge | Client | None
    notes: Sequence[str]


class TaskKeywords(ScoreKeywords, total=False):
    """The keywords of a session, but for the query and the messages."""

    start: int | None
    out: Path | str | None
    recorder: Recorder | None
    enabled: bool


class SessionKeywords(TaskKeywords, total=False):
    """The keywords of a session, but for the query."""

    messages: object
