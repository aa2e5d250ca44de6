"""Running calls: batches, attempts and threads; the only tools module with asyncio and tenacity.

What a tool raises is caught where it runs and kept as a value, for two reasons: a task that ends in
Ctrl-C or an exit takes the event loop with it, and a future cannot contain a `StopIteration`.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
from collections.abc import Awaitable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from tenacity import AsyncRetrying, RetryCallState, retry_if_result, stop_after_attempt

from tunaeval.errors import UnknownNameError
from tunaeval.types import roles
from tunaeval.types.calls import ToolCall
from tunaeval.types.messages import ToolExecution

from .answering import call_of
from .backoff import aborts
from .executor import Executor, ToolResult, planned
from .runnables import Runnable
from .success import raised, returned


async def run(executor: Executor, calls: Sequence[ToolCall]) -> list[ToolResult]:
    """Run `calls` batch by batch and return the results in the order of the calls."""
    asked_at = executor.pace.clock()
    free = asyncio.Semaphore(executor.max_parallel or os.cpu_count() or 1)
    results: dict[int, ToolResult] = {}
    for batch in planned(calls, executor.categories):
        work = [_result(executor, calls[index], asked_at, free) for index in batch]
        results.update(zip(batch, await _at_once(work), strict=True))
    return [results[index] for index in range(len(calls))]


class _Ended(Exception):  # noqa: N818 - only carries an exception out of a task group
    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


async def _at_once(work: Sequence[Coroutine[Any, Any, ToolResult]]) -> list[ToolResult]:
    """Return all results; on an `_Ended`, cancel and await the rest, then raise its cause."""
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
        arguments = runnable.take(call.arguments)
    except (TypeError, ValueError) as error:  # TypeError if they are no object
        return ToolResult(call, ok=False, reason="invalid-arguments", error=str(error))
    async with free:
        return await _Attempts(executor, call, runnable, arguments, asked_at).result()


@dataclass(slots=True)
class _Run:
    """One attempt. `begun` is None until the tool runs; `ended` is None if its end was not seen."""

    started_at: float = 0.0
    begun: float | None = None
    ended: float | None = None
    value: Any = None
    error: BaseException | None = None


@dataclass(slots=True)
class _Attempts:
    """Runs one call, with its retries. `asked_at` is when the next attempt was requested."""

    executor: Executor
    call: ToolCall
    runnable: Runnable
    arguments: dict[str, Any]
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
            retry_error_callback=_last,
        )
        run: _Run = await tries(self._attempt)
        last = self.executions[-1]
        exception = run.error if isinstance(run.error, Exception) else None
        return ToolResult(
            self.call, last.ok, last.ok_reason, run.value, last.error,
            tuple(self.executions), exception,
        )  # fmt: skip

    async def _attempt(self) -> _Run:
        run = _Run()
        await (self._awaited(run) if self.runnable.awaits else self._in_a_thread(run))
        self._keep(run)
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError  # even if the tool has caught the cancellation
        if run.error is not None and aborts(run.error):
            raise _Ended(run.error)
        self.asked_at = self.executor.pace.clock()
        return run

    async def _awaited(self, run: _Run) -> None:
        self._begin(run)
        try:
            with call_of(self.call.id):
                run.value = await cast("Awaitable[object]", self._start())
        except BaseException as error:  # noqa: BLE001 - kept as a value; see the module's docstring
            run.error = error
        run.ended = self.executor.pace.clock()

    async def _in_a_thread(self, run: _Run) -> None:
        """Run in a thread, which cannot be stopped: after a cancellation it goes on unobserved."""

        def work() -> tuple[float, object, BaseException | None]:
            self._begin(run)
            value, raised_ = None, None
            try:
                with call_of(self.call.id):
                    value = self._start()
            except BaseException as error:  # noqa: BLE001 - as above
                raised_ = error
            return self.executor.pace.clock(), value, raised_

        try:
            run.ended, run.value, run.error = await asyncio.to_thread(work)
            if inspect.isawaitable(run.value):  # a plain function that returns a coroutine
                run.value, run.ended = await run.value, self.executor.pace.clock()
        except BaseException as error:  # noqa: BLE001 - as above
            run.value, run.error = None, error

    def _start(self) -> object:
        return self.runnable.start(self.call, self.arguments)

    def _begin(self, run: _Run) -> None:
        run.started_at, run.begun = self.executor.pace.now(), self.executor.pace.clock()

    def _keep(self, run: _Run) -> None:
        if run.begun is None:
            return  # cancelled while it waited for a thread
        success = returned(run.value) if run.error is None else raised(run.error)
        execution = ToolExecution(
            tool=self.call.name,
            call_id=self.call.id,
            arguments=self.call.arguments,
            started_at=run.started_at,
            duration_seconds=None if run.ended is None else run.ended - run.begun,
            ok=success.ok,
            ok_reason=success.reason,
            error=success.error,
            queued_seconds=run.begun - self.asked_at,
        )
        self.executions.append(execution)
        if self.executor.recorder is not None and not self.runnable.is_recorded:
            _record(self.executor.recorder, execution)


def _last(state: RetryCallState) -> Any:
    """Return the last attempt's value when no attempts are left."""
    return state.outcome.result() if state.outcome else None


def _record(recorder: roles.Recorder, execution: ToolExecution) -> None:
    try:
        recorder.record(execution)
    except Exception as error:  # noqa: BLE001 - a recorder's failure must not become the tool's
        logging.getLogger("tunaeval.tools").warning(
            "a run of the tool %r could not be recorded: %s: %s",
            execution.tool, type(error).__name__, error,
        )  # fmt: skip
