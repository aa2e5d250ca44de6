"""Tools without a framework: functions of any kind, and callable objects."""

from __future__ import annotations

from tunaeval.tools.wrapper import record_runs
from tunaeval.types import roles


def fits(tool: roles.AnyTool) -> bool:
    del tool  # `wrap` refuses what is no function
    return True


def runs(tool: roles.AnyTool) -> tuple[object, ...]:
    return (tool,)


def wrap(tool: roles.AnyTool, recorder: roles.Recorder) -> roles.AnyTool:
    return record_runs(tool, recorder)
