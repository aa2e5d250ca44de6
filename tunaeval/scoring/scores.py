"""`score` and `ascore`: a transcript's score in one call, from messages in any known shape.

The files of scores are also read and written here: a JSON line for each scored task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Unpack

from pydantic import ValidationError

from tunaeval.data.adapters.documents import read_conversation, refuse_silence
from tunaeval.errors import RecordError, ToolsError, UnknownNameError, UsageError
from tunaeval.files.keys import of_environment, without
from tunaeval.files.records import append, read
from tunaeval.matching.api import read_calls
from tunaeval.matching.calls import is_same_tool
from tunaeval.showing import brief, shows_keywords
from tunaeval.tools.specs import to_tools
from tunaeval.types.conversations import Checked, Conversation, Transcript
from tunaeval.types.history import History
from tunaeval.types.messages import Message, ToolExecution
from tunaeval.types.parsing import ParseResult
from tunaeval.types.roles import Client, Scorer
from tunaeval.types.runs import SCORES_VERSION, ScoreRecord, ScoreResult
from tunaeval.types.wanted import refusal, wanted_items, wanted_path, wanted_seconds
from tunaeval.workers import in_a_loop

from .assess import FIXED, assess, scorers_of
from .checks import Checking
from .goal import GOAL, is_decided
from .history import history_of
from .judging.judge import Judge, judged
from .keywords import ScoreKeywords
from .scorers import ScoringFunction, scorer_of, waits
from .scorers import scorers as known_scorers
from .settings import USUAL_SETTINGS, ScoreSettings

CHECK_SECONDS = 60.0


_USUAL: ScoreKeywords = {
    "preset": "default", "categories": (), "settings": USUAL_SETTINGS, "check": None,
    "check_timeout": CHECK_SECONDS, "expect": None, "forbid": (), "judge": None, "notes": (),
}  # fmt: skip
"""What the keywords of `score` are if they are not given."""


async def ascore(
    messages: object,
    query: str,
    *,
    executions: Iterable[ToolExecution] = (),
    start: int = 0,
    **given: Unpack[ScoreKeywords],
) -> ScoreResult:
    """Score what an agent did for one task.

    Whether the goal was reached is decided by the `check`, else by `expect`, else by the judge.
    Without any of them it is unknown, and there is no `weighted_total`, only categories with
    reasons. A check, a category or a judge that fails itself leaves no total; `details.outcome`
    says so.

    Args:
        messages: In any shape that an adapter knows, or a `Conversation`. Evidence in the result
            points into them.
        query: What the agent was asked.
        executions: What a `Recorder` collected while the agent ran.
        preset: The scoring categories ("default"); "evals2" takes neither check, expect nor forbid.
        categories: Further ones: names of the group `tunaeval.scorers`, scorers, or functions of a
            `History` (see `tunaeval.scorer`).
        settings: The details of the built-in categories.
        check: A callable that takes the conversation and returns a bool or (bool, reason), or a
            command that exits with 0. If it says no, the total is 0.
        check_timeout: In seconds; 60 if it is not given.
        expect: What `tunaeval.match` takes, compared with all calls.
        forbid: Names of tools, or calls with arguments; a call of one makes the total 0.
        judge: Its verdicts replace the formulas of its categories; a client means `Judge(client)`.
        start: The index of the message with which the task begins.
        notes: Texts to be shown beside the total.

    Raises UsageError (UnknownNameError for an unknown preset or category) for input that cannot be
    scored.

    Examples:
        >>> import asyncio
        >>> messages = [{"role": "assistant", "content": "Hello."}]
        >>> asyncio.run(tunaeval.ascore(messages, "Hi", check=lambda seen: True)).weighted_total
        1.0
    """
    return await _work(messages, query, executions, start, given).made_later()


def score(
    messages: object,
    query: str,
    *,
    executions: Iterable[ToolExecution] = (),
    start: int = 0,
    **given: Unpack[ScoreKeywords],
) -> ScoreResult:
    """Like `ascore`, for code that does not await; the parameters are the same.

    The built-in categories never wait, so this works inside a running event loop, too; a check
    blocks. Other categories, a judge, and a check that is a coroutine function run in a new event
    loop, which raises UsageError inside a running one.

    Examples:
        >>> messages = [{"role": "assistant", "content": "Hello."}]
        >>> tunaeval.score(messages, "Hi", check=lambda seen: True).weighted_total
        1.0
    """
    work = _work(messages, query, executions, start, given)
    waiting = [one.name for one in work.scorers if waits(one)]
    if work.checking is not None and work.checking.awaits:
        waiting.append("the check")
    if waiting and in_a_loop():
        raise UsageError(
            f"tunaeval.score() cannot wait for {', '.join(waiting)} inside a running event loop; "
            "use: await tunaeval.ascore(...), or async with for a session"
        )
    assessed = work.made()
    return asyncio.run(assessed) if waiting else _at_once(assessed)


for one in (ascore, score):
    kinds = {name: kind.__forward_arg__ for name, kind in ScoreKeywords.__annotations__.items()}
    shows_keywords(one, kinds, {**_USUAL})


def _work(
    messages: object,
    query: str,
    executions: Iterable[ToolExecution],
    start: int,
    named: ScoreKeywords,
) -> _Work:
    """Read and check the arguments of `ascore`. Raise UsageError if they cannot be scored."""
    if unknown := named.keys() - _USUAL.keys():
        raise TypeError(f"score() got an unexpected keyword argument {min(unknown)!r}")
    given: ScoreKeywords = {**_USUAL, **named}
    preset, check, check_timeout = given["preset"], given["check"], given["check_timeout"]
    if not isinstance(query, str):
        raise refusal("query", query, "the text of what was asked")
    wanted_seconds(check_timeout, "check_timeout")
    scorers = _scorers(preset, given["categories"])
    settings = _settled(given["settings"], preset, {name: given[name] for name in _DECIDING})
    checking = None if check is None else Checking(check, check_timeout)
    decided = checking is not None or settings.wanted is not None
    task = _task(messages, start)
    executions = wanted_items(executions, "executions", ToolExecution, "executions")
    transcript = Transcript(
        query, task.messages, executions, None, task.failure,
        () if preset == FIXED else written(task.messages, settings),
    )  # fmt: skip
    if checking is not None and is_decided(history_of(transcript, settings)):
        checking = None
    return _Work(
        task=task,
        transcript=transcript,
        preset=preset,
        scorers=_judged(scorers, given["judge"], frozenset({GOAL}) if decided else frozenset()),
        settings=settings,
        checking=checking,
        notes=(
            *unverified(transcript, settings, task.tools),
            *strange(task),
            *wanted_items(given["notes"], "notes", str, "texts"),
        ),
    )


_DECIDING: tuple[Literal["check", "expect", "forbid"], ...] = ("check", "expect", "forbid")


def _settled(settings: ScoreSettings, preset: str, given: Mapping[str, Any]) -> ScoreSettings:
    """Return the settings with `expect` and `forbid` of `given`. Raises UsageError for a clash."""
    named = [name for name, value in given.items() if not _is_left_out(name, value)]
    if named and preset == FIXED:
        raise UsageError(
            f"the preset {FIXED!r} is fixed and takes no {' and no '.join(named)}; "
            "leave that out, or use the preset 'default'"
        )
    if not isinstance(settings, ScoreSettings):
        raise UsageError(f"settings is {brief(settings)}, wanted a ScoreSettings")
    changed = {name: given[name] for name in named if name != "check"}
    for name in changed:
        if getattr(settings, name):
            raise UsageError(f"{name} is in settings, too; give it in one of the two places")
    return replace(settings, **changed) if changed else settings


def _is_left_out(name: str, value: object) -> bool:
    return value is None or (name == "forbid" and value in ((), []))


@dataclass(frozen=True, slots=True)
class _Work:
    """A score that is ready to be computed."""

    task: Conversation
    transcript: Transcript
    preset: str
    scorers: tuple[Scorer, ...]
    settings: ScoreSettings
    checking: Checking | None
    notes: tuple[str, ...]

    async def made_later(self) -> ScoreResult:
        """Return the score; a check runs without blocking the event loop."""
        checking = self.checking
        query = self.transcript.query
        checked = None if checking is None else await checking.made_later(self.task, query)
        return await self._assessed(checked)

    def made(self) -> Coroutine[Any, Any, ScoreResult]:
        """Wait for the check here, and return the coroutine that computes the score."""
        checking = self.checking
        query = self.transcript.query
        return self._assessed(None if checking is None else checking.made(self.task, query))

    async def _assessed(self, checked: Checked | None) -> ScoreResult:
        task = self.task
        transcript = replace(self.transcript, checked=checked)
        result = await assess(
            transcript, self.scorers, preset=self.preset, settings=self.settings, notes=self.notes
        )
        if task.sources == tuple(range(len(task.sources))):
            return result
        moved = {
            name: score.model_copy(update={"evidence": _given(score.evidence, task.sources)})
            for name, score in result.categories.items()
        }
        return result.model_copy(update={"categories": moved})


def history(messages: object, query: str = "", executions: Iterable[ToolExecution] = ()) -> History:
    """Return messages as scoring categories get them: each call with its result and execution.

    `messages` are in any known shape, as for `score`. Categories are tried with it.

    Examples:
        >>> look = {"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        >>> made = {"role": "assistant", "content": None, "tool_calls": [look]}
        >>> answer = {"role": "tool", "tool_call_id": "1", "content": "a.py"}
        >>> (call,) = tunaeval.history([made, answer]).calls
        >>> call.tool, call.ok, call.result
        ('ls', True, 'a.py')
    """
    task = _task(messages, 0)
    runs = wanted_items(executions, "executions", ToolExecution, "executions")
    made = written(task.messages, USUAL_SETTINGS)
    return history_of(Transcript(query, task.messages, runs, None, task.failure, made))


def _task(messages: object, start: object) -> Conversation:
    read = read_conversation(messages)
    if isinstance(start, bool) or not isinstance(start, int) or not 0 <= start <= read.length:
        raise UsageError(
            f"start is {start!r}, wanted the index of one of the {read.length} messages"
        )
    refuse_silence(read)
    return read.since(max(start, read.start))


_BESIDE = frozenset({"repetition"})
"""Categories that may be named beside every preset, also one that has them, as `default` does."""


def _scorers(
    preset: str, categories: Iterable[str | Scorer | ScoringFunction]
) -> tuple[Scorer, ...]:
    if isinstance(categories, str) or not isinstance(categories, Iterable):
        raise UsageError(f"categories is {categories!r}, wanted a list; write [{categories!r}]")
    own = scorers_of(preset)
    known = {one.name for one in own} & _BESIDE
    more = (_scorer(one) for one in categories if not (isinstance(one, str) and one in known))
    return (*own, *more)


def _judged(
    scorers: tuple[Scorer, ...], judge: Judge | Client | None, decided: frozenset[str]
) -> tuple[Scorer, ...]:
    """Return the scorers, with the judge in place of its categories, except `decided` ones."""
    if judge is None:
        return scorers
    return judged(scorers, judge if isinstance(judge, Judge) else Judge(judge), but=decided)


def _scorer(category: str | Scorer | ScoringFunction) -> Scorer:
    if isinstance(category, str):
        return known_scorers.get(category)
    if (found := scorer_of(category)) is not None:
        return found
    raise UsageError(
        f"{brief(category)} is no scoring category; wanted a name, a function of a history, or a "
        "Scorer (name, weight, score(history))"
    )


def _given(evidence: tuple[int, ...], sources: tuple[int, ...]) -> tuple[int, ...]:
    """Return evidence as indices of the messages that the caller passed, each once."""
    known = (sources[index] for index in evidence if 0 <= index < len(sources))
    return tuple(dict.fromkeys(known))


def _at_once(work: Coroutine[object, None, ScoreResult]) -> ScoreResult:
    """Return the result of a coroutine that never waits, without an event loop."""
    try:
        work.send(None)
    except StopIteration as finished:
        result: ScoreResult = finished.value
        return result
    raise AssertionError("a built-in category has waited for something")


_SHOWN = 5


def written(
    messages: Sequence[Message], settings: ScoreSettings
) -> tuple[tuple[int, ParseResult], ...]:
    """Return (message index, calls read) for the assistant's texts without structured calls, if
    calls are expected or forbidden. A call that is quoted in an answer is no call.
    """
    if settings.wanted is None and not settings.forbid:
        return ()
    # Where calls are written as text, a message that is answered has made its calls.
    first = 0 if any(one.tool_calls for one in messages) else len(messages) - 1
    texts = (
        (index, _unquoted(read_calls(message, settings.tools), message.content, index >= first))
        for index, message in enumerate(messages)
        if message.role == "assistant" and message.content and not message.tool_calls
    )
    return tuple((index, read) for index, read in texts if read.outcome != "no_call")


def _unquoted(read: ParseResult, text: str, is_answer: bool) -> ParseResult:
    """Return the calls without those that a text with other words shows in a fence or a quote."""
    lines, inside = [], False
    for line in text.splitlines(keepends=True) if is_answer and read.calls else ():
        is_fence = line.lstrip().startswith(("```", "~~~"))
        lines.append((line, inside or is_fence or line.lstrip().startswith(">")))
        inside ^= is_fence
    if all(is_quoted or not line.strip() for line, is_quoted in lines):
        return read
    quoted = [is_quoted for line, is_quoted in lines for _ in line]
    calls = tuple(one for one in read.calls if one.span is None or not quoted[one.span.start])
    return replace(read, calls=calls, outcome="calls" if calls else "no_call")


def unverified(transcript: Transcript, settings: ScoreSettings, tools: Iterable[Any]) -> list[str]:
    """Return a note on forbidden names that may be typos: no call has them, nor any list of tools
    (`tools` are those that the transcript describes).
    """
    called = {call.name for message in transcript.messages for call in message.tool_calls}
    called |= {execution.tool for execution in transcript.executions}
    offered = set[str]()
    with suppress(ToolsError):
        offered = {*to_tools(tools)}
    known = called | offered
    names = [one if isinstance(one, str) else one.name for one in settings.forbid]
    names = [one for one in names if not any(is_same_tool(one, name) for name in known)]
    if not names or settings.tools is not None:
        return []
    listed = ", ".join(map(repr, names))
    near = {one for name in names for one in UnknownNameError("tool", name, known).near}
    there = "there" if offered else "called"
    hint = f"; {there} were {', '.join(map(repr, sorted(near)))}: was that meant?" if near else ""
    none = "with no list of tools, so nobody knows if there are such"
    why = "which no call and no list of tools in the transcript has" if offered else none
    return [f"forbidden: {listed}, {why}{hint}"]


def strange(task: Conversation) -> list[str]:
    """Return a note on messages of unknown roles: if they are the agent's, the score lacks them."""
    at = [str(one.source) for one in task.warnings if one.code == "unknown-role"]
    first = next((one.message for one in task.warnings if one.code == "unknown-role"), "")
    more = f" and {len(at) - _SHOWN} more" if len(at) > _SHOWN else ""
    where = f"message {', '.join(at[:_SHOWN])}{more}"
    return [f"{first} ({where}), so it counts for nobody"] if at else []


def append_score(
    path: Path,
    query: str,
    result: ScoreResult | None,
    *,
    failure: str | None = None,
    ended_by: str | None = None,
) -> None:
    """Append one line: query, score (null if there is none), timestamp, and what failed. Threads
    and processes may append to one file at the same time. A missing directory is created. Raises
    RecordError for a file that cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    record = ScoreRecord(
        query=query,
        score=result,
        timestamp=datetime.now(UTC).isoformat(timespec="milliseconds"),
        failure=failure,
        ended_by=ended_by,
    )
    absent = {name for name in ("failure", "ended_by") if getattr(record, name) is None}
    document = record.model_dump(mode="json", exclude=absent)
    append(path, without(document, of_environment()))


def read_scores(path: Path | str) -> tuple[ScoreRecord, ...]:
    """Return the lines of a file of scores in their order.

        totals = [line.score.weighted_total for line in tunaeval.read_scores("scores.jsonl")
                  if line.score is not None]

    An incomplete last line is left out. Raises RecordError for a file that cannot be read, and for
    a line that is no score.

    Examples:
        >>> with tunaeval.scoring_session("Say hello", out="scores.jsonl") as session:
        ...     session.messages = [{"role": "assistant", "content": "Hello."}]
        ...
        >>> [line.query for line in tunaeval.read_scores("scores.jsonl")]
        ['Say hello']
    """
    file = wanted_path(path, "path")
    return tuple(_record(line, f"{file}, score {n}") for n, line in enumerate(read(file), start=1))


def _record(line: dict[str, object], where: str) -> ScoreRecord:
    version = line.get("schema_version")
    if version != SCORES_VERSION:
        raise RecordError(
            f"{where}: schema_version is {version!r}, this tunaeval reads {SCORES_VERSION}; score "
            "again, or read it with the version that wrote it"
        )
    try:
        return ScoreRecord.model_validate(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise RecordError(
            f"{where}: {field or 'the line'}: {first['msg']}; wanted a line that a scoring session "
            "wrote"
        ) from error
