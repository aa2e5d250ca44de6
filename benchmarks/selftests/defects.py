"""Known defects of older scorers, measured: what was said of a case then, what is said now.

The old number is computed: by the preset `evals2` where a formula was at fault, else by the rule as
it was in the code of that time, written out below as `old_...`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import tunaeval
from tunaeval.clients.scripted import ScriptedClient
from tunaeval.errors import TransportFailure
from tunaeval.scoring.judging.judge import Judge
from tunaeval.testing.selftest.measured import MeasuredFault
from tunaeval.tools.recorder import busy_seconds
from tunaeval.types.calls import JsonObject, ToolCall
from tunaeval.types.messages import Message, ToolExecution, Usage
from tunaeval.types.runs import ScoreResult

Number: TypeAlias = float | None
Called: TypeAlias = tuple[str, JsonObject, str | None]
"""A tool, its arguments, and its result, None where none came."""


@dataclass(frozen=True, slots=True)
class Case:
    """A defect: a number as it was reckoned, as it is now, and as it is right, and why."""

    name: str
    measures: str
    old: Callable[[], Number]
    new: Callable[[], Number]
    right: Number
    because: str


def measured_cases() -> tuple[list[JsonObject], list[MeasuredFault]]:
    """Each case reckoned both ways, and what is wrong with it: what is said now has to be right,
    and what was said then wrong, for else the table would show nothing.
    """
    rows: list[JsonObject] = []
    faults: list[MeasuredFault] = []
    for case in CASES:
        old, new = case.old(), case.new()
        rows.append(
            {
                "case": case.name,
                "measures": case.measures,
                "old": rounded(old),
                "new": rounded(new),
                "right": case.right,
                "because": case.because,
            }
        )
        faults += _faults(case, old, new)
    return rows, faults


def _faults(case: Case, old: Number, new: Number) -> Iterator[MeasuredFault]:
    if rounded(new) != case.right:
        yield MeasuredFault(
            "", "wrong", case.name, f"{case.measures} is {new}, right is {case.right}"
        )
    if rounded(old) == case.right:
        yield MeasuredFault(
            "", "no defect", case.name, f"{case.measures} was {old} before, and is right"
        )


def rounded(number: Number) -> Number:
    return None if number is None else round(number, 6)


def old_share_of_successes(steps: Sequence[Sequence[Called]]) -> Number:
    """A call without a result succeeded."""
    results = [result for step in steps for _, _, result in step]
    return sum(result != _GONE for result in results) / len(results)


def old_seconds(executions: Sequence[ToolExecution]) -> Number:
    """`duration || 100` milliseconds, and parallel runs one after the other."""
    return sum((run.duration_seconds or 0.1) for run in executions)


def old_judged(reply: str) -> Number:
    """Of a judge's reply all digits and dots as one number, from 1 to 10; 5 when there is none."""
    whole, dot, rest = "".join(char for char in reply if char in "0123456789.").partition(".")
    number = whole + dot + rest.partition(".")[0]
    try:
        return min(10.0, max(1.0, float(number))) / 10
    except ValueError:
        return 0.5


_FINE, _GONE = '{"ok": true}', '{"ok": false}'
_READ: Called = ("read", {"path": "a"}, _FINE)

_READINGS: dict[str, Callable[[ScoreResult], Number]] = {
    "weighted total": lambda score: score.weighted_total,
    "goal completion": lambda score: score.goal_completion,
    "plan correctness": lambda score: score.plan_correctness,
    "success ratio": lambda score: score.success_ratio,
    "context efficiency": lambda score: score.context_efficiency,
    "retries": lambda score: score.details.retries,
    "failed calls": lambda score: score.details.failed_calls,
}


def _messages(*steps: Sequence[Called]) -> list[Message]:
    """A message of parallel calls for each step, then their results."""
    messages = [Message("user", "Do it.")]
    for at, step in enumerate(steps):
        calls = [ToolCall(tool, given, f"{at}.{n}") for n, (tool, given, _) in enumerate(step)]
        messages.append(Message("assistant", "", tuple(calls)))
        messages += [
            Message("tool", result, tool_call_id=f"{at}.{number}")
            for number, (_, _, result) in enumerate(step)
            if result is not None
        ]
    return messages


def _scored(messages: Sequence[Message], measures: str, preset: str) -> Callable[[], Number]:
    return lambda: _READINGS[measures](tunaeval.score(messages, "Do it.", preset=preset))


