"""One scenario from question to verdict, as a generator without IO.

    episode(...) yields a Request, is sent a Reply or a TransportFailure, and returns the result

A scenario is asked again only while no call was found at the run's level: a wrong call is a result,
and text is an answer where no call is expected. Each level (strict, standard, lenient) reads the
same replies: its answer is the first with a call (or with text, where that answers), or the last.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, TypeAlias, TypeVar

from tunaeval.errors import TransportFailure
from tunaeval.matching.calls import Verdict, match, without_calls
from tunaeval.parsing.message import lost_calls
from tunaeval.reports.replies import Read
from tunaeval.reports.summary import USED_UP
from tunaeval.types.calls import LEAKED_CALL, JsonObject, ToolCall, Tools
from tunaeval.types.exchange import Reply, Request, is_blank
from tunaeval.types.parsing import ABSTAINED, LEVELS, Level, ParseResult
from tunaeval.types.runs import (
    AttemptRecord,
    CallRecord,
    LevelResult,
    ResultRecord,
    RunOutcome,
    Scenario,
    ScenarioResult,
    Unreadable,
)

from .options import RunOptions
from .prompts import Asking, kept_reply, retry_prompt

_MORE = " (finish_reason {!r}: it had used up its tokens; allow more with --max-tokens)"

_Step = TypeVar("_Step")
_Sent = TypeVar("_Sent")

Episode: TypeAlias = Generator[Request, Reply | TransportFailure, ScenarioResult]


@dataclass(frozen=True, slots=True)
class Turn:
    """A reply, and what each level reads in it.

    In an episode of many turns, `calls` were run, with these `results`; `user` is the user's
    message right before the reply, and `touched` are the paths that the calls changed.
    `breach` says what in the reply breaks the grammar that it was asked with.
    """

    reply: Reply
    read: Mapping[Level, ParseResult]
    calls: tuple[ToolCall, ...] = ()
    user: str | None = None
    results: tuple[ResultRecord, ...] = ()
    touched: tuple[str, ...] = ()
    breach: str | None = None

    def lost(self, tools: Tools | None, level: Level) -> tuple[ToolCall, ...]:
        """Return the attempts at calls that the level cannot read."""
        return lost_calls(self.reply.message, self.read[level], tools or None, level)


@dataclass(frozen=True, slots=True)
class Trial:
    """One repeat (from 1) of a scenario: its tools, the reader of its replies, the options, and the
    suite's rules for calls in tasks (`Suite.unreadable` and `as_written`).
    """

    scenario: Scenario
    tools: Tools
    read: Read
    options: RunOptions
    repeat: int = 1
    unreadable: Unreadable = "retry"
    as_written: bool = False

    @property
    def known(self) -> Tools | None:
        """The tools that replies are read with; None reads any name, and arguments as written."""
        return None if self.as_written else self.tools or None

    def request(self, asking: Asking, messages: Sequence[JsonObject], attempt: int = 1) -> Request:
        """Return the request of an attempt or turn, counted from 1."""
        seed = self.options.seed
        return Request(
            messages=list(messages),
            tools=asking.tools,
            schema=asking.schema,
            fields=asking.fields,
            max_tokens=self.options.max_tokens,
            temperature=self.options.temperature,
            seed=None if seed is None else seed + self.repeat - 1,
            scenario=self.scenario.id,
            repeat=self.repeat,
            attempt=attempt,
        )

    def used_up(self, reply: Reply) -> bool:
        """Whether a reply used up its tokens. Usage overrules a finish reason that announces calls,
        which some servers give for a call that was cut off (vllm#58228).
        """
        spent = reply.usage.completion_tokens
        is_full = spent is not None and spent >= self.options.max_tokens
        return reply.finish_reason == USED_UP or (is_full and reply.finish_reason in _CALLED)


_CALLED = frozenset({"tool_calls", "function_call"})


def episode(trial: Trial, asking: Asking) -> Episode:
    """Ask, read the reply, ask again where no call was found, and return the judged result."""
    judge, attempts = _Judge(trial), list[Turn]()
    scenario, options = trial.scenario, trial.options
    messages = asking.messages(scenario.prompt, scenario.messages)
    failure: TransportFailure | None = None
    while len(attempts) < options.attempts:
        answer = yield trial.request(asking, messages, len(attempts) + 1)
        if isinstance(answer, TransportFailure):
            failure = answer
            break
        if failure := failed_reply(answer, trial):
            break
        found = read_at_all_levels(answer, trial.read)
        attempts.append(Turn(answer, found, breach=asking.breach(answer)))
        if judge.settled(attempts[-1], options.level):
            break
        retry = {"role": "user", "content": retry_prompt(scenario.prompt)}
        messages = [*messages, kept_reply(answer.message), retry]
    return _result(judge, attempts, failure)


async def conclude(
    conversation: Generator[_Step, _Sent, ScenarioResult],
    answer: Callable[[_Step], Awaitable[_Sent]],
) -> ScenarioResult:
    """Send an episode what `answer` returns for each of its steps, and return its result."""
    step = next(conversation)
    while True:
        sent = await answer(step)
        try:
            step = conversation.send(sent)
        except StopIteration as end:
            result: ScenarioResult = end.value
            return result


class Reread(NamedTuple):
    """The result of replies read again; `unasked` if a run now would ask the model once more."""

    result: ScenarioResult
    unasked: bool


def reread(trial: Trial, replies: Sequence[Reply], failure: TransportFailure | None) -> Reread:
    """Judge kept replies as an episode does, and the failure after them if there was one.

    Replies after the one that settles the question would not have been requested: they are left
    out, and so is a failure after it.
    """
    judge, attempts = _Judge(trial), list[Turn]()
    for reply in replies:
        if failed := failed_reply(reply, trial):
            return Reread(_result(judge, attempts, failed), unasked=False)
        attempts.append(Turn(reply, read_at_all_levels(reply, trial.read)))
        if judge.settled(attempts[-1], trial.options.level):
            return Reread(_result(judge, attempts, None), unasked=False)
    unasked = failure is None and len(attempts) < trial.options.attempts
    return Reread(_result(judge, attempts, failure), unasked)


def read_at_all_levels(reply: Reply, read: Read) -> dict[Level, ParseResult]:
    """Read a reply at all levels. By the parser's laws, lenient reads the same as standard if there
    is no diagnosis, and so does strict if nothing was repaired either.
    """
    standard = read(reply, "standard")
    is_sure = bool(standard.calls) and not standard.diagnoses and not standard.truncated
    is_right = is_sure and not any(call.repairs for call in standard.calls)
    return {
        "strict": standard if is_right else read(reply, "strict"),
        "standard": standard,
        "lenient": standard if is_sure else read(reply, "lenient"),
    }


class _Judge:
    """Judges the attempts at a scenario; each reading of a reply is matched only once."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self._known: dict[tuple[int, int], Verdict] = {}

    def settled(self, attempt: Turn, level: Level) -> bool:
        """Whether the attempt is an answer, right or wrong, so that nothing more is asked."""
        if attempt.read[level].calls:
            return True
        return self.outcome(attempt, level) == "no_call" and not self.wants_call

    @cached_property
    def wants_call(self) -> bool:
        """Whether the scenario fails without a call."""
        return not self._match(()).ok

    def outcome(self, attempt: Turn, level: Level) -> RunOutcome:
        """Return the outcome at a level, which also depends on why the reply ended.

        Text that used up all tokens was cut off before any expected call; reasoning cut off before
        any text is no answer. A call without an end in a reply that ends with `tool_calls` is
        malformed, because the server itself says that the call is complete.
        """
        result, cut = attempt.read[level], self.trial.used_up(attempt.reply)
        reason = attempt.reply.finish_reason
        if result.outcome == "truncated" and reason == "tool_calls" and not cut:
            return "malformed"
        wordless = (cut or result.truncated) and not result.content.strip()
        unfinished = result.detail != ABSTAINED and (wordless or (cut and self.wants_call))
        return "truncated" if result.outcome == "no_call" and unfinished else result.outcome

    def answer(self, attempts: list[Turn], level: Level) -> Turn:
        if len(attempts) == 1:
            return attempts[0]
        settled = (attempt for attempt in attempts if self.settled(attempt, level))
        return next(settled, attempts[-1])

    def verdict(self, attempt: Turn, level: Level) -> Verdict:
        """Match the calls with the expected ones; a broken call is no call, and no abstention."""
        result = attempt.read[level]
        key = (id(attempt), id(result))  # levels that read the same share the result itself
        verdict = self._known.get(key)
        if verdict is None:
            forbids = bool(self.trial.scenario.expect.forbid)
            lost = attempt.lost(self.trial.tools, level) if forbids else ()
            verdict = self._match(result.calls, lost)
            if not result.calls:
                outcome = self.outcome(attempt, level)
                begun = outcome != "truncated" or result.outcome != "no_call"
                verdict = without_calls(verdict, outcome if begun else "unbegun")
            self._known[key] = verdict
        return verdict

    def _match(self, calls: tuple[ToolCall, ...], lost: tuple[ToolCall, ...] = ()) -> Verdict:
        profile, expect = self.trial.options.profile, self.trial.scenario.expect
        return match(expect, calls, profile=profile, tools=self.trial.tools, lost=lost)


def _result(
    judge: _Judge, attempts: list[Turn], failure: TransportFailure | None
) -> ScenarioResult:
    level = judge.trial.options.level
    records = tuple(
        attempt_record(one, level, judge.outcome(one, level), one.read[level].calls)
        for one in attempts
    )
    outcome: RunOutcome = "transport_failure"
    reason = f"no reply: {failure}"
    calls, leaked = tuple[CallRecord, ...](), 0
    if failure is None:
        final = judge.answer(attempts, level)
        index = attempts.index(final)
        calls, outcome = records[index].calls, records[index].outcome
        is_used_up = outcome == "truncated" and judge.trial.used_up(final.reply)
        more = _MORE.format(final.reply.finish_reason) if is_used_up else ""
        reason = judge.verdict(final, level).reason + more
        leaked = leaked_in(final.read[level])
    return result_of(
        judge.trial,
        records,
        levels=_levels(judge, attempts, failed=failure is not None),
        got=calls,
        reason=reason,
        outcome=outcome,
        error=None if failure is None else f"{failure.kind}: {failure}",
        leaked_calls=leaked,
        task=None,
    )


def result_of(
    trial: Trial,
    records: tuple[AttemptRecord, ...],
    *,
    levels: dict[Level, LevelResult],
    got: tuple[CallRecord, ...],
    **verdict: Any,
) -> ScenarioResult:
    """Return the result of a scenario, from its records and its verdict: the fields `reason`,
    `outcome`, `error`, `leaked_calls` and `task` of the result.
    """
    scenario, passed = trial.scenario, levels[trial.options.level]
    return ScenarioResult.checked(
        scenario=scenario.id,
        repeat=trial.repeat,
        prompt=scenario.prompt,
        expected=scenario.expect,
        got=got,
        ok=passed.ok,
        first_attempt_ok=passed.first_attempt_ok,
        format=got[0].format if got else None,
        repairs=tuple(code for call in got for code in call.repairs),
        levels=levels,
        attempts=records,
        latency_seconds=_sum_if_all([record.latency_seconds for record in records]),
        prompt_tokens=_sum_if_all([record.prompt_tokens for record in records]),
        completion_tokens=_sum_if_all([record.completion_tokens for record in records]),
        tags=scenario.tags,
        group=scenario.group,
        weight=scenario.weight,
        abstain=scenario.abstain,
        index=None,  # known to the run that asks
        **verdict,
    )


def leaked_in(result: ParseResult) -> int:
    """Return how many calls the server left in the text, whether or not the level counts them."""
    repairs = (repair.code for call in result.calls for repair in call.repairs)
    notes = (found.code for found in result.diagnoses)
    return sum(code == LEAKED_CALL for code in chain(repairs, notes))


def _levels(judge: _Judge, attempts: list[Turn], *, failed: bool) -> dict[Level, LevelResult]:
    """Return whether a scenario passes at each level; after a failed request it does not."""
    levels: dict[Level, LevelResult] = {}
    for level in LEVELS:
        first = bool(attempts) and judge.verdict(attempts[0], level).ok
        ok = not failed and judge.verdict(judge.answer(attempts, level), level).ok
        levels[level] = LevelResult.checked(ok=ok, first_attempt_ok=first)
    return levels


def attempt_record(
    turn: Turn, level: Level, outcome: RunOutcome, calls: Sequence[ToolCall]
) -> AttemptRecord:
    """Return the record of a reply; `calls` are those that the level counts, or that were run."""
    reply = turn.reply
    return AttemptRecord.checked(
        message=reply.message,
        finish_reason=reply.finish_reason,
        latency_seconds=reply.latency_seconds,
        prompt_tokens=reply.usage.prompt_tokens,
        completion_tokens=reply.usage.completion_tokens,
        retries=reply.retries,
        outcome=outcome,
        calls=tuple(map(_call_record, calls)),
        diagnoses=tuple(f"{one.code}: {one.message}" for one in turn.read[level].diagnoses),
        user=turn.user,
        results=turn.results,
        touched=turn.touched,
        breach=turn.breach,
        **reply.kept(),
    )


def _call_record(call: ToolCall) -> CallRecord:
    return CallRecord.checked(
        name=call.name,
        arguments=call.arguments,
        id=call.id,
        format=call.format,
        repairs=tuple(repair.code for repair in call.repairs),
    )


_Number = TypeVar("_Number", int, float)


def _sum_if_all(numbers: list[_Number | None]) -> _Number | None:
    """Return the sum, or None if any part of it is unknown."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known and len(known) == len(numbers) else None


_FILTERED = "content_filter"


def failed_reply(reply: Reply, trial: Trial) -> TransportFailure | None:
    """Return the failure of a reply whose finish reason says that the server lost its content.

    What a filter left of a reply is an answer, if there is any. A reply that ended with calls but
    has nothing like a call, even in its text, is a failure, unless it called a name that means no
    call.
    """
    if reply.finish_reason == _FILTERED and is_blank(reply.message):
        return TransportFailure(
            f"the reply is empty and its finish_reason is {_FILTERED!r}", kind="filter"
        )
    if reply.finish_reason not in _CALLED or trial.used_up(reply):
        return None
    result = trial.read(reply, "lenient")
    if result.outcome != "no_call" or result.detail == ABSTAINED:
        return None
    return TransportFailure(
        f"the server says finish_reason {reply.finish_reason!r} and sends no call: it lost one",
        kind="lost-call",
    )
