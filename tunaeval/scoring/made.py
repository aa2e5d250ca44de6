"""Collect the calls that count for the goal, including those that are not in a transcript as calls.

Structured calls, and calls in the text of messages without any, come message by message; then come
executions without a call in the transcript, by their start. Texts are parsed elsewhere
(`Transcript.written`), as `tunaeval.match` reads a message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tunaeval.matching.calls import Verdict, match, without_calls
from tunaeval.showing import counted
from tunaeval.types.calls import ToolCall
from tunaeval.types.runs import Expectation

from .categories import where
from .history import CallRun, History

WRITTEN = "written as text"
SEEN = "seen by the recorder"


class Made(NamedTuple):
    """A call that was made, and the messages that show it; `how` says how it is known if the
    transcript does not have it as a call.
    """

    call: ToolCall
    how: str = ""
    run: CallRun | None = None
    evidence: tuple[int, ...] = ()


def made_of(history: History) -> list[Made]:
    """Return all calls that count, in their order."""
    messages = history.transcript.messages
    texts = {index: read.calls for index, read in history.transcript.written}
    runs = iter(history.runs)
    made: list[Made] = []
    for index, message in enumerate(messages):
        for call in message.tool_calls:
            run = next(runs)
            made.append(Made(call, "", run, where([run])))
        made += [Made(call, WRITTEN, None, (index,)) for call in texts.get(index, ())]
    return made + [
        Made(ToolCall(one.tool, one.arguments, one.call_id), SEEN) for one in history.uncalled
    ]


def matched(expect: Expectation, made: list[Made], history: History) -> Verdict:
    """Return the match of the made calls with the expected ones; a malformed or truncated attempt
    is no abstention.
    """
    settings = history.settings
    calls = [one.call for one in made]
    verdict = match(expect, calls, profile=settings.profile, tools=settings.tools)
    if made:
        return verdict
    outcomes = {read.outcome for _, read in history.transcript.written}
    outcome = next((one for one in ("malformed", "truncated") if one in outcomes), "")
    return without_calls(verdict, outcome)


def beside(made: list[Made]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield a remark on calls that the transcript does not have as calls, and their messages."""
    for how, one, several in (
        (WRITTEN, "call was", "calls were"),
        (SEEN, "execution without a call", "executions without a call"),
    ):
        found = [call for call in made if call.how == how]
        if found:
            names = ", ".join(map(repr, dict.fromkeys(call.call.name for call in found)))
            count = counted(len(found), one, several)
            at = tuple(sorted({index for call in found for index in call.evidence}))
            yield (f"{count} {how}: {names}" if how == WRITTEN else f"{count}: {names} ({how})"), at
