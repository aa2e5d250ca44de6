"""The order, number and time limit of the requests that the doctor sends to one server.

Answers are kept by request, so that checks share them. The first requests decide which others make
sense: the pages that identify the server, one call with each field that may reveal the raw text,
then prompt sizes and the gate, one by one. The rest run `concurrency` at a time, but a request and
its streamed twin stay in order. Repeats come last.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from tunaeval.clients.server import Heard
from tunaeval.clients.server import Server as Connection
from tunaeval.clients.statuses import meaning
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.error_budget import ErrorBudget
from tunaeval.types.json_text import json_object
from tunaeval.wire.asking import ASKED, worded

from . import asks
from .blame import Seen, compare_pair, mentions_flags, same_calls, thought_in
from .checks import REPEATED, Check, pairs, same_in_both
from .reading import detokenized, extras, prompt_extras, read_answer
from .recognise import by_answer, look, recognise
from .values import APIS, Api, Ask, ServerAnswer, ServerIdentity

REQUESTS = 110
"""The most requests made, not counting `--repeats` above 3 and repeats of requests that failed."""
REPEATS = 3  # answers of each repeated ask by default
_KEY_REFUSED = "the server refuses the key"
_MORE = 4
"""Extra repeats of each mode where streamed and whole answers differ: five of each in all."""
_PATIENCE = 3
"""Tries of a request whose answer is lost, and failures in a row before giving up."""
_HANGS = 2
"""Answers of one mode that hang before no more are asked for, if none of that mode came."""


@dataclass(frozen=True, slots=True)
class DoctorSettings:
    """How `examine` asks: the model, repeats, concurrency, time limits, and quick mode.

    `extra_body` are fields of every request, such as a gateway's choice of vendor. `max_errors`
    says how many answers may fail (by default none) until the examination counts as incomplete.
    """

    model: str | None = None
    repeats: int = REPEATS
    concurrency: int = 1
    deadline_seconds: float = 600.0
    quick: bool = False
    timeout_seconds: float = 120.0
    """The time limit of one request; a server that takes longer hangs."""
    extra_body: Mapping[str, JsonValue] = field(default_factory=dict)
    max_errors: ErrorBudget | None = None
    allow_plain_http: bool = False
    """Whether a key may be sent without encryption to another machine."""


class Runner:
    """Sends the requests of some checks to one server; `seen` has the answers."""

    def __init__(
        self, server: Connection, checks: Sequence[Check], settings: DoctorSettings,
        on_answer: Callable[[ServerAnswer], None] | None = None,
    ) -> None:  # fmt: skip
        self._connection = server
        self.checks = checks
        """The checks, without those of an API that the server lacks."""
        self.settings = settings
        self._on_answer = on_answer
        self._until = time.monotonic() + settings.deadline_seconds
        self._answers: dict[str, list[ServerAnswer]] = {}
        self._fields = _Fields("unknown", settings.extra_body)
        self._texts: dict[tuple[int, ...], str | None] = {}
        self._to_ask = 0
        self._failed = 0
        self._server = ServerIdentity()
        self.model: str | None = settings.model
        self.requests = 0
        self.put_off = 0
        """How many requests were sent again."""
        self.retries = 0
        """How many requests were sent again because the server failed, not for its load."""
        self._hangs: dict[str, float] = {"whole": 0, "streamed": 0}
        self._stopped: str | None = None

    @property
    def _limit(self) -> int:
        """The most requests, of which an API has its own once it has answered."""
        others = {ask.key for check in self.checks for ask in check.asks if ask.api != "chat"}
        more = max(0, self.settings.repeats - REPEATS) * len(REPEATED)
        return REQUESTS + more + len(others)

    async def run(self) -> Seen:
        """Send all requests that can be sent and return what was seen; no server error raises."""
        await self._recognise()
        if self._stopped is None:
            await self._first_contact()
        await self._find_apis()
        wanted = [ask for ask in _in_order(self.checks) if ask.key not in self._answers]
        if self.settings.quick:
            wanted = [ask for ask in wanted if ask.quick]
        self._to_ask = len(wanted) + len(REPEATED) * (self.settings.repeats - 1)
        gate = [ask for pair in asks.GATE for ask in pair]
        early = [a for a in wanted if a.max_tokens == 1 or a in gate if a is not asks.MANY_TOOLS]
        await self._in_turn(early)
        late = [ask for ask in wanted if ask is asks.MANY_TOOLS]
        await self._together([ask for ask in wanted if ask not in early and ask not in late])
        if not self.settings.quick:
            known = [ask for ask in REPEATED if ask.key in self._answers]
            for _ in range(self.settings.repeats - 1):
                await self._in_turn(known)
        await self._settle_differences()
        await self._in_turn(late)  # last, because a slow server may need very long for it
        return Seen(self._server, self._answers, self._stopped)

    async def _recognise(self) -> None:
        signs = await look(self._fetch, self._connection.root_path)
        self._server = recognise(signs)
        if signs.models.status is None:
            self._stopped = signs.models.failure or "the server does not answer"
        elif meaning(signs.models.status).about == "key":
            self._stopped = f"{_KEY_REFUSED} ({signs.models.status}); set $TUNAEVAL_API_KEY"
        self.model = self.model or next(iter(self._server.models), None)
        self._fields = _Fields(self._server.kind, self.settings.extra_body)

    async def _first_contact(self) -> None:
        """Ask for one whole call, to see whether this is a chat server and what it reveals."""
        first = await self._ask(asks.ONE[0])
        about = meaning(first.status).about
        if first.ok:
            thinks = bool(first.reasoning) or thought_in(first.raw or first.text)
            self._fields.thought = (first.completion_tokens or 1) if thinks else 0
            if thinks and first.cut and not first.calls:
                self._answers.clear()  # reasoning used up its tokens; from now on it gets more
                first = await self._ask(asks.ONE[0])
                self._fields.thought = first.completion_tokens or 1
        elif about == "key":
            self._stop(f"{_KEY_REFUSED} ({first.status}); set $TUNAEVAL_API_KEY")
        elif mentions_flags(first):
            await self._ask(asks.UNPARSED)  # shows the format, and so the parser to name
            self._stop("every request with tools is refused until the server has its flags")
        elif about == "request" and self._is_unlisted(first):
            self._stop(f"the server wants one of its models: --model NAME ({first.error})")
        elif about in ("request", "server"):
            if (await self._ask(asks.PLAIN)).status == first.status:  # it has no tools
                self._stop(f"every request fails with {first.status}: {first.error}")
        elif first.status is not None and about in ("address", "load"):
            self._stop(f"status {first.status}: {first.error}")
        elif first.failure is not None or (first.status == 200 and self._server.answers_all):
            self._stop(f"no chat completion came: {first.failure or first.error}")

    def _is_unlisted(self, first: ServerAnswer) -> bool:
        """Whether no model is named, or one that the server does not list and that it quotes."""
        name, listed = self.model or "", self._server.models
        return bool(listed) == bool(name) and name not in listed and name in str(first.error)

    async def _find_apis(self) -> None:
        """Ask each other API for one call, and leave out the checks of those that are not there."""
        apis = {check.asks[0].api: None for check in self.checks if check.group in APIS}
        for api in apis:
            if not await self._is_there(api):
                self.checks = [check for check in self.checks if check.group != api]
        if not self.checks:
            self._stop(
                f"the server has no {' and no '.join(f'/v1/{ASKED[api].path}' for api in apis)}"
            )

    async def _is_there(self, api: Api) -> bool:
        """Whether the server has an API; one that fails whatever it is asked is none."""
        answer = await self._ask(replace(asks.ONE[0], api=api))
        if answer.failure is not None and not answer.skipped:  # a hang says nothing
            answer = await self._ask(replace(asks.ONE[1], api=api))
        if meaning(answer.status).about == "server":
            answer = await self._ask(replace(asks.PLAIN, api=api))
        absent = answer.skipped or meaning(answer.status).about in ("address", "server")
        return answer.ok or not (absent or answer.status == 200)

    def _stop(self, why: str) -> None:
        self._stopped = self._stopped or why

    async def _in_turn(self, wanted: Sequence[Ask]) -> None:
        for ask in wanted:
            await self._ask(ask)

    async def _together(self, wanted: Sequence[Ask]) -> None:
        """Ask several at a time; the whole and the streamed request of one name stay in order."""
        by_name: dict[str, list[Ask]] = {}
        for ask in wanted:
            by_name.setdefault(f"{ask.api}/{ask.name}", []).append(ask)
        slots = asyncio.Semaphore(self.settings.concurrency)

        async def turn(group: Sequence[Ask]) -> None:
            async with slots:
                await self._in_turn(group)

        await asyncio.gather(*map(turn, by_name.values()))

    async def _settle_differences(self) -> None:
        """Ask again in both modes where single answers differ and no raw text decides."""
        for check in (check for check in self.checks if check.rule is same_in_both):
            for asked in pairs(check.asks):
                if self.requests + 2 * _MORE > self._limit:
                    return
                found = [self._answers.get(ask.key, []) for ask in asked]
                if compare_pair(found[0][:1], found[1][:1]).verdict == "note":
                    for ask, had in zip(asked, found, strict=True):
                        await self._in_turn([ask] * max(0, 1 + _MORE - len(had)))
                if compare_pair(*found).verdict == "server":
                    break  # one difference that is certain is enough for a check

    async def _ask(self, ask: Ask) -> ServerAnswer:
        answer = await self._answer(ask)
        if not answer.skipped:
            self._answers.setdefault(ask.key, []).append(answer)
            lost = answer.lost or meaning(answer.status).about == "key"
            self._failed = self._failed + 1 if lost else 0
            if self._failed >= _PATIENCE:
                why = answer.failure or f"status {answer.status}: {answer.error}"
                self._stop(f"the server does not answer any more: {why}")
            if self._on_answer is not None:
                self._on_answer(answer)
        return answer

    async def _answer(self, ask: Ask) -> ServerAnswer:
        """Return one answer; a field that the server refuses is left out from then on.

        A request whose answer is lost is sent again, after the pause that the server asks for. A
        hang is not: it has cost the whole time of a request.
        """
        self._to_ask -= 1
        tries = 1
        while self._left() is not None and self._hangs[ask.mode] < _HANGS:
            payload = self._fields.payload(ask, self.model)
            response = await self._fetch(ASKED[ask.api].path, payload, ASKED[ask.api].headers)
            asked = replace(ask, max_tokens=ask.max_tokens + self._fields.for_thought(ask))
            answer = replace(read_answer(asked, response), tries=tries)
            # A connection that ends before anything comes may have been idle for too long.
            most = 2 if response.dropped else 1 if response.timed_out else _PATIENCE
            if answer.lost and tries < most and (left := self._left()) is not None:
                tries += 1
                self.put_off += 1
                self.retries += meaning(response.status).about != "load"
                await asyncio.sleep(min(response.retry_after or 10.0 ** (tries - 3), left))
                continue
            self._hangs[ask.mode] += response.timed_out
            if answer.ok:
                self._hangs[ask.mode] = -math.inf
                self._server = by_answer(self._server, response)
                answer = replace(answer, uncounted=not self._fields.counts(ask))
            if not self._fields.learn(answer):
                return await self._with_text(answer)
        why = self._stopped or f"{_HANGS} {ask.mode} answers hung, and no more were asked for"
        return ServerAnswer(ask, failure=why, skipped=True)

    async def _with_text(self, answer: ServerAnswer) -> ServerAnswer:
        """Add the raw text, decoded from token ids, where the calls are not the requested ones."""
        ids = answer.token_ids
        if not ids or answer.raw or same_calls(answer.calls, answer.ask.calls):
            return answer
        if ids not in self._texts and self._spare() > 0:
            payload = {"model": self.model, "tokens": list(ids)}
            response = await self._fetch(f"{self._connection.root_path}/detokenize", payload)
            body = json_object(response.body) if response.status == 200 else None
            self._texts[ids] = detokenized(body) if body else None
        return replace(answer, raw=self._texts.get(ids), raw_tokens=len(ids))

    def _spare(self) -> int:
        """Return how many requests are left over after all that are planned."""
        return self._limit - (self.requests - self.put_off) - max(0, self._to_ask)

    async def _fetch(
        self,
        path: str,
        payload: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Heard:
        left = self._left()
        if left is None:
            return Heard(failure=self._stopped)
        self.requests += 1
        try:
            async with asyncio.timeout(left):
                return await self._connection.hear(path, payload, headers=headers)
        except TimeoutError:
            return Heard(failure="the deadline passed")

    def _left(self) -> float | None:
        """Return the seconds that are left, or None if no request may be made any more."""
        left = self._until - time.monotonic()
        if left <= 0:
            self._stop(f"the deadline of {self.settings.deadline_seconds:g} s has passed")
        elif self.requests - self.put_off >= self._limit:
            self._stop(f"{self._limit} requests were made, and no more are allowed")
        return None if self._stopped else left


def _in_order(checks: Sequence[Check]) -> list[Ask]:
    """Return each request once, in the order of the checks, then `asks.GATE` if it is needed."""
    gate = [ask for pair in asks.GATE for ask in pair]
    needed = gate if any(check.needs == "copying" for check in checks) else []
    own = [ask for check in checks for ask in check.asks]
    return list({ask.key: ask for ask in [*own, *needed]}.values())


def in_quick(check: Check) -> Check:
    """Return the check with only the requests that `--quick` makes."""
    return replace(check, asks=tuple(ask for ask in check.asks if ask.quick))


Kind: TypeAlias = Literal["whole", "streamed", "prompt"]

_THOUGHT_TOKENS = 2000
"""Additional `max_tokens` for a model that reasons before it calls."""
_REFUSALS = ("request", "address", "server")
"""What the status is about with which servers refuse a field that they do not know."""
_NEW_LIMIT = "max_completion_tokens"
"""The name that OpenAI's newest models require in place of max_tokens."""


