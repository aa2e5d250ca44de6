"""Whether the goal was reached: the first category of the preset `default`, and what decides it.

    a forbidden call        0, regardless of all else
    nothing was done        0: no call, no text, and no execution
    a check                 1 if it passed, 0 if it failed
    else an expectation     1 if the calls meet it, 0 if they do not
    else                    unknown: None, with the signals in the transcript

If a judge is asked, its verdict replaces this category. An agent's own claim of success is only
mentioned as a signal and decides nothing: an agent that wrongly claims to be done looks the same.

Not only structured calls count. So do calls that the assistant wrote as text in messages without
structured ones, and recorded executions that no call explains. The calls of messages come first, in
order; then such executions, by their start. Texts are parsed elsewhere (`Transcript.written`), as
`tunaeval.match` reads a message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tunaeval.matching.calls import Verdict, is_forbidden, match, without_calls
from tunaeval.parsing.message import lost_calls
from tunaeval.showing import counted
from tunaeval.types.calls import ToolCall
from tunaeval.types.history import HistoryCall
from tunaeval.types.messages import Message
from tunaeval.types.runs import Expectation, ExpectedCall

from .history import Category, CategoryFinding, SettledHistory, where
from .running_tests import runs_tests

WRITTEN = "written as text"
SEEN = "seen by the recorder"


class Made(NamedTuple):
    """A call that was made, and the indices of the messages that show it. `how` is a remark on
    calls that were written as text or only recorded, and empty for the structured calls of a
    transcript. `worked` says whether the call is known to have succeeded.
    """

    call: ToolCall
    how: str = ""
    run: HistoryCall | None = None
    evidence: tuple[int, ...] = ()
    worked: bool = False


def made_of(history: SettledHistory) -> list[Made]:
    """Return all calls that were made: those of messages, then executions that no message shows."""
    messages = history.messages
    texts = {index: read.calls for index, read in history.written}
    runs = iter(history.calls)
    made: list[Made] = []
    for index, message in enumerate(messages):
        for call in message.tool_calls:
            run = next(runs)
            ends = run.dangles and run.tool in history.settings.completion_tools
            made.append(Made(call, "", run, where([run]), run.worked or ends))
        made += [Made(call, WRITTEN, None, (index,)) for call in texts.get(index, ())]
    return made + [
        Made(ToolCall(one.tool, one.arguments, one.call_id), SEEN, worked=one.ok)
        for one in history.uncalled
    ]


def matched(expect: Expectation, made: list[Made], history: SettledHistory) -> Verdict:
    """Match the made calls with the expected ones.

    If no call is expected, a malformed or truncated attempt at a call is a mismatch.
    """
    settings = history.settings
    calls = [one.call for one in made]
    lost = [one.call for one in _lost(history)]
    verdict = match(expect, calls, profile=settings.profile, tools=settings.tools, lost=lost)
    if any(call.name.strip() for call in calls):
        return verdict
    outcomes = {read.outcome for _, read in history.written}
    outcomes |= {"malformed"} if calls else set()
    outcome = next((one for one in ("malformed", "truncated") if one in outcomes), "")
    return without_calls(verdict, outcome)


def _lost(history: SettledHistory) -> list[Made]:
    """Return the attempts at calls in texts that cannot be read."""
    transcript, tools = history, history.settings.tools
    return [
        Made(call, WRITTEN, None, (index,))
        for index, read in transcript.written
        for call in lost_calls(transcript.messages[index], read, tools)
    ]


def beside(made: list[Made]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield remarks on calls found as text or as executions only, with the messages' indices."""
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


class ForbiddenCall(NamedTuple):
    """A forbidden call that was made: its tool, a remark (often ""), and its messages' indices."""

    tool: str
    how: str = ""
    evidence: tuple[int, ...] = ()


def forbidden_calls(history: SettledHistory) -> list[ForbiddenCall]:
    """Return the made calls that the settings forbid by the tool's name or by the arguments."""
    return list(_forbidden(history)) if history.settings.forbid else []


def forbidden_words(found: list[ForbiddenCall]) -> str:
    """Return a summary of forbidden calls, such as "forbidden: 'bash' was called (2 calls)"."""
    names = ", ".join(map(repr, dict.fromkeys(one.tool for one in found)))
    more = [f"{len(found)} calls"] if len(found) > 1 else []
    more += dict.fromkeys(one.how for one in found if one.how)
    return f"forbidden: {names} was called" + (f" ({'; '.join(more)})" if more else "")


def _forbidden(history: SettledHistory) -> Iterator[ForbiddenCall]:
    settings, executions = history.settings, history.executions
    names = [one if isinstance(one, str) else one.name for one in settings.forbid]
    known = names if settings.tools is None else [*settings.tools]
    found = [one for one in made_of(history) if one.how != SEEN] + _lost(history)
    found += [Made(ToolCall(one.tool, one.arguments), SEEN) for one in executions]
    listed: set[str] = set()
    for made in found:
        for name, one in zip(names, settings.forbid, strict=True):
            if not is_forbidden(made.call, one, known, settings.tools):
                continue
            if not (made.how == SEEN and name in listed):
                yield ForbiddenCall(name, _doubt(made.call, one) or made.how, made.evidence)
            listed.add(name)
            break


def _doubt(call: ToolCall, forbidden: str | ExpectedCall) -> str:
    """Return a remark if a call may be the forbidden one, for it cannot be read, else ""."""
    if not call.name:
        return "in a call that cannot be read, so it may be"
    lost = call.invalid and not isinstance(forbidden, str) and forbidden.arguments
    return "its arguments cannot be read, so it may be" if lost else ""


