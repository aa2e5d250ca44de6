"""What a recorder keeps of each run of a tool, and how much of it."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.samples import BrokenError, fail, fetch, made, only, read, search
from tunaeval.errors import UsageError
from tunaeval.tools.frameworks import wrap_tool
from tunaeval.tools.recorder import Recorder


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda tool: tool("a"), {"pattern": "a"}),
        (lambda tool: tool("a", limit=1), {"pattern": "a", "limit": 1}),
        (
            lambda tool: tool("a", "b", "c", "d"),
            {"pattern": "a", "directory": "b", "more": ("c", "d")},
        ),
        (lambda tool: tool(pattern="a", colour="red"), {"pattern": "a", "colour": "red"}),
    ],
)
def test_arguments_are_recorded_by_name(
    call: Callable[[Any], object], named: dict[str, object]
) -> None:
    recorder = Recorder()
    call(wrap_tool(search, recorder))
    assert only(recorder).arguments == named


def test_a_wrong_call_is_recorded_as_it_was_made() -> None:
    recorder = Recorder()
    wrapped: Any = wrap_tool(read, recorder)
    with pytest.raises(TypeError, match="unexpected keyword"):
        wrapped("a", colour="red")
    assert only(recorder).arguments == {"*args": ["a"], "colour": "red"}
    assert only(recorder).ok_reason == "exception"


def test_an_argument_is_recorded_as_it_is() -> None:
    recorder, path = Recorder(), object()
    tool: Any = wrap_tool(made(("return", None), []), recorder)
    tool(path=path)
    assert only(recorder).arguments["path"] is path


def test_a_failure_is_recorded_with_its_words() -> None:
    recorder = Recorder()
    with pytest.raises(BrokenError):
        wrap_tool(fail, recorder)("x")
    execution = only(recorder)
    assert (execution.ok, execution.ok_reason, execution.error) == (
        False,
        "exception",
        "BrokenError: x",
    )


def test_durations_and_starts_are_measured() -> None:
    async def slow() -> None:
        await asyncio.sleep(0.02)

    recorder = Recorder()
    asyncio.run(wrap_tool(slow, recorder)())
    execution = only(recorder)
    assert execution.duration_seconds is not None
    assert 0.015 < execution.duration_seconds < 5
    assert execution.started_at > 1_600_000_000


def test_the_duration_of_a_promise_is_unknown() -> None:
    def hidden(url: str) -> Awaitable[str]:
        return fetch(url)

    recorder = Recorder()
    tool = wrap_tool(hidden, recorder)
    assert asyncio.run(run(tool("a"))) == "a"
    assert (only(recorder).duration_seconds, only(recorder).ok_reason) == (None, "awaitable")


async def run(promise: Awaitable[str]) -> str:
    return await promise


def test_a_cancellation_passes_and_is_recorded() -> None:
    async def wait() -> None:
        await asyncio.sleep(60)

    async def cancel(tool: Callable[[], Awaitable[None]]) -> bool:
        task = asyncio.ensure_future(tool())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    recorder = Recorder()
    assert asyncio.run(cancel(wrap_tool(wait, recorder)))
    assert (only(recorder).ok, only(recorder).ok_reason) == (False, "cancelled")


@pytest.mark.parametrize("limit", [0, -1, True, 2.5, "9"])
def test_a_recorder_without_room_is_refused(limit: Any) -> None:
    with pytest.raises(UsageError, match="1 or more"):
        Recorder(limit)


@given(limit=st.integers(1, 8), runs=st.integers(0, 20))
def test_a_recorder_keeps_the_last_and_counts_the_rest(limit: int, runs: int) -> None:
    recorder = Recorder(limit)
    tool = wrap_tool(read, recorder)
    for number in range(runs):
        tool(str(number))
    kept = [execution.arguments["path"] for execution in recorder.executions]
    assert kept == [str(number) for number in range(runs)][-limit:]
    assert recorder.dropped == max(0, runs - limit)
    recorder.clear()
    assert (recorder.executions, recorder.dropped) == ((), 0)


def test_the_memory_of_a_recorder_is_bounded() -> None:
    recorder = Recorder(200)
    tool = wrap_tool(read, recorder)
    for number in range(400):
        tool(str(number) * 10)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for number in range(20_000):
        tool(str(number) * 10)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 100_000


def test_threads_share_a_recorder() -> None:
    recorder = Recorder(3_000)
    tool = wrap_tool(read, recorder)

    def work() -> None:
        for number in range(1_000):
            tool("a")
            if number % 100 == 0:
                assert recorder.executions

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(recorder.executions), recorder.dropped) == (3_000, 1_000)


def test_parallel_tasks_are_recorded_apart() -> None:
    async def wait(name: str, seconds: float) -> str:
        await asyncio.sleep(seconds)
        return name

    async def both(tool: Callable[[str, float], Awaitable[str]]) -> list[str]:
        return list(await asyncio.gather(tool("slow", 0.02), tool("quick", 0)))

    recorder = Recorder()
    assert asyncio.run(both(wrap_tool(wait, recorder))) == ["slow", "quick"]
    assert [one.arguments["name"] for one in recorder.executions] == ["quick", "slow"]
