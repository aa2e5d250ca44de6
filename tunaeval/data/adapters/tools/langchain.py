"""LangChain's tools: what runs is `func` and `coroutine`, or `_run` and `_arun` of a class.

`run` and `arun` around it get the call's id; validation and callbacks happen in between
and are no part of a run. A copy is shadowed by attributes of its own, so that its class stays.
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
"""Parameters that LangChain fills where no schema tells them from the model's."""

_awaited: ContextVar[object] = ContextVar("tunaeval_langchain", default=None)
"""The tool whose `_arun` is running: many call their own `_run`, which is the same run then."""


def fits(tool: roles.AnyTool) -> bool:
    return not isinstance(tool, type) and all(hasattr(tool, name) for name in _SHAPE)


def runs(tool: roles.AnyTool) -> tuple[object, ...]:
    return tuple(vars(tool).get(part) for part in _PARTS)


def wrap(tool: roles.AnyTool, recorder: roles.Recorder) -> roles.AnyTool:
    """A copy that records, under the id of the call that it was invoked with."""
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
    """The parameters that a model gets, as far as a schema says so."""
    try:
        return frozenset(tool.args) if tool.args_schema is not None else frozenset()
    except KeyError:  # a JSON schema without properties
        return frozenset()


def _arguments_of(
    function: Function, shown: frozenset[str]
) -> Callable[[tuple[object, ...], dict[str, object]], JsonObject]:
    """What a model gave; not what LangChain puts beside it, which may contain the whole state."""
    signature = inspect.signature(function)
    hidden = frozenset(signature.parameters) - shown
    if not shown & frozenset(signature.parameters):  # one that is called with one text, by position
        hidden = _FRAMEWORKS

    def arguments(args: tuple[object, ...], kwargs: dict[str, object]) -> JsonObject:
        given = named(signature, args, kwargs)
        return {name: value for name, value in given.items() if name not in hidden}

    return arguments


def _method(tool: roles.AnyTool, name: str) -> Function:
    """A method of the class, bound to this copy, or what another recorder put in its place."""
    shadow: Function | None = vars(tool).get(name)
    return shadow or MethodType(getattr(type(tool), name), tool)


def _is_frameworks(tool: roles.AnyTool, name: str) -> bool:
    """Whether a method is LangChain's own, which calls the other one of the pair."""
    module: str = getattr(type(tool), name).__module__
    return module.startswith("langchain_core.")


def _answering(run: Function) -> Function:
    """`run` or `arun`, which say whose call is answered to what runs inside."""
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
    """`_run`, recorded unless it is called by the tool's own `_arun`."""
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