GOAL = "goal-completion"


class EndingSign(NamedTuple):
    """A sign of how the task ended, in words, and the indices of the messages that show it."""

    words: str
    evidence: tuple[int, ...] = ()


def _goal_completion(history: SettledHistory) -> CategoryFinding:
    if forbidden := forbidden_calls(history):
        evidence = {index for one in forbidden for index in one.evidence}
        return CategoryFinding(0.0, forbidden_words(forbidden), tuple(sorted(evidence)))
    if _is_idle(history):
        return CategoryFinding(0.0, "nothing was done: no call, and no word")
    signals = list(_signals(history))
    shown = tuple(sorted({at for signal in signals for at in signal.evidence}))
    seen = f"; signals: {'; '.join(signal.words for signal in signals)}" if signals else ""
    if (checked := history.checked) is not None:
        if checked.ok is None:
            return CategoryFinding(None, str(checked), failure=checked.words)
        return CategoryFinding(float(checked.ok), f"{checked}{seen}", shown)
    if (expect := history.settings.wanted) is not None:
        return _as_expected(history, expect, seen)
    words = "unknown: no check, no expectation and no judge decides it"
    return CategoryFinding(None, words + seen, shown)


def is_decided(history: SettledHistory) -> bool:
    """Whether the total is 0 whatever a check says: a call was forbidden, or nothing was done."""
    return bool(forbidden_calls(history)) or _is_idle(history)


def _is_idle(history: SettledHistory) -> bool:
    transcript = history
    has_run = bool(history.calls or transcript.executions)
    return not has_run and not any(map(_speaks, transcript.messages))


def _as_expected(history: SettledHistory, expect: Expectation, seen: str) -> CategoryFinding:
    made = made_of(history)
    verdict, more = matched(expect, made, history), ""
    lost = [one for one in made if not one.worked]
    if not (history.uncalled or any(not run.dangles for run in history.calls)):
        more = "; attempts were counted, because no result answers a call" if made else ""
    elif verdict.ok and lost:
        made = [one for one in made if one.worked]
        verdict = matched(expect, made, history)
        names = ", ".join(map(repr, dict.fromkeys(one.call.name for one in lost)))
        more = f"; only calls that succeeded count, and not all of {names} did"
    met = [made[call].evidence for _, call in verdict.pairs]
    evidence = tuple(sorted({index for at in met for index in at}))
    words = f"{'as' if verdict.ok else 'not as'} expected ({verdict.profile}): {verdict.reason}"
    return CategoryFinding(float(verdict.ok), words + more + seen, evidence)


def _signals(history: SettledHistory) -> Iterator[EndingSign]:
    """Yield signs of how the task ended. They are mentioned in the reason, and decide no value."""
    messages = history.messages
    claim = _claim(history)
    if claim is not None:
        yield claim
    elif messages and _speaks(messages[-1]):
        yield EndingSign("the assistant had the last word", (len(messages) - 1,))
    elif history.calls:
        yield EndingSign("it stopped in the middle: no claim to be done, and no answer")
    work = list(work_of(history))
    if work and not any(run.worked for run in work):
        yield EndingSign("no tool did its work")
    elif not (work or history.uncalled):
        yield EndingSign("no work was tried")
    yield from (EndingSign(words, at) for words, at in beside(made_of(history)))
    commands = history.settings.test_commands
    last = next((r for r in reversed(work) if runs_tests(r.tool, r.arguments, commands)), None)
    if last is not None and not last.dangles:
        yield EndingSign(
            f"the last run of tests {'passed' if last.succeeded else 'failed'}", where([last])
        )


def _claim(history: SettledHistory) -> EndingSign | None:
    """Return the agent's claim at the end that the task is done, or None if there is none."""
    settings = history.settings
    calls = [run for run in closing_calls(history) if not run.failed]
    if calls:
        return EndingSign(f"{calls[-1].tool!r} was called at the end, a claim", where(calls))
    messages = history.messages
    begin = history.calls[-1].message + 1 if history.calls else 0
    for index in range(begin, len(messages)):
        for phrase in settings.completion_phrases if _speaks(messages[index]) else ():
            if f"\n{phrase}" in f"\n{messages[index].content}":
                return EndingSign(f"it said {phrase!r} at the end, a claim", (index,))
    if settings.last_word_ends and (at := _last_word(messages)) is not None:
        return EndingSign("it ended with a word and no call, a claim", (at,))
    return None


def _last_word(messages: Sequence[Message]) -> int | None:
    """Return the index of the assistant's last message, if it has text and no call."""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].role == "assistant":
            return at if _speaks(messages[at]) and not messages[at].tool_calls else None
    return None


def closing_calls(history: SettledHistory) -> list[HistoryCall]:
    """Return the last step's calls of completion tools, which claim that the task is done."""
    ends = history.settings.completion_tools
    last = history.calls[-1].batch if history.calls else 0
    return [run for run in history.calls if run.batch == last and run.tool in ends]


def work_of(history: SettledHistory) -> Iterator[HistoryCall]:
    """Yield the calls of tools that neither plan nor claim that the task is done."""
    ends, planners = history.settings.completion_tools, history.settings.planners
    return (run for run in history.calls if run.tool not in ends and run.tool not in planners)


def _speaks(message: Message) -> bool:
    return message.role == "assistant" and bool(message.content.strip())


goal_completion = Category(GOAL, 0.50, _goal_completion)
