"""The OpenAI-compatible client against fakellm, a server that others wrote."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from tests.servers import fakellm
from tunaeval.clients.openai import OpenAIClient
from tunaeval.errors import TransportFailure
from tunaeval.types.exchange import Reply, Request

pytest.importorskip("fakellm", reason="fakellm is not installed")

RULES = """
version: 1
rules:
  - name: call
    when: {messages_contain: "read the file"}
    respond:
      tool_calls: [{name: read_file, arguments: {filepath: "src/main.py"}}]
  - name: refused
    when: {messages_contain: "too much"}
    respond: {status: 400, error: "that is too much"}
  - name: key
    when: {header.authorization: "Bearer sk-right", messages_contain: "who am I"}
    respond: {content: "a friend"}
  - name: text
    when: {messages_contain: "greet me"}
    respond: {content: "Hello!"}
"""


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with fakellm(RULES, tmp_path_factory.mktemp("fakellm")) as url:
        yield url


def ask(base_url: str, words: str, *, model: str | None = "m") -> Reply:
    async def run() -> Reply:
        client = OpenAIClient(base_url=base_url, model=model)
        try:
            return await client.complete(Request([{"role": "user", "content": words}]))
        finally:
            await client.close()

    return asyncio.run(run())


def test_text_is_had(base_url: str) -> None:
    reply = ask(base_url, "please greet me")
    assert reply.message["content"] == "Hello!"
    assert reply.finish_reason == "stop"
    assert reply.usage.prompt_tokens is not None


def test_calls_are_had(base_url: str) -> None:
    reply = ask(base_url, "please read the file")
    (call,) = reply.message["tool_calls"]
    assert call["function"]["name"] == "read_file"
    assert json.loads(call["function"]["arguments"]) == {"filepath": "src/main.py"}
    assert reply.finish_reason == "tool_calls"


def test_its_refusal_is_quoted(base_url: str) -> None:
    with pytest.raises(TransportFailure, match="that is too much"):
        ask(base_url, "this is too much")


def test_the_key_reaches_it(base_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUNAEVAL_API_KEY", "sk-right")
    assert ask(base_url, "who am I").message["content"] == "a friend"


def test_it_lists_no_models_and_is_asked_all_the_same(base_url: str) -> None:
    assert ask(base_url, "greet me", model=None).message["content"] == "Hello!"
