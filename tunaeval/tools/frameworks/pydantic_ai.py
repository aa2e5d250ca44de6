"""pydantic-ai's `Tool`: its schema calls the function, and a context has the id of the call."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from copy import copy
from functools import wraps
from types import MethodType

from tunaeval.tools.answering import call_of
from tunaeval.tools.notes import named
from tunaeval.tools.wrapper import record_runs
from tunaeval.types import roles
from tunaeval.types.calls import JsonObject


def fits(tool: roles.AnyTool) -> bool:
    schema = getattr(tool, "function_schema", None)
    return callable(getattr(schema, "call", None)) and callable(getattr(tool, "function", None))


def runs(tool: roles.AnyTool) -> tuple[object, ...]:
    return (tool.function,)


def wrap(tool: roles.AnyTool, recorder: roles.Recorder) -> roles.AnyTool:
    """Return a copy whose function is recorded.

    A plain function waits in the schema for a thread, which counts as time in the queue. The
    context is not kept among the arguments.
    """
    schema = copy(tool.function_schema)
    arguments = _without_context(tool.function) if schema.takes_ctx else None
    schema.function = record_runs(tool.function, recorder, name=tool.name, arguments=arguments)
    schema.call = _answering(MethodType(type(schema).call, schema))
    recorded = copy(tool)
    recorded.function, recorded.function_schema = schema.function, schema
    return recorded


def _answering(call: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
    @wraps(call)
    async def answering(args_dict: JsonObject, ctx: object) -> object:
        with call_of(getattr(ctx, "tool_call_id", None)):
            return await call(args_dict, ctx)

    return answering


def _without_context(
    function: Callable[..., object],
) -> Callable[[tuple[object, ...], dict[str, object]], JsonObject]:
    signature = inspect.signature(function)
    _, *parameters = signature.parameters.values()
    rest = signature.replace(parameters=parameters)
    return lambda args, kwargs: named(rest, args[1:], kwargs)
