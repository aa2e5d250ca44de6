"""LangChain's tools: their code is in `func` and `coroutine`, or in a class's `_run` and `_arun`.

`run` and `arun` call these and get the call's id; the validation and callbacks in between are not
part of a recorded run. Attributes of the copy shadow its methods, so that it keeps its class.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial, wraps
from types import MethodType
from typing import Any, TypeAlias

from tunaeval.tools.answering import call_of
from tunaeval.tools.notes import named
from tunaeval.tools.wrapper import record_runs
from tunaeval.types import roles
from tunaeval.types.calls import JsonObject

Function: TypeAlias = Callable[..., Any]

_SHAPE = ("args_schema", "tool_call_schema", "model_copy", "run", "arun", "_run", "_arun")
_PARTS = ("func", "coroutine", "_run", "_arun")
_FRAMEWORKS = frozenset({"callbacks", "config", "run_manager"})
"""Parameters that LangChain fills in, for tools whose schema does not name the model's."""

_awaited: ContextVar[object] = ContextVar("tunaeval_langchain", default=None)
"""The tool whose `_arun` is running: many call their own `_run`, which is then no other run."""


def fits(tool: roles.AnyTool) -> bool:
    return not isinstance(tool, type) and all(hasattr(tool, name) for name in _SHAPE)


def runs(tool: roles.AnyTool) -> tuple[object, ...]:
    return tuple(vars(tool).get(part) for part in _PARTS)


def wrap(tool: roles.AnyTool, recorder: roles.Recorder) -> roles.AnyTool:
    """Return a copy that records each run, with the id of its call."""
    copy = tool.model_copy()
    record = partial(_recorded, tool, recorder)
    if hasattr(tool, "func"):
        functions = {part: vars(tool).get(part) for part in _PARTS[:2]}
        vars(copy).update({part: record(found) for part, found in functions.items() if found})
    else:
        vars(copy)["_run"] = _once(_method(copy, "_run"), record, copy)
        if not _is_frameworks(copy, "_arun"):
            vars(copy)["_arun"] = _awaiting(record(_method(copy, "_arun")), copy)
    vars(copy)["run"] = _answering(MethodType(type(copy).run, copy))
    vars(copy)["arun"] = _answering(MethodType(type(copy).arun, copy))
    return copy


def _recorded(tool: roles.AnyTool, recorder: roles.Recorder, function: Function) -> Function:
    arguments = _arguments_of(function, _shown(tool))
    return record_runs(function, recorder, name=tool.name, arguments=arguments)


def _shown(tool: roles.AnyTool) -> frozenset[str]:
    """Return the parameters that the model fills in, if a schema lists them."""
    try:
        return frozenset(tool.args) if tool.args_schema is not None else frozenset()
    except KeyError:  # a JSON schema without properties
        return frozenset()


def _arguments_of(
    function: Function, shown: frozenset[str]
) -> Callable[[tuple[object, ...], dict[str, object]], JsonObject]:
    """Return a function that extracts the model's arguments, without LangChain's (the state)."""
    signature = inspect.signature(function)
    hidden = frozenset(signature.parameters) - shown
    if not shown & frozenset(signature.parameters):  # it is called with one text by position
        hidden = _FRAMEWORKS

    def arguments(args: tuple[object, ...], kwargs: dict[str, object]) -> JsonObject:
        given = named(signature, args, kwargs)
        return {name: value for name, value in given.items() if name not in hidden}

    return arguments


def _method(tool: roles.AnyTool, name: str) -> Function:
    """Return the copy's method, or the one that another recorder put in its place."""
    shadow: Function | None = vars(tool).get(name)
    return shadow or MethodType(getattr(type(tool), name), tool)


def _is_frameworks(tool: roles.AnyTool, name: str) -> bool:
    """Whether a method is inherited from LangChain, where `_arun` calls `_run`."""
    module: str = getattr(type(tool), name).__module__
    return module.startswith("langchain_core.")


def _answering(run: Function) -> Function:
    """Return `run` or `arun`, with the id of the call set while it runs."""
    if not inspect.iscoroutinefunction(run):

        @wraps(run)
        def answering(*args: Any, tool_call_id: str | None = None, **kwargs: Any) -> Any:
            with call_of(tool_call_id):
                return run(*args, tool_call_id=tool_call_id, **kwargs)

        return answering

    @wraps(run)
    async def answering_later(*args: Any, tool_call_id: str | None = None, **kwargs: Any) -> Any:
        with call_of(tool_call_id):
            return await run(*args, tool_call_id=tool_call_id, **kwargs)

    return answering_later


def _once(bare: Function, record: Callable[[Function], Function], tool: object) -> Function:
    """Return `_run`, recorded unless the tool's own `_arun` calls it."""
    recorded = record(bare)

    @wraps(recorded, updated=())
    def run(*args: Any, **kwargs: Any) -> Any:
        return (bare if _awaited.get() is tool else recorded)(*args, **kwargs)

    return run


def _awaiting(recorded: Function, tool: object) -> Function:
    @wraps(recorded, updated=())
    async def run(*args: Any, **kwargs: Any) -> Any:
        token = _awaited.set(tool)
        try:
            return await recorded(*args, **kwargs)
        finally:
            _awaited.reset(token)

    return run
