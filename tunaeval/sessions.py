"""Scoring in two lines: a session wraps an agent's tools while it runs, and scores it at its end.

    with tunaeval.scoring_session("Find the bug", messages=history) as session:
        agent(history, tools=[session.wrap(read_file)])
    print(session.score)

Scoring never breaks the run that it scores. What goes wrong in it is kept in `failure`, stands in
the output file, and is logged (`tunaeval.scoring`); an exception of the run itself passes through,
and the run is scored all the same: scores of none but the lucky ones would flatter.

Off costs nothing, so whatever wraps, scores or writes is loaded when it is first needed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sized
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tunaeval.errors import UsageError
from tunaeval.tools import ContextRecorder, Recorder

if TYPE_CHECKING:
    # It brings pydantic, which a session that is off does without.
    from tunaeval.types import ToolExecution
    from tunaeval.types.runs import ScoreResult

Tool = TypeVar("Tool")

_LOG = logging.getLogger("tunaeval.scoring")


class ScoringSession:
    """One task of an agent: what was asked, the tools that ran, and the score in the end.

    `messages` are all that the agent and its tools said, in any shape that `tunaeval.score` takes.
    Hand in a list that grows (or what holds one), and the task begins at its length on entry; or
    set them before the block ends, with the index `start` where the task begins.

    Then `score` is the result, or None with the reason in `failure`. `executions` can be read until
    the block ends; after that they are forgotten.

    A `recorder` of one's own is for tools that were wrapped before: they are heard while the block
    runs. For sessions at the same time let it be a `ContextRecorder`, which keeps them apart.

    Off (`enabled=False`) means that tools come back as they are and nothing is scored.
    """

    def __init__(
        self,
        query: str,
        *,
        messages: object = None,
        start: int | None = None,
        out: Path | str | None = None,
        recorder: Recorder | None = None,
        enabled: bool = True,
        **settings: Any,
    ) -> None:
        self.query = query
        self.enabled = enabled
        self.messages = messages
        self.start = start or 0
        self.recorder = Recorder() if recorder is None else recorder
        self.score: ScoreResult | None = None
        self.failure: str | None = None
        self._begins_at_its_end = messages is not None and start is None
        self._out = None if out is None else Path(out)
        self._settings = settings
        self._heard = self.recorder
        self._run: AbstractContextManager[Recorder] | None = None
        self._fault: Exception | None = None

    @property
    def executions(self) -> tuple[ToolExecution, ...]:
        """What the wrapped tools did until now; nothing once the block has ended."""
        return self._heard.executions

    def wrap(self, tool: Tool) -> Tool:
        """A copy of the tool that behaves the same and is recorded here (`tunaeval.wrap_tool`).

        What cannot be wrapped comes back as it is, with a warning in the log.
        """
        return wrapped(tool, self.recorder) if self.enabled else tool

    def __enter__(self) -> Self:
        if self.enabled:
            try:
                self._begin()
            except Exception as fault:  # noqa: BLE001 - scoring never breaks the run that it scores
                self._fault = fault
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.enabled:
            with self._ending(error):
                self._score_at_once(judged=not _is_stop(error))

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.enabled:
            with self._ending(error):
                if _is_stop(error):
                    self._score_at_once(judged=False)
                else:
                    await self._score_later()

    def _begin(self) -> None:
        self.score = self.failure = self._fault = None
        if isinstance(self.recorder, ContextRecorder):
            self._run = self.recorder.run()
            self._heard = self._run.__enter__()
        self._heard.clear()
        if self._begins_at_its_end:
            self.start = _length(self.messages)

    @contextmanager
    def _ending(self, error: BaseException | None) -> Iterator[None]:
        """Around the scoring: its failures end here, and whoever stops it need not wait for it."""
        try:
            yield
        except Exception as fault:  # noqa: BLE001 - as above
            self._failed(fault)
        except BaseException as stop:
            error = stop if error is None else error
            try:
                self._score_at_once(judged=False)
            except Exception as fault:  # noqa: BLE001 - as above
                self._failed(fault)
            raise
        finally:
            self._close(error)

    def _score_at_once(self, *, judged: bool) -> None:
        from .scores import score  # noqa: PLC0415 - see the top

        self.score = score(self._said(), self.query, **self._told(judged=judged))

    async def _score_later(self) -> None:
        from .scores import ascore  # noqa: PLC0415 - see the top

        self.score = await ascore(self._said(), self.query, **self._told(judged=True))

    def _said(self) -> object:
        if self._fault is not None:
            raise self._fault
        if self.messages is None:
            raise UsageError(
                "the session was given no messages, so there is nothing to score; "
                "set session.messages before its block ends"
            )
        if isinstance(self.messages, Iterator):  # they may be read again
            self.messages = list(self.messages)
        return self.messages

    def _told(self, *, judged: bool) -> dict[str, Any]:
        """What `score` is told beside the messages. A run that was stopped waits for no judge."""
        settings = {key: told for key, told in self._settings.items() if judged or key != "judge"}
        return {**settings, "executions": self.executions, "start": self.start}

    def _failed(self, fault: Exception) -> None:
        self.failure = _words(fault)
        _LOG.warning("the task %.60r was not scored: %s", self.query, self.failure)

    def _close(self, error: BaseException | None) -> None:
        """Write the record, and let go of what the recorder held."""
        self._heard.clear()
        if self._run is not None:
            with suppress(ValueError):  # a block may end in another context than it began in
                self._run.__exit__(None, None, None)
            self._run = None
        if self._out is None:
            return
        try:
            append_score(self._out, self.query, self.score, failure=self.failure, ended_by=error)
        except Exception as fault:  # noqa: BLE001 - as above
            _LOG.warning("a score could not be written to %s: %s", self._out, _words(fault))


def scoring_session(query: str, **settings: Any) -> ScoringSession:
    """A session for one task, to be entered by `with` or `async with`.

    `settings` are those of `ScoringSession` (`messages`, `start`, `out`, `recorder`, `enabled`) and
    of `tunaeval.score` (`preset`, `categories`, `judge`, ...). A judge is waited for, so it wants
    `async with` where an event loop is running.
    """
    return ScoringSession(query, **settings)


def wrapped(tool: Tool, recorder: Recorder) -> Tool:
    """As `tunaeval.wrap_tool`, for hosts: what cannot be wrapped runs as it is, and that is logged.

    Scoring is switched on where nobody watches, and an agent without a tool is another agent.
    """
    from tunaeval.adapters import wrap_tool  # noqa: PLC0415 - see the top

    try:
        return wrap_tool(tool, recorder)
    except Exception as fault:  # noqa: BLE001 - as above
        _LOG.warning("a tool runs without being recorded: %s", _words(fault))
        return tool


def append_score(
    path: Path,
    query: str,
    result: ScoreResult | None,
    *,
    failure: str | None = None,
    ended_by: BaseException | None = None,
) -> None:
    """Append one JSON line: query, score (null where there is none), timestamp, and what failed.

    Threads and processes may append to one file at the same time. The directory is made when it
    is missing. Raises RecordError for a file that cannot be written.
    """
    from datetime import UTC, datetime  # noqa: PLC0415 - see the top

    from tunaeval.records import append  # noqa: PLC0415 - see the top

    path.parent.mkdir(parents=True, exist_ok=True)
    trouble = {"failure": failure, "ended_by": None if ended_by is None else _words(ended_by)}
    record = {
        "query": query,
        "score": None if result is None else result.model_dump(mode="json"),
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"),
        **{key: words for key, words in trouble.items() if words is not None},
    }
    append(path, record)


def _is_stop(error: BaseException | None) -> bool:
    """Whether a run was stopped (cancelled, Ctrl-C, an exit) rather than failed."""
    return error is not None and not isinstance(error, Exception)


def _length(messages: object) -> int:
    """How many messages there are by now; what hands them out one by one is not asked."""
    if isinstance(messages, Iterator):
        return 0
    if isinstance(messages, Sized) and not isinstance(messages, Mapping):
        return len(messages)
    from tunaeval.adapters import read_conversation  # noqa: PLC0415 - see the top

    return read_conversation(messages).length


def _words(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - an exception's own words may fail, too
        return type(error).__name__
