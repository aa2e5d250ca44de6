"""How a tool is wrapped: a copy that behaves the same, and each run of it recorded.

A wrapper gives back the very result and lets the very exception through, a cancellation too. When
recording itself fails, that is logged (`tunaeval.tools`) and the tool's caller never learns of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial, update_wrapper
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, TypeVar, cast

from tunaeval.errors import UsageError
from tunaeval.types import roles

from .notes import AnyFunction, Arguments, notes_of
from .recorder import Recorder
from .running import KINDS, recorded_function

Tool = TypeVar("Tool", bound=AnyFunction)

_RECORDER = "__tunaeval_recorder__"
_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType)
_WANTED = (
    "functions, coroutine functions, generators of both kinds, bound methods, callable objects, "
    "functools.partial of these, and the tools of LangChain, pydantic-ai, OpenAI Agents, "
    "smolagents and tinyagent"
)


@dataclass(frozen=True, slots=True)
class RecordingWrapper:
    """The built-in `ToolWrapper`."""

    def wrap(self, tool: roles.AnyTool, recorder: roles.Recorder) -> roles.AnyTool:
        """As `wrap_tool`."""
        return wrap_tool(tool, recorder)


class RecordedTool(partial[object]):
    """What is no function of Python's own, wrapped: a method, a partial, an object that is called.

    It is called as the tool is, and has the tool's attributes. It is a `partial` because `inspect`
    looks through one (coroutine functions, generators), and goes to another process as its tool
    and its recorder, to be wrapped again there.
    """

    __wrapped__: AnyFunction

    def __getattr__(self, name: str) -> Any:
        try:
            tool = vars(self)["__wrapped__"]
        except KeyError:
            raise AttributeError(name) from None
        return getattr(tool, name)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<recorded {self.__wrapped__!r}>"

    def __copy__(self) -> RecordedTool:
        return self  # as functions are copied

    def __deepcopy__(self, memo: object) -> RecordedTool:
        return self

    def __reduce__(self) -> Any:
        return wrap_tool, (self.__wrapped__, vars(self)[_RECORDER])


def wrap_tool(tool: Tool, recorder: roles.Recorder) -> Tool:
    """A copy of `tool` that behaves the same; `recorder` takes an execution of each run.

    A function of any kind becomes a function of that kind. Name, docstring and signature stay, and
    `__wrapped__` is the tool. A tool that this recorder records already comes back as it is.
    Raises UsageError for what cannot be wrapped.
    """
    return tool if is_recorded(tool, recorder) else record_runs(tool, recorder)


def record_runs(
    tool: Tool,
    recorder: roles.Recorder,
    *,
    name: str | None = None,
    arguments: Arguments | None = None,
) -> Tool:
    """`wrap_tool` for the function inside of a framework's tool, whoever records it already.

    The tool is recorded under `name` where it has one of its own, with what `arguments(args,
    kwargs)` makes of what the function was called with.
    """
    check_recorder(recorder)
    function = _function_of(tool)
    own_name = getattr(function, "__name__", type(function).__name__)
    kind = tool if isinstance(function, _FUNCTIONS) else type(function).__call__
    run = next((run for is_kind, run in KINDS if is_kind(kind)), recorded_function)
    wrapper = run(tool, notes_of(recorder, tool, name or own_name, arguments))
    if isinstance(tool, FunctionType):
        update_wrapper(wrapper, tool)
    else:
        wrapper = _like(RecordedTool(_like(wrapper, tool, function)), tool, function)
    vars(wrapper)[_RECORDER] = recorder
    return cast("Tool", wrapper)


def check_recorder(recorder: object) -> None:
    """Raises UsageError for what is no recorder."""
    if not callable(getattr(recorder, "record", None)):
        raise UsageError(
            f"recorder is {recorder!r:.60}, wanted a tunaeval.Recorder or an object with "
            "record(execution)"
        )


def is_recorded(tool: object, recorder: roles.Recorder) -> bool:
    """Whether this recorder already hears of the runs of a function."""
    return any(
        found.reaches(recorder) if isinstance(found, Recorder) else found is recorder
        for found in recorders_of(tool)
    )


def recorders_of(tool: object) -> Iterator[roles.Recorder]:
    """The recorders that hear of a function's runs, the outermost first."""
    for layer in _layers(tool):
        recorder = getattr(layer, _RECORDER, None)
        if recorder is not None:
            yield recorder


def _like(wrapper: AnyFunction, tool: AnyFunction, function: AnyFunction) -> AnyFunction:
    """The wrapper, with the looks of the tool: those of the function that it comes down to."""
    update_wrapper(wrapper, function, updated=())
    vars(wrapper)["__wrapped__"] = tool
    return wrapper


def _function_of(tool: object) -> AnyFunction:
    """The function that a tool comes down to, which has its name; what is none is refused."""
    function = tool
    while isinstance(function, partial) and not isinstance(function, RecordedTool):
        function = function.func
    if isinstance(function, type | staticmethod | classmethod) or not callable(function):
        instead = f"of a {type(tool).__name__}, wrap the function that it runs"
        if isinstance(function, type):
            instead = "it is a class: make an instance first, and wrap that, or its method"
        raise UsageError(f"{tool!r:.80} cannot be wrapped; supported are {_WANTED}; {instead}")
    return cast("AnyFunction", function)


def _layers(tool: object) -> Iterator[object]:
    """A tool, what it wraps, what that wraps ..."""
    seen: set[int] = set()
    layer: object | None = tool
    while layer is not None and id(layer) not in seen:
        seen.add(id(layer))
        yield layer
        wrapped = getattr(layer, "__wrapped__", None)
        layer = layer.func if wrapped is None and isinstance(layer, partial) else wrapped
