"""Run a task with a whole agent that has its own tools: prepare, wait, and grade.

The agent works in its own way; its model's replies are known only if the agent reports them. A turn
is a reply of that model. All changes count as the last turn's, because nobody knows their turns.
"""

from __future__ import annotations

import asyncio
from itertools import zip_longest

from tunaeval.errors import TransportFailure, WorkspaceError
from tunaeval.registry import who, words_of
from tunaeval.tools.workspace.space import Workspace
from tunaeval.types.calls import Tools
from tunaeval.types.exchange import AgentRun, AgentTask, Reply
from tunaeval.types.roles import Agent
from tunaeval.types.runs import Scenario, ScenarioResult, Task, TaskRecord

from .driving import Environment, graded
from .episode import Read, Rules, read_at_all_levels
from .grading.reactions import Met
from .turn_results import Turn, task_result

_GRACE_SECONDS = 5.0
"""Seconds beyond the task's time for an agent that stops by itself in time."""


async def drive_agent(
    scenario: Scenario,
    tools: Tools,
    agent: Agent,
    *,
    read: Read,
    rules: Rules,
    environment: Environment,
    seconds: float,
    repeat: int = 1,
) -> ScenarioResult:
    """Let the agent work in a workspace of its own, for `seconds` at most unless the task has its
    own limit, and grade what it leaves.
    """
    task = scenario.task or Task()
    limit = task.limits.seconds or seconds
    record, failure = TaskRecord(ended="failure"), None
    turns: tuple[Turn, ...] = ()
    try:
        with Workspace(task.contents(), commands=task.commands, pages=task.pages) as workspace:
            faults = tuple(one.written() for one in task.faults)
            work = AgentTask(
                scenario.prompt, str(workspace.path), limit, scenario.id, repeat, faults
            )
            ran = await _work(agent, work)
            turns = _turns(ran, workspace, read, rules)
            checked = await graded(
                scenario, tools, workspace, answer=ran.answer, turns=turns,
                seen=workspace.before, profile=rules.profile, seconds=environment.checks_seconds,
                met=_met(task, ran),
            )  # fmt: skip
            record = checked.record(ran.ended, ran.answer, ran.words or None)
    except TransportFailure as caught:
        failure = caught
    except (OSError, WorkspaceError) as error:
        failure = TransportFailure(words_of(error), kind="workspace")
    return task_result(
        scenario, turns, task=record, failure=failure, level=rules.level, repeat=repeat
    )


def _met(task: Task, ran: AgentRun) -> list[Met]:
    """Pair faults with the turns that met them; unknown if the agent did not use our endpoint."""
    turns = ran.met[: len(task.faults)]
    return [Met(fault, turn) for fault, turn in zip_longest(task.faults, turns)]


async def _work(agent: Agent, task: AgentTask) -> AgentRun:
    """Return the agent's run; an exception is its error, and a hanging agent is left behind."""
    try:
        async with asyncio.timeout(task.within_seconds + _GRACE_SECONDS):
            return await agent.work(task)
    except TimeoutError:
        return AgentRun("", ended="seconds", words=f"it took over {task.within_seconds:g} s")
    except TransportFailure:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - an agent may raise anything
        return AgentRun("", ended="error", words=f"{who(agent, 'agent')} raised {words_of(error)}")


def _turns(ran: AgentRun, workspace: Workspace, read: Read, rules: Rules) -> tuple[Turn, ...]:
    """Return a turn for each reply, or one with the final words if no reply was reported."""
    words = {"role": "assistant", "content": ran.answer or ran.words}
    replies = ran.replies or (Reply(words),)
    found = [(reply, read_at_all_levels(reply, read)) for reply in replies]
    last, touched = len(found) - 1, workspace.changes().paths
    return tuple(
        Turn(reply, at, at[rules.level].calls, touched=touched if index == last else ())
        for index, (reply, at) in enumerate(found)
    )
