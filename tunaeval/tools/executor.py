"""Run calls: research tools in parallel, then other reading tools in parallel, then writers.

This is the order of the TunaCode agent: tools of the category "research", then of "read-only", run
in one parallel batch each; tools of the category "write", or of none, run one after another, in the
order of the calls. Results are always in the order of the calls.

Tools of frameworks are recognized by their shape and validate their arguments themselves; the
arguments of a function are converted to the types of its signature:

    a function, a coroutine function, a partial, a callable object     tool(**arguments)
    LangChain's BaseTool                                               tool.ainvoke(arguments)
    pydantic-ai's Tool                                                 tool.function(**arguments)
    tinyagent's AgentTool                           tool.execute(call_id, arguments, None, ignore)

A tool that fails gives a result whose `ok` is false. A cancellation, or what a tool raises to stop
everything (`UserAbortError`, Ctrl-C, an exit), stops all running tools and is raised. What a tool
raises is caught where it runs and kept as a value, for two reasons: a task that ends in Ctrl-C or
an exit takes the event loop with it, and a future cannot contain a `StopIteration`.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import random
from time import perf_counter, time
from typing import Any, Literal, TypeAlias, cast

import orjson
from tenacity import AsyncRetrying, retry_if_result, stop_after_attempt

from tunaeval.errors import ToolsError, UnknownNameError
from tunaeval.files.plain_files import table_of
from tunaeval.types import roles
from tunaeval.types.calls import JsonObject, ToolCall
from tunaeval.types.copies import copied
from tunaeval.types.messages import ToolExecution
from tunaeval.types.roles import AnyTool
from tunaeval.types.wanted import refusal, wanted_amount, wanted_count, wanted_items, wanted_name

from .answering import call_of
from .signatures import read_signature, taker_of
from .success import raised, returned
from .wrapper import AnyFunction, is_recorded, log_unrecorded

_ABORTING = frozenset({"UserAbortError"})
_TABLE = table_of(__package__, "executor.toml")
_FINAL = frozenset(_TABLE["final"])
"""Exceptions that are not retried, by name, so that no framework is imported; subclasses too."""


def aborts(error: BaseException) -> bool:
    """Whether `error` ends the whole batch: a user aborted, or it is no `Exception` (a
    cancellation, Ctrl-C, an exit).
    """
    return not isinstance(error, Exception) or _is_one_of(error, _ABORTING)


def is_transient(error: Exception) -> bool:
    """Whether another attempt may succeed, judged by the exception's class."""
    return not _is_one_of(error, _FINAL | _ABORTING)


