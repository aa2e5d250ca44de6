"""The result of an episode of many turns, in the form of results of single questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tunaeval.errors import TransportFailure
from tunaeval.showing import counted
from tunaeval.types.calls import ToolCall
from tunaeval.types.exchange import Reply
from tunaeval.types.parsing import LEVELS, Level, ParseResult
from tunaeval.types.runs import (
    AttemptRecord,
    CheckRecord,
    LevelResult,
    ResultRecord,
    RunOutcome,
    Scenario,
    ScenarioResult,
    TaskRecord,
)

from .episode import call_record, leaked_in, sum_if_all
from .grading.reactions import recovered


@dataclass(frozen=True, slots=True)
class Turn:
    """A reply in an episode, what each level reads in it, and the calls that were run. `user` is
    the user's message right before it; `touched` are the paths that its calls changed.
    """

    reply: Reply
    read: Mapping[Level, ParseResult]
    calls: tuple[ToolCall, ...]
    user: str | None = None
    results: tuple[ResultRecord, ...] = ()
    touched: tuple[str, ...] = ()


def task_result(
    scenario: Scenario,
    turns: Sequence[Turn],
    *,
    task: TaskRecord,
    failure: TransportFailure | None,
    level: Level,
    repeat: int,
) -> ScenarioResult:
    """Return the result; `task` has no first wrong turn yet. One failed check fails the episode; a
    check that could not be made says nothing about the model, so there is no verdict.
    """
    failed = _failed(task.checks)
    outcome, reason, error = _judged(turns, task, failure, level)
    ok = error is None and all(check.ok for check in task.checks)
    records = tuple(_attempt(turn, level) for turn in turns)
    calls = tuple(record for one in records for record in one.calls)
    wrong = min((one.turn for one in failed if one.turn is not None), default=None)
    return ScenarioResult.model_construct(  # our own values need no validation
        **_about(scenario, repeat),
        **_spent(records),
        got=calls,
        ok=ok,
        first_attempt_ok=ok,
        reason=reason,
        outcome=outcome,
        format=calls[0].format if calls else None,
        repairs=tuple(code for call in calls for code in call.repairs),
        levels={one: _level(turns, one, level, ok=ok) for one in LEVELS},
        attempts=records,
        error=error,
        leaked_calls=sum(leaked_in(turn.read[level]) for turn in turns),
        task=task.model_copy(
            update={"wrong_turn": wrong, "recovered": recovered(task.faults, passed=ok)}
        ),
    )


def _about(scenario: Scenario, repeat: int) -> dict[str, Any]:
    return {
        "scenario": scenario.id,
        "repeat": repeat,
        "prompt": scenario.prompt,
        "expected": scenario.expect,
        "tags": scenario.tags,
        "group": scenario.group,
        "weight": scenario.weight,
        "abstain": scenario.abstain,
    }


def _spent(records: Sequence[AttemptRecord]) -> dict[str, Any]:
    kinds = ("latency_seconds", "prompt_tokens", "completion_tokens")
    return {kind: sum_if_all([getattr(one, kind) for one in records]) for kind in kinds}


def _judged(
    turns: Sequence[Turn],
    task: TaskRecord,
    failure: TransportFailure | None,
    level: Level,
) -> tuple[RunOutcome, str, str | None]:
    """Return the outcome, its reason, and an error if there is no verdict."""
    if failure is not None:
        return "transport_failure", f"no reply: {failure}", f"{failure.kind}: {failure}"
    if task.other_turn is not None:
        words = (
            f"turn {task.other_turn} makes other calls than were run, so nobody knows what follows"
        )
        return "judge_failure", words, f"replies: {words}"
    checks = task.checks
    broken, failed = next((one for one in checks if one.ok is None), None), _failed(checks)
    if broken is not None:
        words = f"{broken.check}: {broken.reason}"
        return "judge_failure", words, f"check: {words}"
    outcome = _outcome(turns, level)
    ending = task.ended_by
    if not failed:
        words = f"{counted(len(checks), 'check')} passed, in {counted(len(turns), 'turn')}"
        return outcome, f"{words}; {ending}" if ending else words, None
    first = min(failed, key=lambda one: one.turn or len(turns))
    more = f"; and {counted(len(failed) - 1, 'more check')} failed" if len(failed) > 1 else ""
    words = f"turn {first.turn or len(turns)}: {first.check}: {first.reason}{more}"
    return outcome, f"{ending}; {words}" if ending else words, None


def _failed(checks: Sequence[CheckRecord]) -> list[CheckRecord]:
    return [check for check in checks if check.ok is False]


def _outcome(turns: Sequence[Turn], level: Level) -> RunOutcome:
    """Return the last reply's outcome if that is a broken call, else "calls" or "no_call"."""
    last: RunOutcome = turns[-1].read[level].outcome if turns else "no_call"
    if last in {"malformed", "truncated"}:
        return last
    return "calls" if any(turn.calls for turn in turns) else "no_call"


def _level(turns: Sequence[Turn], one: Level, run: Level, *, ok: bool) -> LevelResult:
    passed = ok and all(
        _plain(turn.read[one].calls) == _plain(turn.read[run].calls) for turn in turns
    )
    return LevelResult(ok=passed, first_attempt_ok=passed)


def _plain(calls: Sequence[ToolCall]) -> list[tuple[str, object]]:
    return [(call.name, call.arguments) for call in calls]


def _attempt(turn: Turn, level: Level) -> AttemptRecord:
    reply, result = turn.reply, turn.read[level]
    return AttemptRecord.model_construct(
        message=reply.message,
        finish_reason=reply.finish_reason,
        latency_seconds=reply.latency_seconds,
        prompt_tokens=reply.usage.prompt_tokens,
        completion_tokens=reply.usage.completion_tokens,
        retries=reply.retries,
        outcome=result.outcome,
        calls=tuple(map(call_record, turn.calls)),
        diagnoses=tuple(f"{found.code}: {found.message}" for found in result.diagnoses),
        source=reply.source,
        user=turn.user,
        results=turn.results,
        touched=turn.touched,
    )
