"""smolagents' `Tool`, which runs `forward` when it is called.

The framework does not pass the call's id to the tool, so executions have none, and are matched
with the calls by their order.
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
    """Return a copy of the same class whose `forward` is recorded. A method is bound to the copy,
    so that it finds what `setup` stores there.
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
    """Return a function that names the arguments by the tool's inputs, in its function's order.

    The signature of a tool made by the framework's decorator has a `self` that is not passed.
    """
    named = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in _NAMED and name in inputs
    ]
    names = named if len(named) == len(inputs) else inputs
    return lambda args, kwargs: {**dict(zip(names, args[skipped:], strict=False)), **kwargs}
