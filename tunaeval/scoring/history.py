"""Join each call of a transcript with its result and its execution, by id.

Calls, results and executions are indexed in one pass each, so the time is linear in the messages. A
reused id belongs to the next result, not to the same one; calls without an id are joined in order.
A result is found even if it comes before its call.

A batch is what was called in parallel: the calls of one message, or of several messages that all
come before the first answer to any of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tunaeval.tools.success import Success, returned
from tunaeval.types.calls import JsonObject, ToolCall
from tunaeval.types.conversations import results_of
from tunaeval.types.messages import Message, ToolExecution
from tunaeval.types.roles import Transcript

from .executions import Joined, canonical, join
from .running_tests import shows_failed_tests
from .settings import USUAL_SETTINGS, ScoreSettings

_DECLARED = Success(ok=False, reason="is-error")
_RAN = Success(ok=True, reason="assumed")


class CallRun(NamedTuple):
    """One call and how it ended; `success` is None for a dangling call, which has no result.

    `key` is equal for calls of one tool with equal arguments. `invalid` is why `arguments` are
    empty although something else was written, usually None. `message` and `result` are the indices
    of the messages with the call and its result, `answer` is the result's text, and `seconds` is
    None if unmeasured. `tested` marks a run of tests that failed: a result of the agent's work, and
    no failed tool.
    """

    tool: str
    arguments: JsonObject
    key: str
    batch: int
    message: int
    result: int | None = None
    answer: str | None = None
    success: Success | None = None
    seconds: float | None = None
    invalid: str | None = None
    tested: bool = False

    @property
    def broke(self) -> bool:
        """Whether the tool itself failed, and not just the tests that it ran."""
        return self.failed and not self.tested

    @property
    def worked(self) -> bool:
        """Whether the tool did its work, whatever the result."""
        return self.succeeded or self.tested

    @property
    def failed(self) -> bool:
        return self.success is not None and not self.success.ok

    @property
    def succeeded(self) -> bool:
        return self.success is not None and self.success.ok

    @property
    def dangles(self) -> bool:
        return self.success is None


@dataclass(frozen=True, slots=True)
class History:
    """A transcript as all categories read it: its calls in order, the executions without a call
    (`uncalled`, by their start), notes on what could not be joined, and the settings.
    """

    transcript: Transcript
    settings: ScoreSettings
    runs: tuple[CallRun, ...]
    notes: tuple[str, ...] = ()
    uncalled: tuple[ToolExecution, ...] = ()


def history_of(transcript: Transcript, settings: ScoreSettings = USUAL_SETTINGS) -> History:
    """Return a transcript's history; an execution takes precedence over the transcript's result."""
    messages = transcript.messages
    results = results_of(messages)
    calls = [(index, call) for index, message in enumerate(messages) for call in message.tool_calls]
    joined = join(transcript.executions, [call for _, call in calls])
    runs: list[CallRun] = []
    batch, before, answered = -1, -1, -1
    for number, (index, call) in enumerate(calls):
        waiting = results.get(call.id)
        result = waiting.popleft() if waiting else None
        execution = joined.decisive.get(number)
        answer = None if result is None else messages[result]
        seen = None if answer is None else _success(answer)
        if index > before and index > answered:  # a message after the first answer to the batch
            batch, answered = batch + 1, len(messages)
        before, answered = index, min(answered, -1 if result is None else result)
        text = None if answer is None else answer.content
        success = seen if execution is None else _agreed(execution, seen)
        runs.append(
            CallRun(
                call.name, call.arguments, _key(call), batch, index, result, text, success,
                None if execution is None else execution.duration_seconds,
                call.invalid if call.repairs else None,
                success is not None and not success.ok
                and shows_failed_tests(call, success, text, settings.test_commands),
            )
        )  # fmt: skip
    notes = _notes(sum(map(len, results.values())), joined)
    return History(transcript, settings, tuple(runs), notes, joined.uncalled)


def _key(call: ToolCall) -> str:
    """Return equal texts for calls of one tool with equal arguments, regardless of key order."""
    seen = call.invalid if call.repairs else None
    return f"{call.name} {seen or canonical(call.arguments)}"


def _success(message: Message) -> Success:
    if message.is_error:
        return _DECLARED._replace(error=message.content or None)
    return returned(message.content)


def _agreed(execution: ToolExecution | None, seen: Success | None) -> Success | None:
    """Return the wrapper's verdict unless only the transcript declares a failure."""
    if execution is None:
        return seen
    if not execution.ok:
        return Success(ok=False, reason=execution.ok_reason, error=execution.error)
    return seen if seen is not None and not seen.ok else _RAN._replace(reason=execution.ok_reason)


def _notes(results: int, joined: Joined) -> tuple[str, ...]:
    """Return notes on results and executions without a call."""
    left = {"result": results, "execution": len(joined.uncalled) + joined.unclear}
    return tuple(
        f"{number} {what}{'s' * (number > 1)} without a call"
        for what, number in left.items() if number
    )  # fmt: skip
