"""Read an episode of many turns again: no model is asked and no tool is run.

The results of the tools belong to the calls that were run. If other rules read the same calls in
every turn, the grades of the workspace and the answer remain, and only the calls are compared anew.
If they read different calls, it is unknown what would have followed: no verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tunaeval.errors import TransportFailure
from tunaeval.types.calls import ToolCall, Tools
from tunaeval.types.exchange import Reply
from tunaeval.types.runs import AttemptRecord, CheckRecord, Scenario, ScenarioResult, TaskRecord
from tunaeval.types.tasks import CallsCheck

from .episode import Read, Reread, Rules, read_at_all_levels
from .grading.grades import grade
from .grading.state import FinalState
from .turn_results import Turn, task_result


def reread_task(
    scenario: Scenario,
    old: ScenarioResult,
    replies: Sequence[Reply],
    failure: TransportFailure | None,
    *,
    tools: Tools,
    read: Read,
    rules: Rules,
) -> Reread:
    """Return the result by other rules; `unasked` if these read other calls than were run."""
    pairs = zip(replies, old.attempts, strict=False)
    turns = [_turn(reply, was, read, rules) for reply, was in pairs]
    other = next((turn for turn, (_, is_same) in enumerate(turns, 1) if not is_same), None)
    seen = [turn for turn, _ in turns]
    record = (old.task or TaskRecord(ended="answer")).model_copy(update={"other_turn": other})
    if other is None and failure is None:
        checks = _checks(scenario, old, record, seen, tools=tools, rules=rules)
        record = record.model_copy(update={"checks": checks})
    result = task_result(
        scenario, seen, task=record, failure=failure, level=rules.level, repeat=old.repeat
    )
    return Reread(result, unasked=other is not None)


def _turn(reply: Reply, was: AttemptRecord, read: Read, rules: Rules) -> tuple[Turn, bool]:
    """Return the reply as read now, with the calls that were run, and whether both are the same."""
    found = read_at_all_levels(reply, read)
    now = found[rules.level].calls
    is_same = [(one.name, one.arguments) for one in now] == [
        (one.name, one.arguments) for one in was.calls
    ]
    ran = (
        tuple(replace(call, id=one.id) for call, one in zip(now, was.calls, strict=True))
        if is_same
        else tuple(ToolCall(one.name, one.arguments, one.id, one.format) for one in was.calls)
    )
    return Turn(reply, found, ran, was.user, was.results, was.touched), is_same


def _checks(
    scenario: Scenario,
    old: ScenarioResult,
    record: TaskRecord,
    turns: Sequence[Turn],
    *,
    tools: Tools,
    rules: Rules,
) -> tuple[CheckRecord, ...]:
    """Return the check records, of which only those about calls are made again."""
    numbered = [(number, call) for number, turn in enumerate(turns, 1) for call in turn.calls]
    state = FinalState(
        prompt=scenario.prompt,
        answer=record.answer,
        calls=tuple(call for _, call in numbered),
        turns=max(1, len(turns)),
        call_turns=tuple(number for number, _ in numbered),
        tools=tools,
        profile=rules.profile,
    )

    def again(was: CheckRecord) -> CheckRecord:
        wanted = scenario.expect if was.calls == old.expected else was.calls
        return was if wanted is None else grade([CallsCheck(calls=wanted)], state)[0]

    return tuple(map(again, record.checks))
