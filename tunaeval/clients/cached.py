"""A client that asks another client only for replies that are not in its store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from tunaeval.errors import UsageError
from tunaeval.files.reply_store import ReplyCache, cache_in, digest_of
from tunaeval.types.calls import JsonObject
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.roles import Agent, Client
from tunaeval.types.third_party import reply_of

from .pace import stopped
from .replay import ReplayClient
from .scripted import ScriptedClient
from .server import Chat, chat_payload, clock_of

_CUT = "length"
"""The finish reason of a reply that was cut off; asked again, it may be whole."""


class CachedClient:
    """Takes replies from `cache`; asks `client` only for the missing ones, and keeps them there.

    A stored reply is used if the address, the body of the request, the scenario and the numbers of
    its repeat and attempt are the same, so repeats are asked separately. Failures and replies that
    were cut off are not stored. The cache's time is not the request's. Closing it closes both.

    Raises UsageError for a client that asks no model, or that streams.
    """

    def __init__(self, client: Client, cache: ReplyCache) -> None:
        if isinstance(client, ReplayClient | ScriptedClient | Agent):
            raise UsageError(
                f"a cache of replies is for clients that ask a model, and {client.name!r} does "
                "not; leave out 'cache' (--cache)"
            )
        if getattr(client, "streams", False):
            raise UsageError(
                "a streamed reply is measured as it arrives, so it is never taken from a cache; "
                "leave out either 'stream' or 'cache' (--stream, --cache)"
            )
        self.client, self.cache = client, cache
        self.name = client.name

    @property
    def details(self) -> JsonObject:
        return dict(getattr(self.client, "details", None) or {})

    @property
    def model(self) -> str | None:
        model = getattr(self.client, "model", None)
        return None if model is None else str(model)

    @property
    def heading(self) -> str | None:
        heading = getattr(self.client, "heading", None)
        return None if heading is None else str(heading)

    async def complete(self, request: Request) -> Reply:
        if isinstance(self.client, Chat):
            await self.client.find_model(clock_of(request))
        asked = digest_of(
            {
                "client": self.name,
                "details": self.details,
                "body": chat_payload(request, self.model or ""),
                "scenario": request.scenario,
                "repeat": request.repeat,
                "attempt": request.attempt,
            }
        )
        with stopped(request.deadline):
            known = await self.cache.get(asked)
        if known is not None:
            return known
        reply = await reply_of(self.client, request)
        if reply.finish_reason != _CUT:
            with stopped(request.deadline):
                await self.cache.put(asked, reply)
        return reply

    async def close(self) -> None:
        await self.cache.aclose()
        await self.client.close()


@asynccontextmanager
async def cached_in(client: Client, place: Path | str) -> AsyncIterator[CachedClient]:
    """Yield the client with a cache in a directory, which is closed at the end."""
    async with aclosing(cache_in(place)) as cache:
        yield CachedClient(client, cache)
