"""One task of many turns from the first question to the grades, as a generator without IO.

    task_episode(...) yields        and is sent
    Request                         a Reply, a TransportFailure, or OUT_OF_TIME
    Run (calls to be run)           Results, or OUT_OF_TIME
    Answered (the user's turn)      the user's message, or None
    Ended (work to be graded)       Graded

and returns the result. After a reply with calls come their results; after a reply whose call could
not be read, a message about that; after a reply with text alone, the user. The episode ends with
an answer that gets no reply, with the task's signal, or at a limit; only the grades decide whether
it passes. A level (strict, standard, lenient) passes only if it reads exactly the calls that ran.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Final, Literal, TypeAlias

import orjson

from tunaeval.errors import TransportFailure
from tunaeval.types.calls import JsonObject, ToolCall
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.parsing import Level, ParseResult
from tunaeval.types.runs import (
    CheckRecord,
    ResultRecord,
    Scenario,
    ScenarioResult,
    Task,
    TaskRecord,
)
from tunaeval.types.tasks import Ending, FaultRecord

from .episode import Read, Rules, read_at_all_levels
from .failed_replies import failed_reply
from .prompts import Asking, said
from .turn_results import Turn, task_result


class _Clock(Enum):
    OUT_OF_TIME = "out of time"


OUT_OF_TIME: Final = _Clock.OUT_OF_TIME
"""Sent in place of an answer when the episode's time is over."""

OutOfTime: TypeAlias = Literal[_Clock.OUT_OF_TIME]


@dataclass(frozen=True, slots=True)
class Run:
    """Calls to be run, each with an id that is unique in the episode."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """The results of the calls, in their order, and the workspace paths that the calls changed."""

    records: tuple[ResultRecord, ...]
    touched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """A turn of the user, number `number` (from 1): the model has answered without a call."""

    messages: tuple[JsonObject, ...]
    number: int


@dataclass(frozen=True, slots=True)
class Ended:
    """A finished episode that is to be graded."""

    answer: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Graded:
    """The results of the checks, the changes in the workspace, and the reactions to faults."""

    checks: tuple[CheckRecord, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    faults: tuple[FaultRecord, ...] = ()
    obeyed: bool | None = None
    reported: bool | None = None

    def record(self, ended: Ending, answer: str, ended_by: str | None = None) -> TaskRecord:
        """Return the grades as the record that is kept in a result."""
        return TaskRecord(
            ended=ended,
            ended_by=ended_by,
            answer=answer,
            **{one.name: getattr(self, one.name) for one in fields(self)},
        )


Step: TypeAlias = Request | Run | Answered | Ended
Sent: TypeAlias = Reply | TransportFailure | Results | Graded | OutOfTime | str | None
TaskEpisode: TypeAlias = Generator[Step, Sent, ScenarioResult]

UNREADABLE = (
    "Your last call could not be read ({why}). Make it again in the form that you were shown, or "
    "answer in words if the work is done."
)


@dataclass(slots=True)
class _State:
    """The state of the conversation, and the settings that it is led by."""

    asking: Asking
    read: Read
    level: Level
    messages: list[JsonObject]
    turns: list[Turn] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    user: str | None = None
    answer: str = ""
    users: int = 0

    @property
    def calls(self) -> int:
        return sum(len(turn.calls) for turn in self.turns)

    @property
    def tokens(self) -> int:
        return sum(turn.reply.usage.completion_tokens or 0 for turn in self.turns)


def task_episode(
    scenario: Scenario,
    *,
    asking: Asking,
    read: Read,
    rules: Rules,
    repeat: int = 1,
) -> TaskEpisode:
    """Ask, run the calls, ask again until the episode ends, and return its graded result."""
    task = scenario.task or Task()
    state = _State(asking, read, rules.level, asking.messages(scenario.prompt, scenario.messages))
    ended: Ending | None = None
    failure: TransportFailure | None = None
    while ended is None:
        answer = yield _request(state, scenario, rules, repeat)
        if isinstance(answer, TransportFailure):
            ended, failure = "failure", answer
        elif isinstance(answer, Reply):
            failure = failed_reply(answer, read)
            if failure is not None:
                ended = "failure"
            else:
                ended = yield from _turn(state, answer, task)
        else:
            ended = "seconds"
    graded = Graded()
    if failure is None:
        sent = yield Ended(state.answer, tuple(state.turns))
        graded = sent if isinstance(sent, Graded) else graded
    record = graded.record(ended, state.answer)
    return task_result(
        scenario, state.turns, task=record, failure=failure, level=rules.level, repeat=repeat
    )


def _request(state: _State, scenario: Scenario, rules: Rules, repeat: int) -> Request:
    return Request(
        messages=list(state.messages),
        tools=state.asking.tools,
        schema=state.asking.schema,
        max_tokens=rules.max_tokens,
        temperature=rules.temperature,
        seed=None if rules.seed is None else rules.seed + repeat - 1,
        scenario=scenario.id,
        repeat=repeat,
        attempt=len(state.turns) + 1,
    )


def _turn(state: _State, reply: Reply, task: Task) -> Generator[Step, Sent, Ending | None]:
    """Handle a reply; return how it ended the episode, or None if the episode goes on."""
    found = read_at_all_levels(reply, state.read)
    result = found[state.level]
    calls = _with_ids(result.calls, state.ids)
    turn = Turn(reply, found, calls, state.user)
    state.turns.append(turn)
    state.user = None
    if not calls or result.content.strip():
        state.answer = _answer(result, state.asking)
    limit = _limit_reached(state, task)
    if limit == "calls":  # these calls exceed the limit, so they are not run
        return limit
    if calls:
        ran = yield Run(calls)
        if not isinstance(ran, Results):
            return "seconds"
        state.turns[-1] = replace(turn, results=ran.records, touched=ran.touched)
        state.messages += _calls_and_results(result, calls, ran.records, state.asking)
    if _is_done(task, result, calls):
        return "signal"
    if not calls:
        state.messages.append(said(reply.message))
        says = yield from _reaction(state, result)
        if says is None:
            return "answer"
        state.messages.append({"role": "user", "content": says})
    return limit


def _reaction(state: _State, result: ParseResult) -> Generator[Step, Sent, str | None]:
    """Return the message that follows a reply without a call: an error note, or the user's turn."""
    if result.outcome in {"malformed", "truncated"}:
        notes = [found.message for found in result.diagnoses] or ["it was cut off"]
        return UNREADABLE.replace("{why}", notes[-1][:200])
    state.users += 1
    says = yield Answered(tuple(state.messages), state.users)
    state.user = says if isinstance(says, str) else None
    return state.user


