"""Scoring in two lines: a session wraps an agent's tools while it runs, and scores it at its end.

    with tunaeval.scoring_session("Find the bug") as session:
        session.messages = agent(session.wrap(read_file), ...)
    print(session.score)

Scoring never breaks the run that it scores. What goes wrong in it is kept in `failure`, stands in
the output file, and is logged (`tunaeval.scoring`); an exception of the run itself passes through,
and the run is scored all the same: scores of none but the lucky ones would flatter.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from tunaeval.adapters import wrap_tool
from tunaeval.errors import UsageError
from tunaeval.records import RecordWriter
from tunaeval.tools import Recorder
from tunaeval.types.runs import ScoreResult

from .scores import ascore, score

Tool = TypeVar("Tool")

_LOG = logging.getLogger("tunaeval.scoring")


class ScoringSession:
    """One task of an agent: what was asked, the tools that ran, and the score in the end.

    Set `messages` before the block ends: all that the agent and its tools said, in any shape that
    `tunaeval.score` takes; the task begins at the index `start`. Then `score` is the result, or
    None with the reason in `failure`. The recorder is cleared once it was read.

    Off (`enabled=False`) means that tools come back as they are and nothing is scored.
    """

    def __init__(
        self,
        query: str,
        *,
        out: Path | str | None = None,
        recorder: Recorder | None = None,
        enabled: bool = True,
        **settings: Any,
    ) -> None:
        self.query = query
        self.enabled = enabled
        self.messages: Iterable[object] | None = None
        self.start = 0
        self.recorder = Recorder() if recorder is None else recorder
        self.score: ScoreResult | None = None
        self.failure: str | None = None
        self._out = None if out is None else Path(out)
        self._settings = settings

    def wrap(self, tool: Tool) -> Tool:
        """A copy of the tool that behaves the same and is recorded here (`tunaeval.wrap_tool`)."""
        return wrap_tool(tool, self.recorder) if self.enabled else tool

    def __enter__(self) -> Self:
        self.recorder.clear()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.enabled:
            try:
                self.score = score(*self._asked(), **self._told(error))
            except Exception as fault:  # noqa: BLE001 - scoring never breaks the run that it scores
                self._failed(fault)
            self._close(error)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.enabled:
            try:
                self.score = await ascore(*self._asked(), **self._told(error))
            except Exception as fault:  # noqa: BLE001 - as above
                self._failed(fault)
            self._close(error)

    def _asked(self) -> tuple[Iterable[object], str]:
        if self.messages is None:
            raise UsageError(
                "the session was given no messages, so there is nothing to score; "
                "set session.messages before its block ends"
            )
        return self.messages, self.query

    def _told(self, error: BaseException | None) -> dict[str, Any]:
        """What `score` is told beside the messages. A run that was stopped waits for no judge."""
        stopped = error is not None and not isinstance(error, Exception)
        left_out = {"judge"} if stopped else set()
        settings = {key: value for key, value in self._settings.items() if key not in left_out}
        return {**settings, "executions": self.recorder.executions, "start": self.start}

    def _failed(self, fault: Exception) -> None:
        self.failure = f"{type(fault).__name__}: {fault}"
        _LOG.warning("the task %.60r was not scored: %s", self.query, self.failure)

    def _close(self, error: BaseException | None) -> None:
        """Write the record, and let go of what the recorder held."""
        self.recorder.clear()
        if self._out is None:
            return
        try:
            append_score(self._out, self.query, self.score, failure=self.failure, ended_by=error)
        except Exception as fault:  # noqa: BLE001 - as above
            _LOG.warning("a score could not be written to %s: %s", self._out, fault)


def scoring_session(query: str, **settings: Any) -> ScoringSession:
    """A session for one task, to be entered by `with` or `async with`.

    `settings` are those of `ScoringSession` (`out`, `recorder`, `enabled`) and of `tunaeval.score`
    (`preset`, `categories`, `judge`, ...). A judge is waited for, so it wants `async with` where an
    event loop is running.
    """
    return ScoringSession(query, **settings)


def append_score(
    path: Path,
    query: str,
    result: ScoreResult | None,
    *,
    failure: str | None = None,
    ended_by: BaseException | None = None,
) -> None:
    """Append one JSON line: query, score (null where there is none), timestamp, and what failed.

    The directory is made when it is missing. Raises RecordError for a file that cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    trouble = {
        "failure": failure,
        "ended_by": None if ended_by is None else f"{type(ended_by).__name__}: {ended_by}",
    }
    record = {
        "query": query,
        "score": None if result is None else result.model_dump(mode="json"),
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"),
        **{key: words for key, words in trouble.items() if words is not None},
    }
    with RecordWriter(path) as writer:
        writer.append(record)
