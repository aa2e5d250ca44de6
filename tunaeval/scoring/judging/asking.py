"""One question put to a client: from the cache or anew, and what came back as votes."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal, NamedTuple, TypeAlias

from tunaeval.errors import ClientSetupError, PluginError, TransportFailure, TunaevalError
from tunaeval.registry import reply_of
from tunaeval.types.exchange import Reply, Request, text_of
from tunaeval.types.roles import Client
from tunaeval.types.runs import JudgeVote

from .answers import read_answers, reply_schema
from .cache import ReplyCache
from .frame import boundary
from .prompts import Question, messages_for

HeldTo: TypeAlias = Literal["auto", "schema", "text"]

_NO_SCHEMA_STATUS = frozenset({400, 404, 415, 422, 500, 501})
"""How servers refuse a response format that they do not know."""


def model_of(client: Client) -> str | None:
    """The model that a client asks; None until it is known."""
    named = getattr(client, "model", None)
    if named is None:
        named = dict(getattr(client, "details", None) or {}).get("model")
    return None if named is None else str(named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a client is asked; the fields are those of `Judge`."""

    client: Client
    temperature: float | None
    seed: int | None
    max_tokens: int
    held_to: HeldTo
    deadline_seconds: float
    cache: ReplyCache | None
    boundary_seed: int | None

    async def votes(self, question: Question, text: str, number: int) -> dict[str, JudgeVote]:
        """One vote for each category of the question; `number` counts how often it was put."""
        said = await self._said(question, text, number)
        answers = read_answers(said.text, question.names, question.scale, by_schema=said.by_schema)
        return {
            name: JudgeVote(
                raw=_storable(said.text),
                value=None if said.fault else answer.value,
                words=_storable(said.fault or answer.words),
                order=question.order,
                cached=said.cached,
            )
            for name, answer in answers.items()
        }

    async def _said(self, question: Question, text: str, number: int) -> _Said:
        asked = self._request(question, text, number)
        for one in self._ways(asked):
            kept = self.cache.get(self._key(one)) if self._may_cache() and self.cache else None
            if kept is not None:
                return _read(kept, cached=True, by_schema=one.schema is not None)
        word = boundary(self.boundary_seed, self._key(asked))
        try:
            async with asyncio.timeout(self.deadline_seconds):
                put = replace(asked, messages=messages_for(question, text, word))
                reply, by_schema = await self._complete(put)
        except TimeoutError:
            return _Said("", f"no reply within {self.deadline_seconds:g} s", cached=False)
        except PluginError as error:
            return _Said("", f"no reply: {error}", cached=False)
        except TunaevalError as error:
            return _Said("", f"no reply: {type(error).__name__}: {error}", cached=False)
        if self._may_cache() and self.cache:
            way = asked if by_schema else replace(asked, schema=None)
            self.cache.put(self._key(way), reply)
        return _read(reply, cached=False, by_schema=by_schema)

    def _ways(self, asked: Request) -> tuple[Request, ...]:
        """How the question may have been put: without a schema where a server refused one."""
        if self.held_to == "auto":
            return asked, replace(asked, schema=None)
        return (asked,)

    def _request(self, question: Question, text: str, number: int) -> Request:
        """What is asked, but for the boundary, which is chance and no part of the question."""
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
        """The reply, and whether the server was given a schema of it."""
        try:
            return await reply_of(self.client, request), request.schema is not None
        except (ClientSetupError, TransportFailure) as error:
            if self.held_to != "auto" or error.status not in _NO_SCHEMA_STATUS:
                raise
            return await reply_of(self.client, replace(request, schema=None)), False

    def _may_cache(self) -> bool:
        """A model that nobody knows yet may be another one tomorrow."""
        return model_of(self.client) is not None

    def _key(self, request: Request) -> str:
        asked = {
            "client": self.client.name,
            "model": model_of(self.client),
            "messages": request.messages,
            "schema": request.schema,
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
            "number": request.repeat,
        }
        return sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


class _Said(NamedTuple):
    """A reply's text, why it is no verdict, if that is plain, and whether a schema bound it."""

    text: str
    fault: str | None
    cached: bool
    by_schema: bool = False


def _read(reply: Reply, *, cached: bool, by_schema: bool) -> _Said:
    message = reply.message
    text = text_of(message.get("content"))
    fault = None
    if message.get("tool_calls") or message.get("function_call"):
        fault = "it called a tool"
    elif message.get("refusal"):
        fault = f"it refused: {message['refusal']!r:.200}"
    elif reply.finish_reason == "length" and not text.rstrip().endswith(("}", "```")):
        fault = "its reply was cut off; raise max_tokens"
    return _Said(text, fault, cached, by_schema)


def _storable(text: str) -> str:
    """As it is, but for lone surrogates, which no file takes."""
    return text.encode("utf-8", "backslashreplace").decode()
