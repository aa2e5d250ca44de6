"""A judge: a model, passed in as a client, that rates how well a task went.

Whatever the model replies, a category has a value from 0 to 1, or none and the reason why: prose, a
score off the scale, or a broken connection is a judge failure, never a middling score. The median
or the majority of several votes is the verdict.

The cache stores replies by a digest of the whole question. Whatever changes the question (model,
words, transcript, settings, number of the vote) changes the digest, except for the boundary, which
is random. Failures to get a reply are not stored.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from statistics import fmean, median
from typing import Literal, NamedTuple, TypeAlias

from tunaeval.errors import (
    ClientSetupError,
    PluginError,
    TransportFailure,
    TunaevalError,
    UsageError,
)
from tunaeval.files.reply_store import ReplyCache, ReplyStore, cache_in, digest_of
from tunaeval.types.calls import JsonObject
from tunaeval.types.conversations import Transcript
from tunaeval.types.exchange import Reply, Request, text_of
from tunaeval.types.roles import Client, Scorer
from tunaeval.types.runs import CategoryScore, JudgeOrder, JudgeRecord, JudgeVote
from tunaeval.types.third_party import reply_of
from tunaeval.types.wanted import refusal, wanted_count, wanted_items, wanted_name, wanted_seconds

from .answers import read_answers, reply_schema
from .calibration import Calibration, JudgeIdentity, standing_of
from .prompts import RUBRICS, JudgeQuestion, messages_for, prompt_version
from .view import Shown, View, boundary, is_idle, view_of

DecidedBy: TypeAlias = Literal["median", "majority"]
HeldTo: TypeAlias = Literal["auto", "schema", "text"]

FAILURE = "judge failure: "
_MOST_WORDS = 500
"""The most characters of a judge's words in a reason; the vote has all of them."""

_NO_SCHEMA_STATUS = frozenset({400, 404, 415, 422, 500, 501})
"""Status codes with which servers refuse a response format that they do not know."""

USUAL = ("goal-completion", "plan-correctness")
"""The categories of a judge by default; the other two are then formulas."""


