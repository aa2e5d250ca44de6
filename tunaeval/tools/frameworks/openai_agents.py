"""OpenAI Agents' `FunctionTool`, which runs `on_invoke_tool(context, arguments as JSON text)`.

From 0.10 on that is an object around the tool's function, which turns what it raises into a text
for the model. The inner function is recorded, so an execution has the exception, and the model gets
the same text as before. Decoding the arguments, and waiting for a thread if the tool is no
coroutine function, are part of a run.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from copy import copy
from functools import wraps
from typing import Any, TypeAlias, cast

from tunaeval.tools.answering import call_of
from tunaeval.tools.wrapper import record_runs
from tunaeval.types import roles
from tunaeval.types.calls import JsonObject

Invoke: TypeAlias = Callable[..., Awaitable[object]]

_SHAPE = ("name", "params_json_schema", "on_invoke_tool")
_INNER = "_invoke_tool_impl"
"""The attribute in which the invoker keeps the function that may fail."""


def fits(tool: roles.AnyTool) -> bool:
    return not isinstance(tool, type) and all(hasattr(tool, name) for name in _SHAPE)


def runs(tool: roles.AnyTool) -> tuple[object, ...]:
    """Return the invoker's function, and the function that the tool was made from."""
    return _inner(tool.on_invoke_tool), getattr(tool, "__wrapped__", None)


def wrap(tool: roles.AnyTool, recorder: roles.Recorder) -> roles.AnyTool:
    """Return a copy that records each run, with the id of its call from the context."""
    recorded = copy(tool)
    invoke = recorded.on_invoke_tool
    inner = _inner(invoke)
    run = _answering(record_runs(inner, recorder, name=tool.name, arguments=_arguments))
    if inner is invoke:
        recorded.on_invoke_tool = run
    else:
        recorded.on_invoke_tool = copy(invoke)
        setattr(recorded.on_invoke_tool, _INNER, run)
    return recorded


def _inner(invoke: Any) -> Invoke:
    return cast("Invoke", getattr(invoke, _INNER, invoke))


def _answering(run: Invoke) -> Invoke:
    @wraps(run)
    async def answering(ctx: object, *rest: object, **named: object) -> object:
        with call_of(getattr(ctx, "tool_call_id", None)):
            return await run(ctx, *rest, **named)

    return answering


def _arguments(args: tuple[object, ...], kwargs: dict[str, object]) -> JsonObject:
    """Return the model's arguments; text that is no JSON object is put under `*args`."""
    text = args[1] if len(args) > 1 else kwargs.get("input", "")
    try:
        read = json.loads(text) if isinstance(text, str) and text else {}
    except ValueError:
        read = None
    return read if isinstance(read, dict) else {"*args": [text]}
