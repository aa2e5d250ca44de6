"""The keywords of clients and of scoring sessions by type, so that type checkers know them."""

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


class ClientSettings(TypedDict, total=False):
    """What the clients of tunaeval are made with, all of them together.

    A client refuses the keywords of the others. For a client of a plug-in, which has keywords of
    its own, make the client and pass it.
    """

    # of "openai"
    base_url: str | None
    model: str | None
    attempt_timeout: float
    deadline: float | None
    connections: int
    max_retries: int | None
    rpm: float | None
    stream: bool
    key_variables: Sequence[str]
    headers: Mapping[str, str] | None
    ca: str | None
    cert: str | None
    cert_key: str | None
    proxy: str | None
    http2: bool
    transport: Any
    # of "llamacpp"
    model_file: str | None
    threads: int | None
    context: int
    slots: int
    # of "replay" and "scripted"
    path: str | Path | None
    replies: Sequence[Any]
    # of a command
    script: Any
    upstream: str | None


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
