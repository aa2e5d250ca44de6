"""A recorded run knows which call it answers, and how long that call had waited."""

from __future__ import annotations

import asyncio
import threading
from contextvars import copy_context
from time import perf_counter

import pytest

from tests.tools.samples import BrokenError, fail, fetch, only, read
from tunaeval import call_id
from tunaeval.tools.frameworks import wrap_tool
from tunaeval.tools.recorder import Recorder


def test_a_run_answers_the_call_it_is_told() -> None:
    recorder = Recorder()
    tool = wrap_tool(read, recorder)
    with call_id("c1"):
        tool("a")
    tool("b")
    assert [run.call_id for run in recorder.executions] == ["c1", None]


def test_the_wait_is_apart_from_the_run() -> None:
    recorder = Recorder()
    tool = wrap_tool(read, recorder)
    with call_id("c1", asked=perf_counter() - 5):
        tool("a")
    tool("b")
    told, untold = recorder.executions
    assert told.queued_seconds is not None
    assert 5 <= told.queued_seconds < 65
    assert (told.duration_seconds or 0) < 5
    assert untold.queued_seconds is None


def test_a_wait_is_never_negative() -> None:
    recorder = Recorder()
    with call_id("c1", asked=perf_counter() + 60):
        wrap_tool(read, recorder)("a")
    assert only(recorder).queued_seconds == 0


def test_parallel_tasks_answer_their_own_calls() -> None:
    recorder = Recorder()
    tool = wrap_tool(fetch, recorder)

    async def answer(name: str) -> None:
        with call_id(name):
            await asyncio.sleep(0)
            await tool(name)

    async def all_of_them() -> None:
        await asyncio.gather(*(answer(f"c{number}") for number in range(20)))

    asyncio.run(all_of_them())
    assert all(run.call_id == run.arguments["url"] for run in recorder.executions)
    assert len(recorder) == 20


def test_tools_that_a_tool_calls_answer_no_call() -> None:
    recorder = Recorder()
    inner = wrap_tool(read, recorder)

    def outer(path: str) -> str:
        return inner(path)

    with call_id("c1"):
        wrap_tool(outer, recorder)("a")
    assert [(run.tool, run.call_id) for run in recorder.executions] == [
        ("read", None),
        ("outer", "c1"),
    ]


def test_another_attempt_answers_the_same_call() -> None:
    recorder = Recorder()
    with call_id("c1"):
        with pytest.raises(BrokenError):
            wrap_tool(fail, recorder)("a")
        wrap_tool(read, recorder)("a")
    assert [run.ok for run in recorder.by_call["c1"]] == [False, True]


def test_each_of_two_recorders_hears_of_the_call() -> None:
    one, two = Recorder(), Recorder()
    with call_id("c1"):
        wrap_tool(wrap_tool(read, one), two)("a")
    assert (only(one).call_id, only(two).call_id) == ("c1", "c1")


def test_a_thread_is_told_inside_or_by_a_copied_context() -> None:
    recorder = Recorder()
    tool = wrap_tool(read, recorder)

    def started(target: object, *args: object) -> None:
        thread = threading.Thread(target=target, args=args)  # type: ignore[arg-type] # any function
        thread.start()
        thread.join()

    with call_id("c1"):
        started(copy_context().run, tool, "a")
        started(tool, "b")
    assert [run.call_id for run in recorder.executions] == ["c1", None]


def test_calls_end_with_their_block_whatever_happens() -> None:
    recorder = Recorder()
    with pytest.raises(BrokenError), call_id("c1"), call_id("c2"):
        fail("a")
    wrap_tool(read, recorder)("b")
    assert only(recorder).call_id is None
