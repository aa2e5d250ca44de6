"""The OpenAI-compatible client against fakellm, a server that others wrote."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tunaeval.clients import OpenAIClient
from tunaeval.errors import ClientSetupError, TransportFailure
from tunaeval.types import Reply, Request

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
    rules: Path = tmp_path_factory.mktemp("fakellm") / "rules.yaml"
    rules.write_text(RULES)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    code = "from fakellm.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", "--port", str(port), "--config", str(rules)]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ)
    ) as server:
        try:
            _wait_until_it_listens(port, server)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


def _wait_until_it_listens(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        assert server.poll() is None, "fakellm ended"
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("fakellm did not start within 30 s")


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


def test_it_lists_no_models_so_one_must_be_named(base_url: str) -> None:
    with pytest.raises(ClientSetupError, match="option 'model'"):
        ask(base_url, "greet me", model=None)
