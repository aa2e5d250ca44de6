"""The clients of models: over HTTP, embedded, from a recording, or from a script.

A client's module is imported when it is named, because httpx2 takes longer to import than
everything else of tunaeval together.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from tunaeval.registry import Registry
from tunaeval.types.roles import Agent, Client
from tunaeval.types.shapes import either_of, maker_of

_CLIENTS = {
    "llamacpp": "tunaeval.clients.llamacpp:LlamaCppClient",
    "openai": "tunaeval.clients.openai:OpenAIClient",
    "replay": "tunaeval.clients.replay:ReplayClient",
    "scripted": "tunaeval.clients.scripted:ScriptedClient",
}

clients: Registry[Any] = Registry(  # each thing makes a Client: a class, or a callable
    "tunaeval.clients",
    "client",
    builtins=_CLIENTS,
    check=either_of(maker_of(Client), maker_of(Agent)),
)


def with_cache(client: Client, place: Path | str) -> AbstractAsyncContextManager[Client]:
    """Return a client, to be entered, that keeps replies in a directory and takes them from it."""
    from .cached import cached_in  # noqa: PLC0415 - it loads HTTP and sqlite3

    return cached_in(client, place)
