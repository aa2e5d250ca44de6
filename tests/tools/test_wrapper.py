"""A wrapped tool behaves as the bare one, and its recorder never gets between."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from functools import partial, wraps
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.samples import BrokenError, fail, fetch, made, only, read, search
from tunaeval.errors import UsageError
from tunaeval.tools.frameworks import wrap_tool
from tunaeval.tools.recorder import Recorder
from tunaeval.tools.specs import to_tools
from tunaeval.types.messages import ToolExecution


class Server:
    def restart(self, service: str) -> str:
        return service

    @classmethod
    def known(cls) -> bool:
        return True


values = st.none() | st.integers() | st.text() | st.lists(st.text()) | st.binary()
endings = st.one_of(
    values.map(lambda value: ("return", value)),
    st.dictionaries(st.sampled_from(["ok", "status", "is_error", "x"]), values | st.booleans()).map(
        lambda value: ("return", value)
    ),
    st.sampled_from([
        ValueError("no"), BrokenError(), KeyError("k"), KeyboardInterrupt(), SystemExit(3),
        asyncio.CancelledError(), OSError(2, "gone"), StopIteration(3), StopAsyncIteration(),
        GeneratorExit(),
    ]).map(lambda error: ("raise", error)),
)  # fmt: skip
arguments = st.tuples(st.lists(values, max_size=4), st.dictionaries(st.text(), values, max_size=4))


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
    """Of a StopIteration that leaves a coroutine, Python makes a new error each time."""
    causes = [getattr(end[1], "__cause__", None) for end in (one, other)]
    is_made_of_one = causes[0] is not None and causes[0] is causes[1]
    return one[0] == other[0] and (one[1] is other[1] or is_made_of_one)


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


@pytest.mark.parametrize(
    "tool",
    [Server(), Server, "read", None, object(), staticmethod(read), vars(Server)["known"], {}],
)
def test_what_cannot_be_wrapped_is_refused(tool: Any) -> None:
    with pytest.raises(UsageError, match="supported are functions, coroutine functions"):
        wrap_tool(tool, Recorder())


def test_what_is_no_recorder_is_refused() -> None:
    nothing: Any = []
    with pytest.raises(UsageError, match=r"wanted a tunaeval\.Recorder"):
        wrap_tool(read, nothing)
