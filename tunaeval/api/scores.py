"""A transcript's score in one call, from messages as they are."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tunaeval.data.adapters.documents import read_conversation, refuse_silence
from tunaeval.errors import UsageError
from tunaeval.scoring.assess import assess
from tunaeval.scoring.categories import Category
from tunaeval.scoring.goal import GOAL, is_decided
from tunaeval.scoring.history import history_of
from tunaeval.scoring.presets import FIXED, scorers_of
from tunaeval.scoring.settings import USUAL_SETTINGS, ScoreSettings
from tunaeval.types.conversations import Checked, Conversation
from tunaeval.types.messages import ToolExecution
from tunaeval.types.roles import Client, Scorer, Transcript
from tunaeval.types.runs import Expectation, ExpectedCall, ScoreResult
from tunaeval.types.wanted import refusal, wanted_items, wanted_seconds

from .checks import Check, Checking
from .extensions import scorers as known_scorers
from .unsaid import strange, unverified, written

if TYPE_CHECKING:
    # At run time it is loaded when there is a judge.
    from tunaeval.scoring.judging.judge import Judge

CHECK_SECONDS = 60.0


async def ascore(
    messages: object,
    query: str,
    *,
    executions: Iterable[ToolExecution] = (),
    preset: str = "default",
    categories: Iterable[str | Scorer] = (),
    settings: ScoreSettings = USUAL_SETTINGS,
    check: Check | None = None,
    check_timeout: float = CHECK_SECONDS,
    expect: Expectation | Mapping[str, Any] | None = None,
    forbid: Sequence[str | Mapping[str, Any] | ExpectedCall] = (),
    judge: Judge | Client | None = None,
    start: int = 0,
    notes: Sequence[str] = (),
) -> ScoreResult:
    """Score what an agent did for one task.

    `messages` are in any shape that an adapter knows, or a `Conversation`; the task begins at the
    index `start`. `query` is what was asked, `executions` what a `Recorder` collected meanwhile.

    Whether the goal was reached is decided by the `check`, else by `expect`, else by the judge;
    without any nobody knows, and there is no `weighted_total`, only categories with reasons. A
    `check` is a callable that is given the conversation and returns a bool or (bool, reason), or a
    command that exits with 0, within `check_timeout` seconds. `expect` is what `tunaeval.match`
    takes, compared with all calls. A call of what `forbid` lists (names of tools, or calls with the
    arguments that are meant) makes the total 0, as a check does that says no. A check, a category
    or a judge that fails itself leaves no total, and `details.outcome` says so.

    `categories` are asked beside those of the preset: names of the group `tunaeval.scorers`, or
    scorers. A `judge` gives the verdicts on its categories in the place of their formulas (a client
    as `Judge(client)`). `notes` are shown beside the total. Evidence points into `messages`.

    Raises UsageError (UnknownNameError for a preset or category that is not there) for what cannot
    be scored; the preset "evals2" knows neither check, expect nor forbid.

    Examples:
        >>> import asyncio
        >>> messages = [{"role": "assistant", "content": "Hello."}]
        >>> asyncio.run(tunaeval.ascore(messages, "Hi", check=lambda seen: True)).weighted_total
        1.0
    """
    return await _Asked(
        messages, query, executions, preset, categories, settings, check, check_timeout, expect,
        forbid, judge, start, notes,
    ).work().made_later()  # fmt: skip


def score(
    messages: object,
    query: str,
    *,
    executions: Iterable[ToolExecution] = (),
    preset: str = "default",
    categories: Iterable[str | Scorer] = (),
    settings: ScoreSettings = USUAL_SETTINGS,
    check: Check | None = None,
    check_timeout: float = CHECK_SECONDS,
    expect: Expectation | Mapping[str, Any] | None = None,
    forbid: Sequence[str | Mapping[str, Any] | ExpectedCall] = (),
    judge: Judge | Client | None = None,
    start: int = 0,
    notes: Sequence[str] = (),
) -> ScoreResult:
    """`ascore` for code that does not await, with the same parameters.

    The built-in categories wait for nothing, so this needs no event loop and works inside one; a
    check is waited for in place. With other categories, a judge or a check that is a
    coroutine function it runs a loop of its own; inside a running one that raises UsageError.

    Examples:
        >>> messages = [{"role": "assistant", "content": "Hello."}]
        >>> tunaeval.score(messages, "Hi", check=lambda seen: True).weighted_total
        1.0
    """
    asked = _Asked(
        messages, query, executions, preset, categories, settings, check, check_timeout, expect,
        forbid, judge, start, notes,
    )  # fmt: skip
    work = asked.work()
    waiting = [one.name for one in work.scorers if not isinstance(one, Category)]
    if work.checking is not None and work.checking.awaits:
        waiting.append("the check")
    if waiting and _in_a_loop():
        raise UsageError(
            f"tunaeval.score() cannot wait for {', '.join(waiting)} inside a running event loop; "
            "use: await tunaeval.ascore(...), or async with for a session"
        )
    assessed = work.made()
    return asyncio.run(assessed) if waiting else _at_once(assessed)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked for, as it was given; see `ascore`."""

    messages: object
    query: str
    executions: Iterable[ToolExecution]
    preset: str
    categories: Iterable[str | Scorer]
    settings: ScoreSettings
    check: Check | None
    check_timeout: float
    expect: Expectation | Mapping[str, Any] | None
    forbid: Sequence[str | Mapping[str, Any] | ExpectedCall]
    judge: Judge | Client | None
    start: int
    notes: Sequence[str]

    def work(self) -> _Work:
        """All of it read and checked. Raises UsageError."""
        if not isinstance(self.query, str):
            raise refusal("query", self.query, "the text of what was asked")
        wanted_seconds(self.check_timeout, "check_timeout")
        scorers = _scorers(self.preset, self.categories)
        settings = self._settled()
        checking = None if self.check is None else Checking(self.check, self.check_timeout)
        decided = checking is not None or settings.wanted is not None
        task = _task(self.messages, self.start)
        executions = wanted_items(self.executions, "executions", ToolExecution, "executions")
        transcript = Transcript(
            self.query, task.messages, executions, None, task.failure,
            () if self.preset == FIXED else written(task.messages, settings),
        )  # fmt: skip
        if checking is not None and is_decided(history_of(transcript, settings)):
            checking = None
        return _Work(
            task=task,
            transcript=transcript,
            preset=self.preset,
            scorers=_judged(scorers, self.judge, frozenset({GOAL}) if decided else frozenset()),
            settings=settings,
            checking=checking,
            notes=(
                *unverified(transcript, settings),
                *strange(task),
                *wanted_items(self.notes, "notes", str, "texts"),
            ),
        )

    def _settled(self) -> ScoreSettings:
        """The settings with what was expected and forbidden beside them."""
        given = {"check": self.check, "expect": self.expect, "forbid": self.forbid}
        named = [name for name, value in given.items() if not _is_left_out(name, value)]
        if named and self.preset == FIXED:
            raise UsageError(
                f"the preset {FIXED!r} is fixed and knows no {' and no '.join(named)}; "
                "use the preset 'default'"
            )
        if not isinstance(self.settings, ScoreSettings):
            raise UsageError(f"settings is {self.settings!r:.60}, wanted a ScoreSettings")
        changed: dict[str, Any] = {}
        for name in ("expect", "forbid"):
            if name in named:
                if getattr(self.settings, name):
                    raise UsageError(
                        f"{name} is in settings, too; give it in one of the two places"
                    )
                changed[name] = given[name]
        return replace(self.settings, **changed) if changed else self.settings


