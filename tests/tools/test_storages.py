"""Where executions are put: in a recorder, in a mapping of one run, or beside the results."""

from __future__ import annotations

import asyncio
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.reduction import ForkingPickler
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.samples import BrokenError, fail, fetch, only, read
from tunaeval import busy_seconds, call_id
from tunaeval.errors import UsageError
from tunaeval.tools.frameworks import wrap_tool
from tunaeval.tools.recorder import ContextRecorder, Recorder, ResultRecorder
from tunaeval.types.messages import ToolExecution

STORAGES = {"collector": Recorder, "context": ContextRecorder, "result": ResultRecorder}


def test_each_run_of_an_agent_has_its_own_mapping() -> None:
    recorder = ContextRecorder(5)
    tool = wrap_tool(fetch, recorder)

    async def agent(name: str) -> Recorder:
        with recorder.run() as run:
            for call in ("c1", "c2"):
                with call_id(call):
                    await tool(f"{name}-{call}")
            await tool(name)
        return run

    async def both() -> list[Recorder]:
        return list(await asyncio.gather(agent("a"), agent("b")))

    one, two = asyncio.run(both())
    for name, run in (("a", one), ("b", two)):
        urls = {call: [e.arguments["url"] for e in runs] for call, runs in run.by_call.items()}
        assert urls == {"c1": [f"{name}-c1"], "c2": [f"{name}-c2"], None: [name]}
    assert not recorder.executions


def test_outside_of_runs_nothing_is_lost() -> None:
    recorder = ContextRecorder()
    tool = wrap_tool(read, recorder)
    with recorder.run() as outer:
        with recorder.run() as inner:
            tool("inner")
        tool("outer")
    tool("outside")
    paths = [only(one).arguments["path"] for one in (inner, outer, recorder)]
    assert paths == ["inner", "outer", "outside"]


def test_an_execution_is_found_by_its_result() -> None:
    recorder = ResultRecorder()
    tool = wrap_tool(read, recorder)
    results = [tool(str(number)) for number in range(5)]
    for number, result in enumerate(results):
        execution = recorder.of(result)
        assert execution is not None
        assert execution.arguments == {"path": str(number)}
    assert recorder.of("no result of ours") is None
    recorder.clear()
    assert recorder.of(results[0]) is None


def test_an_execution_is_found_by_what_it_raised() -> None:
    recorder = ResultRecorder()
    with pytest.raises(BrokenError) as caught:
        wrap_tool(fail, recorder)("a")
    assert recorder.of(caught.value) == only(recorder)


@pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)
def test_what_was_taken_is_forgotten(storage: type[Recorder]) -> None:
    recorder = storage(3)
    tool = wrap_tool(read, recorder)
    results = [tool(str(number)) for number in range(5)]
    assert [run.arguments["path"] for run in recorder.take()] == ["2", "3", "4"]
    assert (recorder.take(), recorder.dropped, len(recorder)) == ((), 0, 0)
    assert not isinstance(recorder, ResultRecorder) or recorder.of(results[-1]) is None


@pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)
def test_200_000_calls_leave_nothing_behind(storage: type[Recorder]) -> None:
    # In a process of its own, as the threads of other tests allocate memory, too.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        assert pool.submit(growth_of, storage).result() < 20_000


def growth_of(storage: type[Recorder]) -> int:
    """Return by how many bytes the memory grows with many recorded calls."""
    recorder = storage(100)
    tool = wrap_tool(read, recorder)
    for number in range(400):
        tool(f"{number:06}")
    tracemalloc.start()
    for number in range(400):
        tool(f"{number:06}")
    before, _ = tracemalloc.get_traced_memory()
    for number in range(200_000 if storage is Recorder else 20_000):
        tool(f"{number:06}")
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return after - before


@pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)
def test_to_another_process_goes_an_empty_recorder(storage: type[Recorder]) -> None:
    recorder = storage(9, classifiers=["status"], listener=print)
    wrap_tool(read, recorder)
    again: Any = ForkingPickler.loads(ForkingPickler.dumps(recorder))
    assert type(again) is storage
    assert (again.limit, again.classifiers, again.listener) == (9, recorder.classifiers, print)
    assert not again.executions


def test_a_listener_hears_each_execution_as_it_ends() -> None:
    heard: list[ToolExecution] = []
    recorder = Recorder(listener=heard.append)
    tool = wrap_tool(read, recorder)
    for number in range(3):
        tool(str(number))
        assert heard == list(recorder.executions)


def test_a_listener_that_fails_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    recorder = Recorder(listener=lambda execution: execution.arguments["nothing"])
    assert wrap_tool(read, recorder)("a") == "a:10"
    assert only(recorder).arguments == {"path": "a"}
    assert "could not be recorded: KeyError" in caplog.text


def test_what_cannot_listen_is_refused() -> None:
    nobody: Any = "stderr"
    with pytest.raises(UsageError, match="a function that takes an execution"):
        Recorder(listener=nobody)


def execution(started_at: float, duration: float | None) -> ToolExecution:
    return ToolExecution("t", None, {}, started_at, duration, ok=True, ok_reason="assumed")


starts = st.integers(0, 60).map(float)
durations = st.none() | st.integers(0, 20).map(float)


@given(runs=st.lists(st.builds(execution, starts, durations), max_size=12))
def test_parallel_runs_count_once(runs: list[ToolExecution]) -> None:
    known = [run for run in runs if run.duration_seconds is not None]
    seconds = {
        second
        for run in known
        for second in range(int(run.started_at), int(run.started_at + (run.duration_seconds or 0)))
    }
    assert busy_seconds(runs) == (len(seconds) if known == runs else None)
    assert busy_seconds(reversed(runs)) == busy_seconds(runs)


def test_a_recorder_tells_how_long_tools_were_busy() -> None:
    recorder = Recorder()
    for start in (0.0, 1.0, 10.0):
        recorder.record(execution(start, 2.0))
    assert recorder.busy_seconds == 5
