"""Scoring in two lines: a session wraps an agent's tools while it runs, and scores it at its end.

    with tunaeval.scoring_session("Find the bug", messages=history) as session:
        agent(history, tools=[session.wrap(read_file)])
    print(session.score)

Scoring never breaks the run that it scores. A failure of scoring is stored in `failure` and in the
output file, and logged (`tunaeval.scoring`). An exception of the run itself passes through; then
the score has the outcome `run_failure` and no total, and its categories are mere signals.

A session that is off must cost nothing, so the code that wraps, scores and writes is imported when
it is first needed.
"""

from __future__ import annotations

import logging
import operator
from collections.abc import Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.tools.frameworks import recorders_of, wrap_tool
from tunaeval.tools.recorder import ContextRecorder, Inbox, Recorder, Router, SessionRecorder
from tunaeval.types.wanted import any_path

from .keywords import ScoreKeywords, SessionKeywords

if TYPE_CHECKING:
    # These import pydantic, which a session that is off does not need.
    from tunaeval.types.messages import ToolExecution
    from tunaeval.types.runs import ScoreResult


Tool = TypeVar("Tool")

_LOG = logging.getLogger("tunaeval.scoring")


class ScoringSession:
    """One task of an agent: what was asked, the tools that ran, and at the end the score.

    `messages` are those of the agent and its tools, in any shape that `tunaeval.score` takes. Pass
    a list that grows (or an object that contains one), and the task begins at its length on entry;
    or set them before the block ends, with the index `start` at which the task begins. If the
    conversation is compacted meanwhile, what is left of it is scored, with a warning.

    After the block `score` is the result, or None with the reason in `failure`. If the block itself
    raised, `failure` names the exception, and the score has no total. `executions` can be read
    until the block ends. A session that is entered again scores another task, and keeps nothing of
    the last one but a list that was passed.

    A tool that a session has wrapped reports to the session in whose block it is called, and to the
    sessions around it, so wrap it once for all of them. Pass a `recorder` if the tools were wrapped
    for it; a `ContextRecorder` keeps sessions at the same time apart.

    With `enabled=False` tools are returned unchanged, and nothing is scored.

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
        self._active_recorder = self.recorder
        self._inbox = Inbox(query, own if recorder is None else None)
        self._is_routed = recorder is None
        self._beginning: Beginning | None = None
        self._note: str | None = None
        self._run: AbstractContextManager[Recorder] | None = None
        self._fault: Exception | None = None
        self._ended_by: str | None = None

    @property
    def executions(self) -> tuple[ToolExecution, ...]:
        """What the wrapped tools have done so far; empty once the block has ended."""
        return self._active_recorder.executions

    def wrap(self, tool: Tool) -> Tool:
        """Return a copy of the tool that behaves the same and is recorded here
        (`tunaeval.wrap_tool`). A tool that is wrapped already, or cannot be (which is logged), is
        returned unchanged.
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

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if self.enabled:
            with self._ending(error):
                self._score_at_once(judged=not _is_stop(error))

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
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
            self._active_recorder = self._run.__enter__()
        self._active_recorder.clear()
        self._inbox.open()
        if self.messages is not None:
            self._beginning = beginning_of(self.messages, self._given_start)
        if self._beginning is not None:
            self.start = self._beginning.start

    def _begin_anew(self) -> None:
        """Reset what was set inside the last block, unless it was set again since."""
        if self._left is None:
            return
        (messages, start), (given, given_start) = self._left, self._given
        if self.messages is messages and messages is not given:
            self.messages = None
        if self.start == start:
            self.start = given_start

    @contextmanager
    def _ending(self, error: BaseException | None) -> Iterator[None]:
        """Surround the scoring: failures are logged, not raised, and cancellations not delayed."""
        self._ended_by = None if error is None else _error_words(error)
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

        self.score = score(self._messages(), self.query, **self._keywords(judged=judged))

    async def _score_later(self) -> None:
        from .scores import ascore  # noqa: PLC0415 - see the top

        self.score = await ascore(self._messages(), self.query, **self._keywords(judged=True))

    def _messages(self) -> object:
        """Return the messages to be scored. Raise the error on entry, if there was one."""
        if self._fault is not None:
            raise self._fault
        if self.messages is None:
            raise UsageError(
                "the session was given no messages, so there is nothing to score; "
                "set session.messages before its block ends"
            )
        if isinstance(self.messages, Iterator):  # an iterator can be read only once
            self.messages = list(self.messages)
        self._find_start()
        if self._ended_by is None:
            return self.messages
        from tunaeval.data.adapters.documents import read_conversation  # noqa: PLC0415 - see the top

        return replace(read_conversation(self.messages), failure=self._ended_by)

    def _find_start(self) -> None:
        """Find where the task begins now, unless the host has set `start` meanwhile."""
        beginning, self._beginning = self._beginning, None
        if beginning is not None and beginning.start == self.start:
            self.start, self._note = beginning.found_in(self.messages)
            if self._note is not None:
                _LOG.warning("the task %.60r: %s", self.query, self._note)

    def _keywords(self, *, judged: bool) -> dict[str, Any]:
        """Return the keywords for `score`; a stopped run (not `judged`) waits for no judge."""
        for name in self._settings.keys() - ScoreKeywords.__annotations__.keys():
            raise UnknownNameError(
                "setting of a scoring session", name, ScoreKeywords.__annotations__
            )
        settings = {key: value for key, value in self._settings.items() if judged or key != "judge"}
        if self._note is not None:  # the conversation was compacted
            settings["notes"] = (*settings.get("notes", ()), self._note)
        return {**settings, "executions": self.executions, "start": self.start}

    def _failed(self, fault: Exception) -> None:
        self.failure = _error_words(fault)
        _LOG.warning("the task %.60r was not scored: %s", self.query, self.failure)

    def _close(self, error: BaseException | None) -> None:
        """Write the record, and release what the recorder kept."""
        self._left = (self.messages, self.start)
        if self._ended_by is not None and self.failure is None:
            self.failure = f"the run ended in an error: {self._ended_by}"
        self._inbox.close()
        self._active_recorder.clear()
        if self._run is not None:
            with suppress(ValueError):  # the block may end in another context
                self._run.__exit__(None, None, None)
            self._run = None
        if self._out is None:
            return
        try:
            from .scores import append_score  # noqa: PLC0415 - see the top

            ended_by = None if error is None else _error_words(error)
            append_score(self._out, self.query, self.score, failure=self.failure, ended_by=ended_by)
        except Exception as fault:  # noqa: BLE001 - as above
            _LOG.warning("a score could not be written to %s: %s", self._out, _error_words(fault))


