"""How a tool is wrapped: a copy that behaves the same, and each run of it recorded.

A wrapper gives back the very result and lets the very exception through, a cancellation too. When
recording itself fails, that is logged (`tunaeval.tools`) and the tool's caller never learns of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial, update_wrapper
from time import perf_counter, time
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TypeAlias, TypeVar, cast

from tunaeval.errors import UsageError
from tunaeval.success import Success, raised, returned
from tunaeval.types import JsonObject, ToolExecution, roles

from .recorder import Recorder

AnyFunction: TypeAlias = Callable[..., object]
Tool = TypeVar("Tool", bound=AnyFunction)
Given: TypeAlias = tuple[tuple[object, ...], dict[str, object]]
Note: TypeAlias = Callable[[Given, float, float, Callable[..., Success], object], None]

UNBOUND = "*args"
"""The argument that holds positional values which the signature has no names for."""

_RECORDER = "__tunaeval_recorder__"
_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType)
_WANTED = "functions, coroutine functions, bound methods, and functools.partial of these"


@dataclass(frozen=True, slots=True)
class RecordingWrapper:
    """The built-in `ToolWrapper`."""

    def wrap(self, tool: roles.AnyTool, recorder: roles.Recorder) -> roles.AnyTool:
        """As `wrap_tool`."""
        return wrap_tool(tool, recorder)


def wrap_tool(tool: Tool, recorder: roles.Recorder) -> Tool:
    """A copy of `tool` that behaves the same; `recorder` takes an execution of each run.

    Name, docstring, signature and coroutine-ness stay, and `__wrapped__` is the tool. A tool that
    this recorder records already comes back as it is. Raises UsageError for what cannot be wrapped.
    """
    if not callable(getattr(recorder, "record", None)):
        raise UsageError(
            f"recorder is {recorder!r:.60}, wanted a tunaeval.Recorder or an object with "
            "record(execution)"
        )
    function = _function_of(tool)
    if any(getattr(layer, _RECORDER, None) is recorder for layer in _layers(tool)):
        return tool
    note = _note(recorder, tool, function.__name__)
    wrap = _recorded_coroutine if inspect.iscoroutinefunction(tool) else _recorded
    wrapper = update_wrapper(wrap(tool, note), function)
    vars(wrapper).update({"__wrapped__": tool, _RECORDER: recorder})
    return cast("Tool", wrapper)


def _recorded(tool: AnyFunction, note: Note) -> AnyFunction:
    def wrapper(*args: object, **kwargs: object) -> object:
        started_at = time()
        begun = perf_counter()
        try:
            result = tool(*args, **kwargs)
        except BaseException as error:
            note((args, kwargs), started_at, perf_counter() - begun, raised, error)
            raise
        note((args, kwargs), started_at, perf_counter() - begun, returned, result)
        return result

    return wrapper


def _recorded_coroutine(tool: AnyFunction, note: Note) -> AnyFunction:
    start = cast("Callable[..., Awaitable[object]]", tool)

    async def wrapper(*args: object, **kwargs: object) -> object:
        started_at = time()
        begun = perf_counter()
        try:
            result = await start(*args, **kwargs)
        except BaseException as error:
            note((args, kwargs), started_at, perf_counter() - begun, raised, error)
            raise
        note((args, kwargs), started_at, perf_counter() - begun, returned, result)
        return result

    return wrapper


def _note(recorder: roles.Recorder, tool: AnyFunction, name: str) -> Note:
    """What a wrapper tells of a run; judged at once, put together when it is read."""
    signature = _signature(tool)
    defer = _defer(recorder)

    def execution(
        given: Given, started_at: float, seconds: float, success: Success
    ) -> ToolExecution:
        unwatched = success.reason == "awaitable"
        return ToolExecution(
            tool=name,
            call_id=None,  # a function is not told which call it answers
            arguments=_named(signature, *given),
            started_at=started_at,
            duration_seconds=None if unwatched else seconds,
            ok=success.ok,
            ok_reason=success.reason,
            error=success.error,
        )

    def note(
        given: Given,
        started_at: float,
        seconds: float,
        judge: Callable[..., Success],
        ending: object,
    ) -> None:
        try:
            defer(execution, given, started_at, seconds, judge(ending))
        except Exception as error:  # noqa: BLE001 - a recorder's failure must not become the tool's
            _report(name, error)

    return note


def _defer(recorder: roles.Recorder) -> Callable[..., None]:
    """How facts reach a recorder: later where it can wait, else as a finished execution."""
    if isinstance(recorder, Recorder) and type(recorder).record is Recorder.record:
        return recorder.defer

    def at_once(make: Callable[..., ToolExecution], *facts: object) -> None:
        recorder.record(make(*facts))

    return at_once


def _report(name: str, error: Exception) -> None:
    import logging  # noqa: PLC0415 - only where something went wrong

    logging.getLogger("tunaeval.tools").warning(
        "a run of the tool %r could not be recorded: %s: %s", name, type(error).__name__, error
    )


def _signature(tool: AnyFunction) -> inspect.Signature | None:
    try:
        return inspect.signature(tool)
    except (TypeError, ValueError):  # some functions written in C have none
        return None


def _named(
    signature: inspect.Signature | None, args: tuple[object, ...], kwargs: dict[str, object]
) -> JsonObject:
    """The arguments by name, as they were given: no defaults, `**kwargs` beside the others."""
    try:
        bound = signature.bind(*args, **kwargs) if signature else None
    except TypeError:  # the tool itself was called wrongly, and has said so
        bound = None
    if signature is None or bound is None:
        return {**({UNBOUND: list(args)} if args else {}), **kwargs}
    named: JsonObject = {}
    for name, value in bound.arguments.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            named = {**value, **named}
        else:
            named[name] = value
    return named


def _function_of(tool: object) -> AnyFunction:
    """The function that a tool comes down to, which has its name; what is none is refused."""
    function = tool
    while isinstance(function, partial):
        function = function.func
    if not isinstance(function, _FUNCTIONS):
        raise UsageError(
            f"{tool!r:.80} cannot be wrapped; supported are {_WANTED}; "
            f"of a {type(tool).__name__}, wrap the function that it runs"
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise UsageError(
            f"{tool!r:.80} is a generator function and cannot be wrapped: calling it runs nothing; "
            f"supported are {_WANTED}; wrap a function that collects what it yields"
        )
    return cast("AnyFunction", function)


def _layers(tool: object) -> Iterator[object]:
    """A tool, what it wraps, what that wraps ..."""
    seen: set[int] = set()
    layer: object | None = tool
    while layer is not None and id(layer) not in seen:
        seen.add(id(layer))
        yield layer
        layer = layer.func if isinstance(layer, partial) else getattr(layer, "__wrapped__", None)
