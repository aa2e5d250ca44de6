"""The keywords of a scoring session by type, so that an editor and a type checker know them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    # A session loads what scores only when it ends; types are all that is wanted here.
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
    """What `tunaeval.score` takes beside the messages, the query and what was recorded."""

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
    """What a session takes beside the query and the messages."""

    start: int | None
    out: Path | str | None
    recorder: Recorder | None
    enabled: bool


class SessionKeywords(TaskKeywords, total=False):
    """What a session takes beside the query."""

    messages: object
