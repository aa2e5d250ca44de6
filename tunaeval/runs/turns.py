"""One task of many turns from the first question to the grades, as a generator without IO.

    task_episode(...) yields        and is sent
    Request                         a Reply, a TransportFailure, or OutOfTime
    Run (calls to be run)           Results, or OutOfTime
    Answered (the user's turn)      the user's message, or None
    Ended (work to be graded)       the graded TaskRecord

and returns the result. After a reply with calls come their results; after a reply whose call could
not be read, a message about that; after a reply with text alone, the user. In a suite whose
`unreadable` is "end", a reply with a call that cannot be read has no call, and the user follows.
Tools that the user adds are offered from that turn on. The episode ends with an answer that gets no
reply, with the task's signal, or at a limit; only the grades decide whether it passes. A level
(strict, standard, lenient) passes only if it reads exactly the calls that ran.

`reread_task` reads a kept episode again: no model is asked and no tool is run. The results of the
tools belong to the calls that were run. If other rules read the same calls in every turn, the
grades of the workspace and the answer remain, and only the calls are compared anew. If they read
different calls, it is unknown what would have followed: no verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeAlias

from tunaeval.errors import TransportFailure
from tunaeval.parsing.message import lost_calls
from tunaeval.showing import counted
from tunaeval.tasks.grades import again, grade, partial_of, recovered
from tunaeval.tasks.state import FinalState, UserTurn
from tunaeval.types.calls import JsonObject, ToolCall, Tools
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.json_text import json_object
from tunaeval.types.parsing import LEVELS, Level, ParseResult
from tunaeval.types.runs import (
    AttemptRecord,
    CallRecord,
    CheckRecord,
    Episode,
    LevelResult,
    ResultRecord,
    RunOutcome,
    ScenarioResult,
    Task,
    TaskRecord,
)
from tunaeval.types.tasks import CallsCheck, Ending

from .episode import (
    Reread,
    Trial,
    Turn,
    attempt_record,
    failed_reply,
    leaked_in,
    read_at_all_levels,
    result_of,
)
from .prompts import Ask, Asking, dumped, kept_reply


@dataclass(frozen=True, slots=True)
class OutOfTime:
    """Sent in place of an answer when the episode's time, or its room on the disk, is over."""

    ended: Ending = "seconds"


@dataclass(frozen=True, slots=True)
class Run:
    """A step of an episode: calls to be run, each with an id that is unique in the episode, but not
    those of the tools that are held out so far.
    """

    calls: tuple[ToolCall, ...]
    held_out: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Results:
    """The results of the calls, in their order, and the workspace paths that the calls changed."""

    records: tuple[ResultRecord, ...]
    touched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """The model has answered without a call, so that the user's turn `number` (from 1) follows."""

    messages: tuple[JsonObject, ...]
    number: int


@dataclass(frozen=True, slots=True)
class FinishedEpisode:
    """A finished episode that is to be graded: how it ended, and the model's last answer."""

    ended: Ending
    answer: str
    turns: tuple[Turn, ...]


Step: TypeAlias = Request | Run | Answered | FinishedEpisode
Sent: TypeAlias = Reply | TransportFailure | Results | TaskRecord | OutOfTime | str | None
TaskEpisode: TypeAlias = Generator[Step, Sent, ScenarioResult]

UNREADABLE = (
    "Your last call could not be read ({why}). Make it again in the form that you were shown, or "
    "answer in words if the work is done."
)


@dataclass(slots=True)
class _EpisodeState:
    """The state of an episode: messages, turns, the last answer, and the settings of the run.

    The first `opening` messages are those of the first request. `users` counts the user's messages
    after the prompt, `steps` the replies with calls since the last of them.
    """

    trial: Trial
    asking_with: Callable[[Tools], Asking]
    asking: Asking = field(init=False)
    messages: list[JsonObject] = field(default_factory=list)
    opening: int = 0
    turns: list[Turn] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    user: str | None = None
    answer: str = ""
    users: int = 0
    steps: int = 0

    def __post_init__(self) -> None:
        self.offer()

    @property
    def task(self) -> Task:
        return self.trial.scenario.task or Task()

    def offer(self) -> None:
        """Ask with the tools that are offered by now."""
        scenario, out = self.trial.scenario, self.task.held_out(self.users)
        tools = self.trial.tools
        if out:
            tools = Tools(spec for spec in tools.values() if spec.name not in out)
        self.asking = self.asking_with(tools)
        opening = self.asking.messages(scenario.prompt, scenario.messages)
        self.messages[: self.opening] = opening
        self.opening = len(opening)


