"""tinyagent's `AgentTool`: a dataclass that runs `execute(call id, arguments, ...)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import is_dataclass, replace
from functools import wraps
from typing import Any

from tunaeval.tools.answering import call_of
from tunaeval.tools.wrapper import record_runs
from tunaeval.types import roles
from tunaeval.types.calls import JsonObject


def fits(tool: roles.AnyTool) -> bool:
    return (
        is_dataclass(tool)
        and not isinstance(tool, type)
        and callable(getattr(tool, "execute", None))
        and hasattr(tool, "name")
    )


def runs(tool: roles.AnyTool) -> tuple[object, ...]:
    return (tool.execute,)


def wrap(tool: roles.AnyTool, recorder: roles.Recorder) -> roles.AnyTool:
    """Return a copy that records; not in place, because callers wrap shared tools repeatedly.

    An execution has the call id and the arguments that `execute` is given.
    """
    run = record_runs(tool.execute, recorder, name=tool.name, arguments=_arguments)
    return replace(tool, execute=_answering(run))


def _answering(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return `execute`, with the id of the call set while it runs; still sync or async."""
    if not inspect.iscoroutinefunction(run):

        @wraps(run, updated=())
        def answering(tool_call_id: str, *args: object, **kwargs: object) -> object:
            with call_of(tool_call_id):
                return run(tool_call_id, *args, **kwargs)

        return answering

    @wraps(run, updated=())
    async def answering_later(tool_call_id: str, *args: object, **kwargs: object) -> object:
        with call_of(tool_call_id):
            return await run(tool_call_id, *args, **kwargs)

    return answering_later


def _arguments(args: tuple[object, ...], kwargs: dict[str, object]) -> JsonObject:
    given = args[1] if len(args) > 1 else kwargs.get("args")
    return given if isinstance(given, dict) else {}
