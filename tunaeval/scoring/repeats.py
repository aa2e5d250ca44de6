"""Find calls that repeat others of a history: as a retry, or with the same answer.

Calls are equal if their tools and arguments are. The order of calls within a batch is ignored.
Polling tools are called again by design, and left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import TypeAlias

from .history import CallRun, History

LONGEST_CYCLE = 6
"""The most steps in a cycle."""

Batch: TypeAlias = list[CallRun]


def batches(history: History) -> Iterator[Batch]:
    """Yield the calls that were made in parallel, step by step, without those of polling tools."""
    polling = history.settings.polling_tools
    runs = (run for run in history.runs if run.tool not in polling)
    return (list(batch) for _, batch in groupby(runs, attrgetter("batch")))


def _all_differ(history: History) -> bool:
    """Whether no call was made twice, so that nothing can be repeated."""
    return len({run.key for run in history.runs}) == len(history.runs)


def retried(history: History) -> list[CallRun]:
    """Return calls that repeat a failed call, no matter what was called in between."""
    if _all_differ(history):
        return []
    found: list[CallRun] = []
    failed: set[str] = set()
    for batch in batches(history):
        found += [run for run in batch if run.key in failed]
        failed -= {run.key for run in batch if run.worked}
        failed |= {run.key for run in batch if run.broke}
    return found


def looping(history: History) -> list[CallRun]:
    """Return calls that repeat others with the same answer: within one step, or in a cycle whose
    calls and answers come again up to `LONGEST_CYCLE` steps later.
    """
    if _all_differ(history):
        return []
    steps = list(batches(history))
    marks = [frozenset(Counter((run.key, run.answer) for run in step).items()) for step in steps]
    going_round: set[int] = set()
    for period in range(1, LONGEST_CYCLE + 1):
        streak = 0
        for at in range(period, len(steps)):
            streak = streak + 1 if marks[at] == marks[at - period] else 0
            if streak == period:  # one whole cycle has come again
                going_round.update(range(at - period + 1, at + 1))
            elif streak > period:
                going_round.add(at)
    return [
        run
        for at, step in enumerate(steps)
        for run in (step if at in going_round else _doubles(step))
    ]


def _doubles(step: Batch) -> list[CallRun]:
    """Return the parallel calls that equal an earlier one with the same answer."""
    seen: set[tuple[str, str | None]] = set()
    found = []
    for run in step:
        if (run.key, run.answer) in seen:
            found.append(run)
        seen.add((run.key, run.answer))
    return found