def _is_one_of(error: BaseException, names: frozenset[str]) -> bool:
    return any(layer.__name__ in names for layer in type(error).__mro__)


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often a failing tool is run, and how long the pauses between its attempts are.

    The first pause is `base_seconds`; it doubles after each attempt, up to `cap_seconds`, and a
    random share of up to `jitter` is added. An exception is retried if `is_retried` returns true
    for it. Raises UsageError for numbers that are negative or infinite.

    Examples:
        >>> tunaeval.Backoff(max_attempts=2, base_seconds=0.1).cap_seconds
        5.0
    """

    max_attempts: int = 3
    base_seconds: float = 0.5
    cap_seconds: float = 5.0
    jitter: float = 0.1
    is_retried: Callable[[Exception], bool] = is_transient

    def __post_init__(self) -> None:
        """Raise UsageError for a `max_attempts` below 1, or another number below 0 or infinite."""
        wanted_count(self.max_attempts, "max_attempts")
        for name in ("base_seconds", "cap_seconds", "jitter"):
            wanted_amount(getattr(self, name), name)

    def pause_seconds(self, attempt: int, chance: float) -> float:
        """Return the pause in seconds after attempt `attempt` (from 1); `chance` is in [0, 1]."""
        pause = min(self.base_seconds * 2.0 ** min(attempt - 1, 1000), self.cap_seconds)
        return pause * (1 + self.jitter * chance)


Category: TypeAlias = Literal["research", "read-only", "write"]

CATEGORIES: tuple[Category, ...] = ("research", "read-only", "write")
"""The categories, in the order in which they run."""

TUNACODE_CATEGORIES: Mapping[str, Category] = {
    tool: category for category in CATEGORIES for tool in _TABLE["tunacode"][category]
}
"""The categories of the TunaCode agent's tools, for both of its generations."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call: the `value` that the tool returned, or an `error`.

    `ok` and `reason` are judged like those of a `ToolExecution`, with two more reasons for calls
    that were not run: "unknown-tool" and "invalid-arguments". `executions` has one item for each
    attempt, and `exception` is what the last attempt raised.

    Examples:
        >>> import asyncio
        >>> def size(text: str) -> int:
        ...     return len(text)
        ...
        >>> calls = [tunaeval.ToolCall("size", {"text": "abc"})]
        >>> result = asyncio.run(tunaeval.execute(calls, [size]))[0]
        >>> result.ok, result.value
        (True, 3)
    """

    call: ToolCall
    ok: bool
    reason: str
    value: object = None
    error: str | None = None
    executions: tuple[ToolExecution, ...] = ()
    exception: Exception | None = None

    @property
    def attempts(self) -> int:
        """How many times the tool was run."""
        return len(self.executions)

    def as_openai(self) -> JsonObject:
        """Return the message for the model, in the shape of OpenAI's chat completions API."""
        failed = self.exception is not None or not self.executions
        content = f"Error: {self.error}" if failed else _as_text(self.value)
        return {"role": "tool", "tool_call_id": self.call.id, "content": content}


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # integers beyond 64 bits, lone surrogates, reference cycles
        return repr(value)


@dataclass(frozen=True, slots=True)
class ExecutorClock:
    """The clocks and the randomness of an executor; tests replace them.

    `clock` is monotonic, in seconds; `now` returns seconds since the epoch; `sleep` is
    `asyncio.sleep` by default; `chance` returns a number in [0, 1].
    """

    clock: Callable[[], float] = perf_counter
    now: Callable[[], float] = time
    sleep: Callable[[float], Awaitable[None]] | None = None
    chance: Callable[[], float] = random


