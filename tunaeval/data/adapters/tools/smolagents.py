"""smolagents' `Tool`: what runs is `forward`, which the tool calls when it is called itself.

The framework says to no tool whose call it answers, so executions have no call id, and are joined
with the calls in their order.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from types import MethodType
from typing import Any

from tunaeval.tools.wrapper import record_runs
from tunaeval.types import roles
from tunaeval.types.calls import JsonObject

_SHAPE = ("name", "inputs", "output_type", "forward")
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def fits(tool: roles.AnyTool) -> bool:
    return not isinstance(tool, type) and all(hasattr(tool, name) for name in _SHAPE)


def runs(tool: roles.AnyTool) -> tuple[object, ...]:
    return (tool.forward,)


def wrap(tool: roles.AnyTool, recorder: roles.Recorder) -> roles.AnyTool:
    """A copy, still of the tool's class, whose `forward` records; a method is bound to the copy,
    so that it finds what `setup` puts there.
    """
    recorded = copy(tool)
    forward = tool.forward
    is_method = isinstance(forward, MethodType) and forward.__self__ is tool
    function = forward.__func__ if is_method else forward
    arguments = _arguments_of(function, tuple(tool.inputs), skipped=int(is_method))
    run = record_runs(function, recorder, name=tool.name, arguments=arguments)
    vars(recorded)["forward"] = MethodType(run, recorded) if is_method else run
    return recorded


def _arguments_of(
    function: Callable[..., Any], inputs: tuple[str, ...], *, skipped: int
) -> Callable[[tuple[object, ...], dict[str, object]], JsonObject]:
    """Arguments by the names of the tool's inputs, in the order in which its function takes them.

    A function that was made a tool by the framework says that it takes a `self`, and takes none.
    """
    named = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in _NAMED and name in inputs
    ]
    names = named if len(named) == len(inputs) else inputs
    return lambda args, kwargs: {**dict(zip(names, args[skipped:], strict=False)), **kwargs}
