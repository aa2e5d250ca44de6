"""The clients of models: over HTTP, embedded, from a recording, or from a script.

A client's module is imported when it is named, because httpx2 takes longer to import than
everything else of tunaeval together.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

from tunaeval.registry import Registry
from tunaeval.types.roles import Client
from tunaeval.types.shapes import maker_of

_CLIENTS = {
    "llamacpp": "tunaeval.clients.llamacpp:LlamaCppClient",
    "openai": "tunaeval.clients.openai:OpenAIClient",
    "replay": "tunaeval.clients.replay:ReplayClient",
    "scripted": "tunaeval.clients.scripted:ScriptedClient",
}

clients: Registry[Any] = Registry(  # each thing makes a Client: a class, or a callable
    "tunaeval.clients", "client", builtins=_CLIENTS, check=maker_of(Client)
)


@asynccontextmanager
async def cached(client: Client, place: Path | str) -> AsyncIterator[Client]:
    """Yield the client with a cache in a directory: it is asked only what is not there."""
    from tunaeval.files.reply_store import cache_in  # noqa: PLC0415 - it loads sqlite3

    from .cached import CachedClient  # noqa: PLC0415 - it loads HTTP

    async with aclosing(cache_in(place)) as cache:
        yield CachedClient(client, cache)