@dataclass(frozen=True, slots=True)
class Executor:
    """A set of tools that runs calls, as often as needed.

    `tools` are functions, coroutine functions (functions run in threads), or tools of LangChain,
    pydantic-ai and tinyagent, in a list or by name. At most `max_parallel` run at the same time (by
    default one per processor). `recorder` receives each attempt of every tool that does not record
    itself. Raises ToolsError for a tool that cannot be run, UsageError for other wrong arguments.

    Examples:
        >>> import asyncio
        >>> def size(text: str) -> int:
        ...     return len(text)
        ...
        >>> executor = tunaeval.Executor([size])
        >>> asyncio.run(executor.execute([tunaeval.ToolCall("size", {"text": "abc"})]))[0].value
        3
    """

    tools: Mapping[str, AnyTool] | Iterable[AnyTool]
    categories: Mapping[str, Category] = field(default_factory=lambda: TUNACODE_CATEGORIES)
    backoff: Backoff = field(default_factory=Backoff)
    max_parallel: int | None = None
    recorder: roles.Recorder | None = None
    pace: ExecutorClock = field(default_factory=ExecutorClock)
    runnables: Mapping[str, Runnable] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the options and prepare the tools."""
        if not isinstance(self.categories, Mapping):
            raise refusal("categories", self.categories, "a category for each tool's name")
        for category in self.categories.values():
            wanted_name(category, "category of tools", CATEGORIES)
        if self.max_parallel is not None:
            wanted_count(self.max_parallel, "max_parallel")
        object.__setattr__(self, "runnables", runnables_of(self.tools, self.recorder))

    async def execute(self, calls: Iterable[ToolCall]) -> list[ToolResult]:
        """Run `calls` and return their results in the order of the calls."""
        wanted = wanted_items(calls, "calls", ToolCall, "tool calls")
        asked_at = self.pace.clock()
        free = asyncio.Semaphore(self.max_parallel or os.cpu_count() or 1)
        results: dict[int, ToolResult] = {}
        for batch in planned(wanted, self.categories):
            work = [_result(self, wanted[index], asked_at, free) for index in batch]
            results.update(zip(batch, await _at_once(work), strict=True))
        return [results[index] for index in range(len(wanted))]


async def execute(
    calls: Iterable[ToolCall],
    tools: Mapping[str, AnyTool] | Iterable[AnyTool],
    *,
    categories: Mapping[str, Category] = TUNACODE_CATEGORIES,
    backoff: Backoff | None = None,
    max_parallel: int | None = None,
    recorder: roles.Recorder | None = None,
    pace: ExecutorClock | None = None,
) -> list[ToolResult]:
    """Run `calls` once and return their results in the order of the calls.

    The options are those of an `Executor`, which is better kept if there are many runs.

    Examples:
        >>> import asyncio
        >>> def size(text: str) -> int:
        ...     return len(text)
        ...
        >>> calls = [tunaeval.ToolCall("size", {"text": "abc"}), tunaeval.ToolCall("rm", {})]
        >>> results = asyncio.run(tunaeval.execute(calls, [size]))
        >>> [(result.ok, result.reason) for result in results]
        [(True, 'assumed'), (False, 'unknown-tool')]
    """
    executor = Executor(
        tools, categories, backoff or Backoff(), max_parallel, recorder, pace or ExecutorClock()
    )
    return await executor.execute(calls)


def planned(calls: Sequence[ToolCall], categories: Mapping[str, Category]) -> list[list[int]]:
    """Return the batches: lists of the indices of calls that run at once."""
    by_category: dict[Category, list[int]] = {category: [] for category in CATEGORIES}
    for index, call in enumerate(calls):
        by_category[categories.get(call.name, "write")].append(index)
    writes = [[index] for index in by_category.pop("write")]
    return [*filter(None, by_category.values()), *writes]


_INSIDE = ("function", "func", "coroutine", "execute", "_run", "_arun")
"""Attributes in which frameworks' tools keep the function that they run."""