class _Fields:
    """The request fields for one server; a field that was accepted once is kept."""

    def __init__(self, kind: str, extra: Mapping[str, JsonValue]) -> None:
        self._extra = extra
        self._more: dict[Kind, list[JsonObject]] = {
            "whole": list(extras(kind, streamed=False)),
            "streamed": list(extras(kind, streamed=True)),
            "prompt": list(prompt_extras(kind)),
        }
        self._settled: set[Kind] = set()
        self._limit_field = "max_tokens"
        self._temperature: JsonObject = {"temperature": 0}
        self.thought = 0
        """The tokens of a short call with the thought before it; 0 if the model does not think."""

    def for_thought(self, ask: Ask) -> int:
        """Return how many tokens a request gets beyond those of its answer."""
        if self.thought and ask.max_tokens > asks.CUT_TOKENS:
            return _THOUGHT_TOKENS
        return self.thought if ask.max_tokens == asks.CUT_TOKENS else 0

    def payload(self, ask: Ask, model: str | None) -> dict[str, JsonValue]:
        made = {
            **({"model": model} if model else {}),
            "messages": list(ask.messages),
            self._limit_field: ask.max_tokens + self.for_thought(ask),
            **self._temperature,
            **({"tools": list(ask.tools)} if ask.tools else {}),
            **({"stream": True} if ask.streamed else {}),
            **self._of(ask),
            **self._extra,
            **ask.more,
        }
        return worded(made, ask.api)

    def counts(self, ask: Ask) -> bool:
        """Whether the answer to this request must report usage."""
        return not ask.streamed or ask.api != "chat" or "stream_options" in self._of(ask)

    def learn(self, answer: ServerAnswer) -> bool:
        """Learn from an answer; return whether to repeat the request without a refused field."""
        if answer.ok:
            self._settled |= {_kind(answer.ask)} if answer.ask.api == "chat" else set()
            return False
        refused = answer.error is not None and meaning(answer.status).about in _REFUSALS
        if not refused or mentions_flags(answer):
            return False
        # The limit is renamed; the temperature, or fields that no answer had yet, are left out.
        message, kind = answer.error or "", _kind(answer.ask)
        if _NEW_LIMIT in message and self._limit_field != _NEW_LIMIT:
            self._limit_field = _NEW_LIMIT
        elif "temperature" in message and self._temperature:
            self._temperature = {}
        elif kind not in self._settled and len(self._more[kind]) > 1 and self._of(answer.ask):
            self._more[kind].pop(0)
        else:
            return False
        return True

    def _of(self, ask: Ask) -> JsonObject:
        plain = "model" in ask.more or ask.api != "chat"
        return {} if plain else self._more[_kind(ask)][0]


def _kind(ask: Ask) -> Kind:
    return "prompt" if ask.max_tokens == 1 else ask.mode
