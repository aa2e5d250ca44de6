"""Drive an episode of many turns: the workspace, tools, user and checks around `turns`.

A tool's error is a result that the model sees; an error of the workspace or a check is an
infrastructure failure. Neither ends the run.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from tunaeval.errors import TransportFailure, UsageError, WorkspaceError
from tunaeval.registry import shown, words_of
from tunaeval.tools.executor import Backoff, Executor, ToolResult
from tunaeval.tools.workspace.space import Snapshot, Workspace
from tunaeval.tools.workspace.toolbox import workspace_tools
from tunaeval.types.calls import JsonObject, ToolCall, Tools
from tunaeval.types.deadlines import Deadline
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.roles import AnyTool
from tunaeval.types.runs import (
    CheckRecord,
    Expectation,
    ResultRecord,
    Scenario,
    ScenarioResult,
    Task,
)
from tunaeval.types.tasks import CallsCheck, Check

from .faulting import Faulting, is_run, lateness, spoiled
from .grading.grades import grade
from .grading.reactions import Met, obeyed, reported
from .grading.state import FinalState
from .left_behind import beside, leaving
from .turn_results import Turn
from .turns import OUT_OF_TIME, Answered, Ended, Graded, OutOfTime, Results, Run, Sent, TaskEpisode

CHECKS_SECONDS = 120.0
"""Seconds that all checks of an episode may take together before they count as failed."""
MAX_RESULT = 64 * 1024
"""The most characters of a tool's result that the model sees."""

ToolMaker: TypeAlias = Callable[[Workspace], "Mapping[str, AnyTool] | Iterable[AnyTool]"]
User: TypeAlias = Callable[[Sequence[JsonObject]], "str | Awaitable[str | None] | None"]
Ask: TypeAlias = Callable[[Request, Deadline], Awaitable[Reply | TransportFailure]]
"""Asks the client, which stops the deadline while all requests wait for a pause."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The tools, user and time limit of checks around episodes of many turns.

    `tools` run the calls: functions in a list or by name, or a function that returns these for a
    `Workspace`; None means the eight tools of a workspace. `user` is called with the messages each
    time the model has answered and the scenario's own user turns are used up; it returns the user's
    next message or None, and may be a coroutine function.

    Examples:
        >>> def ask(question: str) -> str:
        ...     return "forty-two"
        ...
        >>> environment = tunaeval.Environment(tools=[ask], user=lambda messages: None)
        >>> environment.checks_seconds
        120.0
    """

    tools: Mapping[str, AnyTool] | Iterable[AnyTool] | ToolMaker | None = None
    user: User | None = None
    checks_seconds: float = CHECKS_SECONDS

    def tools_in(self, workspace: Workspace) -> Mapping[str, AnyTool] | Iterable[AnyTool]:
        """Return the tools for a workspace."""
        if self.tools is None:
            return workspace_tools(workspace)
        if callable(self.tools) and not isinstance(self.tools, Mapping):
            return self.tools(workspace)
        return self.tools


async def drive(
    conversation: TaskEpisode,
    scenario: Scenario,
    tools: Tools,
    *,
    ask: Ask,
    environment: Environment,
    turn_seconds: float,
    profile: str | None = None,
) -> ScenarioResult:
    """Run an episode to its end in its own workspace, which is removed afterwards.

    Each turn may take `turn_seconds`; the whole may take what the task's limits allow.
    """
    task = scenario.task or Task()
    step = next(conversation)
    try:
        workspace = Workspace(task.contents(), commands=task.commands, pages=task.pages)
    except (OSError, WorkspaceError) as error:
        return _end(conversation, TransportFailure(words_of(error), kind="workspace"))
    with workspace:
        driver = _Driver(scenario, task, tools, workspace, environment, ask, turn_seconds, profile)
        while True:
            sent = await driver.answer(step)
            try:
                step = conversation.send(sent)
            except StopIteration as end:
                result: ScenarioResult = end.value
                return result


def _end(conversation: TaskEpisode, failure: TransportFailure) -> ScenarioResult:
    try:
        conversation.send(failure)
    except StopIteration as end:
        result: ScenarioResult = end.value
        return result
    raise AssertionError("an episode goes on after a failure")


def not_run(tools: Collection[str], runnables: Collection[str]) -> str | None:
    """Return a message naming a tool that has no implementation, or None if all can be run."""
    lacking = sorted(set(tools) - set(runnables))
    if not lacking:
        return None
    return (
        f"nothing runs the tool {lacking[0]!r}; there are {', '.join(sorted(runnables))}; name "
        "some of them as the suite's `tools`, or give Environment(tools=...)"
    )