@dataclass(frozen=True, slots=True)
class Judge:
    """A model as a judge of transcripts: its client, and how it is asked.

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
                    "auto": one, but none after the server refused it
    shown           how much of the transcript is shown
    cache           a directory of replies, or a `ReplyStore`
    calibration     a file of `tunaeval judge calibrate`, or a `Calibration`
    boundary_seed   makes the boundary around the transcript the same in every run, for tests

    There is no verdict unless more than half of the votes have a score. The client's owner closes
    it. Raises UsageError for invalid settings, RecordError for an unreadable calibration.

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
    cache: ReplyCache | ReplyStore | Path | str | None = None
    calibration: Calibration | Path | str | None = None
    boundary_seed: int | None = None

    def __post_init__(self) -> None:
        _check_judge(self)
        object.__setattr__(self, "categories", tuple(self.categories))
        if isinstance(self.calibration, str | Path):
            object.__setattr__(self, "calibration", Calibration.read(Path(self.calibration)))

    @property
    def model(self) -> str | None:
        """The model's name, or None if unknown; some clients know it only after the first reply."""
        named = getattr(self.client, "model", None)
        if named is None:
            named = dict(getattr(self.client, "details", None) or {}).get("model")
        return None if named is None else str(named)

    @property
    def prompt_version(self) -> str:
        """A digest of the prompts and of `shown`; a calibration is only valid for one digest."""
        return prompt_version(self._groups(), self.scale, self.shown)

    @property
    def identity(self) -> JudgeIdentity:
        """The properties on which a calibration depends; it is invalid for a judge with others."""
        return JudgeIdentity.model_validate(self, from_attributes=True)

    async def judge(
        self, transcript: Transcript, *, sitting: int = 0, names: frozenset[str] | None = None
    ) -> dict[str, CategoryScore]:
        """Ask for a verdict on each category, or on those in `names`. Only a cancellation raises.

        Another number as `sitting` asks the same questions again, with other seeds and other
        replies from the cache.
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
            other: JudgeOrder = "swapped" if self.order == "as-written" else "as-written"
            ballots = [
                self._votes(JudgeQuestion(names, self.scale, order), view.text, number)
                for number in range(sitting * self.votes, (sitting + 1) * self.votes)
                for order in ((self.order, other) if self.swap else (self.order,))
            ]
            votes = await asyncio.gather(*ballots)
            return {
                name: self._verdict(name, view, [vote[name] for vote in votes]) for name in names
            }
        except Exception as error:  # noqa: BLE001 - scoring must not break what it scores
            why = f"{type(error).__name__}: {error}"
            lost = JudgeVote(raw="", value=None, words=why, order=self.order, cached=False)
            return {name: self._verdict(name, View(), [lost]) for name in names}

    def _verdict(self, name: str, view: View, votes: Sequence[JudgeVote]) -> CategoryScore:
        """Combine the votes on a category to a verdict, or a failure if they do not decide it."""
        identity = self.identity
        calibration = self.calibration if isinstance(self.calibration, Calibration) else None
        standing = standing_of(calibration, identity, name)
        values = [vote.value for vote in votes if vote.value is not None]
        decided = _decided(votes, values, self.decided_by)
        failure = decided if isinstance(decided, str) else None
        value = None if isinstance(decided, str) else decided
        record = JudgeRecord(
            client=self.client.name,
            model=identity.model,
            prompt_version=identity.prompt_version,
            calibrated=standing.calibrated,
            calibration=standing.words,
            votes=tuple(votes),
            spread=max(values) - min(values) if values else None,
            left_out="; ".join(view.left_out),
            failure=failure,
        )
        reason = f"{FAILURE}{failure}" if value is None else _reason(value, votes, record)
        evidence = () if value is None else tuple(sorted(view.messages))
        return CategoryScore(value=value, reason=reason, evidence=evidence, judged=record)

    async def _votes(self, question: JudgeQuestion, text: str, number: int) -> dict[str, JudgeVote]:
        """Ask once and return a vote for each category; `number` counts the earlier requests."""
        read = await self._result(question, text, number)
        answers = read_answers(read.text, question.names, question.scale, by_schema=read.by_schema)
        return {
            name: JudgeVote(
                raw=_storable(read.text),
                value=None if read.fault else answer.value,
                words=_storable(read.fault or answer.words),
                order=question.order,
                cached=read.cached,
            )
            for name, answer in answers.items()
        }

    async def _result(self, question: JudgeQuestion, text: str, number: int) -> _Result:
        base = self._request(question, text, number)
        # If the server refuses a schema, its reply is cached for the request without one.
        ways = (base, replace(base, schema=None)) if self.held_to == "auto" else (base,)
        cache = self._known_cache()
        for one in ways:
            kept = None if cache is None else await cache.get(digest_of(self._asked(one)))
            if kept is not None:
                return _read_judgement(kept, cached=True, by_schema=one.schema is not None)
        word = boundary(self.boundary_seed, digest_of(self._asked(base)).hex())
        try:
            async with asyncio.timeout(self.deadline_seconds):
                sent = replace(base, messages=messages_for(question, text, word))
                reply, by_schema = await self._complete(sent)
        except TimeoutError:
            return _Result("", f"no reply within {self.deadline_seconds:g} s", cached=False)
        except PluginError as error:
            return _Result("", f"no reply: {error}", cached=False)
        except TunaevalError as error:
            return _Result("", f"no reply: {type(error).__name__}: {error}", cached=False)
        if (cache := self._known_cache()) is not None:
            asked = base if by_schema else replace(base, schema=None)
            await cache.put(digest_of(self._asked(asked)), reply)
        return _read_judgement(reply, cached=False, by_schema=by_schema)

    def _known_cache(self) -> ReplyCache | None:
        """Return the cache, or None if the model has no name: it may be another model tomorrow."""
        if self.model is None:
            return None
        if not isinstance(self.cache, ReplyCache | None):
            object.__setattr__(self, "cache", cache_in(self.cache))
        return self.cache if isinstance(self.cache, ReplyCache) else None

    def _request(self, question: JudgeQuestion, text: str, number: int) -> Request:
        """Return the request for a question, still without the random boundary in its text."""
        schema = reply_schema(question.names, question.scale)
        return Request(
            messages=messages_for(question, text, ""),
            schema=None if self.held_to == "text" else schema,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            seed=self.seed if self.seed is None and not number else (self.seed or 0) + number,
            scenario="+".join(question.names),
            repeat=number + 1,
        )

    async def _complete(self, request: Request) -> tuple[Reply, bool]:
        """Return the model's reply, and whether the server accepted a schema for it."""
        try:
            return await reply_of(self.client, request), request.schema is not None
        except (ClientSetupError, TransportFailure) as error:
            if self.held_to != "auto" or error.status not in _NO_SCHEMA_STATUS:
                raise
            return await reply_of(self.client, replace(request, schema=None)), False

    def _asked(self, request: Request) -> JsonObject:
        """Return everything that the reply to a request depends on."""
        return {
            "client": self.client.name,
            "model": self.model,
            "messages": request.messages,
            "schema": request.schema,
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
            "number": request.repeat,
        }


