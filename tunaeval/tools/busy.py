"""How long tools were busy: runs that overlap count once."""

from __future__ import annotations

import math
from collections.abc import Iterable

from tunaeval.types.messages import ToolExecution
from tunaeval.types.wanted import wanted_items


def busy_seconds(executions: Iterable[ToolExecution]) -> float | None:
    """Return the seconds in which at least one of the executions ran; 0 if there are none.

    None if any duration is unknown, because the sum of the others would be too small. A run begins
    by the wall clock and is as long as the monotonic clock measured. A generator counts from its
    start for as long as its own code ran, without the waits for its consumer.

    Examples:
        >>> recorder = tunaeval.Recorder()
        >>> _ = tunaeval.wrap_tool(len, recorder)("abc")
        >>> tunaeval.busy_seconds(recorder.executions) < 1
        True
    """
    spans = []
    for run in wanted_items(executions, "executions", ToolExecution, "executions"):
        start, seconds = run.started_at, run.duration_seconds
        if seconds is None or not (math.isfinite(start) and 0 <= seconds < math.inf):
            return None
        spans.append((start, start + seconds))
    return _union(spans)


def _union(spans: list[tuple[float, float]]) -> float:
    """Return the length of the union of intervals, each given by its start and its end."""
    total, until = 0.0, -math.inf
    for start, end in sorted(spans):
        if end > until:
            total += end - max(start, until)
            until = end
    return total
