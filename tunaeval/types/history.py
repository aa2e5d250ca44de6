"""A transcript with its calls matched to their results and executions, as categories read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from .calls import JsonObject
from .conversations import Transcript
from .messages import ToolExecution


class HistoryCall(NamedTuple):
    """A call of a transcript and how it ended, in the words of a `ToolExecution`.

    `ok`, `ok_reason` and `error` are None for a call without a result, and `duration_seconds` if
    nobody measured it. `result` is the result's text. `message` and `result_message` are the
    indices of the messages with the call and with its result. Calls that were made in parallel
    have the same `batch`. `key` is equal for calls of one tool with equal arguments. `invalid` says
    why `arguments` are empty although something unreadable was written; else it is None. `tested`
    is true if the call ran tests that failed: the tool itself worked.
    """

    tool: str
    arguments: JsonObject
    key: str
    batch: int
    message: int
    call_id: str | None = None
    ok: bool | None = None
    ok_reason: str | None = None
    error: str | None = None
    duration_seconds: float | None = None
    result: str | None = None
    result_message: int | None = None
    invalid: str | None = None
    tested: bool = False

    @property
    def broke(self) -> bool:
        """Whether the tool itself failed, rather than the tests that it ran."""
        return self.failed and not self.tested

    @property
    def worked(self) -> bool:
        """Whether the tool did its work: with a good result, or with tests that ran and failed."""
        return self.succeeded or self.tested

    @property
    def failed(self) -> bool:
        return self.ok is False

    @property
    def succeeded(self) -> bool:
        return self.ok is True

    @property
    def dangles(self) -> bool:
        return self.ok is None


@dataclass(frozen=True, slots=True)
class History(Transcript):
    """A transcript as all categories get it.

    `calls` are its calls in order, each with its result; `uncalled` are executions that belong to
    no call, by their start; `notes` say what could not be matched. The rest is as in `Transcript`.
    """

    calls: tuple[HistoryCall, ...] = ()
    uncalled: tuple[ToolExecution, ...] = ()
    notes: tuple[str, ...] = ()
