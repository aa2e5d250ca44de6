"""A judge: a model, passed in as a client, that rates how well a task went.

Whatever the model replies, a category has a value from 0 to 1, or none and the reason why: prose, a
score off the scale, or a broken connection is a judge failure, never a middling score.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from tunaeval.errors import UsageError
from tunaeval.types.roles import Client, Transcript
from tunaeval.types.runs import CategoryScore, JudgeOrder, JudgeVote
from tunaeval.types.wanted import refusal, wanted_count, wanted_items, wanted_name, wanted_seconds

from .asking import Asking, HeldTo, model_of
from .cache import ReplyCache
from .calibration import Calibration, JudgeIdentity, standing_of
from .prompts import Question, prompt_version
from .rubrics import RUBRICS
from .verdicts import DecidedBy, Ruling, verdict_of
from .view import Shown, View, is_idle, view_of

USUAL = ("goal-completion", "plan-correctness")
"""The categories of a judge by default; the other two are then formulas."""


@dataclass(frozen=True, slots=True)
class Judge:
    """A client and how it is asked; frozen, except for what `cache` stores.

    categories      the judged categories: by default goal-completion and plan-correctness; also
                    success-ratio and context-efficiency, which are formulas otherwise
    together        all categories in one request; else one request for each
    votes           how often each question is asked, with consecutive seeds
    decided_by      "median" of the votes, or the value that the "majority" of them gives
    swap            ask each vote in both orders: the description of the scale's two ends and the
                    list of criteria, forwards and backwards
    order           the order that is used without `swap`
    scale           scores are numbers from 0 to this
    held_to         "schema": the server is given a JSON schema of the reply; "text": none;
                    "auto": none after the server refused one
    shown           how much of the transcript is shown
    cache           a file of replies, or a `ReplyCache`
    calibration     a file of `tunaeval judge calibrate`, or a `Calibration`
    boundary_seed   makes the boundary around the transcript the same in every run, for tests

    A vote counts if it is a verdict; more than half of the votes have to be. The client's owner
    closes it. Raises UsageError for invalid settings, RecordError for an unreadable calibration.

    Examples:
        >>> from tunaeval import ScriptedClient
        >>> judge = tunaeval.Judge(ScriptedClient(), votes=3)
        >>> judge.categories
        ('goal-completion', 'plan-correctness')
    """

    client: Client
    _: KW_ONLY
    categories: tuple[str, ...] = USUAL
    together: bool = False
    votes: int = 1
    decided_by: DecidedBy = "median"
    swap: bool = False
    order: JudgeOrder = "as-written"
    temperature: float | None = 0.0
    seed: int | None = None
    scale: int = 10
    max_tokens: int = 500
    held_to: HeldTo = "auto"
    deadline_seconds: float = 120.0
    shown: Shown = Shown()  # noqa: RUF009 - frozen
    cache: ReplyCache | Path | str | None = None
    calibration: Calibration | Path | str | None = None
    boundary_seed: int | None = None

    def __post_init__(self) -> None:
        _check(self)
        object.__setattr__(self, "categories", tuple(self.categories))
        # Files named by path are opened once, when the judge is made.
        if isinstance(self.cache, str | Path):
            object.__setattr__(self, "cache", ReplyCache(self.cache))
        if isinstance(self.calibration, str | Path):
            object.__setattr__(self, "calibration", Calibration.read(Path(self.calibration)))

    @property
    def model(self) -> str | None:
        """The model's name, or None; some clients know it only after the first reply."""
        return model_of(self.client)

    @property
    def prompt_version(self) -> str:
        """A digest of the prompts and of `shown`; a change makes old calibrations invalid."""
        return prompt_version(self._groups(), self.scale, self.shown)

    @property
    def identity(self) -> JudgeIdentity:
        """What a calibration is valid for: if any of it changes, it is another judge."""
        return JudgeIdentity(
            model=self.model,
            prompt_version=self.prompt_version,
            votes=self.votes,
            decided_by=self.decided_by,
            swap=self.swap,
            order=self.order,
            temperature=self.temperature,
        )

    async def judge(
        self,
        transcript: Transcript,
        *,
        sitting: int = 0,
        names: frozenset[str] | None = None,
    ) -> dict[str, CategoryScore]:
        """Return a verdict for each category, or for those in `names`; nothing but cancellation
        raises.

        Another `sitting` asks the same questions again, with other seeds and not from the cache.
        """
        wanted = frozenset(self.categories) if names is None else names
        groups = (group for group in self._groups() if wanted & frozenset(group))
        pending = (self._grouped(transcript, group, sitting) for group in groups)
        verdicts = [pair for group in await asyncio.gather(*pending) for pair in group.items()]
        return {name: dict(verdicts)[name] for name in self.categories if name in wanted}

    def _groups(self) -> list[tuple[str, ...]]:
        return [self.categories] if self.together else [(name,) for name in self.categories]

    async def _grouped(
        self, transcript: Transcript, names: tuple[str, ...], sitting: int
    ) -> dict[str, CategoryScore]:
        if is_idle(transcript):
            return {name: _idle(name) for name in names}
        try:
            sections = [section for name in names for section in RUBRICS[name].sections]
            view = view_of(transcript, sections, self.shown)
            asking = self._asking()
            ballots = [
                asking.votes(Question(names, self.scale, order), view.text, number)
                for number in range(sitting * self.votes, (sitting + 1) * self.votes)
                for order in _orders(self)
            ]
            votes = await asyncio.gather(*ballots)
            return {
                name: self._verdict(name, view, [vote[name] for vote in votes]) for name in names
            }
        except Exception as error:  # noqa: BLE001 - scoring must not break what it scores
            why = f"{type(error).__name__}: {error}"
            lost = JudgeVote(raw="", value=None, words=why, order=self.order, cached=False)
            return {name: self._verdict(name, View(), [lost]) for name in names}

    def _asking(self) -> Asking:
        return Asking(
            client=self.client,
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens,
            held_to=self.held_to,
            deadline_seconds=self.deadline_seconds,
            cache=self.cache if isinstance(self.cache, ReplyCache) else None,
            boundary_seed=self.boundary_seed,
        )

    def _verdict(self, name: str, view: View, votes: Sequence[JudgeVote]) -> CategoryScore:
        identity = self.identity
        calibration = self.calibration if isinstance(self.calibration, Calibration) else None
        standing = standing_of(calibration, identity, name)
        ruling = Ruling(self.client.name, identity, standing, self.decided_by, view)
        return verdict_of(votes, ruling)


def _orders(judge: Judge) -> tuple[JudgeOrder, ...]:
    other: JudgeOrder = "swapped" if judge.order == "as-written" else "as-written"
    return (judge.order, other) if judge.swap else (judge.order,)


def _idle(name: str) -> CategoryScore:
    value = RUBRICS[name].idle
    effect = "does not apply" if value is None else f"is {value:g}"
    return CategoryScore(
        value=value, reason=f"the agent did nothing, so this {effect}; no judge was asked"
    )


def _check(judge: Judge) -> None:
    client: object = judge.client  # untyped, because mypy believes these checks to be always true
    if not isinstance(client, Client):
        raise UsageError(
            f"{client!r:.60} is no client; wanted one with name, complete(request), close()"
        )
    if not wanted_items(judge.categories, "categories", str, "names of judged categories"):
        raise refusal("categories", judge.categories, "one name or more")
    for name in judge.categories:
        wanted_name(name, "judged category", RUBRICS)
    if len(set(judge.categories)) < len(judge.categories):
        raise UsageError(f"categories is {judge.categories!r}; wanted each once")
    for setting in ("votes", "scale", "max_tokens"):
        wanted_count(getattr(judge, setting), setting)
    wanted_seconds(judge.deadline_seconds, "deadline_seconds")
