"""What a transcript says of its calls: each joined with its result and its execution, by id.

Calls, results and executions are indexed in one pass each, so that twice the messages take twice
the time. An id that is used again belongs to the next result, not to the same one; what has no id
is joined in order. A result that comes before its call is found all the same.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from tunaeval.success import Success, returned
from tunaeval.types import Message, ToolExecution
from tunaeval.types.roles import Transcript

_RESULT_ROLES = frozenset({"tool", "function", "tool_result"})
_DECLARED = Success(ok=False, reason="is-error")
_RAN = Success(ok=True, reason="assumed")

Results: TypeAlias = dict[str | None, deque[int]]


class CallRun(NamedTuple):
    """One call and how it ended; `success` is None for a dangling one, which has no result.

    `message` and `result` are indices of the messages that hold the call and its result.
    """

    tool: str
    message: int
    result: int | None
    success: Success | None


@dataclass(frozen=True, slots=True)
class History:
    """A transcript, read once: its calls in order, its size, and what could not be joined."""

    runs: tuple[CallRun, ...]
    messages: int
    characters: int
    notes: tuple[str, ...] = ()


def history_of(transcript: Transcript) -> History:
    """Read a transcript. An execution's word goes before that of the transcript."""
    messages = transcript.messages
    results = _results(messages)
    calls = [
        (index, call.name, call.id)
        for index, message in enumerate(messages)
        for call in message.tool_calls
    ]
    timed = _Executions(transcript.executions, calls)
    runs = []
    for index, tool, call_id in calls:
        waiting = results.get(call_id)
        result = waiting.popleft() if waiting else None
        said = None if result is None else _success(messages[result])
        runs.append(CallRun(tool, index, result, _agreed(timed.of(tool, call_id), said)))
    orphans = sum(len(waiting) for waiting in results.values())
    return History(
        runs=tuple(runs),
        messages=len(messages),
        characters=sum(len(message.content) for message in messages),
        notes=tuple(_notes({"result": orphans, "execution": timed.left()})),
    )


def _results(messages: tuple[Message, ...]) -> Results:
    found: Results = defaultdict(deque)
    for index, message in enumerate(messages):
        if message.tool_call_id is not None or message.role in _RESULT_ROLES:
            found[message.tool_call_id].append(index)
    return found


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


class _Executions:
    """Executions by call id; those without one by tool, where calls and executions are as many.

    Then it does not matter for any count which of them belongs to which call.
    """

    def __init__(
        self, executions: Iterable[ToolExecution], calls: list[tuple[int, str, str | None]]
    ) -> None:
        self._by_id: dict[str, deque[ToolExecution]] = defaultdict(deque)
        self._by_tool: dict[str, deque[ToolExecution]] = defaultdict(deque)
        for execution in sorted(executions, key=lambda execution: execution.started_at):
            if execution.call_id is None:
                self._by_tool[execution.tool].append(execution)
            else:
                self._by_id[execution.call_id].append(execution)
        wanting: dict[str, int] = defaultdict(int)
        for _, tool, call_id in calls:
            wanting[tool] += call_id not in self._by_id
        self._countable = {
            tool for tool, waiting in self._by_tool.items() if len(waiting) == wanting[tool]
        }

    def of(self, tool: str, call_id: str | None) -> ToolExecution | None:
        if call_id is not None and self._by_id.get(call_id):
            return self._by_id[call_id].popleft()
        if tool in self._countable and self._by_tool[tool]:
            return self._by_tool[tool].popleft()
        return None

    def left(self) -> int:
        queues = (*self._by_id.values(), *self._by_tool.values())
        return sum(len(waiting) for waiting in queues)


def _notes(left: dict[str, int]) -> Iterable[str]:
    for what, number in left.items():
        if number:
            yield f"{number} {what}{'s' * (number > 1)} without a call"