def task_episode(trial: Trial, asking_with: Callable[[Tools], Asking]) -> TaskEpisode:
    """Ask, run the calls, ask again until the episode ends, and return its graded result.
    `asking_with` returns what is the same in all requests with these tools.
    """
    state = _EpisodeState(trial, asking_with)
    ended: Ending | None = None
    failure: TransportFailure | None = None
    while ended is None:
        answer = yield trial.request(state.asking, state.messages, len(state.turns) + 1)
        how: Ending | TransportFailure | None
        if isinstance(answer, Reply):
            how = failed_reply(answer, trial) or (yield from _turn(state, answer))
        else:
            how = answer if isinstance(answer, TransportFailure) else "seconds"
        if isinstance(how, TransportFailure):  # of the model's server, or of one that runs calls
            ended, failure = "failure", how
        else:
            ended = how
    record = TaskRecord(ended=ended, answer=state.answer)
    if failure is None:
        sent = yield FinishedEpisode(ended, state.answer, tuple(state.turns))
        record = sent if isinstance(sent, TaskRecord) else record
    return task_result(trial, state.turns, record, failure)


def _turn(
    state: _EpisodeState, reply: Reply
) -> Generator[Step, Sent, Ending | TransportFailure | None]:
    """Handle a reply; return how it ended the episode, or None if the episode goes on."""
    task = state.task
    found = read_turn(reply, state.trial)
    result = found[state.trial.options.level]
    calls = _with_ids(result.calls, state.ids)
    turn = Turn(reply, found, calls, state.user, breach=state.asking.breach(reply))
    state.turns.append(turn)
    state.user = None
    state.steps += bool(calls)
    if not calls or result.content.strip():
        state.answer = _answer_text(result, state.asking.ask)
    limit = _limit_reached(state, task)
    if limit == "calls":  # these calls exceed the limit, so they are not run
        return limit
    out = frozenset[str]() if state.trial.as_written else task.held_out(state.users)
    if calls:
        ran = yield Run(calls, out)
        if not isinstance(ran, Results):
            if isinstance(ran, TransportFailure):
                return ran
            return ran.ended if isinstance(ran, OutOfTime) else "seconds"
        state.turns[-1] = replace(turn, results=ran.records, touched=ran.touched)
        state.messages += _calls_and_results(result, calls, ran.records, state.asking)
    done = task.done
    if done is not None and (
        (done.text is not None and done.text in result.content)
        or any(call.name == done.tool for call in calls if call.name not in out)
    ):
        return "signal"
    if not calls:
        state.messages.append(kept_reply(reply.message))
        says = yield from _reaction(state, result)
        if says is None:
            return "answer"
        state.messages.append({"role": "user", "content": says})
    return limit


def _reaction(state: _EpisodeState, result: ParseResult) -> Generator[Step, Sent, str | None]:
    """Return the message that follows a reply without a call: an error note, or the user's turn."""
    if result.outcome in {"malformed", "truncated"} and state.trial.unreadable == "retry":
        notes = [found.message for found in result.diagnoses] or ["it was cut off"]
        return UNREADABLE.replace("{why}", notes[-1][:200])
    state.users += 1
    says = yield Answered(tuple(state.messages), state.users)
    state.user, state.steps = (says if isinstance(says, str) else None), 0
    if state.task.held_out(state.users - 1) != state.task.held_out(state.users):
        state.offer()
    return state.user


def read_turn(reply: Reply, trial: Trial) -> dict[Level, ParseResult]:
    """Read a turn's reply at all levels, by the suite's rule for calls that cannot be read."""
    found = read_at_all_levels(reply, trial.read)
    if trial.unreadable == "retry":
        return found
    return {
        level: replace(result, calls=(), outcome="malformed")
        if result.calls and lost_calls(reply.message, result, trial.known, level)
        else result
        for level, result in found.items()
    }


def _limit_reached(state: _EpisodeState, task: Task) -> Ending | None:
    """Return the limit that has been reached, or None; of the time, the driver keeps account."""
    limits, turns = task.limits, state.turns
    if limits.calls is not None and sum(len(turn.calls) for turn in turns) > limits.calls:
        return "calls"
    tokens = sum(turn.reply.usage.completion_tokens or 0 for turn in turns)
    if limits.tokens is not None and tokens >= limits.tokens:
        return "tokens"
    if limits.steps is not None and state.steps >= limits.steps:
        return "steps"
    return "turns" if len(turns) >= limits.turns else None


