"""Every kind of function can be wrapped; the wrapper is of that kind, and looks so."""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial, partialmethod
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.samples import count, fetch, only, read, search
from tunaeval import wrap_tool
from tunaeval.tools.recorder import Recorder


async def count_later(to: int) -> AsyncIterator[int]:
    """Count, when asked."""
    for number in range(to):
        yield number


class Server:
    """Restarts services."""

    services: tuple[str, ...] = ("web",)

    def restart(self, service: str, *, force: bool = False) -> str:
        return f"{service} {force}"

    @classmethod
    def known(cls, service: str) -> bool:
        return service in cls.services

    @staticmethod
    def port(service: str) -> int:
        return len(service)

    forced = partialmethod(restart, force=True)

    def __call__(self, service: str) -> str:
        return f"called {service}"


class Later:
    async def __call__(self, url: str) -> str:
        return await fetch(url)


def positional(a: int, b: int = 2, /) -> Any:
    return a, b


def keyword(*, a: int, b: int = 2) -> Any:
    return a, b


def mixed(a: int, /, b: int, c: int = 3, *args: int, d: int, e: int = 5, **kwargs: int) -> Any:
    return a, b, c, args, d, e, kwargs


def anything(*args: Any, **kwargs: Any) -> Any:
    return args, kwargs


SIGNATURES = (
    positional, keyword, mixed, anything, read, search, len, partial(mixed, 1, d=4),
    Server().restart, Server.known, Server.port, Server().forced, Server(),
)  # fmt: skip


def end(call: Callable[[], object]) -> tuple[str, object]:
    try:
        return "returned", call()
    except Exception as error:  # noqa: BLE001 - whatever it is, it has to be the same
        return type(error).__name__, str(error)


@given(
    tool=st.sampled_from(SIGNATURES),
    args=st.lists(st.integers() | st.text(max_size=3), max_size=5),
    kwargs=st.dictionaries(st.sampled_from("abcdez") | st.text(max_size=2), st.integers()),
)
def test_any_signature_is_called_alike(tool: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    recorder = Recorder()
    wrapped = wrap_tool(tool, recorder)
    bare = end(lambda: tool(*args, **kwargs))
    assert end(lambda: wrapped(*args, **kwargs)) == bare
    assert only(recorder).ok == (bare[0] == "returned")


CHECKS = (
    inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction,
    asyncio.iscoroutinefunction, callable,
)  # fmt: skip
TOOLS = (*SIGNATURES, fetch, count, count_later, Later(), partial(fetch, "u"), partial(count, 3))


@pytest.mark.filterwarnings("ignore:'asyncio.iscoroutinefunction':DeprecationWarning")
@pytest.mark.parametrize("tool", TOOLS)
def test_a_wrapper_is_of_the_tools_kind_and_looks_like_it(tool: Any) -> None:
    wrapped = wrap_tool(tool, Recorder())
    kind = tool if not isinstance(tool, (Server, Later)) else tool.__call__
    assert [check(wrapped) for check in CHECKS] == [check(kind) for check in CHECKS]
    assert inspect.signature(wrapped) == inspect.signature(tool)
    assert inspect.unwrap(wrapped) is inspect.unwrap(tool)
    for name in ("__doc__", "__module__", "__name__", "__qualname__", "__annotations__"):
        if hasattr(tool, name) and not isinstance(tool, partial):
            assert getattr(wrapped, name) == getattr(tool, name)


@pytest.mark.parametrize("tool", [read, search, fetch, count, count_later, lambda: 3])
def test_a_function_stays_a_function(tool: Any) -> None:
    tool.colour = "red"
    wrapped: Any = wrap_tool(wrap_tool(tool, Recorder()), Recorder())
    assert inspect.isfunction(wrapped)
    assert inspect.isroutine(wrapped)
    assert vars(wrapped)["colour"] == "red"
    assert inspect.getsource(wrapped) == inspect.getsource(tool)
    assert inspect.getdoc(wrapped) == inspect.getdoc(tool)


def test_annotations_are_resolved_as_the_tools() -> None:
    assert get_type_hints(wrap_tool(count, Recorder())) == get_type_hints(count)


def test_other_attributes_are_the_tools() -> None:
    server = Server()
    wrapped: Any = wrap_tool(server, Recorder())
    server.services = ("database",)
    assert wrapped.services == ("database",)
    assert not hasattr(wrapped, "missing")


def test_a_wrapper_may_be_a_method() -> None:
    recorder = Recorder()

    def is_known(cls: Any, service: str) -> bool:
        return service in cls.services

    class Host:
        restart = wrap_tool(Server.restart, recorder)
        known = classmethod(wrap_tool(is_known, recorder))
        port = staticmethod(wrap_tool(Server.port, recorder))
        services = ("cache",)

    host: Any = Host()
    assert host.restart("web", force=True) == "web True"
    assert (Host.known("cache"), host.port("web")) == (True, 3)
    assert len(recorder) == 3


def test_a_wrapped_function_is_bound_as_any_function() -> None:
    class Host:
        def restart(self, service: str) -> str:
            return f"{id(self)} {service}"

    recorder, host = Recorder(), Host()
    setattr(Host, "restart", wrap_tool(Host.restart, recorder))  # noqa: B010 - as a host patches it
    assert host.restart("web") == f"{id(host)} web"
    assert inspect.ismethod(host.restart)
    assert wrap_tool(host.restart, recorder) == host.restart


def test_an_object_that_computes_how_it_is_called_is_wrapped() -> None:
    class Computed:
        @property
        def __call__(self) -> Callable[[str], str]:
            return read

    recorder = Recorder()
    assert wrap_tool(Computed(), recorder)("a") == "a:10"
    assert only(recorder).tool == "Computed"


def test_a_callable_object_is_named_by_its_class() -> None:
    recorder = Recorder()
    assert asyncio.run(wrap_tool(Later(), recorder)("u")) == "u"
    assert (only(recorder).tool, only(recorder).arguments) == ("Later", {"url": "u"})


RECORDER = Recorder(7, classifiers=["exit-code"])


@partial(wrap_tool, recorder=RECORDER)
def decorated(path: str) -> str:
    return path


def test_a_copy_is_the_same_as_of_any_function() -> None:
    assert copy.copy(decorated) is decorated
    assert copy.deepcopy([decorated])[0] is decorated


def test_a_pool_of_threads_shares_a_tool() -> None:
    recorder = Recorder()
    tool = wrap_tool(read, recorder)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(tool, map(str, range(200)))) == [f"{n}:10" for n in range(200)]
    assert {run.arguments["path"] for run in recorder.executions} == set(map(str, range(200)))
