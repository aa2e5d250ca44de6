"""Drive an episode of many turns: the workspace, tools, faults, user and checks around `turns`.

A tool's error is a result that the model sees; an error of the workspace, a check or a server that
runs calls is an infrastructure failure. None of them ends the run.

A whole agent that has its own tools works in its own way; its model's replies are known only if the
agent reports them. Each reply is a turn. All changes of files count as the last turn's, because
nobody knows in which turn they were made.

Blocking work is done in a thread that may be abandoned without keeping the loop or process alive.
`asyncio.to_thread` is not suited to work that may never end: the loop waits for its threads when it
closes, and so one tool that hangs would hang the whole run.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import wraps
from importlib.resources import files
from itertools import zip_longest
from secrets import token_hex
from typing import Any, TypeAlias

from tunaeval.errors import TransportFailure, TunaevalError, UsageError, WorkspaceError
from tunaeval.registry import words_of
from tunaeval.showing import brief
from tunaeval.tasks import suites
from tunaeval.tasks.grades import Met, grade, obeyed, partial_of, reported
from tunaeval.tasks.sandbox import Sandbox, sandbox_of
from tunaeval.tasks.space import Snapshot, Workspace
from tunaeval.tasks.suites.bfcl_classes import class_tools
from tunaeval.tasks.toolbox import not_run, workspace_tools
from tunaeval.tools.executor import Backoff, Executor, ToolResult, named_tools, runnables_of
from tunaeval.tools.mcp import McpResult, McpServer
from tunaeval.types.calls import JsonObject, ToolCall
from tunaeval.types.copies import copied
from tunaeval.types.deadlines import Deadline
from tunaeval.types.exchange import AgentRun, AgentTask, Reply, Request
from tunaeval.types.faults import (
    Cut,
    Delay,
    Fail,
    Fault,
    cut_message,
    is_of_result,
    read_fault,
    spoiled_result,
)
from tunaeval.types.roles import Agent, AnyTool
from tunaeval.types.runs import (
    CheckRecord,
    Episode,
    Expectation,
    ResultRecord,
    Scenario,
    ScenarioResult,
    Task,
    TaskRecord,
)
from tunaeval.types.tasks import CallsCheck, StatedFault
from tunaeval.types.third_party import in_time
from tunaeval.types.wanted import wanted_items
from tunaeval.workers import beside

from .episode import Trial, Turn, conclude, read_at_all_levels
from .options import RunOptions
from .turns import (
    Answered,
    FinishedEpisode,
    OutOfTime,
    Results,
    Run,
    Sent,
    Step,
    TaskEpisode,
    final_state,
    task_result,
)

CHECKS_SECONDS = 120.0
"""Seconds that all checks of an episode may take together before they count as failed."""
MAX_RESULT = 64 * 1024
"""The most characters of a tool's result that the model sees."""

ToolMaker: TypeAlias = Callable[[Workspace, Episode], "Mapping[str, AnyTool] | Iterable[AnyTool]"]
User: TypeAlias = Callable[[Sequence[JsonObject], Episode], "str | Awaitable[str | None] | None"]
Ask: TypeAlias = Callable[[Request, Deadline], Awaitable[Reply | TransportFailure]]
"""Asks the client, which stops the deadline while all requests wait for a pause."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The tools, user and time limit of checks around episodes of many turns.

    `tools` run the calls: functions in a list or by name, or a function that returns these for a
    `Workspace` and an `Episode`; None means the eight tools of a workspace, or those that a suite
    of BFCL has. `user` is called with the messages and the episode each time the model has answered
    and the scenario's own user turns are used up; it returns the user's next message or None, and
    may be a coroutine function. In a `sandbox` are the commands of tasks, programs of checks, and
    commands that are whole agents. Raises ToolsError for a tool that cannot be run, and UsageError
    for a function that does not take these two arguments.

    Examples:
        >>> def ask(question: str) -> str:
        ...     return "forty-two"
        ...
        >>> environment = tunaeval.Environment(tools=[ask], user=lambda messages, episode: None)
        >>> environment.checks_seconds
        120.0
    """

    tools: Mapping[str, AnyTool] | Iterable[AnyTool] | ToolMaker | None = None
    user: User | None = None
    checks_seconds: float = CHECKS_SECONDS
    sandbox: Sandbox | None = None

    def __post_init__(self) -> None:
        """Check the tools that are known before a task begins, and what the functions take."""
        _check_takes(self.user, "user", "messages")
        if self.tools is None or (callable(self.tools) and not isinstance(self.tools, Mapping)):
            _check_takes(self.tools, "tools", "workspace")
            return
        if not isinstance(self.tools, Mapping):
            object.__setattr__(self, "tools", wanted_items(self.tools, "tools", object, "tools"))
        runnables_of(self.tools, None)

    def tools_in(
        self, workspace: Workspace, episode: Episode
    ) -> Mapping[str, AnyTool] | Iterable[AnyTool]:
        """Return the tools that run the calls of an episode in a workspace."""
        if self.tools is None:
            return class_tools(episode.scenario) or workspace_tools(workspace)
        if callable(self.tools) and not isinstance(self.tools, Mapping):
            return self.tools(workspace, episode)
        return self.tools


