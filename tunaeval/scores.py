"""A transcript's score in one call, from messages as they are."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import TYPE_CHECKING, NamedTuple

from tunaeval.adapters import read_conversation
from tunaeval.errors import UsageError
from tunaeval.scoring import USUAL_SETTINGS, Category, ScoreSettings, assess, scorers_of
from tunaeval.types import ToolExecution
from tunaeval.types.roles import Client, Scorer, Transcript
from tunaeval.types.runs import ScoreResult

from .extensions import scorers as known_scorers

if TYPE_CHECKING:
    # At run time it is loaded when there is a judge.
    from tunaeval.judging import Judge


async def ascore(
    messages: object,
    query: str,
    *,
    executions: Iterable[ToolExecution] = (),
    preset: str = "default",
    categories: Iterable[str | Scorer] = (),
    settings: ScoreSettings = USUAL_SETTINGS,
    judge: Judge | Client | None = None,
    start: int = 0,
) -> ScoreResult:
    """Score what an agent did for one task.

    `messages` are OpenAI-style (dicts or objects), of any other shape that an adapter knows, or a
    `Conversation`; the task begins at the index `start`. `query` is what was asked. `executions`
    are what a `Recorder` collected meanwhile.
    `categories` are asked beside those of the preset: names of the group `tunaeval.scorers`, or
    scorers. `settings` say what ends a task, what is expected, and where thresholds lie. A `judge`
    gives the verdicts on its categories in the place of their formulas; a bare client is asked as
    `Judge(client)` asks. Evidence points into `messages`.

    Raises UsageError (UnknownNameError for a preset or category that is not there) for what cannot
    be scored.
    """
    scorers = _judged(_scorers(preset, categories), judge)
    task = _task(messages, query, executions, start)
    return await _assessed(task, scorers, preset, settings)


def score(
    messages: object,
    query: str,
    *,
    executions: Iterable[ToolExecution] = (),
    preset: str = "default",
    categories: Iterable[str | Scorer] = (),
    settings: ScoreSettings = USUAL_SETTINGS,
    judge: Judge | Client | None = None,
    start: int = 0,
) -> ScoreResult:
    """`ascore` for code that does not await.

    The built-in categories wait for nothing, so this needs no event loop and works inside one.
    With others, or a judge, it runs a loop of its own; inside a running one that raises UsageError.
    """
    scorers = _judged(_scorers(preset, categories), judge)
    task = _task(messages, query, executions, start)
    work = _assessed(task, scorers, preset, settings)
    waiting = [scorer.name for scorer in scorers if not isinstance(scorer, Category)]
    if not waiting:
        return _at_once(work)
    if _in_a_loop():
        work.close()
        raise UsageError(
            f"tunaeval.score() cannot wait for {', '.join(waiting)} inside a running event loop; "
            "use: await tunaeval.ascore(...), or async with for a session"
        )
    return asyncio.run(work)


class _Task(NamedTuple):
    """A transcript, and for each of its messages the index among those that were given."""

    transcript: Transcript
    sources: tuple[int, ...]


def _task(messages: object, query: str, executions: Iterable[ToolExecution], start: int) -> _Task:
    read = read_conversation(messages)
    if not 0 <= start <= read.length:
        raise UsageError(f"start is {start!r}, wanted an index of the {read.length} messages")
    task = read.since(start)
    return _Task(Transcript(query, task.messages, tuple(executions)), task.sources)


def _scorers(preset: str, categories: Iterable[str | Scorer]) -> tuple[Scorer, ...]:
    if isinstance(categories, str):
        raise UsageError(f"categories is {categories!r}, wanted a list; write [{categories!r}]")
    return (*scorers_of(preset), *(_scorer(one) for one in categories))


def _judged(scorers: tuple[Scorer, ...], judge: Judge | Client | None) -> tuple[Scorer, ...]:
    if judge is None:
        return scorers
    from tunaeval.judging import Judge, judged  # noqa: PLC0415 - most scores need no judge

    return judged(scorers, judge if isinstance(judge, Judge) else Judge(judge))


def _scorer(category: str | Scorer) -> Scorer:
    if isinstance(category, str):
        return known_scorers.get(category)
    if isinstance(category, Scorer):
        return category
    raise UsageError(
        f"{category!r:.60} is no scoring category; wanted a name or a Scorer "
        "(name, weight, async score(transcript))"
    )


async def _assessed(
    task: _Task, scorers: tuple[Scorer, ...], preset: str, settings: ScoreSettings
) -> ScoreResult:
    result = await assess(task.transcript, scorers, preset=preset, settings=settings)
    if task.sources == tuple(range(len(task.sources))):
        return result
    moved = {
        name: score.model_copy(update={"evidence": _given(score.evidence, task.sources)})
        for name, score in result.categories.items()
    }
    return result.model_copy(update={"categories": moved})


def _given(evidence: tuple[int, ...], sources: tuple[int, ...]) -> tuple[int, ...]:
    """Evidence as indices of the messages that were given, each once."""
    known = (sources[index] for index in evidence if 0 <= index < len(sources))
    return tuple(dict.fromkeys(known))


def _at_once(work: Coroutine[object, None, ScoreResult]) -> ScoreResult:
    """What a coroutine that waits for nothing returns, without a loop to run it."""
    try:
        work.send(None)
    except StopIteration as finished:
        result: ScoreResult = finished.value
        return result
    raise AssertionError("a built-in category has waited for something")


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
