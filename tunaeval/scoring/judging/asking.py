"""Ask a client one question, or take the cached reply, and return the votes."""

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
"""Status codes with which servers refuse a response format that they do not know."""


def model_of(client: Client) -> str | None:
    """Return the model's name, or None until the client knows it."""
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
        """Return one vote for each category; `number` counts the earlier times of asking."""
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

    async def _result(self, question: Question, text: str, number: int) -> _Result:
        base = self._request(question, text, number)
        for one in self._ways(base):
            kept = self.cache.get(self._key(one)) if self._may_cache() and self.cache else None
            if kept is not None:
                return _read(kept, cached=True, by_schema=one.schema is not None)
        word = boundary(self.boundary_seed, self._key(base))
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
        if self._may_cache() and self.cache:
            way = base if by_schema else replace(base, schema=None)
            self.cache.put(self._key(way), reply)
        return _read(reply, cached=False, by_schema=by_schema)

    def _ways(self, base: Request) -> tuple[Request, ...]:
        """Return the requests that may be cached: also without a schema, if one was refused."""
        if self.held_to == "auto":
            return base, replace(base, schema=None)
        return (base,)

    def _request(self, question: Question, text: str, number: int) -> Request:
        """Return the request without its boundary, which is random and no part of the question."""
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
        """Return the reply, and whether the server had a schema of it."""
        try:
            return await reply_of(self.client, request), request.schema is not None
        except (ClientSetupError, TransportFailure) as error:
            if self.held_to != "auto" or error.status not in _NO_SCHEMA_STATUS:
                raise
            return await reply_of(self.client, replace(request, schema=None)), False

    def _may_cache(self) -> bool:
        """Whether replies may be cached: an unnamed model may be another one tomorrow."""
        return model_of(self.client) is not None

    def _key(self, request: Request) -> str:
        content = {
            "client": self.client.name,
            "model": model_of(self.client),
            "messages": request.messages,
            "schema": request.schema,
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
            "number": request.repeat,
        }
        return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class _Result(NamedTuple):
    """A reply's text, the fault that makes it no verdict, if any, and whether a schema bound it."""

    text: str
    fault: str | None
    cached: bool
    by_schema: bool = False


def _read(reply: Reply, *, cached: bool, by_schema: bool) -> _Result:
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
    """Replace lone surrogates, which files cannot store, by escapes."""
    return text.encode("utf-8", "backslashreplace").decode()