def sandboxed(
    environment: Environment | None, name: str | None, binds: Iterable[str | os.PathLike[str]]
) -> Environment | None:
    """Return the environment with a sandbox (see `sandbox_of`), or as it is without one."""
    sandbox = sandbox_of(name, binds)
    return (
        environment if sandbox is None else replace(environment or Environment(), sandbox=sandbox)
    )


def _check_takes(function: object, name: str, first: str) -> None:
    """Raise UsageError for a function that cannot be called with its first argument and episode."""
    try:
        if callable(function):
            inspect.signature(function).bind(None, None)
    except TypeError as error:
        wanted = f"wanted a function that takes ({first}, episode)"
        raise UsageError(f"{name} is {brief(function)}: {error}; {wanted}") from None
    except ValueError:  # a function written in C may have no signature
        return


async def drive(
    conversation: TaskEpisode,
    trial: Trial,
    ask: Ask,
    environment: Environment,
    servers: Sequence[str] = (),
) -> ScenarioResult:
    """Run an episode to its end in its own workspace, which is removed afterwards.

    Each turn may take `deadline_seconds`, and the whole episode what the task's limits allow. The
    MCP `servers` run the calls of their tools; the episode has connections of its own, so that a
    command is started for it alone, and no episode sees the state of another.
    """
    async with AsyncExitStack() as stack:
        try:
            workspace = stack.enter_context(
                workspace_of(trial.scenario.task or Task(), environment)
            )
            opened = [McpServer(place, workspace=workspace) for place in servers]
            for server in opened:
                await stack.enter_async_context(server)
            driver = await driver_of(trial, workspace, environment, ask, opened)
        except TransportFailure as caught:
            failure = caught
        except (OSError, WorkspaceError) as error:
            failure = TransportFailure(words_of(error), kind="workspace")
        else:
            return await conclude(conversation, driver.answer)
        return await conclude(conversation, lambda _: asyncio.sleep(0, failure))


async def driver_of(
    trial: Trial,
    workspace: Workspace,
    environment: Environment,
    ask: Ask,
    servers: Sequence[McpServer] = (),
) -> Driver:
    """Return what drives an episode whose workspace is there. Raises TransportFailure if its tools
    cannot be made, UsageError if nothing runs one of them.
    """
    episode = _episode(trial)
    tools = await _made_tools(environment, workspace, episode)
    return Driver(trial, episode, workspace, environment, ask, servers, tools)


def workspace_of(task: Task, environment: Environment) -> Workspace:
    """Return the task's workspace, from whose commands the tasks of the package are hidden."""
    hidden = str(files(suites).joinpath("tasks"))
    return Workspace(
        task.contents(), commands=task.commands, pages=task.pages, hidden=hidden,
        sandbox=environment.sandbox,
    )  # fmt: skip


def seed_of(options: RunOptions, scenario: Scenario, repeat: int) -> str:
    """Return the seed of an episode: made from the run's seed, or random if the run has none."""
    return token_hex() if options.seed is None else f"{options.seed} {scenario.id} {repeat}"


def _episode(trial: Trial) -> Episode:
    seed = seed_of(trial.options, trial.scenario, trial.repeat)
    return Episode(trial.scenario, trial.repeat, seed)


async def _made_tools(
    environment: Environment, workspace: Workspace, episode: Episode
) -> Mapping[str, AnyTool] | Iterable[AnyTool]:
    """Return the episode's tools; that they cannot be made, or not in time, is its failure."""
    try:
        async with asyncio.timeout(environment.checks_seconds):
            return await beside(environment.tools_in, workspace, copied(episode))
    except TunaevalError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the author's function raised it
        words = words_of(error)
    raise TransportFailure(f"the episode's tools cannot be made: {words}", kind="tools")


