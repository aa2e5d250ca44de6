"""Which calls of a history come again: as a retry, or for the same answer.

Calls are equal when tool and arguments are. In which order calls of one batch come changes
nothing. Polling tools are asked again by design, and left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import TypeAlias

from .history import CallRun, History

LONGEST_CYCLE = 6
"""Steps of the longest cycle that is looked for."""

Batch: TypeAlias = list[CallRun]


def batches(history: History) -> Iterator[Batch]:
    """The calls that were made in parallel, step by step, without those of polling tools."""
    polling = history.settings.polling_tools
    runs = (run for run in history.runs if run.tool not in polling)
    return (list(batch) for _, batch in groupby(runs, attrgetter("batch")))


def _all_differ(history: History) -> bool:
    """Whether no call was made twice, so that none can come again."""
    return len({run.key for run in history.runs}) == len(history.runs)


def retried(history: History) -> list[CallRun]:
    """Calls that were made again after an equal one failed, whatever was called in between."""
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
    """Calls that repeat others for the same answer: beside them in one step, or in steps that go
    round, where what was called and answered comes again up to `LONGEST_CYCLE` steps later.
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
            if streak == period:  # one whole cycle came again
                going_round.update(range(at - period + 1, at + 1))
            elif streak > period:
                going_round.add(at)
    return [
        run
        for at, step in enumerate(steps)
        for run in (step if at in going_round else _doubles(step))
    ]


def _doubles(step: Batch) -> list[CallRun]:
    """Parallel calls beside an equal one with the same answer: all but the first of each."""
    seen: set[tuple[str, str | None]] = set()
    found = []
    for run in step:
        if (run.key, run.answer) in seen:
            found.append(run)
        seen.add((run.key, run.answer))
    return found
