"""Whether the goal was reached: the first category of the preset `default`, and what decides it.

    a forbidden call        0, regardless of all else
    nothing was done        0: no call, no text, and no execution
    a check                 1 if it passed, 0 if it failed
    else an expectation     1 if the calls meet it, 0 if they do not
    else                    unknown: None, with the signals in the transcript

A judge's verdict, if one is asked, replaces this category. An agent's own claim of success is a
signal and decides nothing: an agent that only claims to be done looks the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tunaeval.types.messages import Message
from tunaeval.types.runs import Expectation

from .categories import Category, Finding, where
from .forbidden import forbidden_calls, forbidden_words
from .history import CallRun, History
from .made import beside, made_of, matched
from .running_tests import runs_tests

GOAL = "goal-completion"


class Signal(NamedTuple):
    """A hint in a transcript at how it ended, in words, and the messages that show it."""

    words: str
    evidence: tuple[int, ...] = ()


def _goal_completion(history: History) -> Finding:
    if forbidden := forbidden_calls(history):
        evidence = {index for one in forbidden for index in one.evidence}
        return Finding(0.0, forbidden_words(forbidden), tuple(sorted(evidence)))
    if _is_idle(history):
        return Finding(0.0, "nothing was done: no call, and no word")
    signals = list(_signals(history))
    shown = tuple(sorted({at for signal in signals for at in signal.evidence}))
    seen = f"; signals: {'; '.join(signal.words for signal in signals)}" if signals else ""
    if (checked := history.transcript.checked) is not None:
        if checked.ok is None:
            return Finding(None, str(checked), failure=checked.words)
        return Finding(float(checked.ok), f"{checked}{seen}", shown)
    if (expect := history.settings.wanted) is not None:
        return _as_expected(history, expect, seen)
    words = "unknown: no check, no expectation and no judge decides it"
    return Finding(None, words + seen, shown)


def is_decided(history: History) -> bool:
    """Whether the total is known to be 0 before any check is made."""
    return bool(forbidden_calls(history)) or _is_idle(history)


def _is_idle(history: History) -> bool:
    transcript = history.transcript
    has_run = bool(history.runs or transcript.executions)
    return not has_run and not any(map(_speaks, transcript.messages))


def _as_expected(history: History, expect: Expectation, seen: str) -> Finding:
    made = made_of(history)
    verdict = matched(expect, made, history)
    met = [made[call].evidence for _, call in verdict.pairs]
    evidence = tuple(sorted({index for at in met for index in at}))
    words = f"{'as' if verdict.ok else 'not as'} expected ({verdict.profile}): {verdict.reason}"
    return Finding(float(verdict.ok), words + seen, evidence)


def _signals(history: History) -> Iterator[Signal]:
    """Yield what a reader would look at first; none of it decides anything."""
    messages = history.transcript.messages
    claim = _claim(history)
    if claim is not None:
        yield claim
    elif messages and _speaks(messages[-1]):
        yield Signal("the assistant had the last word", (len(messages) - 1,))
    elif history.runs:
        yield Signal("it stopped in the middle: no claim to be done, and no answer")
    work = list(work_of(history))
    if work and not any(run.worked for run in work):
        yield Signal("no tool did its work")
    elif not (work or history.uncalled):
        yield Signal("no work was tried")
    yield from (Signal(words, at) for words, at in beside(made_of(history)))
    commands = history.settings.test_commands
    last = next((r for r in reversed(work) if runs_tests(r.tool, r.arguments, commands)), None)
    if last is not None and not last.dangles:
        yield Signal(
            f"the last run of tests {'passed' if last.succeeded else 'failed'}", where([last])
        )


def _claim(history: History) -> Signal | None:
    """Return the claim that the task is done, if no other call was made after it."""
    settings = history.settings
    calls = [run for run in closing_calls(history) if not run.failed]
    if calls:
        return Signal(f"{calls[-1].tool!r} was called at the end, a claim", where(calls))
    messages = history.transcript.messages
    begin = history.runs[-1].message + 1 if history.runs else 0
    for index in range(begin, len(messages)):
        for phrase in settings.completion_phrases if _speaks(messages[index]) else ():
            if f"\n{phrase}" in f"\n{messages[index].content}":
                return Signal(f"it said {phrase!r} at the end, a claim", (index,))
    if settings.last_word_ends and (at := _last_word(messages)) is not None:
        return Signal("it ended with a word and no call, a claim", (at,))
    return None


def _last_word(messages: Sequence[Message]) -> int | None:
    """Return the index of the assistant's last message, if it has text and no call."""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].role == "assistant":
            return at if _speaks(messages[at]) and not messages[at].tool_calls else None
    return None


def closing_calls(history: History) -> list[CallRun]:
    """Return the calls in the last step that claim that the task is done."""
    ends = history.settings.completion_tools
    last = history.runs[-1].batch if history.runs else 0
    return [run for run in history.runs if run.batch == last and run.tool in ends]


def work_of(history: History) -> Iterator[CallRun]:
    """Yield the calls that do more than plan or claim that all is done."""
    ends, planners = history.settings.completion_tools, history.settings.planners
    return (run for run in history.runs if run.tool not in ends and run.tool not in planners)


def _speaks(message: Message) -> bool:
    return message.role == "assistant" and bool(message.content.strip())


goal_completion = Category(GOAL, 0.50, _goal_completion)
