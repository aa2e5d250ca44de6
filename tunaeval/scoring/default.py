"""The categories of the preset `default`: whether the goal was reached, and how well.

    goal completion      0.50   see `goal`
    plan correctness     0.10   the share of calls to existing tools * the least of 1,
                                20 / steps and 60 / calls
    success ratio        0.10   max(0, worked / calls - 0.05 * retries - 0.10 * failures)
    repetition           0.25   the share of calls that do not repeat others, see `trajectory`
    context efficiency   0.05   tokens up to 32k 1, 64k 0.8, 128k 0.6, 256k 0.4, else 0.2

The goal comes first: all other values are multiplied by the goal's, so that a run that reached
nothing is worth nothing, however tidy it was. Work is a call that neither plans nor claims that
all is done; without any work, the other categories do not apply.
"""

from __future__ import annotations

from collections.abc import Sequence

from tunaeval.showing import counted
from tunaeval.types.history import HistoryCall

from .goal import closing_calls, work_of
from .history import Category, CategoryFinding, Counts, SettledHistory, where
from .spending import context_size
from .trajectory import retried


def counts_of(history: SettledHistory) -> Counts:
    """Count the calls by the rules of the preset `default`.

    Every failure of a tool counts, however it was reported; failed tests are no failure of the tool
    that ran them. A retry is a call that repeats a failed one. A call without a result is dangling:
    neither a success nor a failure.
    """
    runs = history.calls
    worked, failed = _ended(runs)
    dangling = len(runs) - worked - failed
    return Counts(len(runs), worked, failed, dangling, len(retried(history)))


def _ended(runs: Sequence[HistoryCall]) -> tuple[int, int]:
    """Return how many calls worked and how many failed; those without a result are neither."""
    ends = [run.worked for run in runs if not run.dangles]
    return sum(ends), len(ends) - sum(ends)


def _plan_correctness(history: SettledHistory) -> CategoryFinding:
    settings = history.settings
    if not any(work_of(history)):
        return _no_work(history, "no plan to be seen")
    runs = [run for run in history.calls if run.tool not in settings.completion_tools]
    steps = len({run.batch for run in runs})
    value, reason = 1.0, f"steps: {steps}"
    if steps > settings.many_steps:
        value, reason = settings.many_steps / steps, f"{reason}, more than {settings.many_steps}"
    calls = sum(run.tool not in settings.polling_tools for run in runs)
    if calls > settings.many_calls:
        value = min(value, settings.many_calls / calls)
        reason += f"; calls: {calls}, more than {settings.many_calls}"
    tools = settings.tools
    unknown = [] if tools is None else [run for run in runs if run.tool not in tools]
    if unknown:
        value *= 1 - len(unknown) / len(runs)
        reason += f"; {len(unknown)} of {len(runs)} calls of no such tool"
    return CategoryFinding(value, reason, where(unknown))


def _success_ratio(history: SettledHistory) -> CategoryFinding:
    settings = history.settings
    if not any(work_of(history)):
        return _no_work(history, "none that succeeded or failed")
    # A call that ends the task needs no result.
    unanswered = {id(run) for run in closing_calls(history) if run.dangles}
    runs = [run for run in history.calls if id(run) not in unanswered]
    retries = retried(history)
    worked, failed = _ended(runs)
    tested = sum(run.tested for run in runs)
    penalty = settings.retry_penalty * len(retries) + settings.failure_penalty * failed
    return CategoryFinding(
        value=max(0.0, worked / len(runs) - penalty),
        reason=(
            f"{worked} of {len(runs)} succeeded, {failed} failed, "
            f"{len(runs) - worked - failed} without a result, {len(retries)} retried"
            + (f"; {counted(tested, 'run')} of failed tests count as results" if tested else "")
        ),
        evidence=where([*(run for run in runs if not run.worked), *retries]),
    )


def _context_efficiency(history: SettledHistory) -> CategoryFinding:
    if not any(work_of(history)):
        return _no_work(history, "no use of the context")
    size = context_size(history)
    return CategoryFinding(
        value=history.settings.context_steps.value(size.tokens),
        reason=f"about {size.tokens:.0f} tokens ({size.how})",
        evidence=size.reports,
    )


def _no_work(history: SettledHistory, so: str) -> CategoryFinding:
    ran = len(history.uncalled)
    idle = "no work was tried"
    why = f"no call of the transcript did the work ({ran} ran without one)" if ran else idle
    return CategoryFinding(value=None, reason=f"{why}, so {so}")


plan_correctness = Category("plan-correctness", 0.10, _plan_correctness)
success_ratio = Category("success-ratio", 0.10, _success_ratio)
context_efficiency = Category("context-efficiency", 0.05, _context_efficiency)
