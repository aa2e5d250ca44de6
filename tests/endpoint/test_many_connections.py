"""An endpoint has fewer connections than its process may open files, and logs trouble once."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import resource
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import tunaeval
from tests.cli.conftest import environment
from tests.endpoint.asking import chat, question, said
from tunaeval import ModelRequest
from tunaeval.endpoint import connections

HOST = """
import json, os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[1])))
import tunaeval
taken = []
with tunaeval.model_endpoint(lambda _: "Done.") as model:
    for _ in range(int(sys.argv[2])):
        try:
            taken.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            break
    for one in taken[-1:]:
        os.close(one)
    print(model.url, flush=True)
    for line in sys.stdin:
        print(len(os.listdir("/proc/self/fd")), flush=True)
"""
"""Serves in a process that may open so many files, of which the host takes others for itself."""

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts files in /proc")


@contextlib.contextmanager
def served(files: int, taken: int = 0) -> Iterator[tuple[str, Any]]:
    command = [sys.executable, "-c", HOST, str(files), str(taken)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment(),
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        yield process.stdout.readline().strip(), process
        process.stdin.close()


def opened(url: str) -> socket.socket:
    address = httpx2.URL(url)
    return socket.create_connection((address.host, address.port or 0), timeout=30)


REQUEST = json.dumps(question()).encode()
ASKED = b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n%s"


def answer(client: socket.socket) -> bytes:
    """Ask on a connection that stays open, and return the answer."""
    client.sendall(ASKED % (len(REQUEST), REQUEST))
    got = b""
    while not got.endswith(b"}}") and (more := client.recv(1 << 16)):
        got += more
    return got


def is_closed(client: socket.socket) -> bool:
    """Whether the other side has closed a connection on which nothing is waited for."""
    if not select.select([client], [], [], 0)[0]:
        return False
    try:
        return client.recv(1) == b""
    except ConnectionError:
        return True


@needs_proc
@pytest.mark.parametrize("begun", [b"", b"POST /v1/chat"], ids=["idle", "begun"])
@pytest.mark.parametrize("files", [64, 128])
def test_more_connections_than_descriptors_close_the_oldest_and_starve_nobody(
    files: int, begun: bytes
) -> None:
    with served(files) as (url, process), contextlib.ExitStack() as stack:
        clients = []
        for _ in range(3 * files):
            clients.append(stack.enter_context(opened(url)))
            if begun:
                clients[-1].sendall(begun)
        assert said(chat(url))["content"] == "Done."
        print(file=process.stdin, flush=True)
        assert int(process.stdout.readline()) < files
        process.stdin.close()
        words = process.stderr.read()
    assert words.count("\n") == 1
    assert "it has all" in words
    assert "this is logged once" in words


def test_the_connection_that_waited_longest_is_closed_and_those_in_use_stay() -> None:
    hold = asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def held(request: ModelRequest) -> str:
        if request.messages[0]["content"] == "wait":
            loops.append(asyncio.get_running_loop())
            await hold.wait()
        return "Done."

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len([*Path("/dev/fd").iterdir()]) + 24 + 16, hard))
    try:
        with tunaeval.model_endpoint(held) as model, contextlib.ExitStack() as stack:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            body = json.dumps(question("wait")).encode()
            busy = stack.enter_context(opened(model.url))
            busy.sendall(ASKED % (len(body), body))
            clients = [stack.enter_context(opened(model.url)) for _ in range(4)]
            assert all(answer(one).startswith(b"HTTP/1.1 200") for one in clients)
            assert answer(clients[0]).startswith(b"HTTP/1.1 200")  # now it is the newest
            more = [stack.enter_context(opened(model.url)) for _ in range(3)]
            assert all(answer(one).startswith(b"HTTP/1.1 200") for one in more)
            assert is_closed(clients[1])
            assert not any(map(is_closed, (busy, clients[0], *more)))
            loops[0].call_soon_threadsafe(hold.set)
            assert busy.recv(1 << 16).startswith(b"HTTP/1.1 200")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@needs_proc
def test_a_host_that_takes_all_descriptors_is_told_once_and_served_all_the_same() -> None:
    with served(64, taken=64) as (url, process), contextlib.ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(opened(url))
        assert said(chat(url))["content"] == "Done."
        process.stdin.close()
        words = process.stderr.read()
    assert words.count("\n") == 1
    assert "a connection cannot be accepted: Too many open files; this is logged once" in words


def test_an_error_of_a_connection_is_logged_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no such thing")

    monkeypatch.setattr(connections, "_check_headers", broken)
    with caplog.at_level(logging.WARNING), tunaeval.model_endpoint(["Done."]) as model:
        for _ in range(3):
            with opened(model.url) as client:
                assert answer(client) == b""
    (record,) = caplog.records
    assert "a connection ended by an error: RuntimeError('no such thing')" in record.getMessage()
