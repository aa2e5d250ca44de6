"""The run of a tool as one line, to watch an agent at work."""

from __future__ import annotations

import sys

from tunaeval.showing import visible
from tunaeval.types.messages import ToolExecution

_WORDS = 120
"""Characters of the longest error text."""


def print_execution(execution: ToolExecution) -> None:
    """Write a line about a run to stderr; use it as `Recorder(listener=tunaeval.print_execution)`.

    Examples:
        >>> recorder = tunaeval.Recorder(listener=tunaeval.print_execution)
        >>> tunaeval.wrap_tool(len, recorder)("abc")
        3
    """
    print(execution_line(execution), file=sys.stderr, flush=True)


def execution_line(execution: ToolExecution) -> str:
    """Return the tool, the call's id, the verdict with its reason, the duration, and any error."""
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
