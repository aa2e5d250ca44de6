"""One task of many turns from the first question to the grades, as a generator without IO.

    task_episode(...) yields        and is sent
    Request                         a Reply, a TransportFailure, or OUT_OF_TIME
    Run (calls to be run)           Results, or OUT_OF_TIME
    Answered (the user's turn)      what the user says, or None
    Ended (work to be graded)       Graded

and returns the result. A reply with calls is followed by their results, one whose call could not be
read by a word about that, and one with words alone by the user. It ends with an answer that nobody
replies to, with the signal of the task, or at a limit; how it ended decides nothing, the grades do.
Each level (strict, standard, lenient) passes only where it reads the very calls that were run.
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
"""What is sent in place of an answer when the time of the episode is over."""

OutOfTime: TypeAlias = Literal[_Clock.OUT_OF_TIME]


@dataclass(frozen=True, slots=True)
class Run:
    """Calls that are to be run, each with an id of its own."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """What came of the calls, in their order, and which paths of the workspace they changed."""

    records: tuple[ResultRecord, ...]
    touched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """The model has said something and calls nothing: the user's turn number `number` (from 1)."""

    messages: tuple[JsonObject, ...]
    number: int


@dataclass(frozen=True, slots=True)
class Ended:
    """An episode that is over, and is to be graded."""

    answer: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Graded:
    """What the checks came to, what is different in the workspace, and what became of faults."""

    checks: tuple[CheckRecord, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    faults: tuple[FaultRecord, ...] = ()
    obeyed: bool | None = None
    reported: bool | None = None

    def record(self, ended: Ending, answer: str, ended_by: str | None = None) -> TaskRecord:
        """The same as it is kept."""
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
class _Talk:
    """The conversation so far, and how it is led."""

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
    """Ask, run what is called, ask again, until it ends; then have it graded."""
    task = scenario.task or Task()
    talk = _Talk(asking, read, rules.level, asking.messages(scenario.prompt, scenario.messages))
    ended: Ending | None = None
    failure: TransportFailure | None = None
    while ended is None:
        answer = yield _request(talk, scenario, rules, repeat)
        if isinstance(answer, TransportFailure):
            ended, failure = "failure", answer
        elif isinstance(answer, Reply):
            failure = failed_reply(answer, read)
            if failure is not None:
                ended = "failure"
            else:
                ended = yield from _turn(talk, answer, task)
        else:
            ended = "seconds"
    graded = Graded()
    if failure is None:
        sent = yield Ended(talk.answer, tuple(talk.turns))
        graded = sent if isinstance(sent, Graded) else graded
    record = graded.record(ended, talk.answer)
    return task_result(
        scenario, talk.turns, task=record, failure=failure, level=rules.level, repeat=repeat
    )


def _request(talk: _Talk, scenario: Scenario, rules: Rules, repeat: int) -> Request:
    return Request(
        messages=list(talk.messages),
        tools=talk.asking.tools,
        schema=talk.asking.schema,
        max_tokens=rules.max_tokens,
        temperature=rules.temperature,
        seed=None if rules.seed is None else rules.seed + repeat - 1,
        scenario=scenario.id,
        repeat=repeat,
        attempt=len(talk.turns) + 1,
    )


def _turn(talk: _Talk, reply: Reply, task: Task) -> Generator[Step, Sent, Ending | None]:
    """What a reply leads to; returns how the episode ended with it, None where it goes on."""
    found = read_at_all_levels(reply, talk.read)
    result = found[talk.level]
    calls = _with_ids(result.calls, talk.ids)
    turn = Turn(reply, found, calls, talk.user)
    talk.turns.append(turn)
    talk.user = None
    if not calls or result.content.strip():
        talk.answer = _answer(result, talk.asking)
    over = _over(talk, task)
    if over == "calls":
        return over
    if calls:
        ran = yield Run(calls)
        if not isinstance(ran, Results):
            return "seconds"
        talk.turns[-1] = replace(turn, results=ran.records, touched=ran.touched)
        talk.messages += _told(result, calls, ran.records, talk.asking)
    if _is_done(task, result, calls):
        return "signal"
    if not calls:
        talk.messages.append(said(reply.message))
        says = yield from _reaction(talk, result)
        if says is None:
            return "answer"
        talk.messages.append({"role": "user", "content": says})
    return over


def _reaction(talk: _Talk, result: ParseResult) -> Generator[Step, Sent, str | None]:
    """What is said to a reply without a call: by us where a call was tried, else by the user."""
    if result.outcome in {"malformed", "truncated"}:
        notes = [found.message for found in result.diagnoses] or ["it was cut off"]
        return UNREADABLE.replace("{why}", notes[-1][:200])
    talk.users += 1
    says = yield Answered(tuple(talk.messages), talk.users)
    talk.user = says if isinstance(says, str) else None
    return talk.user


def _over(talk: _Talk, task: Task) -> Ending | None:
    """The limit that is reached."""
    limits = task.limits
    if limits.calls is not None and talk.calls > limits.calls:
        return "calls"
    if limits.tokens is not None and talk.tokens >= limits.tokens:
        return "tokens"
    return "turns" if len(talk.turns) >= limits.turns else None


def _is_done(task: Task, result: ParseResult, calls: Sequence[ToolCall]) -> bool:
    signal = task.done
    if signal is None:
        return False
    said_so = signal.text is not None and signal.text in result.content
    return said_so or any(call.name == signal.tool for call in calls)


def _answer(result: ParseResult, asking: Asking) -> str:
    """What was said; under a schema, words are in {"answer": words}."""
    words = result.content.strip()
    if asking.ask == "schema" and words.startswith("{"):
        try:
            found = orjson.loads(words)
        except orjson.JSONDecodeError:
            return words
        if isinstance(found, dict) and isinstance(found.get("answer"), str):
            return str(found["answer"])
    return words


_LONGEST_ID = 64


def _with_ids(calls: Sequence[ToolCall], taken: set[str]) -> tuple[ToolCall, ...]:
    """The calls, each with an id that no other of the episode has: its own, where that will do."""
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


def _told(
    result: ParseResult,
    calls: Sequence[ToolCall],
    records: Sequence[ResultRecord],
    asking: Asking,
) -> list[JsonObject]:
    """The calls and their results as messages: in the API's fields where the tools are given there,
    else in the text, as the model writes them itself.
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