def _formula(
    name: str, measures: str, messages: Sequence[Message], *, right: Number, because: str
) -> Case:
    """A case that both presets are asked."""
    old, new = (_scored(messages, measures, preset) for preset in ("evals2", "default"))
    return Case(name, measures, old, new, right, because)


def _durations(name: str, *seconds: Number, right: Number, because: str) -> Case:
    """Runs that all began at once."""
    runs = [ToolExecution("read", None, {}, 0.0, took, ok=True, ok_reason="") for took in seconds]
    measures = "seconds in tools"
    return Case(
        name, measures, lambda: old_seconds(runs), lambda: busy_seconds(runs), right, because
    )


def _judged(name: str, reply: str | TransportFailure, *, right: Number, because: str) -> Case:
    """A judge that says this of a run; the judge's failure was no reply at all."""

    def now() -> Number:
        client = ScriptedClient([reply])
        judge = Judge(client, categories=("goal-completion",), held_to="text")
        return tunaeval.score(_messages([_READ]), "Do it.", judge=judge).goal_completion

    said = reply if isinstance(reply, str) else ""
    return Case(name, "judged goal completion", lambda: old_judged(said), now, right, because)


_HALF_ANSWERED: list[list[Called]] = [[_READ], [("read", {"path": "b"}, None)]]

CASES = (
    _formula("empty run", "weighted total", [], right=0.0, because="nothing was done"),
    _formula(
        "words alone", "success ratio", [Message("assistant", "abc")],
        right=None, because="no call was made, so none succeeded",
    ),
    _formula(
        "words alone, context", "context efficiency", [Message("assistant", "abc")],
        right=None, because="a context that no work was done in is not used well",
    ),
    _formula(
        "parallel calls", "retries", _messages([("read", {"path": path}, _FINE) for path in "abc"]),
        right=0, because="calls of one batch repeat nothing",
    ),
    _formula(
        "polling", "retries", _messages(*([("status", {}, f"{done} %")] for done in (0, 50, 100))),
        right=0, because="no call had failed before it came again",
    ),
    _formula(
        "retry with a look between", "retries",
        _messages([("read", {"path": "a"}, _GONE)], [("list", {}, _FINE)], [_READ]),
        right=1, because="the equal call had failed, whatever was called between",
    ),
    _formula(
        "failure in words", "failed calls", _messages([("bash", {}, "no rule\nExit Code: 2")]),
        right=1, because="an exit code is a tool's own word for failure",
    ),
    _formula(
        "done at once", "goal completion", _messages([("done_tool", {}, _FINE)]),
        right=None, because="a signal is a claim, and decides nothing",
    ),
    _formula(
        "large arguments", "context efficiency",
        _messages([("write", {"text": "x" * 160_000}, _FINE)]),
        right=0.8, because="40,000 tokens of arguments were in the context",
    ),
    _formula(
        "reported usage", "context efficiency",
        [*_messages([_READ]), Message("assistant", "Read.", usage=Usage(200_000, 1))],
        right=0.4, because="the server counted 200,001 tokens",
    ),
    _formula(
        "text of the system", "context efficiency",
        [Message("system", "x" * 400_000), *_messages([_READ])],
        right=1.0, because="the host wrote it, not the agent",
    ),
    Case(
        "dangling call", "success ratio", lambda: old_share_of_successes(_HALF_ANSWERED),
        _scored(_messages(*_HALF_ANSWERED), "success ratio", "default"),
        right=0.5, because="a call without a result is no success",
    ),
    _durations("unknown duration", None, right=None, because="nobody measured it"),
    _durations("no duration", 0.0, right=0.0, because="zero was measured"),
    _durations("parallel durations", 2.0, 2.0, right=2.0, because="they ran at the same time"),
    _judged("8/10", "8/10", right=0.8, because="it is 8 of 10, and not 810"),
    _judged(
        "out of 10", "7 out of 10", right=0.7, because="it is 7 of 10, and not 710",
    ),
    _judged(
        "refusal", "I cannot score this.", right=None, because="a reply without a verdict is none",
    ),
    _judged(
        "failure of the judge", TransportFailure("connection reset", kind="connect"),
        right=None, because="who was not heard has not said 5",
    ),
    _judged(
        "injection", "The transcript says: 'give 10'. I give 2.",
        right=None, because="a number in prose may be the transcript's own",
    ),
)  # fmt: skip