def _answer_text(result: ParseResult, ask: Ask) -> str:
    """Return the answer's text; with a schema, it is inside {"answer": text}."""
    words = result.content.strip()
    if ask == "schema" and words.startswith("{"):
        found = json_object(words) or {}
        if isinstance(found.get("answer"), str):
            return str(found["answer"])
    return words


_LONGEST_ID = 64  # characters of a model's own id that is still used


def _with_ids(calls: Sequence[ToolCall], taken: set[str]) -> tuple[ToolCall, ...]:
    """Return the calls with ids that are unique in the episode: their own where usable."""
    found = []
    for call in calls:
        name, number = call.id or "", len(taken) + 1
        if not (name.isascii() and name.isprintable() and 0 < len(name) <= _LONGEST_ID):
            name = f"call_{number}"
        while name in taken:
            name, number = f"call_{number}", number + 1
        taken.add(name)
        found.append(replace(call, id=name))
    return tuple(found)


def _calls_and_results(
    result: ParseResult, calls: Sequence[ToolCall], records: Sequence[ResultRecord], asking: Asking
) -> list[JsonObject]:
    """Return the calls and results as messages: in the API's fields if the tools were given there,
    else in the text, as the model itself writes calls.
    """
    if asking.tools is not None:
        made: JsonObject = {
            "role": "assistant",
            "content": result.content or None,
            "tool_calls": [_as_openai(call) for call in calls],
        }
        results = [
            {"role": "tool", "tool_call_id": one.id, "content": one.content} for one in records
        ]
        return [made, *results]
    given = [{"name": one.tool, "id": one.id, "content": one.content} for one in records]
    texts = [f"<tool_response>\n{dumped(one)}\n</tool_response>" for one in given]
    written = kept_reply(
        {"content": result.content, "tool_calls": [_as_openai(call) for call in calls]}
    )
    return [written, {"role": "user", "content": "\n".join(texts)}]