@dataclass(slots=True)
class _Driver:
    """Answers the steps of an episode; pauses of the client do not count as its time."""

    scenario: Scenario
    task: Task
    tools: Tools
    workspace: Workspace
    environment: Environment
    ask: Ask
    turn_seconds: float
    profile: str | None
    began: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    seen: Snapshot = field(init=False)
    executor: Executor = field(init=False)
    faulting: Faulting = field(init=False)

    def __post_init__(self) -> None:
        self.faulting = Faulting(self.task.faults)
        self.seen = self.workspace.before
        found = self.environment.tools_in(self.workspace)
        self.executor = Executor(leaving(found), backoff=Backoff(max_attempts=1))
        if words := not_run(self.tools, self.executor.runnables):
            raise UsageError(f"scenario {self.scenario.id!r}: {words}")

    async def answer(self, step: object) -> Sent:
        match step:
            case Request():
                return await self._reply(step)
            case Run(calls):
                return await self._results(calls)
            case Answered():
                return await self._user(step)
            case Ended(answer, turns):
                return await self._graded(answer, turns)
        raise AssertionError(f"no step: {step!r:.60}")

    def _deadline(self) -> float:
        """Return when this turn ends, in the event loop's time: by its own limit or the task's."""
        loop, limit = asyncio.get_running_loop(), self.task.limits.seconds
        turn = loop.time() + self.turn_seconds
        return turn if limit is None else min(turn, self.began + limit)

    def _is_over(self) -> bool:
        limit = self.task.limits.seconds
        return limit is not None and asyncio.get_running_loop().time() >= self.began + limit

    async def _reply(self, request: Request) -> Reply | TransportFailure | OutOfTime:
        if self._is_over():
            return OUT_OF_TIME
        loop = asyncio.get_running_loop()
        began = loop.time()
        deadline = Deadline(self._deadline() - began)
        answer = await self.ask(request, deadline)
        paused = (loop.time() - began) - (deadline.seconds - deadline.left)
        self.began += max(0.0, paused)  # time in which the client only waited does not count
        late = isinstance(answer, TransportFailure) and answer.kind == "timeout"
        if late and self._is_over():
            return OUT_OF_TIME
        return self.faulting.reply(answer) if isinstance(answer, Reply) else answer

    async def _results(self, calls: tuple[ToolCall, ...]) -> Results | OutOfTime:
        """Run the calls; a tool that takes too long is abandoned, and the episode ends."""
        try:
            async with asyncio.timeout_at(self._deadline()):
                records = await self._ran(calls)
        except TimeoutError:
            return OUT_OF_TIME
        before = self.seen
        self.seen = await beside(self.workspace.snapshot, before)
        return Results(records, before.changes(self.seen).paths)

    async def _ran(self, calls: tuple[ToolCall, ...]) -> tuple[ResultRecord, ...]:
        """Return the results as the model sees them, faults applied, in the order of the calls."""
        hit = self.faulting.of_results(calls)
        late = max(map(lateness, hit), default=0.0)
        if late:
            await asyncio.sleep(late)
        to_run = [call for call, faults in zip(calls, hit, strict=True) if is_run(faults)]
        try:
            made = [_record(one) for one in await self.executor.execute(to_run)]
        except SystemExit as error:
            words = f"Error: the tool ended its process ({words_of(error)})"
            made = [_failed(call, words) for call in to_run]
        ran = iter(made)
        return tuple(
            spoiled(next(ran) if is_run(faults) else _failed(call, ""), faults)
            for call, faults in zip(calls, hit, strict=True)
        )

    async def _user(self, answered: Answered) -> str | None:
        if answered.number <= len(self.task.users):
            return self.task.users[answered.number - 1]
        if self.environment.user is None:
            return None
        says = self.environment.user(answered.messages)
        text = await says if inspect.isawaitable(says) else says
        if text is not None and not isinstance(text, str):
            raise UsageError(
                f"the user's reply was {shown(text)}; wanted a text, or None at the end"
            )
        return text

    async def _graded(self, answer: str, turns: tuple[Turn, ...]) -> Graded:
        return await graded(
            self.scenario, self.tools, self.workspace, answer=answer, turns=turns,
            seen=self.seen, profile=self.profile, seconds=self.environment.checks_seconds,
            met=self.faulting.met(len(turns)),
        )  # fmt: skip


async def graded(
    scenario: Scenario,
    tools: Tools,
    workspace: Workspace,
    *,
    answer: str,
    turns: Sequence[Turn],
    seen: Snapshot,
    profile: str | None,
    seconds: float = CHECKS_SECONDS,
    met: Sequence[Met] = (),
) -> Graded:
    """Grade a finished episode: make its checks, and judge the reactions to the faults it `met`."""
    after = await beside(workspace.snapshot, seen)
    numbered = [(number, call) for number, one in enumerate(turns, 1) for call in one.calls]
    state = FinalState(
        prompt=scenario.prompt,
        answer=answer,
        calls=tuple(replace(call, id=None) for _, call in numbered),
        turns=max(1, len(turns)),
        call_turns=tuple(number for number, _ in numbered),
        touched=tuple(turn.touched for turn in turns),
        workspace=workspace,
        after=after,
        tools=tools,
        profile=profile,
    )
    changes = state.changes
    checks: tuple[Check, ...] = () if scenario.task is None else scenario.task.checks
    if scenario.expect != Expectation():
        checks = (CallsCheck(calls=scenario.expect), *checks)
    try:
        async with asyncio.timeout(seconds):
            records = await beside(grade, checks, state)
    except TimeoutError:
        words = f"the checks took over {seconds:g} s and were left behind"
        records = (CheckRecord(check="all", ok=None, reason=words),)
    faults = tuple(one.record for one in met)
    given = (faults, obeyed(met, checks, state), reported(met, state))
    return Graded(records, changes.added, changes.removed, changes.changed, *given)


def _failed(call: ToolCall, words: str) -> ResultRecord:
    return ResultRecord(id=call.id, tool=call.name, ok=False, content=words)


def _record(result: ToolResult) -> ResultRecord:
    try:
        given = str(result.as_openai()["content"])
    except Exception as error:  # noqa: BLE001 - str() of a tool's value may raise anything
        given = f"Error: the result has no words: {words_of(error)}"
    if len(given) > MAX_RESULT:
        given = f"{given[:MAX_RESULT]}\n({len(given) - MAX_RESULT} more characters)"
    ok = result.ok and not given.startswith("Error: the result has no words")
    return ResultRecord(id=result.call.id, tool=result.call.name, ok=ok, content=given)
