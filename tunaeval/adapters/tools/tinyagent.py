"""tinyagent's `AgentTool`: a dataclass whose `execute(call id, arguments, ...)` is what runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import is_dataclass, replace
from functools import wraps

from tunaeval.tools import call_of, is_recorded, record_runs
from tunaeval.types import JsonObject, roles


def fits(tool: roles.AnyTool) -> bool:
    return (
        is_dataclass(tool)
        and not isinstance(tool, type)
        and callable(getattr(tool, "execute", None))
        and hasattr(tool, "name")
    )


def wrap(tool: roles.AnyTool, recorder: roles.Recorder) -> roles.AnyTool:
    """A copy that records; hosts share their tools and wrap them over and over, so never in place.

    An execution answers the call id that `execute` is given, with the arguments of the call.
    """
    if is_recorded(tool.execute, recorder):
        return tool
    run: Callable[..., Awaitable[object]]
    run = record_runs(tool.execute, recorder, name=tool.name, arguments=_arguments)

    @wraps(run, updated=())
    async def execute(tool_call_id: str, *args: object, **kwargs: object) -> object:
        with call_of(tool_call_id):
            return await run(tool_call_id, *args, **kwargs)

    return replace(tool, execute=execute)


def _arguments(args: tuple[object, ...], kwargs: dict[str, object]) -> JsonObject:
    given = args[1] if len(args) > 1 else kwargs.get("args")
    return given if isinstance(given, dict) else {}