Taker: TypeAlias = Callable[[JsonObject], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Runnable:
    """A tool that can be run. `take` converts a call's arguments and raises ValueError for those
    that do not fit; `start` runs the tool: it returns an awaitable if `awaits`, else it may block.
    """

    take: Taker
    start: Callable[[ToolCall, dict[str, Any]], object]
    awaits: bool
    is_recorded: bool = False
    """Whether the tool reports to the executor's recorder itself."""


def runnables_of(
    tools: Mapping[str, AnyTool] | Iterable[AnyTool], recorder: roles.Recorder | None = None
) -> dict[str, Runnable]:
    """Return the tools by name. Raises ToolsError for what is no tool or has a taken name."""
    found: dict[str, Runnable] = {}
    for name, tool, where in named_tools(tools):
        if name in found:
            raise ToolsError(f"{where}: the name {name!r} is taken; rename one, or pass a dict")
        parts = (tool, *(getattr(tool, inner, None) for inner in _INSIDE))
        recorded = recorder is not None and any(is_recorded(part, recorder) for part in parts)
        found[name] = replace(_runnable(tool, where), is_recorded=recorded)
    return found


def named_tools(
    tools: Mapping[str, AnyTool] | Iterable[AnyTool],
) -> Iterator[tuple[str, AnyTool, str]]:
    """Yield (name, tool, place in `tools`) for each tool; the place is for error messages."""
    if isinstance(tools, Mapping):
        yield from ((name, tool, f"tools[{name!r}]") for name, tool in tools.items())
    elif isinstance(tools, str) or not isinstance(tools, Iterable):
        raise ToolsError(f"tools is {tools!r:.80}, wanted a list of tools, or a dict by name")
    else:
        for index, tool in enumerate(tools):
            yield _name(tool, f"tools[{index}]"), tool, f"tools[{index}]"


def _name(tool: AnyTool, where: str) -> str:
    inner = tool
    while isinstance(inner, partial):
        inner = inner.func
    for name in (getattr(inner, "__name__", None), getattr(inner, "name", None)):
        if isinstance(name, str) and name and name != "<lambda>":
            return name
    raise ToolsError(f"{where} is {tool!r:.80}, which has no name; pass a dict by name")


def _runnable(tool: AnyTool, where: str) -> Runnable:
    if inspect.isroutine(tool) or isinstance(tool, partial):
        return _of_function(tool, where)
    if callable(getattr(tool, "ainvoke", None)):
        return Runnable(dict, lambda _call, arguments: tool.ainvoke(arguments), awaits=True)
    if callable(getattr(tool, "execute", None)) and isinstance(
        getattr(tool, "parameters", None), Mapping
    ):
        return Runnable(
            dict,
            lambda call, given: tool.execute(call.id or "", given, None, lambda _update: None),
            awaits=True,
        )
    if hasattr(tool, "function_schema") and callable(getattr(tool, "function", None)):
        return _of_function(tool.function, where)
    if callable(tool) and not isinstance(tool, type):
        return _of_function(tool, where)
    raise ToolsError(
        f"{where} is {tool!r:.80}, which cannot be run; wanted a function, or a tool of LangChain, "
        "pydantic-ai or tinyagent; of a tool that a server or another framework runs, give the "
        "function that runs it (of an MCP server, McpServer(...).tools)"
    )


def _of_function(function: AnyFunction, where: str) -> Runnable:
    try:
        signature = read_signature(function, "tool")
        take = taker_of(signature)
    except ValueError as error:
        raise ToolsError(f"{where} is {function!r:.80}: {error}") from error
    for parameter in signature.injected:
        if parameter.default is inspect.Parameter.empty:
            raise ToolsError(
                f"{where} is {function!r:.80}: nothing supplies its {parameter.name!r} here; bind "
                "it with functools.partial(tool, ...)"
            )
    awaits = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        type(function).__call__
    )
    return Runnable(take, lambda _call, arguments: function(**arguments), awaits)


class _Ended(Exception):  # noqa: N818 - only carries an exception out of a task group
    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


async def _at_once(work: Sequence[Coroutine[Any, Any, ToolResult]]) -> list[ToolResult]:
    """Run all coroutines at once. If one raises `_Ended`, cancel the others and raise its cause."""
    ended: BaseException | None = None
    tasks: list[asyncio.Task[ToolResult]] = []
    try:
        async with asyncio.TaskGroup() as group:
            tasks += [group.create_task(one) for one in work]
    except* _Ended as several:
        ended = several.exceptions[0]
    if isinstance(ended, _Ended):
        raise ended.error
    return [task.result() for task in tasks]


async def _result(
    executor: Executor, call: ToolCall, asked_at: float, free: asyncio.Semaphore
) -> ToolResult:
    runnable = executor.runnables.get(call.name)
    if runnable is None:
        unknown = UnknownNameError("tool", call.name, executor.runnables)
        return ToolResult(call, ok=False, reason="unknown-tool", error=str(unknown))
    try:
        arguments = runnable.take(copied(call.arguments))
    except (TypeError, ValueError) as error:  # TypeError if they are no object
        return ToolResult(call, ok=False, reason="invalid-arguments", error=str(error))
    async with free:
        return await _Attempts(executor, call, runnable, arguments, asked_at).result()


@dataclass(slots=True)
class _Attempt:
    """One attempt. `begun` is None until the tool runs; `ended` is None if its end was not seen."""

    started_at: float = 0.0
    begun: float | None = None
    ended: float | None = None
    value: Any = None
    error: BaseException | None = None