def _limit_reached(state: _State, task: Task) -> Ending | None:
    """Return the limit that has been reached, or None."""
    limits = task.limits
    if limits.calls is not None and state.calls > limits.calls:
        return "calls"
    if limits.tokens is not None and state.tokens >= limits.tokens:
        return "tokens"
    return "turns" if len(state.turns) >= limits.turns else None


def _is_done(task: Task, result: ParseResult, calls: Sequence[ToolCall]) -> bool:
    signal = task.done
    if signal is None:
        return False
    said_so = signal.text is not None and signal.text in result.content
    return said_so or any(call.name == signal.tool for call in calls)


def _answer(result: ParseResult, asking: Asking) -> str:
    """Return the answer's text; with a schema, it is inside {"answer": text}."""
    words = result.content.strip()
    if asking.ask == "schema" and words.startswith("{"):
        try:
            found = orjson.loads(words)
        except orjson.JSONDecodeError:
            return words
        if isinstance(found, dict) and isinstance(found.get("answer"), str):
            return str(found["answer"])
    return words


_LONGEST_ID = 64  # characters of a model's own id that is still used


def _with_ids(calls: Sequence[ToolCall], taken: set[str]) -> tuple[ToolCall, ...]:
    """Return the calls, each with an id unique in the episode: its own if that is usable."""
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
    result: ParseResult,
    calls: Sequence[ToolCall],
    records: Sequence[ResultRecord],
    asking: Asking,
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
        return [made, *(_result_message(one) for one in records)]
    given = [{"name": one.tool, "id": one.id, "content": one.content} for one in records]
    texts = [f"<tool_response>\n{_json(one)}\n</tool_response>" for one in given]
    written = said({"content": result.content, "tool_calls": [_as_openai(call) for call in calls]})
    return [written, {"role": "user", "content": "\n".join(texts)}]


def _as_openai(call: ToolCall) -> JsonObject:
    function = {"name": call.name, "arguments": _json(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _result_message(record: ResultRecord) -> JsonObject:
    return {"role": "tool", "tool_call_id": record.id, "content": record.content}


def _json(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # wide integers and lone surrogates, which a model may write
        return json.dumps(value, default=repr)
