"""How a tool is wrapped: as a copy that behaves the same, and each of whose runs is recorded.

A wrapper returns the same object and raises the same exception as the tool, a cancellation too. If
recording fails, that is logged (`tunaeval.tools`) and does not affect the caller.
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
        """Return `wrap_tool(tool, recorder)`."""
        return wrap_tool(tool, recorder)


class RecordedTool(partial[object]):
    """A wrapped callable that is no function: a method, a partial, a callable object.

    It is called like the tool and has the tool's attributes. It is a `partial` because `inspect`
    looks through partials to find coroutine functions and generators. It is pickled as its tool and
    its recorder, and wrapped again on arrival.
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
        return self  # copy.copy of a function returns the function as well

    def __deepcopy__(self, memo: object) -> RecordedTool:
        return self

    def __reduce__(self) -> Any:
        return wrap_tool, (self.__wrapped__, vars(self)[_RECORDER])


def wrap_tool(tool: Tool, recorder: roles.Recorder) -> Tool:
    """Return a copy of `tool` that behaves the same; each run is reported to `recorder`.

    A function of any kind becomes a function of that kind. Name, docstring and signature are kept,
    and `__wrapped__` is the tool. A tool that this recorder records already is returned as it is.
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
    """Like `wrap_tool`, for the function inside a framework's tool, even if it is recorded already.

    `name` is the name to record instead of the function's, and `arguments(args, kwargs)` returns
    the arguments to record.
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
    """Raise UsageError if `recorder` has no method `record`."""
    if not callable(getattr(recorder, "record", None)):
        raise UsageError(
            f"recorder is {recorder!r:.60}, wanted a tunaeval.Recorder or an object with "
            "record(execution)"
        )


def is_recorded(tool: object, recorder: roles.Recorder) -> bool:
    """Whether `recorder` records the runs of `tool` already."""
    return any(
        found.reaches(recorder) if isinstance(found, Recorder) else found is recorder
        for found in recorders_of(tool)
    )


def recorders_of(tool: object) -> Iterator[roles.Recorder]:
    """Yield the recorders of a tool's runs, the outermost first."""
    for layer in _layers(tool):
        recorder = getattr(layer, _RECORDER, None)
        if recorder is not None:
            yield recorder


def _like(wrapper: AnyFunction, tool: AnyFunction, function: AnyFunction) -> AnyFunction:
    """Return the wrapper with the name, docstring and signature of the function in the tool."""
    update_wrapper(wrapper, function, updated=())
    vars(wrapper)["__wrapped__"] = tool
    return wrapper


def _function_of(tool: object) -> AnyFunction:
    """Return the function inside partials, which has the name, or raise UsageError."""
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
    """Yield a tool, what it wraps, what that wraps, and so on."""
    seen: set[int] = set()
    layer: object | None = tool
    while layer is not None and id(layer) not in seen:
        seen.add(id(layer))
        yield layer
        wrapped = getattr(layer, "__wrapped__", None)
        layer = layer.func if wrapped is None and isinstance(layer, partial) else wrapped