def scoring_session(query: str, **settings: Unpack[SessionKeywords]) -> ScoringSession:
    """Return a session for one task, to be entered by `with` or `async with`.

    `settings` are those of `ScoringSession` (`messages`, `start`, `out`, `recorder`, `enabled`) and
    of `tunaeval.score` (`preset`, `categories`, `judge`, ...). A judge has to be awaited, so use
    `async with` if an event loop is running.

    Examples:
        >>> with tunaeval.scoring_session("Say hello", check=lambda seen: True) as session:
        ...     session.messages = [{"role": "assistant", "content": "Hello."}]
        ...
        >>> session.score.weighted_total
        1.0
    """
    return ScoringSession(query, **settings)


def wrapped(tool: Tool, recorder: Recorder) -> Tool:
    """Return the wrapped tool. If wrapping fails, log the failure and return the tool unchanged.

    Scoring may run unattended, and an agent without the tool would behave differently.
    """
    try:
        return wrap_tool(tool, recorder)
    except Exception as fault:  # noqa: BLE001 - as above
        _LOG.warning("a tool runs without being recorded: %s", _error_words(fault))
        return tool


def routed(tool: Tool, inbox: Inbox) -> Tool:
    """Like `wrapped`, but the tool reports to this inbox and to those of sessions that wrap it
    later. A tool that is recorded for sessions already is returned unchanged.
    """
    try:
        found = tuple(recorders_of(tool))
        routers = [one for one in found if isinstance(one, Router)]
        if not routers and not any(map(inbox.is_of, found)):
            routers = [Router()]
            tool = wrap_tool(tool, routers[0])
        for router in routers:
            router.add(inbox)
    except Exception as fault:  # noqa: BLE001 - as above
        _LOG.warning("a tool runs without being recorded: %s", _error_words(fault))
    return tool


