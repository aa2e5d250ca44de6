"""Scoring in two lines: a session wraps an agent's tools while it runs, and scores it at its end.

    with tunaeval.scoring_session("Find the bug", messages=history) as session:
        agent(history, tools=[session.wrap(read_file)])
    print(session.score)

Scoring never breaks the run that it scores. What goes wrong in it is kept in `failure`, is in
the output file, and is logged (`tunaeval.scoring`). An exception of the run itself passes through;
then the score has the outcome `run_failure`, no total, and the categories as signals.

Off costs nothing, so whatever wraps, scores or writes is loaded when it is first needed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from inspect import signature
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.tools.recorder import Recorder
from tunaeval.tools.routing import Inbox, Router, SessionRecorder
from tunaeval.tools.storages import ContextRecorder
from tunaeval.types.wanted import any_path

from .beginnings import Beginning, beginning_of
from .keywords import ScoreKeywords, SessionKeywords

if TYPE_CHECKING:
    # It brings pydantic, which a session that is off does without.
    from tunaeval.types.messages import ToolExecution
    from tunaeval.types.runs import ScoreResult

Tool = TypeVar("Tool")

_LOG = logging.getLogger("tunaeval.scoring")


class ScoringSession:
    """One task of an agent: what was asked, the tools that ran, and the score in the end.

    `messages` are those of the agent and its tools, in any shape that `tunaeval.score` takes.
    Pass a list that grows (or what contains one), and the task begins at its length on entry; or
    set them before the block ends, with the index `start` where the task begins. A conversation
    that is compacted meanwhile is scored from what is left, with a warning.

    Then `score` is the result, or None with the reason in `failure`. Where the block itself raised,
    `failure` names the exception, and the score has no total. `executions` can be read until the
    block ends; after that they are forgotten. A session that is entered again scores another task,
    with nothing of the one before but a list that was passed.

    A tool that a session has wrapped reports to the session in whose block it is called, and to
    those around it, so it is wrapped once for all of them. A `recorder` of one's own is for tools
    that were wrapped for it: they are heard while the block runs. For sessions at the same time
    let it be a `ContextRecorder`, which keeps them apart.

    Off (`enabled=False`) means that tools come back as they are and nothing is scored.

    Examples:
        >>> with tunaeval.ScoringSession("Say hello", check=lambda seen: True) as session:
        ...     session.messages = [{"role": "assistant", "content": "Hello."}]
        ...
        >>> session.score.weighted_total
        1.0
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
        **settings: Unpack[ScoreKeywords],
    ) -> None:
        self.query = query
        self.enabled = enabled
        self.messages = messages
        self.start = start or 0
        own = SessionRecorder()
        self.recorder: Recorder = own if recorder is None else recorder
        self.score: ScoreResult | None = None
        self.failure: str | None = None
        self._given = (messages, start or 0)
        self._left: tuple[object, int] | None = None
        self._given_start = start
        self._out = None if out is None else any_path(out, "out")
        self._settings: dict[str, Any] = {**settings}
        self._heard = self.recorder
        self._inbox = Inbox(query, own if recorder is None else None)
        self._is_routed = recorder is None
        self._beginning: Beginning | None = None
        self._note: str | None = None
        self._run: AbstractContextManager[Recorder] | None = None
        self._fault: Exception | None = None
        self._ended_by: str | None = None

    @property
    def executions(self) -> tuple[ToolExecution, ...]:
        """What the wrapped tools did until now; nothing once the block has ended."""
        return self._heard.executions

    def wrap(self, tool: Tool) -> Tool:
        """A copy of the tool that behaves the same and is recorded here (`tunaeval.wrap_tool`).

        A tool that some session has wrapped comes back as it is, and so does what cannot be
        wrapped, with a warning in the log.
        """
        if not self.enabled:
            return tool
        return routed(tool, self._inbox) if self._is_routed else wrapped(tool, self.recorder)

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
        self.score = self.failure = self._fault = self._note = self._ended_by = None
        self._begin_anew()
        if isinstance(self.recorder, ContextRecorder):
            self._run = self.recorder.run()
            self._heard = self._run.__enter__()
        self._heard.clear()
        self._inbox.open()
        if self.messages is not None:
            self._beginning = beginning_of(self.messages, self._given_start)
        if self._beginning is not None:
            self.start = self._beginning.start

    def _begin_anew(self) -> None:
        """Forget what was set in the block before, unless it was set since then."""
        if self._left is None:
            return
        (messages, start), (given, given_start) = self._left, self._given
        if self.messages is messages and messages is not given:
            self.messages = None
        if self.start == start:
            self.start = given_start

    @contextmanager
    def _ending(self, error: BaseException | None) -> Iterator[None]:
        """Around the scoring: its failures end here, and whoever stops it need not wait for it."""
        self._ended_by = None if error is None else _words(error)
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
        self._find_start()
        if self._ended_by is None:
            return self.messages
        from tunaeval.data.adapters.documents import read_conversation  # noqa: PLC0415 - see the top

        return replace(read_conversation(self.messages), failure=self._ended_by)

    def _find_start(self) -> None:
        """Where the task begins by now, unless the host has said it since."""
        beginning, self._beginning = self._beginning, None
        if beginning is not None and beginning.start == self.start:
            self.start, self._note = beginning.found_in(self.messages)
            if self._note is not None:
                _LOG.warning("the task %.60r: %s", self.query, self._note)

    def _told(self, *, judged: bool) -> dict[str, Any]:
        """What `score` gets beside the messages. A run that was stopped waits for no judge."""
        from .scores import score  # noqa: PLC0415 - see the top

        takes = signature(score).parameters
        for name in self._settings.keys() - takes.keys():
            raise UnknownNameError("setting of a scoring session", name, takes)
        settings = {key: value for key, value in self._settings.items() if judged or key != "judge"}
        if self._note is not None:  # what is odd about where the task begins
            settings["notes"] = (*settings.get("notes", ()), self._note)
        return {**settings, "executions": self.executions, "start": self.start}

    def _failed(self, fault: Exception) -> None:
        self.failure = _words(fault)
        _LOG.warning("the task %.60r was not scored: %s", self.query, self.failure)

    def _close(self, error: BaseException | None) -> None:
        """Write the record, and let go of what the recorder kept."""
        self._left = (self.messages, self.start)
        if self._ended_by is not None and self.failure is None:
            self.failure = f"the run ended in an error: {self._ended_by}"
        self._inbox.close()
        self._heard.clear()
        if self._run is not None:
            with suppress(ValueError):  # a block may end in another context than it began in
                self._run.__exit__(None, None, None)
            self._run = None
        if self._out is None:
            return
        try:
            from .score_files import append_score  # noqa: PLC0415 - see the top

            ended_by = None if error is None else _words(error)
            append_score(self._out, self.query, self.score, failure=self.failure, ended_by=ended_by)
        except Exception as fault:  # noqa: BLE001 - as above
            _LOG.warning("a score could not be written to %s: %s", self._out, _words(fault))


