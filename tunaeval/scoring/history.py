"""Each call of a transcript with its result and its execution, and the categories that judge them.

Calls, results and executions are indexed in one pass each, so the time is linear in the messages.
If several calls share an id, the results with this id answer them in order; so do results without
an id answer the calls without one. A result is found even if it comes before its call.

A batch is what was called in parallel: the calls of one message, or of several messages that all
come before the first answer to any of them.

Executions are matched with calls by id, else by tool and order. A call may have been executed more
than once: its last execution decides how it ended. If several calls share an id, each has one
execution, in order, and the last call has the rest.

Executions without an id (or with an id, if no call of their tool has one) are matched in order with
the calls of their tool if there are equally many: the counts are the same in any order. If there
are more executions, each call takes the one with its arguments, or else the next one, and the rest
have no call; if there are fewer, it is unknown to which calls they belong.

An execution that ended because its host waits for a human is neither a failure nor an answer: it is
ignored, and counts as no call of its own.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import orjson

from tunaeval.tools.success import INTERRUPTED, Success, returned
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall
from tunaeval.types.conversations import Transcript, results_of
from tunaeval.types.history import History, HistoryCall
from tunaeval.types.messages import Message, ToolExecution
from tunaeval.types.runs import CategoryScore

from .running_tests import shows_failed_tests
from .settings import USUAL_SETTINGS, ScoreSettings

_DECLARED = Success(ok=False, reason="is-error")
_RAN = Success(ok=True, reason="assumed")
_UNKNOWN = Success(ok=False, reason="")
_NAMELESS = Success(ok=False, reason="invalid-name", error="the call has no tool's name")


@dataclass(frozen=True, slots=True)
class SettledHistory(History):
    """A history with the settings by which the built-in categories judge it."""

    settings: ScoreSettings = USUAL_SETTINGS


def history_of(transcript: Transcript, settings: ScoreSettings = USUAL_SETTINGS) -> SettledHistory:
    """Match a transcript's calls with their results and executions; a failure in either counts."""
    messages = transcript.messages
    results = results_of(messages)
    calls = [(index, call) for index, message in enumerate(messages) for call in message.tool_calls]
    joined = join(transcript.executions, [call for _, call in calls])
    made: list[HistoryCall] = []
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
        success = success if call.name.strip() else _NAMELESS  # whatever it got as its result
        ended = success or _UNKNOWN
        made.append(
            HistoryCall(
                call.name, call.arguments, _key(call), batch, index, call.id,
                None if success is None else success.ok, ended.reason or None, ended.error,
                None if execution is None else execution.duration_seconds,
                text, result,
                call.invalid if call.repairs else None,
                success is not None and not success.ok
                and shows_failed_tests(call, success, text, settings.test_commands),
            )
        )  # fmt: skip
    return SettledHistory(
        transcript.query, messages, transcript.executions, transcript.checked, transcript.failure,
        transcript.written, tuple(made), joined.uncalled,
        _notes(sum(map(len, results.values())), joined), settings,
    )  # fmt: skip


def _key(call: ToolCall) -> str:
    """Return a text that is the same for all calls of one tool with equal arguments."""
    seen = call.invalid if call.repairs else None
    return f"{call.name} {seen or canonical(call.arguments)}"


def _success(message: Message) -> Success:
    if message.is_error:
        return _DECLARED._replace(error=message.content or None)
    return returned(message.content)


def _agreed(execution: ToolExecution, seen: Success | None) -> Success:
    """Return whether an executed call succeeded: it failed if its execution or its result did."""
    if not execution.ok:
        return Success(ok=False, reason=execution.ok_reason, error=execution.error)
    return seen if seen is not None and not seen.ok else _RAN._replace(reason=execution.ok_reason)


def _notes(results: int, joined: Joined) -> tuple[str, ...]:
    """Return notes such as "2 results without a call", on results and executions."""
    left = {"result": results, "execution": len(joined.uncalled) + joined.unclear}
    return tuple(
        f"{number} {what}{'s' * (number > 1)} without a call"
        for what, number in left.items() if number
    )  # fmt: skip


class Joined(NamedTuple):
    """Executions matched with calls.

    `decisive` maps the index of a call to the execution that says how the call ended; `uncalled`
    are the executions without a call, by their start; `unclear` is the number of executions that
    may belong to any of several calls.
    """

    decisive: dict[int, ToolExecution]
    uncalled: tuple[ToolExecution, ...] = ()
    unclear: int = 0