def _is_stop(error: BaseException | None) -> bool:
    """Whether a run was stopped (cancelled, Ctrl-C, an exit) rather than failed."""
    return error is not None and not isinstance(error, Exception)


def _error_words(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - an exception's __str__ may raise, too
        return type(error).__name__


@dataclass(frozen=True, slots=True)
class Beginning:
    """The index `start` where a task begins, and the message before it, or None if unknown."""

    start: int
    before: object = None

    def found_in(self, messages: object) -> tuple[int, str | None]:
        """Return where the task begins now, and a note if the conversation was compacted."""
        items = _items(messages)
        if self.before is None or items is None:
            length = length_of(messages)
            return (self.start, None) if length >= self.start else (0, _all_of(length))
        index = self._place_in(items)
        if index is None:
            return 0, _all_of(len(items))
        if index + 1 == self.start:
            return self.start, None
        return index + 1, f"{_COMPACTED}; the task begins at message {index + 1} now"

    def _place_in(self, items: Sequence[object]) -> int | None:
        """Return the index of the message before the task, or None if it is gone.

        The same object is looked for first, then an equal message; both at the old index first.
        """
        where = list(range(len(items)))
        if self.start <= len(items):
            where.insert(0, self.start - 1)
        for is_it in (operator.is_, _alike):
            for index in where:
                if is_it(items[index], self.before):
                    return index
        return None


def beginning_of(messages: object, start: int | None = None) -> Beginning | None:
    """Return the beginning of a task at `start`, or at the next message if `start` is None. Return
    None if `messages` cannot be indexed or `start` is out of range; then `start` is used as is.
    """
    items = _items(messages)
    if start is None:
        start = length_of(messages) if items is None else len(items)
    elif items is None or not 0 <= start <= len(items):
        return None
    return Beginning(start, items[start - 1] if items and start else None)


def length_of(messages: object) -> int:
    """Return the number of messages; 0 for an iterator, which counting would use up."""
    if isinstance(messages, Iterator):
        return 0
    if isinstance(messages, Sized) and not isinstance(messages, Mapping):
        return len(messages)
    from tunaeval.data.adapters.documents import read_conversation  # noqa: PLC0415 - only sessions that are on

    return read_conversation(messages).length


_COMPACTED = "the conversation was compacted while the task ran"


def _all_of(length: int) -> str:
    return (
        f"{_COMPACTED} and the last message from before it is gone; "
        f"all {length} messages that are left were scored"
    )


def _items(messages: object) -> Sequence[object] | None:
    """Return the messages as a sequence if that is possible without parsing them, else None."""
    if isinstance(messages, Sequence) and not isinstance(messages, str | bytes):
        return messages
    if isinstance(messages, Iterator):
        return None
    from tunaeval.data.adapters.documents import held_messages  # noqa: PLC0415 - as above

    items = held_messages(messages)
    return items if items is not None and len(items) == length_of(messages) else None


def _alike(one: object, other: object) -> bool:
    """Whether two messages are equal, or are read alike, as an object and its dump are."""
    from tunaeval.data.adapters.documents import read_conversation  # noqa: PLC0415 - as above

    try:
        if one == other or _fields(one) == _fields(other):
            return True
        return read_conversation([one]).messages == read_conversation([other]).messages
    except Exception:  # noqa: BLE001 - messages of others may raise anything when compared
        return False


def _fields(message: object) -> object:
    """Return a message's fields, to compare messages without text, which cannot be read alone."""
    return message if isinstance(message, Mapping) else getattr(message, "__dict__", message)
