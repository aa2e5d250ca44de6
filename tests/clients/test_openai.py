"""The OpenAI-compatible client against a server that behaves: what is asked and what is had."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.clients.asking import HELLO, ask, using
from tests.faults import CANARY_KEY, Answer, FaultServer, chat, completion
from tunaeval.clients.openai import OpenAIClient
from tunaeval.errors import ClientSetupError, TransportFailure, UsageError
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.messages import Usage
from tunaeval.types.roles import Client


def test_it_is_a_client() -> None:
    assert isinstance(OpenAIClient(base_url="http://127.0.0.1:1"), Client)


def test_a_reply_has_what_the_server_said() -> None:
    with FaultServer(chat("hi")) as server:
        reply = ask(server)
    assert reply.message == {"role": "assistant", "content": "hi"}
    assert reply.finish_reason == "stop"
    assert reply.usage == Usage(7, 3)
    assert reply.retries == 0
    assert reply.latency_seconds is not None
    assert reply.latency_seconds > 0


@pytest.mark.parametrize("arguments", [None, {"a": 10**30}, '{"a": 1}', "", [1]])
def test_a_message_is_left_as_the_server_gave_it(arguments: object) -> None:
    call = {"id": None, "function": {"name": "grep", "arguments": arguments}}
    message = {"role": "assistant", "content": "\ud800", "tool_calls": [call]}
    with FaultServer(completion(message, None)) as server:
        reply = ask(server)
    assert reply.message == message
    assert reply.finish_reason is None


def test_what_is_asked_has_the_shape_of_chat_completions() -> None:
    tools = [{"type": "function", "function": {"name": "grep", "parameters": {}}}]
    request = Request(HELLO.messages, tools=tools, schema={"type": "object"}, seed=5, max_tokens=9)
    with FaultServer() as server:
        ask(server, request)
    (seen,) = server.seen
    assert (seen.method, seen.path) == ("POST", "/v1/chat/completions")
    assert seen.json == {
        "model": "m",
        "messages": HELLO.messages,
        "max_tokens": 9,
        "temperature": 0.0,
        "seed": 5,
        "tools": tools,
        "tool_choice": "auto",
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": {"type": "object"}},
        },
    }


def test_what_is_not_set_is_not_asked() -> None:
    with FaultServer() as server:
        ask(server, Request(HELLO.messages, temperature=None))
    assert set(server.seen[0].json) == {"model", "messages", "max_tokens"}


def test_a_models_strange_text_can_be_sent_back_to_it() -> None:
    messages = [{"role": "assistant", "content": "\ud800", "n": 2**70}]
    with FaultServer() as server:
        ask(server, Request(messages))
    assert server.seen[0].json["messages"] == messages


@pytest.mark.parametrize(
    ("environment", "sent"),
    [
        ({}, None),
        ({"OPENAI_API_KEY": "sk-b"}, "Bearer sk-b"),
        ({"OPENAI_API_KEY": "sk-b", "TUNAEVAL_API_KEY": "sk-a\n"}, "Bearer sk-a"),
    ],
)
def test_the_key_comes_from_the_environment(
    environment: dict[str, str], sent: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, key in environment.items():
        monkeypatch.setenv(variable, key)
    with FaultServer() as server:
        ask(server)
    assert server.seen[0].headers.get("authorization") == sent


@pytest.mark.parametrize("key", ["sk-a\r\nx: y", "sk-a sk-b", "sk-ä"])
def test_a_key_that_is_none_is_refused_and_not_shown(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUNAEVAL_API_KEY", key)
    with pytest.raises(ClientSetupError, match="TUNAEVAL_API_KEY") as caught:
        OpenAIClient(base_url="http://127.0.0.1:1")
    assert "sk-" not in str(caught.value)


@pytest.mark.parametrize("variable", ["sk-0123456789", "9KEY", "MY KEY", "SCHLÜSSEL", ""])
def test_what_names_no_variable_is_refused_and_not_shown(variable: str) -> None:
    with pytest.raises(UsageError, match="can be no name of a variable") as caught:
        OpenAIClient(base_url="http://127.0.0.1:1", key_variables=(variable,))
    assert not variable or variable not in str(caught.value)


def test_the_address_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        client = OpenAIClient(model="m")
        assert using(client, lambda client: client.complete(HELLO)).message["content"] == "hello"


@pytest.mark.parametrize(
    ("base_url", "words"),
    [
        (None, "--base-url"),
        ("127.0.0.1:8000", "wanted something like http"),
        ("file:///etc/passwd", "wanted something like http"),
        ("http://", "wanted something like http"),
        ("http://[::1", "cannot be read"),
        (f"http://user:{CANARY_KEY}@localhost/v1", "take it out"),
    ],
)
def test_an_address_that_cannot_be_right_is_refused(base_url: str | None, words: str) -> None:
    with pytest.raises(ClientSetupError, match=words) as caught:
        OpenAIClient(base_url=base_url)
    assert CANARY_KEY not in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [{"attempt_timeout": 0}, {"deadline": -1}, {"connections": 0}, {"max_retries": -1}],
)
def test_an_option_that_cannot_be_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(options))):
        OpenAIClient(base_url="http://127.0.0.1:1", **options)


def test_a_model_that_was_not_named_is_the_servers_first() -> None:
    models = Answer(b'{"object": "list", "data": [{"id": "first"}, {"id": "second"}]}')
    with FaultServer(models) as server:
        client = OpenAIClient(base_url=server.base_url)
        using(client, lambda client: client.complete(HELLO))
    assert [seen.path for seen in server.seen] == ["/v1/models", "/v1/chat/completions"]
    assert server.seen[1].json["model"] == "first"
    assert client.details == {"model": "first", "base_url": server.base_url}


def test_a_server_without_a_list_of_models_is_asked_for_its_only_one() -> None:
    with FaultServer(Answer(status=404), then=chat("hello")) as server:
        assert ask(server, model=None).message["content"] == "hello"
    assert server.seen[1].json["model"] == "default"


@pytest.mark.parametrize("answer", [Answer(b"{}"), Answer(b'{"data": []}')])
def test_a_server_that_names_no_model_wants_one_named(answer: Answer) -> None:
    with FaultServer(answer) as server, pytest.raises(ClientSetupError, match="option 'model'"):
        ask(server, model=None)


def test_connections_are_kept_and_used_again() -> None:
    async def five(client: OpenAIClient) -> None:
        for _ in range(5):
            await client.complete(HELLO)

    with FaultServer() as server:
        using(OpenAIClient(base_url=server.base_url, model="m"), five)
    assert len(server.seen) == 5
    assert server.connections == 1


def test_no_more_are_in_flight_than_allowed() -> None:
    async def twenty(client: OpenAIClient) -> None:
        await asyncio.gather(*(client.complete(HELLO) for _ in range(20)))

    slow = Answer(chat("x").body, seconds_before=0.02)
    with FaultServer(then=slow) as server:
        using(OpenAIClient(base_url=server.base_url, model="m", connections=4), twenty)
    assert len(server.seen) == 20
    assert server.most_open == 4


def test_a_cancelled_request_gives_its_place_back() -> None:
    async def cancel_then_ask(client: OpenAIClient) -> Reply:
        first = asyncio.create_task(client.complete(HELLO))
        while not server.seen:  # noqa: ASYNC110 - a thread of its own sees it
            await asyncio.sleep(0.01)
        first.cancel()
        await asyncio.wait([first])
        return await client.complete(HELLO)

    with FaultServer(Answer(seconds_before=30)) as server:
        client = OpenAIClient(base_url=server.base_url, model="m", connections=1)
        assert using(client, cancel_then_ask).message["content"] == "hello"
    assert server.connections == 2


def test_a_connection_that_the_server_closed_meanwhile_is_replaced() -> None:
    async def twice(client: OpenAIClient) -> Reply:
        await client.complete(HELLO)
        while server.open_now:  # noqa: ASYNC110 - a thread of its own closes it
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)  # the end of the connection has to arrive
        return await client.complete(HELLO)

    with FaultServer(Answer(chat("x").body, close=True)) as server:
        reply = using(OpenAIClient(base_url=server.base_url, model="m"), twice)
    assert reply.retries == 0
    assert server.connections == 2


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the first loop took its socket with it
def test_a_client_outlives_an_event_loop() -> None:
    async def several(client: OpenAIClient) -> list[Reply]:
        return await asyncio.gather(*(client.complete(HELLO) for _ in range(3)))

    with FaultServer() as server:
        client = OpenAIClient(base_url=server.base_url, model="m", connections=1)
        asyncio.run(several(client))
        gc.collect()
        assert len(using(client, several)) == 3
        gc.collect()


def test_any_httpx2_transport_will_do() -> None:
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=chat("mine").body))
    client = OpenAIClient(base_url="http://server/v1", model="m", transport=transport)
    assert using(client, lambda client: client.complete(HELLO)).message["content"] == "mine"


def test_an_untrusted_certificate_is_not_tried_again(tmp_path: Path) -> None:
    import shutil
    import ssl
    import subprocess

    if shutil.which("openssl") is None:
        pytest.skip("openssl is not here to make a certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=localhost", "-days", "1", "-keyout", str(key), "-out"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject]
    subprocess.run([*command, str(certificate)], check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    tries = 0

    async def run() -> None:
        def count(_: object, writer: asyncio.StreamWriter) -> None:
            nonlocal tries
            tries += 1
            writer.close()

        server = await asyncio.start_server(count, "127.0.0.1", 0, ssl=context)
        port = server.sockets[0].getsockname()[1]
        client = OpenAIClient(base_url=f"https://localhost:{port}/v1", model="m")
        try:
            await client.complete(HELLO)
        finally:
            await client.close()
            server.close()

    with pytest.raises(TransportFailure, match="certificate is not trusted"):
        asyncio.run(run())
    assert tries == 0


def test_an_unreachable_server_is_named() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    client = OpenAIClient(base_url=f"http://127.0.0.1:{port}/v1", model="m")
    with pytest.raises(TransportFailure) as caught:
        using(client, lambda client: client.complete(HELLO))
    assert caught.value.kind == "connect"
    assert f"127.0.0.1:{port}" in str(caught.value)
    assert "Connection refused" in str(caught.value)
    assert "is the server running" in str(caught.value)
    assert "3 tries" in str(caught.value)