def _is_left_out(name: str, value: object) -> bool:
    return value is None or (name == "forbid" and value in ((), []))


@dataclass(frozen=True, slots=True)
class _Work:
    """A score that is ready to be made."""

    task: Conversation
    transcript: Transcript
    preset: str
    scorers: tuple[Scorer, ...]
    settings: ScoreSettings
    checking: Checking | None
    notes: tuple[str, ...]

    async def made_later(self) -> ScoreResult:
        """The score, with a check that runs beside the event loop."""
        checking = self.checking
        query = self.transcript.query
        checked = None if checking is None else await checking.made_later(self.task, query)
        return await self._assessed(checked)

    def made(self) -> Coroutine[Any, Any, ScoreResult]:
        """The same when the check was waited for here; what comes back is still to be awaited."""
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


def _task(messages: object, start: object) -> Conversation:
    read = read_conversation(messages)
    if isinstance(start, bool) or not isinstance(start, int) or not 0 <= start <= read.length:
        raise UsageError(f"start is {start!r}, wanted an index of the {read.length} messages")
    refuse_silence(read)
    return read.since(start)


_BESIDE = frozenset({"repetition"})
"""Categories that could be named beside the preset `default` before they were part of it."""


def _scorers(preset: str, categories: Iterable[str | Scorer]) -> tuple[Scorer, ...]:
    if isinstance(categories, str) or not isinstance(categories, Iterable):
        raise UsageError(f"categories is {categories!r}, wanted a list; write [{categories!r}]")
    own = scorers_of(preset)
    known = {one.name for one in own} & _BESIDE
    more = (_scorer(one) for one in categories if not (isinstance(one, str) and one in known))
    return (*own, *more)


def _judged(
    scorers: tuple[Scorer, ...], judge: Judge | Client | None, decided: frozenset[str]
) -> tuple[Scorer, ...]:
    """The categories with those of the judge in its hands, but for what is decided already."""
    if judge is None:
        return scorers
    from tunaeval.scoring.judging.judge import Judge  # noqa: PLC0415 - most scores need no judge
    from tunaeval.scoring.judging.scorers import judged  # noqa: PLC0415 - most scores need no judge

    return judged(scorers, judge if isinstance(judge, Judge) else Judge(judge), but=decided)


def _scorer(category: str | Scorer) -> Scorer:
    if isinstance(category, str):
        return known_scorers.get(category)
    if isinstance(category, Scorer):
        return category
    raise UsageError(
        f"{category!r:.60} is no scoring category; wanted a name or a Scorer "
        "(name, weight, async score(transcript))"
    )


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
