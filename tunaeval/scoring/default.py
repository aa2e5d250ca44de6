"""The four categories of the preset `default`: those of `evals2`, where that was wrong put right.

    goal completion      0.40   work that succeeded, then a completion signal: 0.8, or words of the
                                assistant's own at the end: 0.5; else 0.3; nothing done at all: 0
    plan correctness     0.30   (0.5, or 0.3 beyond 20 steps, or 0.7 when a planner was followed)
                                * the share of calls that were not for nothing
    success ratio        0.15   max(0, succeeded / calls - 0.05 * retries - 0.10 * failures)
    context efficiency   0.15   tokens up to 32k 1, 64k 0.8, 128k 0.6, 256k 0.4, else 0.2

Work is a call that neither plans nor says that all is done. Where none was tried, the last three do
not apply: doing nothing earns nothing by them. Without a judge nobody knows whether a plan was good
or a goal was reached: these are signs, and told as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tunaeval.types import Message

from .categories import Category, Counts, Finding, where
from .context import context_size
from .history import CallRun, History
from .repeats import repeated_at_once, retried

_SIGNALLED, _ANSWERED, _TRIED = 0.8, 0.5, 0.3
_USUAL_PLAN, _FOLLOWED_PLAN, _LONG_PLAN = 0.5, 0.7, 0.3


def counts_of(history: History) -> Counts:
    """Count the calls: every failure counts, however it was told, and a retry is one of a failure.

    A call without a result is dangling, and no success.
    """
    runs = history.runs
    succeeded, failed = _ended(runs)
    dangling = len(runs) - succeeded - failed
    return Counts(len(runs), succeeded, failed, dangling, len(retried(history)))


def _ended(runs: Sequence[CallRun]) -> tuple[int, int]:
    """How many succeeded, and how many failed."""
    oks = [run.success.ok for run in runs if run.success is not None]
    succeeded = sum(oks)
    return succeeded, len(oks) - succeeded


def _goal_completion(history: History) -> Finding:
    messages = history.transcript.messages
    if not history.runs and not any(map(_speaks, messages)):
        return Finding(value=0.0, reason="nothing was done: no call, and no word")
    signal, shown_by = _signal(history)
    if not any(run.succeeded for run in _work(history)):
        reason = "no work succeeded" + (f", although {signal}" if signal else "")
        return Finding(value=_TRIED, reason=reason, evidence=shown_by)
    if signal:
        return Finding(value=_SIGNALLED, reason=f"{signal} at the end", evidence=shown_by)
    if _speaks(messages[-1]):
        reason = "the assistant had the last word, without a completion signal"
        return Finding(value=_ANSWERED, reason=reason, evidence=(len(messages) - 1,))
    return Finding(value=_TRIED, reason="it stopped in the middle: no signal and no answer")


def _plan_correctness(history: History) -> Finding:
    settings = history.settings
    if not any(_work(history)):
        return _no_work("no plan to be seen")
    runs = [run for run in history.runs if run.tool not in settings.completion_tools]
    steps = len({run.batch for run in runs})
    planned = _followed_plan(history, runs)
    if steps > settings.many_steps:
        value, reason = _LONG_PLAN, f"more than {settings.many_steps} steps: {steps}"
    elif planned:
        value, reason = _FOLLOWED_PLAN, f"{planned.tool} came first and was followed"
    else:
        value, reason = _USUAL_PLAN, f"no planner that was followed; steps: {steps}"
    in_vain = _in_vain(history, runs)
    if in_vain:
        reason += f"; {len(in_vain)} of {len(runs)} calls for nothing (repeated, or no such tool)"
    return Finding(
        value=value * (1 - len(in_vain) / len(runs)),
        reason=reason,
        evidence=where([*in_vain, *([planned] if planned else [])]),
    )


def _success_ratio(history: History) -> Finding:
    settings = history.settings
    if not any(_work(history)):
        return _no_work("none that succeeded or failed")
    # A call that ended the task needs no result.
    unanswered = {id(run) for run in _closing(history) if run.dangles}
    runs = [run for run in history.runs if id(run) not in unanswered]
    retries = retried(history)
    succeeded, failed = _ended(runs)
    penalty = settings.retry_penalty * len(retries) + settings.failure_penalty * failed
    return Finding(
        value=max(0.0, succeeded / len(runs) - penalty),
        reason=(
            f"{succeeded} of {len(runs)} succeeded, {failed} failed, "
            f"{len(runs) - succeeded - failed} without a result, {len(retries)} retried"
        ),
        evidence=where([*(run for run in runs if not run.succeeded), *retries]),
    )


def _context_efficiency(history: History) -> Finding:
    if not any(_work(history)):
        return _no_work("no use of the context")
    size = context_size(history)
    return Finding(
        value=history.settings.context_steps.value(size.tokens),
        reason=f"about {size.tokens:.0f} tokens ({size.how})",
        evidence=size.reports,
    )


def _work(history: History) -> Iterator[CallRun]:
    """The calls that do more than plan or say that all is done."""
    ends, planners = history.settings.completion_tools, history.settings.planners
    return (run for run in history.runs if run.tool not in ends and run.tool not in planners)


def _no_work(so: str) -> Finding:
    return Finding(value=None, reason=f"no work was tried, so {so}")


def _signal(history: History) -> tuple[str, tuple[int, ...]]:
    """What says that the task is done, if no other call was made after it, and where."""
    settings = history.settings
    calls = [run for run in _closing(history) if not run.failed]
    if calls:
        return f"{calls[-1].tool} was called", where(calls)
    messages = history.transcript.messages
    begin = history.runs[-1].message + 1 if history.runs else 0
    for index in range(begin, len(messages)):
        for phrase in settings.completion_phrases if _speaks(messages[index]) else ():
            if f"\n{phrase}" in f"\n{messages[index].content}":
                return f"it said {phrase!r}", (index,)
    return "", ()


def _closing(history: History) -> list[CallRun]:
    """The calls of the last step that say that the task is done."""
    ends = history.settings.completion_tools
    last = history.runs[-1].batch if history.runs else 0
    return [run for run in history.runs if run.batch == last and run.tool in ends]


def _speaks(message: Message) -> bool:
    return message.role == "assistant" and bool(message.content.strip())


def _followed_plan(history: History, runs: Sequence[CallRun]) -> CallRun | None:
    """The planner that succeeded before any other tool was called, if one was called then."""
    planners = history.settings.planners
    work_begins = next((run.batch for run in runs if run.tool not in planners), 0)
    plans = (run for run in runs if run.tool in planners and run.succeeded)
    return next((run for run in plans if run.batch < work_begins), None)


def _in_vain(history: History, runs: Sequence[CallRun]) -> list[CallRun]:
    tools = history.settings.tools
    again = {id(run) for run in repeated_at_once(history)}
    if not again and tools is None:
        return []
    return [
        run for run in runs if id(run) in again or (tools is not None and run.tool not in tools)
    ]


goal_completion = Category("goal-completion", 0.40, _goal_completion)
plan_correctness = Category("plan-correctness", 0.30, _plan_correctness)
success_ratio = Category("success-ratio", 0.15, _success_ratio)
context_efficiency = Category("context-efficiency", 0.15, _context_efficiency)