def join(executions: Iterable[ToolExecution], calls: Sequence[ToolCall]) -> Joined:
    """Match executions with calls: by id, else by tool and order (see the top of this file)."""
    began = sorted(executions, key=lambda execution: execution.started_at)
    if not began:
        return Joined({})
    ids = {one.call_id for one in began} & {call.id for call in calls} - {None}
    named = {call.name for call in calls if call.id is not None}
    sharing, wanting = _numbered(calls, ids)
    by_id: _Executions = defaultdict(list)
    by_tool: _Executions = defaultdict(list)
    left = []
    for one in began:
        if one.ok_reason == INTERRUPTED.reason:
            continue
        if one.call_id is not None and one.call_id in ids:
            by_id[one.call_id].append(one)
        elif one.call_id is None or (one.tool in wanting and one.tool not in named):
            by_tool[one.tool].append(one)
        else:
            left.append(one)
    decisive = _by_id(by_id, sharing)
    unclear = 0
    for tool, waiting in by_tool.items():
        numbers = wanting.get(tool, [])
        if len(waiting) == len(numbers):
            decisive.update(zip(numbers, waiting, strict=True))
            continue
        unclear += min(len(waiting), len(numbers))
        left += _surplus(waiting, [calls[number].arguments for number in numbers])
    left.sort(key=lambda execution: execution.started_at)
    return Joined(decisive, tuple(left), unclear)


_Executions: TypeAlias = dict[str, list[ToolExecution]]
_Numbers: TypeAlias = dict[str, list[int]]


def _numbered(calls: Sequence[ToolCall], ids: Container[str | None]) -> tuple[_Numbers, _Numbers]:
    """Return the calls' indices: by id for calls with one of `ids`, by tool for all others."""
    sharing: _Numbers = defaultdict(list)
    wanting: _Numbers = defaultdict(list)
    for number, call in enumerate(calls):
        if call.id is not None and call.id in ids:
            sharing[call.id].append(number)
        else:
            wanting[call.name].append(number)
    return sharing, wanting


def _by_id(executions: _Executions, sharing: _Numbers) -> dict[int, ToolExecution]:
    found: dict[int, ToolExecution] = {}
    for call_id, numbers in sharing.items():
        several = executions.get(call_id, [])
        found.update(zip(numbers, several, strict=False))
        if len(several) > len(numbers):
            found[numbers[-1]] = several[-1]
    return found


def _surplus(
    executions: Sequence[ToolExecution], arguments: Sequence[JsonObject]
) -> list[ToolExecution]:
    """Return the executions of a tool that are left after each of its calls has taken one.

    `arguments` are those of the calls. A call takes an execution with its arguments if there is
    one.
    """
    wanted: dict[str, int] = defaultdict(int)
    for one in arguments:
        wanted[canonical(one)] += 1
    others = []
    for execution in executions:
        key = canonical(execution.arguments)
        if wanted[key]:
            wanted[key] -= 1
        else:
            others.append(execution)
    return others[sum(wanted.values()) :]


def canonical(arguments: JsonObject) -> str:
    """Return a text that is the same for equal arguments, whatever the order of their keys."""
    try:
        return orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:  # integers beyond 64 bits, lone surrogates, deep nesting
        pass
    try:
        return json.dumps(arguments, sort_keys=True, default=_shown)
    except (TypeError, ValueError, RecursionError):  # built by hand, and not JSON at all
        return f"<{id(arguments)}>"


def _shown(value: JsonValue) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - repr() of a live tool's argument may raise anything
        return type(value).__name__


class CategoryFinding(NamedTuple):
    """What a category returns: a value from 0 to 1 or None, and the reason; not yet validated."""

    value: float | None
    reason: str
    evidence: tuple[int, ...] = ()
    judged: None = None
    failure: str | None = None

    def checked(self) -> CategoryScore:
        """Return the validated `CategoryScore`. Raises ValidationError for a value off 0 to 1."""
        return CategoryScore(
            value=self.value, reason=self.reason, evidence=self.evidence, failure=self.failure
        )


@dataclass(frozen=True, slots=True)
class Category:
    """A built-in `Scorer`: a name, a weight, and a function from a history to its verdict."""

    name: str
    weight: float
    verdict: Callable[[SettledHistory], CategoryFinding]

    def score(self, history: History) -> CategoryScore:
        """Judge a history; one without settings by the usual ones."""
        settled = history if isinstance(history, SettledHistory) else history_of(history)
        return self.verdict(settled).checked()


class Counts(NamedTuple):
    """Counts of a transcript's calls; `doubtful` are successes whose text reads like a failure."""

    calls: int
    succeeded: int
    failed: int
    dangling: int
    retries: int
    doubtful: int = 0


def where(calls: Iterable[HistoryCall]) -> tuple[int, ...]:
    """Return these calls' message indices: of the result if there is one, else of the call."""
    found = {one.message if one.result_message is None else one.result_message for one in calls}
    return tuple(sorted(found))
