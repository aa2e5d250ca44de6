"""A wrapped tool behaves as the bare one, and each run of it is recorded."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial, wraps
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.errors import UsageError
from tunaeval.tools import Recorder, RecordingWrapper, to_tools, wrap_tool
from tunaeval.types import ToolExecution
from tunaeval.types.roles import ToolWrapper


def search(pattern: str, directory: str = ".", *more: str, limit: int = 3, **options: str) -> str:
    """Search for things."""
    return f"{pattern} {directory} {more} {limit} {options}"


def read(path: str, lines: int = 10) -> str:
    """Read a file."""
    return f"{path}:{lines}"


async def fetch(url: str) -> str:
    """Fetch a page."""
    await asyncio.sleep(0)
    return url


class Server:
    def restart(self, service: str) -> str:
        return service


class BrokenError(Exception):
    """A tool's own."""


def fail(path: str) -> str:
    raise BrokenError(path)


def only(recorder: Recorder) -> ToolExecution:
    (execution,) = recorder.executions
    return execution


values = st.none() | st.integers() | st.text() | st.lists(st.text()) | st.binary()
endings = st.one_of(
    values.map(lambda value: ("return", value)),
    st.dictionaries(st.sampled_from(["ok", "status", "is_error", "x"]), values | st.booleans()).map(
        lambda value: ("return", value)
    ),
    st.sampled_from([
        ValueError("no"), BrokenError(), KeyError("k"), KeyboardInterrupt(), SystemExit(3),
        asyncio.CancelledError(), OSError(2, "gone"),
    ]).map(lambda error: ("raise", error)),
)  # fmt: skip
arguments = st.tuples(st.lists(values, max_size=4), st.dictionaries(st.text(), values, max_size=4))


def made(ending: tuple[str, Any], seen: list[object]) -> Callable[..., object]:
    """A tool that notes how it was called and ends as it is told."""

    def tool(*args: object, **kwargs: object) -> object:
        seen.append((args, kwargs))
        if ending[0] == "raise":
            raise ending[1]
        return ending[1]

    return tool


def outcome(call: Callable[[], object]) -> tuple[str, object]:
    try:
        return "return", call()
    except BaseException as error:  # noqa: BLE001 - whatever it is, it has to be the same
        return "raise", error


async def outcome_of(call: Callable[[], Awaitable[object]]) -> tuple[str, object]:
    try:
        return "return", await call()
    except BaseException as error:  # noqa: BLE001 - as above
        return "raise", error


def same(one: tuple[str, object], other: tuple[str, object]) -> bool:
    return one[0] == other[0] and one[1] is other[1]


@given(ending=endings, given_arguments=arguments)
def test_wrapped_and_bare_end_alike(
    ending: tuple[str, Any], given_arguments: tuple[list[Any], dict[str, Any]]
) -> None:
    args, kwargs = given_arguments
    recorder, seen = Recorder(), list[object]()
    tool = made(ending, seen)
    wrapped = wrap_tool(tool, recorder)
    assert same(outcome(lambda: tool(*args, **kwargs)), outcome(lambda: wrapped(*args, **kwargs)))
    assert seen[0] == seen[1]
    execution = only(recorder)
    assert execution.ok or execution.ok_reason != "assumed"
    assert (execution.ok_reason in {"exception", "cancelled"}) == (ending[0] == "raise")


@given(ending=endings, given_arguments=arguments)
def test_wrapped_and_bare_coroutines_end_alike(
    ending: tuple[str, Any], given_arguments: tuple[list[Any], dict[str, Any]]
) -> None:
    args, kwargs = given_arguments
    recorder = Recorder()
    bare = made(ending, [])

    async def tool(*args: object, **kwargs: object) -> object:
        return bare(*args, **kwargs)

    wrapped = wrap_tool(tool, recorder)

    async def both() -> tuple[tuple[str, object], tuple[str, object]]:
        one = await outcome_of(lambda: tool(*args, **kwargs))
        return one, await outcome_of(lambda: wrapped(*args, **kwargs))

    assert same(*asyncio.run(both()))
    assert only(recorder).ok_reason in {"exception", "cancelled"} or ending[0] == "return"


