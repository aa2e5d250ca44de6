"""The preset `default` as it was until November 2026, written out: what it gave a run then.

    goal completion      0.40   work that succeeded, then a completion signal: 0.8, or words of the
                                assistant's own at the end: 0.5; else 0.3; nothing done at all: 0
    plan correctness     0.30   (0.5, or 0.3 beyond 20 steps, or 0.7 when a planner was followed)
                                * the share of calls that were not for nothing
    success ratio        0.15   max(0, succeeded / calls - 0.05 * retries - 0.10 * failures)
    context efficiency   0.15   tokens up to 32k 1, 64k 0.8, 128k 0.6, 256k 0.4, else 0.2

Where no work was tried, the last three did not apply. The total was the weighted mean of the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from tunaeval.scoring.history import history_of
from tunaeval.scoring.settings import USUAL_SETTINGS
from tunaeval.types.conversations import Transcript
from tunaeval.types.history import History, HistoryCall
from tunaeval.types.messages import Message

_PHRASES = ("TUNACODE DONE:", "DONE:")
"""The second one is what a host had set."""
_NOT_FAILED_THEN = frozenset({"success-false", "lone-error", "traceback"})
_PLANNERS, _ENDS = USUAL_SETTINGS.planners, frozenset({"done_tool"})


def old_default(messages: Sequence[Message]) -> float:
    """The weighted total of then."""
    history = history_of(Transcript("", tuple(messages)))
    goal = _goal(history)
    if not any(_work(history)):
        return goal
    return 0.40 * goal + 0.30 * _plan(history) + 0.15 * _success(history) + 0.15 * _context(history)


def _failed(run: HistoryCall) -> bool:
    return not run.dangles and run.failed and run.ok_reason not in _NOT_FAILED_THEN


def _succeeded(run: HistoryCall) -> bool:
    return not run.dangles and not _failed(run)


def _work(history: History) -> Iterator[HistoryCall]:
    return (run for run in history.calls if run.tool not in _ENDS | _PLANNERS)


def _goal(history: History) -> float:
    messages = history.messages
    spoken = [m for m in messages if m.role == "assistant" and m.content.strip()]
    if not history.calls and not spoken:
        return 0.0
    if not any(map(_succeeded, _work(history))):
        return 0.3
    last = history.calls[-1]
    begin = last.message + 1
    claims = [m for m in messages[begin:] if m in spoken and m.content.startswith(_PHRASES)]
    if claims or (last.tool in _ENDS and not _failed(last)):
        return 0.8
    return 0.5 if messages[-1] in spoken else 0.3


def _plan(history: History) -> float:
    runs = [run for run in history.calls if run.tool not in _ENDS]
    steps = [list(step) for _, step in groupby(runs, lambda run: run.batch)]
    planned = any(run.tool in _PLANNERS and _succeeded(run) for run in steps[0]) and len(steps) > 1
    value = 0.3 if len(steps) > 20 else 0.7 if planned else 0.5
    again, before = 0, set[tuple[str, str | None]]()
    for step in steps:
        again += sum(_succeeded(run) and (run.key, run.result) in before for run in step)
        before = {(run.key, run.result) for run in step if _succeeded(run)}
    return value * (1 - again / len(runs))


def _success(history: History) -> float:
    runs = history.calls
    retries, failed = 0, set[str]()
    for _, step in groupby(runs, lambda run: run.batch):
        batch = list(step)
        retries += sum(run.key in failed for run in batch)
        failed -= {run.key for run in batch if _succeeded(run)}
        failed |= {run.key for run in batch if _failed(run)}
    failures = sum(map(_failed, runs))
    share = sum(map(_succeeded, runs)) / len(runs)
    return max(0.0, share - 0.05 * retries - 0.10 * failures)


def _context(history: History) -> float:
    reported = [m.usage.prompt_tokens or 0 for m in history.messages if m.usage]
    said = sum(len(m.content) for m in history.messages) / 4
    tokens = max([said, *reported])
    return USUAL_SETTINGS.context_steps.value(tokens)