@dataclass(slots=True)
class Driver:
    """Does what each step of an episode asks for; the client's pauses do not count as its time."""

    trial: Trial
    episode: Episode
    workspace: Workspace
    environment: Environment
    ask: Ask
    servers: Sequence[McpServer]
    tools: Mapping[str, AnyTool] | Iterable[AnyTool]
    began: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    task: Task = field(init=False)
    seen: Snapshot = field(init=False)
    executor: Executor = field(init=False)
    faulting: _Faulting = field(init=False)

    def __post_init__(self) -> None:
        self.task = self.trial.scenario.task or Task()
        self.faulting = _Faulting(self.task.faults)
        self.seen = self.workspace.before
        found = self._tools()
        left = (
            {name: _leaving(tool) for name, tool in found.items()}
            if isinstance(found, Mapping)
            else [_leaving(tool) for tool in found]
        )
        once = Backoff(max_attempts=1)
        self.executor = Executor(left, backoff=once)
        if self.trial.as_written:  # one after the other, whatever the tools' names
            self.executor = Executor(left, categories={}, backoff=once)
        elif words := not_run(self.trial.tools, self.executor.runnables):
            raise UsageError(f"scenario {self.trial.scenario.id!r}: {words}")

    def _tools(self) -> Mapping[str, AnyTool] | Iterable[AnyTool]:
        """Return the tools that run the calls. Of tools with the same name, the caller's come
        first, then those of servers, then those of a workspace.
        """
        found = self.tools
        if not self.servers:
            return found
        offered = {tool.name: tool for server in self.servers for tool in server.tools}
        own = {name: tool for name, tool, _ in named_tools(found)}
        return {**own, **offered} if self.environment.tools is None else {**offered, **own}

    async def answer(self, step: Step) -> Sent:
        match step:
            case Request():
                return await self._reply(step)
            case Run():
                return await self._results(step)
            case Answered():
                return await self._user(step)
            case FinishedEpisode():
                met = self.faulting.met(len(step.turns))
                known: _Known = {
                    "episode": self.episode, "met": met, "environment": self.environment
                }  # fmt: skip
                return await _graded(self.trial, step, self.workspace, self.seen, **known)
        raise AssertionError(f"no step: {brief(step)}")

    def _deadline(self) -> float:
        """Return the end of this turn on the event loop's clock, by its own or the task's limit."""
        loop, limit = asyncio.get_running_loop(), self.task.limits.seconds
        turn = loop.time() + self.trial.options.deadline_seconds
        return turn if limit is None else min(turn, self.began + limit)

    def _is_over(self) -> bool:
        limit = self.task.limits.seconds
        return limit is not None and asyncio.get_running_loop().time() >= self.began + limit

    async def _reply(self, request: Request) -> Reply | TransportFailure | OutOfTime:
        if self._is_over():
            return OutOfTime()
        loop = asyncio.get_running_loop()
        began = loop.time()
        deadline = Deadline(self._deadline() - began)
        answer = await self.ask(request, deadline)
        paused = (loop.time() - began) - (deadline.seconds - deadline.left)
        self.began += max(0.0, paused)  # time in which the client only waited does not count
        late = isinstance(answer, TransportFailure) and answer.kind == "timeout"
        if late and self._is_over():
            return OutOfTime()
        return self.faulting.reply(answer) if isinstance(answer, Reply) else answer

    async def _results(self, step: Run) -> Results | TransportFailure | OutOfTime:
        """Run the calls; return their results, a server's failure, or `OutOfTime`."""
        records: tuple[ResultRecord, ...] | OutOfTime
        try:
            async with asyncio.timeout_at(self._deadline()):
                records = await self._ran(step.calls, step.held_out)
        except TimeoutError:
            records = OutOfTime()
        if faults := [server.fault for server in self.servers if server.fault]:
            return faults[0]
        if not isinstance(records, tuple):
            return records
        before = self.seen
        if self.workspace.excess():
            return OutOfTime("disk")
        self.seen = await beside(self.workspace.snapshot, before)
        return Results(records, before.changes(self.seen).paths)

    async def _ran(
        self, calls: tuple[ToolCall, ...], held_out: Collection[str]
    ) -> tuple[ResultRecord, ...]:
        """Return the results as the model sees them, faults applied, in the order of the calls."""
        hit = [self.faulting.of_result(call) for call in calls]
        late = [sum(fault.seconds for fault in one if isinstance(fault, Delay)) for one in hit]
        if any(late):
            await asyncio.sleep(max(late))
        early = {call.id for call in calls if call.name in held_out}
        to_run = [
            call
            for call, faults in zip(calls, hit, strict=True)
            if _is_run(faults) and call.id not in early
        ]
        try:
            made = [_record(one) for one in await self.executor.execute(to_run)]
        except SystemExit as error:
            words = f"Error: the tool ended its process ({words_of(error)})"
            made = [_failed(call, words) for call in to_run]
        ran = {one.id: one for one in made}
        words = "Error: the tool {!r} is not offered yet"
        return tuple(
            _spoiled(
                ran.get(call.id)
                or _failed(call, words.format(call.name) if call.id in early else ""),
                faults,
            )
            for call, faults in zip(calls, hit, strict=True)
        )

    async def _user(self, answered: Answered) -> str | None:
        written = self.task.text_of_user(answered.number)
        if written is not None or self.environment.user is None:
            return written
        says = self.environment.user(copied(answered.messages), copied(self.episode))
        text = await says if inspect.isawaitable(says) else says
        if text is not None and not isinstance(text, str):
            raise UsageError(
                f"the user's reply was {brief(text)}; wanted a text, or None at the end"
            )
        return text