@pytest.mark.parametrize("tool", [search, fetch, Server().restart, partial(read, lines=2)])
def test_a_wrapper_looks_like_the_tool(tool: Any) -> None:
    wrapped = wrap_tool(tool, Recorder())
    function = getattr(tool, "func", tool)
    assert wrapped is not tool
    assert wrapped.__wrapped__ is tool
    assert inspect.signature(wrapped) == inspect.signature(tool)
    assert inspect.iscoroutinefunction(wrapped) == inspect.iscoroutinefunction(tool)
    assert (wrapped.__name__, wrapped.__doc__) == (function.__name__, function.__doc__)


def test_a_wrapper_has_the_schema_of_the_tool() -> None:
    assert to_tools([wrap_tool(read, Recorder())])["read"] == to_tools([read])["read"]


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


def test_wrapping_twice_records_once() -> None:
    recorder = Recorder()
    once = wrap_tool(read, recorder)
    assert wrap_tool(once, recorder) is once
    wrap_tool(wrap_tool(once, recorder), recorder)("a")
    assert len(recorder) == 1


def test_a_tool_that_is_recorded_further_down_is_not_wrapped_again() -> None:
    recorder = Recorder()
    inner = wrap_tool(read, recorder)

    @wraps(inner)
    def decorated(path: str) -> str:
        return inner(path)

    for tool in (decorated, partial(inner, lines=3), wrap_tool(inner, Recorder())):
        recorder.clear()
        again: Any = wrap_tool(tool, recorder)
        again("a")
        assert len(recorder) == 1


def test_two_recorders_both_hear() -> None:
    one, two = Recorder(), Recorder()
    wrap_tool(wrap_tool(read, one), two)("a")
    assert (only(one).tool, only(two).tool) == ("read", "read")


class Refusing:
    """A recorder that cannot."""

    def record(self, execution: ToolExecution) -> None:
        raise BrokenError(execution.tool)


def test_a_recorder_that_fails_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert wrap_tool(read, Refusing())("a") == "a:10"
        assert asyncio.run(wrap_tool(fetch, Refusing())("u")) == "u"
        with pytest.raises(BrokenError, match="path"):
            wrap_tool(fail, Refusing())("path")
    assert caplog.text.count("could not be recorded: BrokenError") == 3


def test_any_recorder_hears_finished_executions() -> None:
    class Listed:
        def __init__(self) -> None:
            self.heard: list[ToolExecution] = []

        def record(self, execution: ToolExecution) -> None:
            self.heard.append(execution)

    class Printing(Recorder):
        def record(self, execution: ToolExecution) -> None:
            heard.append(execution)
            super().record(execution)

    heard: list[ToolExecution] = []
    listed = Listed()
    wrap_tool(wrap_tool(read, listed), Printing())("a")
    assert [one.arguments for one in (*listed.heard, *heard)] == [{"path": "a"}] * 2


def test_a_result_that_breaks_when_looked_at_is_given_back() -> None:
    class Odd:
        def __getattr__(self, name: str) -> object:
            raise BrokenError(name)

    odd, recorder = Odd(), Recorder()
    assert wrap_tool(lambda: odd, recorder)() is odd
    assert only(recorder).ok_reason == "unreadable"


def counting() -> Iterator[int]:
    yield 1


async def acounting() -> AsyncIterator[int]:
    yield 1


@pytest.mark.parametrize("tool", [counting, acounting, Server(), Server, "read", None, object()])
def test_what_cannot_be_wrapped_is_refused(tool: Any) -> None:
    with pytest.raises(UsageError, match="supported are functions, coroutine functions"):
        wrap_tool(tool, Recorder())


def test_what_is_no_recorder_is_refused() -> None:
    nothing: Any = []
    with pytest.raises(UsageError, match=r"wanted a tunaeval\.Recorder"):
        wrap_tool(read, nothing)


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


def test_the_built_in_wrapper_plays_its_role() -> None:
    wrapper, recorder = RecordingWrapper(), Recorder()
    assert isinstance(wrapper, ToolWrapper)
    wrapper.wrap(read, recorder)("a")
    assert only(recorder).tool == "read"
