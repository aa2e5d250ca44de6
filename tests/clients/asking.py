"""One request to a faulty server: what comes back, or how it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from tests.faults import Answer, FaultServer, chat
from tunaeval.clients.openai import OpenAIClient
from tunaeval.errors import TransportFailure
from tunaeval.types.exchange import Reply, Request

T = TypeVar("T")

HELLO = Request(messages=[{"role": "user", "content": "hello"}])
GOOD = chat("hello").body


def using(client: OpenAIClient, talk: Callable[[OpenAIClient], Awaitable[T]]) -> T:
    """What the talk gives; the client is closed after it."""

    async def run() -> T:
        try:
            return await talk(client)
        finally:
            await client.close()

    return asyncio.run(run())


def ask(server: FaultServer, request: Request = HELLO, **options: Any) -> Reply:
    client = OpenAIClient(base_url=server.base_url, **{"model": "m", **options})
    return using(client, lambda client: client.complete(request))


def failure(*script: Answer, then: Answer | None = None, **options: Any) -> TransportFailure:
    with FaultServer(*script, then=then) as server, pytest.raises(TransportFailure) as caught:
        ask(server, **options)
    return caught.value
