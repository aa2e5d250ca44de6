"""How a batch ends early, and what threads change."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tests.tools.executing import KINDS, Time, calls_of, execute_all, run
from tunaeval import Recorder, ToolCall, execute, wrap_tool


class UserAbortError(Exception):
    """As an agent raises when a person says stop."""


@pytest.mark.parametrize(
    "ending", [asyncio.CancelledError("by itself"), KeyboardInterrupt(), SystemExit(3),
               UserAbortError("stop")],
    ids=lambda ending: type(ending).__name__,
)  # fmt: skip
@pytest.mark.parametrize("threaded", [False, True], ids=["awaited", "threaded"])
def test_what_ends_everything_is_passed_on(ending: BaseException, *, threaded: bool) -> None:
    log: list[str] = []

    async def study(index: int) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            log.append(f"stopped {index}")

    def ends(index: int) -> None:
        log.append(f"ends {index}")
        raise ending

    async def ends_later(index: int) -> None:
        ends(index)

    def change(index: int) -> None:
        log.append(f"changed {index}")

    recorder = Recorder()
    tools = {"study": study, "look": ends if threaded else ends_later, "change": change}
    kinds = {**KINDS, "look": "research"}
    with pytest.raises(type(ending)) as caught:
        execute_all(
            calls_of("change", "study", "look", "study"), tools, categories=kinds,
            recorder=recorder, max_parallel=8,
        )  # fmt: skip
    assert caught.value is ending
    assert ending.__cause__ is None
    assert sorted(log) == ["ends 2", "stopped 1", "stopped 3"]
    reasons = {one.call_id: one.ok_reason for one in recorder.executions}
    assert set(reasons) == {"1", "2", "3"}
    assert reasons["1"] == reasons["3"] == "cancelled"


@pytest.mark.parametrize("swallowing", [False, True])
def test_a_cancellation_ends_the_batch_and_is_passed_on(*, swallowing: bool) -> None:
    log: list[str] = []
    both = asyncio.Event()
    recorder = Recorder()

    async def look(index: int) -> None:
        log.append(f"began {index}")
        if len(log) == 2:
            both.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            log.append(f"stopped {index}")
            if not swallowing:
                raise
            raise OSError from None

    async def cancelled() -> None:
        work = asyncio.create_task(
            execute(
                calls_of("look", "change", "look"), {"look": look, "change": look},
                categories=KINDS, recorder=recorder, max_parallel=2, pace=Time().pace,
            )
        )  # fmt: skip
        await both.wait()
        work.cancel("enough")
        with pytest.raises(asyncio.CancelledError):
            await work
        assert work.cancelled()

    run(cancelled())
    assert sorted(log) == ["began 0", "began 2", "stopped 0", "stopped 2"]
    assert len(recorder) == 2


def test_a_cancelled_pause_ends_at_once() -> None:
    async def cancelled() -> None:
        paused = asyncio.Event()

        async def sleep(_seconds: float) -> None:
            paused.set()
            await asyncio.Event().wait()

        def fails() -> None:
            raise OSError

        pace = Time().pace
        work = asyncio.create_task(
            execute([ToolCall("fails", {})], [fails], pace=type(pace)(sleep=sleep))
        )
        await paused.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    run(cancelled())


def test_a_thread_that_is_not_waited_for_has_no_duration() -> None:
    begun, go_on = threading.Event(), threading.Event()
    recorder = Recorder()

    def blocks() -> None:
        begun.set()
        go_on.wait(10)

    async def cancelled() -> None:
        work = asyncio.create_task(execute([ToolCall("blocks", {})], [blocks], recorder=recorder))
        await asyncio.to_thread(begun.wait, 10)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        go_on.set()

    run(cancelled())
    (execution,) = recorder.executions
    assert (execution.duration_seconds, execution.ok_reason) == (None, "cancelled")


def test_functions_of_a_batch_run_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=10)

    def look(index: int) -> int:
        both.wait()
        return index

    results = execute_all(calls_of("look", "look"), [look], categories=KINDS, max_parallel=2)
    assert [one.value for one in results] == [0, 1]


@pytest.mark.parametrize("kind", ["look", "change"])
def test_functions_do_not_overlap_where_they_must_not(kind: str) -> None:
    inside, most = 0, 0
    guard = threading.Lock()

    def tool(index: int) -> int:
        nonlocal inside, most
        with guard:
            inside += 1
            most = max(most, inside)
        threading.Event().wait(0.001)
        with guard:
            inside -= 1
        return index

    parallel = 1 if kind == "look" else 8
    execute_all(calls_of(*[kind] * 8), {kind: tool}, categories=KINDS, max_parallel=parallel)
    assert most == 1


def test_a_stop_iteration_is_an_error_like_others() -> None:
    def tool() -> None:
        raise StopIteration("over")

    (result,) = run(_soon(execute([ToolCall("tool", {})], [tool], pace=Time().pace)))
    assert (result.error, result.attempts) == ("StopIteration: over", 3)


async def _soon(work: Any) -> Any:
    return await asyncio.wait_for(work, 20)


def test_a_tool_that_is_recorded_already_is_recorded_once() -> None:
    recorder = Recorder()

    def look(index: int) -> int:
        return index

    wrapped = wrap_tool(look, recorder)
    (result,) = execute_all(calls_of("look"), [wrapped], recorder=recorder)
    assert (len(recorder), result.attempts) == (1, 1)
