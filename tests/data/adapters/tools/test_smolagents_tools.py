"""Tools shaped as those of smolagents, recorded; `tests/hosts` runs the real ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.tools.samples import only, read

PATH = {"path": {"type": "string"}, "lines": {"type": "integer"}}
REVERSED = dict(reversed(PATH.items()))


class Tool:
    """Sets itself up when it is first called, and then calls its `forward`."""

    name = "read"
    description = "Read a file."
    inputs = PATH
    output_type = "string"
    is_set_up = False

    def setup(self) -> None:
        self.prefix = "file "
        self.is_set_up = True

    def forward(self, path: str, lines: int = 10) -> str:
        if path == "gone":
            raise FileNotFoundError(path)
        return f"{self.prefix}{path}:{lines}"

    def __call__(self, *args: Any, sanitize: bool = False, **kwargs: Any) -> Any:
        if not self.is_set_up:
            self.setup()
        result = self.forward(*args, **kwargs)
        return result.upper() if sanitize else result


class Static(Tool):
    """Made of a function, whose signature says that it takes a `self`."""

    inputs = REVERSED

    @staticmethod
    def forward(path: str, lines: int = 10) -> str:
        return read(path, lines)


_own = inspect.signature(read)
_self = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
Static.forward.__signature__ = _own.replace(  # type: ignore[attr-defined] # as the framework does
    parameters=[_self, *_own.parameters.values()]
)


class Anything(Tool):
    """Takes whatever its inputs say."""

    def forward(self, *args: Any, **kwargs: Any) -> str:
        return f"{args} {kwargs}"


class Owned(Tool):
    """Has a function of its own for each object."""

    def __init__(self) -> None:
        self.forward = read  # type: ignore[method-assign] # what is tried here


KINDS: list[Callable[[], Tool]] = [Tool, Static, Anything, Owned]


def outcome(tool: Tool, *args: Any, **kwargs: Any) -> tuple[str, object]:
    try:
        return "returned", tool(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - whatever it is, it has to be the same
        return type(error).__name__, str(error)


@pytest.mark.parametrize("make", KINDS)
@given(path=st.text() | st.just("gone"), by_name=st.booleans(), sanitize=st.booleans())
def test_wrapped_and_bare_answer_alike(
    make: Callable[[], Tool], path: str, by_name: bool, sanitize: bool
) -> None:
    recorder = tunaeval.Recorder()
    args = () if by_name else (path, 3)
    kwargs: dict[str, Any] = {"path": path, "lines": 3} if by_name else {}
    wrapped = tunaeval.wrap_tool(make(), recorder)
    bare = outcome(make(), *args, sanitize=sanitize, **kwargs)
    assert outcome(wrapped, *args, sanitize=sanitize, **kwargs) == bare
    run = only(recorder)
    assert (run.tool, run.ok) == ("read", bare[0] == "returned")
    assert run.arguments == {"path": path, "lines": 3}


@pytest.mark.parametrize("make", KINDS)
def test_a_copy_is_what_the_tool_is(make: Callable[[], Tool]) -> None:
    tool = make()
    before = dict(vars(tool))
    wrapped = tunaeval.wrap_tool(tool, tunaeval.Recorder())
    assert wrapped is not tool
    assert type(wrapped) is type(tool)
    assert vars(tool) == before
    assert (wrapped.name, wrapped.inputs) == (tool.name, tool.inputs)
    assert inspect.signature(wrapped.forward) == inspect.signature(tool.forward)


@pytest.mark.parametrize("make", KINDS)
def test_wrapping_twice_records_once_and_two_recorders_both_hear(make: Callable[[], Tool]) -> None:
    one, two = tunaeval.Recorder(), tunaeval.Recorder()
    once = tunaeval.wrap_tool(make(), one)
    assert tunaeval.wrap_tool(once, one) is once
    outcome(tunaeval.wrap_tool(once, two), "a", 3)
    assert only(one).arguments == only(two).arguments == {"path": "a", "lines": 3}


def test_what_is_set_up_is_found_by_the_copy_alone() -> None:
    tool = Tool()
    both = tunaeval.wrap_tool(tunaeval.wrap_tool(tool, tunaeval.Recorder()), tunaeval.Recorder())
    assert both("a") == "file a:10"
    assert not hasattr(tool, "prefix")


def test_a_failure_is_recorded_with_its_words() -> None:
    recorder = tunaeval.Recorder()
    with pytest.raises(FileNotFoundError):
        tunaeval.wrap_tool(Tool(), recorder)("gone")
    run = only(recorder)
    assert (run.ok_reason, run.error) == ("exception", "FileNotFoundError: gone")