@dataclass(slots=True)
class _Attempts:
    """Runs one call, with its retries. `asked_at` is when the next attempt was requested;
    `arguments` are for the first one, because a tool may change what it gets.
    """

    executor: Executor
    call: ToolCall
    runnable: Runnable
    arguments: dict[str, Any] | None
    asked_at: float
    executions: list[ToolExecution] = field(default_factory=list)

    async def result(self) -> ToolResult:
        backoff, pace = self.executor.backoff, self.executor.pace
        tries = AsyncRetrying(
            stop=stop_after_attempt(backoff.max_attempts),
            wait=lambda state: backoff.pause_seconds(state.attempt_number, pace.chance()),
            retry=retry_if_result(
                lambda run: isinstance(run.error, Exception) and backoff.is_retried(run.error)
            ),
            sleep=pace.sleep or asyncio.sleep,
            retry_error_callback=lambda last: last.outcome and last.outcome.result(),
        )
        run: _Attempt = await tries(self._attempt)
        last = self.executions[-1]
        exception = run.error if isinstance(run.error, Exception) else None
        return ToolResult(
            self.call, last.ok, last.ok_reason, run.value, last.error,
            tuple(self.executions), exception,
        )  # fmt: skip

    async def _attempt(self) -> _Attempt:
        run = _Attempt()
        await (self._awaited(run) if self.runnable.awaits else self._in_a_thread(run))
        self._keep(run)
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError  # even if the tool has caught the cancellation
        if run.error is not None and aborts(run.error):
            raise _Ended(run.error)
        self.asked_at = self.executor.pace.clock()
        return run

    async def _awaited(self, run: _Attempt) -> None:
        self._begin(run)
        try:
            with call_of(self.call.id):
                run.value = await cast("Awaitable[object]", self._started())
        except BaseException as error:  # noqa: BLE001 - kept as a value; see the module's docstring
            run.error = error
        run.ended = self.executor.pace.clock()

    async def _in_a_thread(self, run: _Attempt) -> None:
        """Run in a thread, which cannot be stopped: after a cancellation it goes on unobserved."""

        def work() -> tuple[float, object, BaseException | None]:
            self._begin(run)
            value, raised_ = None, None
            try:
                with call_of(self.call.id):
                    value = self._started()
            except BaseException as error:  # noqa: BLE001 - as above
                raised_ = error
            return self.executor.pace.clock(), value, raised_

        try:
            run.ended, run.value, run.error = await asyncio.to_thread(work)
            if inspect.isawaitable(run.value):  # a plain function that returns a coroutine
                run.value, run.ended = await run.value, self.executor.pace.clock()
        except BaseException as error:  # noqa: BLE001 - as above
            run.value, run.error = None, error

    def _started(self) -> object:
        given, self.arguments = self.arguments, None
        if given is None:
            given = self.runnable.take(copied(self.call.arguments))
        return self.runnable.start(self.call, given)

    def _begin(self, run: _Attempt) -> None:
        run.started_at, run.begun = self.executor.pace.now(), self.executor.pace.clock()

    def _keep(self, run: _Attempt) -> None:
        if run.begun is None:
            return  # cancelled while it waited for a thread
        success = returned(run.value) if run.error is None else raised(run.error)
        execution = ToolExecution(
            tool=self.call.name,
            call_id=self.call.id,
            arguments=copied(self.call.arguments),
            started_at=run.started_at,
            duration_seconds=None if run.ended is None else run.ended - run.begun,
            ok=success.ok,
            ok_reason=success.reason,
            error=success.error,
            queued_seconds=run.begun - self.asked_at,
        )
        self.executions.append(execution)
        if self.executor.recorder is not None and not self.runnable.is_recorded:
            try:
                self.executor.recorder.record(copied(execution))
            except Exception as error:  # noqa: BLE001 - a recorder's failure is not the tool's
                log_unrecorded(execution.tool, error)