class _Result(NamedTuple):
    """A reply's text, its fault or None, and whether it was cached or had to fit a schema."""

    text: str
    fault: str | None
    cached: bool
    by_schema: bool = False


def _read_judgement(reply: Reply, *, cached: bool, by_schema: bool) -> _Result:
    message = reply.message
    text = text_of(message.get("content"))
    fault = None
    if message.get("tool_calls") or message.get("function_call"):
        fault = "it called a tool"
    elif message.get("refusal"):
        fault = f"it refused: {message['refusal']!r:.200}"
    elif reply.finish_reason == "length" and not text.rstrip().endswith(("}", "```")):
        fault = "its reply was cut off; raise max_tokens"
    return _Result(text, fault, cached, by_schema)


def _storable(text: str) -> str:
    """Return a text whose lone surrogates, which files cannot store, are replaced by escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def _decided(
    votes: Sequence[JudgeVote], values: Sequence[float], decided_by: DecidedBy
) -> float | str:
    """Return the value that the votes decide, or a text that says why they do not."""
    lost = [vote.words for vote in votes if vote.value is None]
    if 2 * len(values) <= len(votes):
        return lost[0] if len(votes) == 1 else f"{len(lost)} of {len(votes)} votes: {lost[0]}"
    if decided_by == "median":
        return median(values)
    value, times = Counter(values).most_common(1)[0]
    if 2 * times > len(votes):
        return value
    return f"no majority among the votes {_figures(values)}"


def _reason(value: float, votes: Sequence[JudgeVote], record: JudgeRecord) -> str:
    """Return the words of the vote nearest to the verdict, and remarks on how reliable it is."""
    given = [vote for vote in votes if vote.value is not None]
    words = min(given, key=lambda vote: abs((vote.value or 0.0) - value)).words[:_MOST_WORDS]
    parts = [f"{record.model or record.client} judges: {words}", record.calibration]
    if len(votes) > 1:
        values = [vote.value for vote in given if vote.value is not None]
        parts.append(f"votes {_figures(values)}, spread {record.spread:.2f}")
    if len(given) < len(votes):
        parts.append(f"{len(votes) - len(given)} of {len(votes)} votes gave no verdict")
    orders = {
        order: [vote.value for vote in given if vote.order == order and vote.value is not None]
        for order in ("as-written", "swapped")
    }
    if all(orders.values()):
        between = abs(fmean(orders["as-written"]) - fmean(orders["swapped"]))
        parts.append(f"the two orders differ by {between:.2f}")
    if record.left_out:
        parts.append(f"not shown: {record.left_out[:_MOST_WORDS]}")
    return "; ".join(parts)


def _figures(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)


def _idle(name: str) -> CategoryScore:
    value = RUBRICS[name].idle
    effect = "does not apply" if value is None else f"is {value:g}"
    return CategoryScore(
        value=value, reason=f"the agent did nothing, so this {effect}; no judge was asked"
    )


def _check_judge(judge: Judge) -> None:
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


@dataclass
class Judged:
    """A `Scorer` whose score is a judge's verdict.

    The first scorer that runs asks for the verdicts on all categories in `names`, and they are
    shared.
    """

    name: str
    weight: float
    judge: Judge
    names: frozenset[str]
    verdicts: dict[str, CategoryScore]
    """The verdicts on one transcript, which all of `names` share."""

    async def score(self, history: Transcript) -> CategoryScore:
        if not self.verdicts:
            self.verdicts |= await self.judge.judge(history, names=self.names)
        return self.verdicts[self.name]


def judged(
    scorers: Sequence[Scorer], judge: Judge, *, but: frozenset[str] = frozenset()
) -> tuple[Scorer, ...]:
    """Return the scorers, with the judge in place of those whose categories it judges.

    Weights stay. `but` are categories that are decided otherwise, so that the judge is not asked
    about them. The result is for one transcript. Raises UsageError if a category of the judge has
    no scorer.
    """
    names = [scorer.name for scorer in scorers]
    for name in judge.categories:
        if name not in names:
            raise UsageError(
                f"the judge has the category {name!r}, and the score has only {', '.join(names)}; "
                "name others with Judge(categories=...)"
            )
    chosen = frozenset(judge.categories) - but
    verdicts: dict[str, CategoryScore] = {}
    return tuple(
        Judged(scorer.name, scorer.weight, judge, chosen, verdicts)
        if scorer.name in chosen
        else scorer
        for scorer in scorers
    )
