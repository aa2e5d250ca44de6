"""Categories about the calls: whether they are expected, are valid, or repeat others.

Calls are equal if their tools and arguments are. The order of calls within a batch is ignored.
Polling tools are called again by design, so their calls repeat nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import TypeAlias

from tunaeval.matching.calls import Verdict
from tunaeval.parsing.repair.schema import fit
from tunaeval.types.calls import Tools
from tunaeval.types.history import HistoryCall
from tunaeval.types.runs import Expectation

from .goal import made_of, matched
from .history import Category, CategoryFinding, SettledHistory, where

LONGEST_CYCLE = 6
"""The most steps in a cycle."""

Batch: TypeAlias = list[HistoryCall]


def batches(history: SettledHistory) -> Iterator[Batch]:
    """Yield lists of calls that were made in parallel, in order, without calls of polling tools."""
    polling = history.settings.polling_tools
    runs = (run for run in history.calls if run.tool not in polling)
    return (list(batch) for _, batch in groupby(runs, attrgetter("batch")))


def _all_differ(history: SettledHistory) -> bool:
    """Whether no call was made twice, so that nothing can be repeated."""
    return len({run.key for run in history.calls}) == len(history.calls)


def retried(history: SettledHistory) -> list[HistoryCall]:
    """Return the calls that repeat a failed call, no matter what was called in between."""
    if _all_differ(history):
        return []
    found: list[HistoryCall] = []
    failed: set[str] = set()
    for batch in batches(history):
        found += [run for run in batch if run.key in failed]
        failed -= {run.key for run in batch if run.worked}
        failed |= {run.key for run in batch if run.broke}
    return found


def looping(history: SettledHistory) -> list[HistoryCall]:
    """Return the calls that repeat others with the same answer: within one step, or in a cycle.

    A cycle is a series of up to `LONGEST_CYCLE` steps whose calls and answers all come again.
    """
    if _all_differ(history):
        return []
    steps = list(batches(history))
    marks = [frozenset(Counter((run.key, run.result) for run in step).items()) for step in steps]
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


def _doubles(step: Batch) -> list[HistoryCall]:
    """Return the calls of one step that equal an earlier call of it and got the same answer."""
    seen: set[tuple[str, str | None]] = set()
    found = []
    for run in step:
        if (run.key, run.result) in seen:
            found.append(run)
        seen.add((run.key, run.result))
    return found


_ALL_OR_NOTHING = frozenset({
    "unexpected-call", "too-few-calls", "too-many-calls", "forbidden-tool", "checker-crash",
})  # fmt: skip
"""Failures that make the value 0, regardless of the expected calls that were made."""


def _expected_trajectory(history: SettledHistory) -> CategoryFinding:
    expect = history.settings.wanted
    if expect is None:
        return CategoryFinding(None, "nothing is expected: settings.expect is None")
    made = made_of(history)
    verdict = matched(expect, made, history)
    if verdict.ok:
        return CategoryFinding(1.0, verdict.reason)
    met = {call for _, call in verdict.pairs}
    unmatched = {at for index, one in enumerate(made) if index not in met for at in one.evidence}
    value = _share_met(expect, verdict, len(made))
    return CategoryFinding(value, verdict.reason, tuple(sorted(unmatched)))


def _share_met(expect: Expectation, verdict: Verdict, made: int) -> float:
    """Return the share of calls that were paired, 0 to 1; `expect.match` says of which calls."""
    if any(failure.code in _ALL_OR_NOTHING for failure in verdict.failures):
        return 0.0
    wanted = len(expect.calls if expect.calls is not None else expect.tools or ())
    of = {"subset": made, "superset": wanted, "in_order": wanted}
    return len(verdict.pairs) / max(1, of.get(expect.match, max(wanted, made)))


def _argument_validity(history: SettledHistory) -> CategoryFinding:
    tools = history.settings.tools
    if tools is None:
        return CategoryFinding(value=None, reason="no schemas are known: settings.tools is None")
    if not history.calls:
        return CategoryFinding(value=None, reason="no call, so no arguments")
    distinct = {run.key: run for run in history.calls}
    unfit = {key: fault for key, run in distinct.items() if (fault := _arguments_fault(run, tools))}
    bad = [run for run in history.calls if run.key in unfit]
    valid = len(history.calls) - len(bad)
    first = f"; first: {unfit[bad[0].key]}" if bad else ""
    return CategoryFinding(
        value=valid / len(history.calls),
        reason=f"{valid} of {len(history.calls)} calls are as their tool's schema wants{first}",
        evidence=tuple(sorted({run.message for run in bad})),
    )


def _arguments_fault(run: HistoryCall, tools: Tools) -> str:
    """Return why a call's original arguments do not fit its tool, or the empty string."""
    spec = tools.get(run.tool)
    if spec is None:
        return f"no tool is called {run.tool!r}"
    if run.invalid is not None:
        return f"{run.tool}: {run.invalid}"
    fitted = fit(run.arguments, spec.parameters)
    given = [note.message for note in fitted.notes]
    given += [repair.message for repair in fitted.repairs]  # a changed argument did not fit
    return f"{run.tool}: {given[0]}" if given else ""


def _repetition(history: SettledHistory) -> CategoryFinding:
    if not history.calls:
        return CategoryFinding(value=None, reason="no call, so nothing came again")
    circling = looping(history)
    return CategoryFinding(
        value=1 - len(circling) / len(history.calls),
        reason=f"{len(circling)} of {len(history.calls)} calls repeat a call and its answer",
        evidence=where(circling),
    )


expected_trajectory = Category("expected-trajectory", 0.30, _expected_trajectory)
argument_validity = Category("argument-validity", 0.15, _argument_validity)
repetition = Category("repetition", 0.25, _repetition)