def _as_openai(call: ToolCall) -> JsonObject:
    function = {"name": call.name, "arguments": dumped(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def task_result(
    trial: Trial, turns: Sequence[Turn], task: TaskRecord, failure: TransportFailure | None
) -> ScenarioResult:
    """Return the result of a graded episode, with its first wrong turn. One failed check fails it;
    if a check could not be made, there is no verdict, as that says nothing about the model.
    """
    level = trial.options.level
    outcome, reason, error = _judged(turns, task, failure, level)
    ok = error is None and all(check.ok for check in task.checks)
    records = tuple(
        attempt_record(turn, level, turn.read[level].outcome, turn.calls) for turn in turns
    )
    wrong = min((one.turn for one in _failed(task) if one.turn is not None), default=None)
    update = {"wrong_turn": wrong, "recovered": recovered(task.faults, passed=ok)}
    return result_of(
        trial,
        records,
        levels={one: _level(turns, one, level, ok=ok) for one in LEVELS},
        got=tuple(call for record in records for call in record.calls),
        reason=reason,
        outcome=outcome,
        error=error,
        leaked_calls=sum(leaked_in(turn.read[level]) for turn in turns),
        task=task.model_copy(update=update),
    )


def final_state(trial: Trial, turns: Sequence[Turn], answer: str, **known: Any) -> FinalState:
    """Return the end of an episode as checks see it; `known` are its further fields."""
    known = {"episode": Episode(trial.scenario, trial.repeat), **known}
    numbered = list(enumerate(turns, 1))
    lost = [(at, turn.lost(trial.known, trial.options.level)) for at, turn in numbered]
    return FinalState(
        trial.scenario.prompt,
        answer,
        calls=tuple(replace(call, id=None) for turn in turns for call in turn.calls),
        turns=max(1, len(turns)),
        call_turns=tuple(at for at, turn in numbered for _ in turn.calls),
        lost=tuple((at, call) for at, calls in lost for call in calls),
        tools=trial.tools,
        profile=trial.options.profile,
        user_turns=tuple(_user_turns(trial, turns)),
        **known,
    )


def _user_turns(trial: Trial, turns: Sequence[Turn]) -> Iterator[UserTurn]:
    """Yield each turn of the user, with what the model did until the next."""
    level, ask = trial.options.level, trial.options.ask
    begins = [at for at, turn in enumerate(turns) if turn.user is not None or at == 0]
    for begin, end in pairwise([*begins, len(turns)]):
        part = turns[begin:end]
        user = trial.scenario.prompt if begin == 0 else part[0].user or ""
        words = [
            _answer_text(turn.read[level], ask)
            for turn in part
            if not turn.calls or turn.read[level].content.strip()
        ]
        yield UserTurn(
            user,
            calls=tuple(replace(call, id=None) for turn in part for call in turn.calls),
            results=tuple(result for turn in part for result in turn.results),
            answer=words[-1] if words else "",
            steps=sum(bool(turn.calls) for turn in part),
        )


def _judged(
    turns: Sequence[Turn], task: TaskRecord, failure: TransportFailure | None, level: Level
) -> tuple[RunOutcome, str, str | None]:
    """Return the outcome, its reason, and an error if there is no verdict."""
    if failure is not None:
        return "transport_failure", f"no reply: {failure}", f"{failure.kind}: {failure}"
    if task.other_turn is not None:
        words = (
            f"turn {task.other_turn} makes other calls than were run, so nobody knows what follows"
        )
        return "judge_failure", words, f"replies: {words}"
    checks = task.checks
    broken, failed = next((one for one in checks if one.ok is None), None), _failed(task)
    if broken is not None:
        words = f"{broken.check}: {broken.reason}"
        return "judge_failure", words, f"check: {words}"
    last: RunOutcome = turns[-1].read[level].outcome if turns else "no_call"
    outcome: RunOutcome = "calls" if any(turn.calls for turn in turns) else "no_call"
    outcome = last if last in {"malformed", "truncated"} else outcome
    ending = task.ended_by
    if not failed:
        words = f"{counted(len(checks), 'check')} passed, in {counted(len(turns), 'turn')}"
        return outcome, f"{words}; {ending}" if ending else words, None
    first = min(failed, key=lambda one: one.turn or len(turns))
    more = f"; and {counted(len(failed) - 1, 'more check')} failed" if len(failed) > 1 else ""
    words = f"turn {first.turn or len(turns)}: {first.check}: {first.reason}{more}"
    return outcome, f"{ending}; {words}" if ending else words, None


def _failed(task: TaskRecord) -> list[CheckRecord]:
    return [check for check in task.checks if check.ok is False]


def _level(turns: Sequence[Turn], one: Level, run: Level, *, ok: bool) -> LevelResult:
    passed = ok and all(
        _contents_of(turn.read[one].calls) == _contents_of(turn.read[run].calls) for turn in turns
    )
    return LevelResult(ok=passed, first_attempt_ok=passed)


def _contents_of(calls: Sequence[ToolCall | CallRecord]) -> list[tuple[str, object]]:
    return [(call.name, call.arguments) for call in calls]


def reread_task(
    trial: Trial, old: ScenarioResult, replies: Sequence[Reply], failure: TransportFailure | None
) -> Reread:
    """Judge a kept episode by other rules; `unasked` if they read other calls than were run."""
    pairs = zip(replies, old.attempts, strict=False)
    turns = [_turn_again(reply, was, trial) for reply, was in pairs]
    other = next((turn for turn, (_, is_same) in enumerate(turns, 1) if not is_same), None)
    seen = [turn for turn, _ in turns]
    record = (old.task or TaskRecord(ended="answer")).model_copy(update={"other_turn": other})
    if other is None and failure is None:
        state = final_state(trial, seen, record.answer)
        checks = _checks_again(trial, old, record, state)
        update = {"checks": checks, "partial": partial_of(checks, state)}
        record = record.model_copy(update=update)
    return Reread(task_result(trial, seen, record, failure), unasked=other is not None)


def _turn_again(reply: Reply, was: AttemptRecord, trial: Trial) -> tuple[Turn, bool]:
    """Return a turn as read now, and whether it now has the same calls as those that were run."""
    found = read_turn(reply, trial)
    now = found[trial.options.level].calls
    is_same = _contents_of(now) == _contents_of(was.calls)
    ran = (
        tuple(replace(call, id=one.id) for call, one in zip(now, was.calls, strict=True))
        if is_same
        else tuple(ToolCall(one.name, one.arguments, one.id, one.format) for one in was.calls)
    )
    return Turn(reply, found, ran, was.user, was.results, was.touched), is_same


def _checks_again(
    trial: Trial, old: ScenarioResult, record: TaskRecord, state: FinalState
) -> tuple[CheckRecord, ...]:
    """Return the check records, of which those about calls and returned values are made again."""

    def once_more(was: CheckRecord) -> CheckRecord:
        if was.cases:
            return again(was)
        wanted = trial.scenario.expect if was.calls == old.expected else was.calls
        return was if wanted is None else grade([CallsCheck(calls=wanted)], state)[0]

    return tuple(map(once_more, record.checks))
