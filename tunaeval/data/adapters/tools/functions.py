"""What belongs to no framework: functions of any kind, and objects of one's own that are called."""

from __future__ import annotations

from tunaeval.tools.wrapper import record_runs
from tunaeval.types import roles


def fits(tool: roles.AnyTool) -> bool:
    del tool  # what is no function is refused when it is wrapped
    return True


def runs(tool: roles.AnyTool) -> tuple[object, ...]:
    return (tool,)


def wrap(tool: roles.AnyTool, recorder: roles.Recorder) -> roles.AnyTool:
    return record_runs(tool, recorder)
