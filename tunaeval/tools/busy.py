"""How long tools were busy: the union of their runs, so that what ran side by side counts once."""

from __future__ import annotations

import math
from collections.abc import Iterable

from tunaeval.types.messages import ToolExecution
from tunaeval.types.wanted import wanted_items


def busy_seconds(executions: Iterable[ToolExecution]) -> float | None:
    """The seconds in which at least one of the executions ran; 0 for none at all.

    None when nobody knows how long one of them took: the sum of the others would flatter. Runs
    are laid side by side by the wall clock, and each is as long as the monotonic clock says. A
    generator counts from its start for as long as it ran itself, without waits for its consumer.

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
    """The length of the union of intervals, each given by its start and its end."""
    total, until = 0.0, -math.inf
    for start, end in sorted(spans):
        if end > until:
            total += end - max(start, until)
            until = end
    return total
