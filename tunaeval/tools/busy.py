"""How long tools were busy: the union of their runs, so that what ran side by side counts once."""

from __future__ import annotations

from collections.abc import Iterable

from tunaeval.types import ToolExecution


def busy_seconds(executions: Iterable[ToolExecution]) -> float | None:
    """The seconds in which at least one of the executions ran; 0 for none at all.

    Runs whose duration is unknown add nothing; when it is of all, the total is None. A generator
    counts from its start for as long as it ran itself, without the waits for its consumer.
    """
    runs = list(executions)
    spans = [
        (run.started_at, run.started_at + run.duration_seconds)
        for run in runs
        if run.duration_seconds is not None
    ]
    return union_seconds(spans) if spans or not runs else None


def union_seconds(spans: Iterable[tuple[float, float]]) -> float:
    """The length of the union of intervals, each given by its start and its end."""
    total, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        if end > until:
            total += end - max(start, until)
            until = end
    return total
