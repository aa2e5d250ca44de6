"""The endpoint is an HTTP server that keeps to the protocol, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

import tunaeval
from tests.endpoint.asking import chat, question, refusal, said
from tunaeval import ModelRequest
from tunaeval.errors import UsageError

SERVED = ["Done."] * 3


def open_files() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts descriptors in /proc")
def test_nothing_is_left_when_the_block_ends() -> None:
    before = open_files(), set(threading.enumerate())
    for _ in range(5):
        with (
            tunaeval.model_endpoint(SERVED) as model,
            httpx2.Client() as client,
            socket.create_connection(("127.0.0.1", int(model.url.split(":")[2][:-3]))),
        ):
            client.post(f"{model.url}/chat/completions", json=question())
    assert (open_files(), set(threading.enumerate())) == before
    with pytest.raises(httpx2.ConnectError):
        chat(model.url)


def test_it_is_served_in_the_running_loop_by_async_with() -> None:
    async def ask() -> tuple[int, set[asyncio.Task[None]], int]:
        threads = threading.active_count()
        async with tunaeval.model_endpoint(SERVED) as model, httpx2.AsyncClient() as client:
            reply = await client.post(f"{model.url}/chat/completions", json=question())
            assert threading.active_count() == threads
        await asyncio.sleep(0)
        return reply.status_code, asyncio.all_tasks() - {asyncio.current_task()}, len(model.turns)

    assert asyncio.run(ask()) == (200, set(), 1)


def test_a_blocking_endpoint_can_be_used_inside_a_loop() -> None:
    async def ask() -> int:
        with tunaeval.model_endpoint(SERVED) as model:
            async with httpx2.AsyncClient() as client:
                return (
                    await client.post(f"{model.url}/chat/completions", json=question())
                ).status_code

    assert asyncio.run(ask()) == 200


def test_an_endpoint_is_served_once() -> None:
    model = tunaeval.model_endpoint(SERVED)
    with pytest.raises(UsageError, match="is not served yet"):
        _ = model.url
    with model:
        assert model.url.endswith("/v1")
    with pytest.raises(UsageError, match="was entered before"), model:
        pass


def test_a_connection_is_kept_and_a_body_may_come_in_chunks() -> None:
    async def ask() -> set[object]:
        async def body() -> object:
            for piece in (
                b'{"model": "m", "mess',
                b'ages": [{"role": "user", ',
                b'"content": "x"}]}',
            ):
                yield piece

        ports = set()
        async with tunaeval.model_endpoint(SERVED) as model, httpx2.AsyncClient() as client:
            for _ in SERVED:
                reply = await client.post(f"{model.url}/chat/completions", content=body())  # type: ignore[arg-type] # an async generator
                assert reply.status_code == 200
                ports.add(reply.extensions["network_stream"].get_extra_info("client_addr"))
        return ports

    assert len(asyncio.run(ask())) == 1


def test_a_client_that_leaves_harms_nobody() -> None:
    async def slow(_: ModelRequest) -> str:
        await asyncio.sleep(0.3)
        return "x" * 100_000

    with tunaeval.model_endpoint(slow) as model:
        with pytest.raises(httpx2.ReadTimeout):
            httpx2.post(f"{model.url}/chat/completions", json=question(), timeout=0.05)
        assert said(chat(model.url))["content"].startswith("xxx")


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (b"{", "the body is no JSON"),
        (b"[]", "the body is list; wanted a JSON object"),
        (b"{}", "'messages' is None; wanted a list"),
        (b'{"messages": [3]}', r"'messages[0]' is 3; wanted an object with a role"),
        (b'{"messages": [{"role": "user"}], "tools": 3}', "'tools' is 3; wanted a list"),
        (b'{"messages": [{"role": "user"}], "tools": [{"type": "function"}]}', "'tools' cannot"),
        (b'{"messages": [{"role": "user"}], "n": 2}', "'n' is 2; this endpoint gives one"),
        (b"\xff\xfe", "the body is no JSON"),
        (b'{"messages": ' + b"[" * 5000, "the body is no JSON"),
    ],
)
def test_bad_requests_get_an_error_as_openai_writes_them(sent: bytes, words: str) -> None:
    with tunaeval.model_endpoint(SERVED) as model:
        assert words in refusal(httpx2.post(f"{model.url}/chat/completions", content=sent))
        assert said(chat(model.url))["content"] == "Done."
    assert model.left == len(SERVED) - 1


def test_unknown_paths_and_methods_are_said() -> None:
    with tunaeval.model_endpoint(SERVED) as model:
        base = model.url
        assert "there is no POST /v1/else" in refusal(httpx2.post(f"{base}/else", json={}))
        assert httpx2.get(f"{base}/chat/completions").status_code == 405
        assert httpx2.get(f"{base}/models").json()["data"][0]["id"] == "tunaeval"


@pytest.mark.parametrize("raw", [b"\x16\x03\x01 tls", b"GET\r\n\r\n", b"G" * 100_000])
def test_what_is_no_http_is_answered_and_closed(raw: bytes) -> None:
    with tunaeval.model_endpoint(SERVED) as model:
        port = int(model.url.split(":")[2].removesuffix("/v1"))
        with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
            client.sendall(raw + b"\r\n\r\n")
            assert client.recv(100).startswith((b"HTTP/1.1 4", b""))
        assert said(chat(model.url))["content"] == "Done."


def test_sixty_four_at_once_are_all_answered() -> None:
    async def echo(request: ModelRequest) -> str:
        await asyncio.sleep(0.05)
        return str(request.messages[0]["content"])

    with tunaeval.model_endpoint(echo) as model, ThreadPoolExecutor(64) as pool:
        words = [str(number) for number in range(128)]
        got = pool.map(lambda word: said(chat(model.url, question(word)))["content"], words)
        assert list(got) == words
    assert [turn.number for turn in model.turns] == list(range(1, 129))
