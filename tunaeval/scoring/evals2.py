"""The four categories of `evals2`, with the unchanged formulas of the harness of that name.

    goal completion      0.40   0.8 if `done_tool` was called, else 0.3
    plan correctness     0.30   no call: 0; more than 20: 0.3; a planner used: 0.7; else 0.5
    success ratio        0.15   max(0, succeeded / calls - 0.05 * retries - 0.10 * failures);
                                no call: 1
    context efficiency   0.15   tokens ~ characters / 4: up to 32k 1, 64k 0.8, 128k 0.6, 256k 0.4,
                                else 0.2

A retry is the same tool twice in a row. A call failed if it raised or if its result declares
itself failed (`ok: false`); text such as "Exit Code: 3" was no failure in that harness, and is only
mentioned in the reason. A call without a result is dangling: that harness counted it as a success,
but here it is neither a success nor a failure. An empty transcript gets what the formulas give,
and the reasons say so. The host's `ScoreSettings` change nothing.
"""

from __future__ import annotations

from itertools import pairwise

from tunaeval.showing import counted
from tunaeval.tools.success import BY_TEXT, LATER

from .history import Category, CategoryFinding, Counts, SettledHistory, where
from .settings import COMPLETION_TOOLS, CONTEXT_STEPS, PLANNERS

_MANY_CALLS = 20  # more calls lower plan-correctness to 0.3
_CHARACTERS_PER_TOKEN = 4
_READINGS = frozenset(one.name for one in (*BY_TEXT, *LATER))
"""Failures recognised by a result's text, or in ways that the old harness did not have."""


def counts_of(history: SettledHistory) -> Counts:
    """Count the calls by the rules of `evals2`; a retry is the same tool twice in a row."""
    runs = history.calls
    failures = [run.ok_reason for run in runs if run.failed]
    doubtful = sum(reason in _READINGS for reason in failures)
    failed = len(failures) - doubtful
    dangling = sum(run.dangles for run in runs)
    return Counts(
        calls=len(runs),
        succeeded=len(runs) - failed - dangling,
        failed=failed,
        dangling=dangling,
        retries=sum(one.tool == next_one.tool for one, next_one in pairwise(runs)),
        doubtful=doubtful,
    )


def _goal_completion(history: SettledHistory) -> CategoryFinding:
    signals = [run for run in history.calls if run.tool in COMPLETION_TOOLS]
    if not signals:
        return CategoryFinding(0.3, f"no completion signal{_if_empty(history)}")
    return CategoryFinding(0.8, f"{signals[-1].tool} was called", where(signals))


def _plan_correctness(history: SettledHistory) -> CategoryFinding:
    calls = len(history.calls)
    planners = [run for run in history.calls if run.tool in PLANNERS]
    if not calls:
        return CategoryFinding(0.0, f"no call{_if_empty(history)}")
    if calls > _MANY_CALLS:
        return CategoryFinding(0.3, f"{counted(calls, 'call')}, more than {_MANY_CALLS}")
    if planners:
        return CategoryFinding(0.7, f"{planners[0].tool} was used", where(planners))
    return CategoryFinding(0.5, f"{counted(calls, 'call')} and no planner")


def _success_ratio(history: SettledHistory) -> CategoryFinding:
    counts = counts_of(history)
    if not counts.calls:
        return CategoryFinding(1.0, f"no call, so none that failed{_if_empty(history)}")
    share = counts.succeeded / counts.calls
    value = max(0.0, share - 0.05 * counts.retries - 0.10 * counts.failed)
    troubled = where(run for run in history.calls if not run.succeeded)
    return CategoryFinding(value, _in_words(counts), troubled)


def _context_efficiency(history: SettledHistory) -> CategoryFinding:
    characters = sum(len(message.content) for message in history.messages)
    tokens = characters / _CHARACTERS_PER_TOKEN
    reason = f"about {tokens:.0f} tokens (characters / {_CHARACTERS_PER_TOKEN})"
    return CategoryFinding(CONTEXT_STEPS.value(tokens), f"{reason}{_if_empty(history)}")


def _if_empty(history: SettledHistory) -> str:
    is_empty = not history.messages
    return "; the transcript is empty, and the formula gives this" if is_empty else ""


def _in_words(counts: Counts) -> str:
    words = (
        f"{counts.succeeded} of {counts.calls} succeeded, {counts.failed} failed, "
        f"{counts.dangling} without a result, {counts.retries} retried"
    )
    if counts.doubtful:
        words += f"; {counts.doubtful} of the succeeded read like a failure, which does not count"
    return words


goal_completion = Category("goal-completion", 0.40, _goal_completion)
plan_correctness = Category("plan-correctness", 0.30, _plan_correctness)
success_ratio = Category("success-ratio", 0.15, _success_ratio)
context_efficiency = Category("context-efficiency", 0.15, _context_efficiency)