_Known: TypeAlias = dict[str, Any]


async def _graded(
    trial: Trial,
    end: FinishedEpisode,
    workspace: Workspace,
    seen: Snapshot,
    *,
    episode: Episode,
    met: Sequence[Met],
    environment: Environment,
    ran: AgentRun | None = None,
) -> TaskRecord:
    """Grade a finished episode: make its checks, and judge the reactions to the faults it `met`.
    `ran` is the run of a whole agent.
    """
    seconds = environment.checks_seconds
    scenario, task = trial.scenario, trial.scenario.task or Task()
    results = [(at, one.content) for at, turn in enumerate(end.turns, 1) for one in turn.results]
    state = final_state(
        trial,
        end.turns,
        end.answer,
        touched=tuple(turn.touched for turn in end.turns),
        workspace=workspace,
        after=await beside(workspace.snapshot, seen),
        results=(*results, *(ran.results if ran else ())),
        reference=task.solved(),
        succeeded=None
        if ran
        else frozenset(one.tool for turn in end.turns for one in turn.results if one.ok),
        seed=episode.seed,
        episode=episode,
        ended=end.ended,
    )
    changes, checks = state.changes, task.checks
    if scenario.expect != Expectation():
        checks = (CallsCheck(calls=scenario.expect), *checks)
    try:
        async with asyncio.timeout(seconds):
            records = await beside(grade, checks, state)
    except TimeoutError:
        words = f"the checks took over {seconds:g} s and were left behind"
        records = (CheckRecord(check="all", ok=None, reason=words),)
    if words := workspace.excess() or "":
        records += (CheckRecord(check="workspace", ok=False, reason=words, turn=state.turns),)
    return TaskRecord(
        ended=end.ended,
        ended_by=(ran.words or None) if ran else None,
        answer=end.answer,
        checks=records,
        partial=partial_of(records, state),
        added=changes.added,
        removed=changes.removed,
        changed=changes.changed,
        faults=tuple(one.record for one in met),
        obeyed=obeyed(met, checks, state),
        reported=reported(met, state),
    )


def _failed(call: ToolCall, words: str) -> ResultRecord:
    return ResultRecord(id=call.id, tool=call.name, ok=False, content=words)


def _record(result: ToolResult) -> ResultRecord:
    value = result.value if isinstance(result.value, McpResult) else None
    try:
        given = str(result.as_openai()["content"]) if value is None else value.text
    except Exception as error:  # noqa: BLE001 - str() of a tool's value may raise anything
        given = f"Error: the result has no words: {words_of(error)}"
    if len(given) > MAX_RESULT:
        given = f"{given[:MAX_RESULT]}\n({len(given) - MAX_RESULT} more characters)"
    call, structured = result.call, None if value is None else value.structured
    is_fine = result.ok and not given.startswith("Error: the result has no words")
    ok = is_fine if value is None else not value.is_error
    return ResultRecord(id=call.id, tool=call.name, ok=ok, content=given, structured=structured)


