"""A run of a tool as one line, for whoever watches an agent at work."""

from __future__ import annotations

import sys

from tunaeval.showing import visible
from tunaeval.types.messages import ToolExecution

_WORDS = 120
"""Characters of what a failure says."""


def print_execution(execution: ToolExecution) -> None:
    """Write a line about a run to stderr; for `Recorder(listener=tunaeval.print_execution)`.

    Examples:
        >>> recorder = tunaeval.Recorder(listener=tunaeval.print_execution)
        >>> tunaeval.wrap_tool(len, recorder)("abc")
        3
    """
    print(execution_line(execution), file=sys.stderr, flush=True)


def execution_line(execution: ToolExecution) -> str:
    """The tool, the call, how it ended and by what reason, its time, and a failure's words."""
    seconds = execution.duration_seconds
    parts = [
        execution.tool,
        execution.call_id or "",
        "ok" if execution.ok else "failed",
        f"({execution.ok_reason})",
        "unknown time" if seconds is None else f"{seconds * 1e3:.3f} ms",
    ]
    line = " ".join(filter(None, parts))
    if execution.error:
        line += f": {execution.error[:_WORDS]}"
    return visible(line.replace("\n", " "))
