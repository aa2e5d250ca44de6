"""What a transcript says of its calls: each joined with its result and its execution, by id.

Calls, results and executions are indexed in one pass each, so that twice the messages take twice
the time. An id that is used again belongs to the next result, not to the same one; what has no id
is joined in order. A result that comes before its call is found all the same.

A batch is what was called in parallel: the calls of one message, or of several that all come
before the first answer to any of them.
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
    """One call and how it ended; `success` is None for a dangling one, which has no result.

    `key` is the same for calls of one tool with equal arguments. `invalid` is why `arguments` are
    empty although something else was written, None for most. `message` and `result` are indices
    of the messages that have the call and its result, `answer` is what that says, and `seconds` is
    None where nobody measured. `tested` marks a run of tests that failed: a result of the agent's
    work, and no failed tool.
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
        """Whether the tool failed, rather than the work that it looked at."""
        return self.failed and not self.tested

    @property
    def worked(self) -> bool:
        """Whether the tool did what it is for, whatever it found."""
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
    """A transcript, read once for all categories: its calls in order, the executions that none of
    them has made (`uncalled`, in the order in which they began), what could not be joined
    (`notes`), and the settings that it is looked at with.
    """

    transcript: Transcript
    settings: ScoreSettings
    runs: tuple[CallRun, ...]
    notes: tuple[str, ...] = ()
    uncalled: tuple[ToolExecution, ...] = ()


def history_of(transcript: Transcript, settings: ScoreSettings = USUAL_SETTINGS) -> History:
    """Read a transcript. An execution's word goes before that of the transcript."""
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
        said = None if answer is None else _success(answer)
        if index > before and index > answered:
            batch, answered = batch + 1, len(messages)
        before, answered = index, min(answered, -1 if result is None else result)
        text = None if answer is None else answer.content
        success = said if execution is None else _agreed(execution, said)
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
    """Equal texts for calls of one tool with equal arguments, whatever the order of their keys."""
    said = call.invalid if call.repairs else None
    return f"{call.name} {said or canonical(call.arguments)}"


def _success(message: Message) -> Success:
    if message.is_error:
        return _DECLARED._replace(error=message.content or None)
    return returned(message.content)


def _agreed(execution: ToolExecution | None, said: Success | None) -> Success | None:
    """What the wrapper saw, unless it saw nothing wrong and the transcript declares a failure."""
    if execution is None:
        return said
    if not execution.ok:
        return Success(ok=False, reason=execution.ok_reason, error=execution.error)
    return said if said is not None and not said.ok else _RAN._replace(reason=execution.ok_reason)


def _notes(results: int, joined: Joined) -> tuple[str, ...]:
    """What was left over."""
    left = {"result": results, "execution": len(joined.uncalled) + joined.unclear}
    return tuple(
        f"{number} {what}{'s' * (number > 1)} without a call"
        for what, number in left.items() if number
    )  # fmt: skip
