"""How each kind of tool is run with the arguments of a call.

    a function, a coroutine function, a partial, a callable object     tool(**arguments)
    LangChain's BaseTool                                               tool.ainvoke(arguments)
    pydantic-ai's Tool                                                 tool.function(**arguments)
    tinyagent's AgentTool                           tool.execute(call_id, arguments, None, ignore)

Tools of frameworks are recognized by their shape and validate their arguments themselves; the
arguments of a function are converted to the types of its signature.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from tunaeval.errors import ToolsError
from tunaeval.types import roles
from tunaeval.types.calls import JsonObject, ToolCall
from tunaeval.types.roles import AnyTool

from .signatures import AnyFunction, read_signature, taker_of
from .wrapper import is_recorded

_INSIDE = ("function", "func", "coroutine", "execute", "_run", "_arun")
"""Attributes in which frameworks' tools keep the function that they run."""

Taker: TypeAlias = Callable[[JsonObject], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Runnable:
    """A tool that can be run. `take` converts a call's arguments and raises ValueError for those
    that do not fit; `start` returns an awaitable if `awaits`, else it may block.
    """

    take: Taker
    start: Callable[[ToolCall, dict[str, Any]], object]
    awaits: bool
    is_recorded: bool = False
    """Whether the tool reports to the executor's recorder itself."""


def runnables_of(
    tools: Mapping[str, AnyTool] | Iterable[AnyTool], recorder: roles.Recorder | None = None
) -> dict[str, Runnable]:
    """Return the tools by name. Raises ToolsError naming what is no tool or has a taken name."""
    found: dict[str, Runnable] = {}
    for name, tool, where in _named(tools):
        if name in found:
            raise ToolsError(f"{where}: the name {name!r} is taken; rename one, or pass a dict")
        runnable = _runnable(tool, where)
        found[name] = replace(runnable, is_recorded=_is_recorded(tool, recorder))
    return found


def _named(
    tools: Mapping[str, AnyTool] | Iterable[AnyTool],
) -> Iterator[tuple[str, AnyTool, str]]:
    """Yield each tool with its name and its place in `tools`, for errors."""
    if isinstance(tools, Mapping):
        yield from ((name, tool, f"tools[{name!r}]") for name, tool in tools.items())
    elif isinstance(tools, str) or not isinstance(tools, Iterable):
        raise ToolsError(f"tools is {tools!r:.80}, wanted a list of tools, or a dict by name")
    else:
        for index, tool in enumerate(tools):
            yield _name(tool, f"tools[{index}]"), tool, f"tools[{index}]"


def _is_recorded(tool: AnyTool, recorder: roles.Recorder | None) -> bool:
    """Whether `recorder` records the tool, or the function inside it, already."""
    if recorder is None:
        return False
    inside = (getattr(tool, name, None) for name in _INSIDE)
    return any(is_recorded(part, recorder) for part in (tool, *inside))


def _name(tool: AnyTool, where: str) -> str:
    inner = tool
    while isinstance(inner, partial):
        inner = inner.func
    for name in (getattr(inner, "__name__", None), getattr(inner, "name", None)):
        if isinstance(name, str) and name and name != "<lambda>":
            return name
    raise ToolsError(f"{where} is {tool!r:.80}, which has no name; pass a dict by name")


def _runnable(tool: AnyTool, where: str) -> Runnable:
    if inspect.isroutine(tool) or isinstance(tool, partial):
        return _of_function(tool, where)
    if callable(getattr(tool, "ainvoke", None)):
        return Runnable(dict, lambda _call, arguments: tool.ainvoke(arguments), awaits=True)
    if callable(getattr(tool, "execute", None)) and isinstance(
        getattr(tool, "parameters", None), Mapping
    ):
        return Runnable(dict, partial(_start_agent_tool, tool), awaits=True)
    if hasattr(tool, "function_schema") and callable(getattr(tool, "function", None)):
        return _of_function(tool.function, where)
    if callable(tool) and not isinstance(tool, type):
        return _of_function(tool, where)
    raise ToolsError(
        f"{where} is {tool!r:.80}, which cannot be run; wanted a function, or a tool of LangChain, "
        "pydantic-ai or tinyagent"
    )


def _start_agent_tool(tool: AnyTool, call: ToolCall, arguments: dict[str, Any]) -> object:
    return tool.execute(call.id or "", arguments, None, lambda _update: None)


def _of_function(function: AnyFunction, where: str) -> Runnable:
    try:
        signature = read_signature(function, "tool")
        take = taker_of(signature)
    except ValueError as error:
        raise ToolsError(f"{where} is {function!r:.80}: {error}") from error
    for parameter in signature.injected:
        if parameter.default is inspect.Parameter.empty:
            raise ToolsError(
                f"{where} is {function!r:.80}: nobody gives it {parameter.name!r} here; bind it, "
                "functools.partial(tool, ...)"
            )
    awaits = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        type(function).__call__
    )
    return Runnable(take, lambda _call, arguments: function(**arguments), awaits)