def scoring_session(query: str, **settings: Unpack[SessionKeywords]) -> ScoringSession:
    """A session for one task, to be entered by `with` or `async with`.

    `settings` are those of `ScoringSession` (`messages`, `start`, `out`, `recorder`, `enabled`) and
    of `tunaeval.score` (`preset`, `categories`, `judge`, ...). A judge is waited for, so it wants
    `async with` where an event loop is running.

    Examples:
        >>> with tunaeval.scoring_session("Say hello", check=lambda seen: True) as session:
        ...     session.messages = [{"role": "assistant", "content": "Hello."}]
        ...
        >>> session.score.weighted_total
        1.0
    """
    return ScoringSession(query, **settings)


def wrapped(tool: Tool, recorder: Recorder) -> Tool:
    """As `tunaeval.wrap_tool`, for hosts: what cannot be wrapped runs as it is, and that is logged.

    Scoring is switched on where nobody watches, and an agent without a tool is another agent.
    """
    from tunaeval.data.adapters.tools import wrap_tool  # noqa: PLC0415 - see the top

    try:
        return wrap_tool(tool, recorder)
    except Exception as fault:  # noqa: BLE001 - as above
        _LOG.warning("a tool runs without being recorded: %s", _words(fault))
        return tool


def routed(tool: Tool, inbox: Inbox) -> Tool:
    """As `wrapped`, for the session that this inbox is of, and for those that wrap the tool later.

    A tool that is recorded for sessions already comes back as it is.
    """
    from tunaeval.data.adapters.tools import recorders_of, wrap_tool  # noqa: PLC0415 - see the top

    try:
        found = tuple(recorders_of(tool))
        routers = [one for one in found if isinstance(one, Router)]
        if not routers and not any(map(inbox.is_of, found)):
            routers = [Router()]
            tool = wrap_tool(tool, routers[0])
        for router in routers:
            router.add(inbox)
    except Exception as fault:  # noqa: BLE001 - as above
        _LOG.warning("a tool runs without being recorded: %s", _words(fault))
    return tool


def _is_stop(error: BaseException | None) -> bool:
    """Whether a run was stopped (cancelled, Ctrl-C, an exit) rather than failed."""
    return error is not None and not isinstance(error, Exception)


def _words(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - an exception's own words may fail, too
        return type(error).__name__