class _Faulting:
    """The faults of one episode, with the counts that decide when each applies."""

    def __init__(self, stated: Sequence[StatedFault]) -> None:
        self._stated = stated
        self._faults = [read_fault(one.written()) for one in stated]
        self._results = [0] * len(stated)
        self._turns: list[int | None] = [None] * len(stated)
        self._replies = 0

    def reply(self, reply: Reply) -> Reply:
        """Return the reply with the faults of this turn applied."""
        self._replies += 1
        for index, fault in enumerate(self._faults):
            if isinstance(fault, Cut) and fault.by == "length" and fault.hits(self._replies):
                reply = replace(
                    reply, message=cut_message(reply.message, fault.share), finish_reason="length"
                )
                self._hit(index, self._replies)
        return reply

    def of_result(self, call: ToolCall) -> list[Fault]:
        """Return the faults of one call's result; ask once for each call, in their order."""
        found: list[Fault] = []
        for index, fault in enumerate(self._faults):
            if is_of_result(fault) and getattr(fault, "tool", None) in {None, call.name}:
                self._results[index] += 1
                if fault.at in {None, self._results[index]}:
                    self._hit(index, self._replies + 1)
                    found.append(fault)
        return found

    def _hit(self, index: int, turn: int) -> None:
        if self._turns[index] is None:
            self._turns[index] = turn

    def met(self, turns: int) -> list[Met]:
        """Return each fault with the turn in which it applied, or None if no model saw it."""
        return [
            Met(stated, turn if turn is not None and turn <= turns else None)
            for stated, turn in zip(self._stated, self._turns, strict=True)
        ]


def _is_run(faults: Sequence[Fault]) -> bool:
    """Whether these faults of a call let its tool run."""
    return not any(isinstance(fault, Fail) for fault in faults)


def _spoiled(record: ResultRecord, faults: Sequence[Fault]) -> ResultRecord:
    """Return a tool's result as the model sees it, after these faults."""
    for fault in faults:
        ok = record.ok and not isinstance(fault, Fail)
        content = spoiled_result(fault, record.content)
        record = record.model_copy(update={"content": content, "ok": ok})
    return record


_GRACE_SECONDS = 5.0
"""Seconds beyond the task's time for an agent that stops by itself in time."""


async def drive_agent(trial: Trial, agent: Agent, environment: Environment) -> ScenarioResult:
    """Let the agent work in a workspace of its own, and grade what it leaves. It may work for
    `deadline_seconds`, unless the task has its own limit.
    """
    scenario, task = trial.scenario, trial.scenario.task or Task()
    limit = task.limits.seconds or trial.options.deadline_seconds
    episode = _episode(trial)
    record, failure = TaskRecord(ended="failure"), None
    turns: tuple[Turn, ...] = ()
    try:
        with workspace_of(task, environment) as workspace:
            place, faults = str(workspace.path), tuple(one.written() for one in task.faults)
            identity = (scenario.id, trial.repeat, faults, environment.sandbox)
            work = AgentTask(scenario.prompt, place, limit, *identity)
            # Some agents stop by themselves in time.
            ran = await in_time(agent, lambda: agent.work(work), limit, grace=_GRACE_SECONDS)
            ran = copied(ran)  # the agent may go on changing what it returned
            turns = _turns(ran, workspace, trial)
            end = FinishedEpisode(ran.ended, ran.answer, turns)
            # Unknown if the agent did not use our endpoint.
            met = [Met(*pair) for pair in zip_longest(task.faults, ran.met[: len(task.faults)])]
            known: _Known = {"episode": episode, "met": met, "environment": environment}
            record = await _graded(trial, end, workspace, workspace.before, ran=ran, **known)
    except TransportFailure as caught:
        failure = caught
    except (OSError, WorkspaceError) as error:
        failure = TransportFailure(words_of(error), kind="workspace")
    return task_result(trial, turns, record, failure)


def _turns(ran: AgentRun, workspace: Workspace, trial: Trial) -> tuple[Turn, ...]:
    """Return a turn for each reply, or one with the final words if no reply was reported."""
    words = {"role": "assistant", "content": ran.answer or ran.words}
    replies = ran.replies or (Reply(words),)
    found = [(reply, read_at_all_levels(reply, trial.read)) for reply in replies]
    turns = [Turn(reply, at, at[trial.options.level].calls) for reply, at in found]
    return (*turns[:-1], replace(turns[-1], touched=workspace.changes().paths))


def _leaving(tool: AnyTool) -> AnyTool:
    """Return the tool; a blocking function becomes a coroutine that can be abandoned."""
    if not inspect.isroutine(tool) or inspect.iscoroutinefunction(tool):
        return tool

    @wraps(tool)
    async def left(*args: object, **kwargs: object) -> object:
        found = await beside(tool, *args, **kwargs)
        return await found if inspect.isawaitable(found) else found

    return left
