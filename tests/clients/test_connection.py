"""A kept connection: however a response is cut, it is one; what ends a connection ends no run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.clients.asking import GOOD, HELLO
from tests.faults import CANARY_KEY
from tunaeval.clients.openai import OpenAIClient
from tunaeval.errors import TransportFailure
from tunaeval.types.exchange import Reply

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
HALF = len(GOOD) // 2
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n" + b"".join(
    b"%x\r\n%b\r\n" % (len(part), part) for part in (GOOD[:HALF], GOOD[HALF:])
)  # fmt: skip
RESPONSES = {
    "with its length": HEAD + b"content-length: %d\r\n\r\n" % len(GOOD) + GOOD,
    "in chunks": CHUNKED + b"0\r\n\r\n",
    "until the end": HEAD + b"connection: close\r\n\r\n" + GOOD,
    "after a 103": b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
    + HEAD + b"content-length: %d\r\n\r\n" % len(GOOD) + GOOD,
}  # fmt: skip
WHOLE = RESPONSES["with its length"]


class Raw:
    """A server that answers every request with these bytes, piece by piece."""

    def __init__(self, pieces: Sequence[bytes], *, ends: bool, afterwards: bytes = b"") -> None:
        self.pieces, self.ends, self.afterwards = pieces, ends, afterwards
        self.connections = self.sent = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
                await reader.readexactly(length)
                for piece in self.pieces:
                    writer.write(piece)
                    await writer.drain()
                    self.sent += 1
                    await asyncio.sleep(0.001)
                if self.afterwards:
                    await asyncio.sleep(0.02)
                    writer.write(self.afterwards)
                if self.ends:
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serving(raw: Raw) -> AsyncIterator[str]:
    server = await asyncio.start_server(raw.serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


def asked(raw: Raw, *, times: int = 1, pause: float = 0.0) -> list[Reply | TransportFailure]:
    """What comes of so many requests, one after the other."""

    async def run() -> list[Reply | TransportFailure]:
        found: list[Reply | TransportFailure] = []
        async with serving(raw) as address:
            client = OpenAIClient(base_url=address, model="m", max_retries=0)
            for _ in range(times):
                try:
                    found.append(await client.complete(HELLO))
                except TransportFailure as failure:
                    found.append(failure)
                await asyncio.sleep(pause)
            await client.close()
        return found

    return asyncio.run(run())


@pytest.mark.parametrize("name", RESPONSES)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_response_is_the_same_however_it_is_cut(name: str, data: st.DataObject) -> None:
    response = RESPONSES[name]
    places = sorted(data.draw(st.sets(st.integers(1, len(response) - 1), max_size=8)))
    pieces = [response[a:b] for a, b in zip([0, *places], [*places, None], strict=True)]
    (reply,) = asked(Raw(pieces, ends="close" in name or name == "until the end"))
    assert isinstance(reply, Reply)
    assert reply.message["content"] == "hello"


@settings(max_examples=25, deadline=None)
@given(length=st.integers(0, len(WHOLE) - 1))
def test_a_response_that_breaks_off_anywhere_is_a_failure(length: int) -> None:
    (failure,) = asked(Raw([WHOLE[:length]], ends=True))
    assert isinstance(failure, TransportFailure)
    assert failure.kind == "connect"


def test_what_comes_unasked_ends_a_connection_and_no_request() -> None:
    raw = Raw([WHOLE], ends=False, afterwards=WHOLE)
    replies = asked(raw, times=3, pause=0.4)
    assert [type(reply) for reply in replies] == [Reply] * 3
    assert raw.connections == 3


def test_a_response_that_is_no_http_is_a_failure() -> None:
    (failure,) = asked(Raw([b"220 mail.example ESMTP\r\n\r\n"], ends=False))
    assert isinstance(failure, TransportFailure)
    assert failure.kind == "connect"


def test_headers_without_end_are_not_kept() -> None:
    endless = [HEAD, *[b"x-more: " + b"x" * 10_000 + b"\r\n"] * 60]
    (failure,) = asked(Raw(endless, ends=False))
    assert isinstance(failure, TransportFailure)


def test_what_nobody_waits_for_is_read_no_further() -> None:
    """A server that is faster than its reader fills the kernel's buffers, and not our memory."""
    head = HEAD + b"content-length: %d\r\n\r\n" % (64 << 20)
    raw = Raw([head, *[b" " * (1 << 20)] * 64], ends=False)

    async def run() -> None:
        async with serving(raw) as address:
            transport = httpx2.AsyncHTTPTransport()
            request = httpx2.Request("POST", f"{address}/x", content=b"{}")
            response = await transport.handle_async_request(request)
            while not raw.sent:  # noqa: ASYNC110 - the server says nothing else
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.3)
            await response.aclose()
            await transport.aclose()
            await asyncio.sleep(0.05)

    asyncio.run(run())
    assert 0 < raw.sent < 16


def test_a_name_with_several_addresses_says_why_the_first_failed() -> None:
    async def run() -> None:
        async with serving(Raw([], ends=True)) as address:
            port = address.split(":")[2].split("/")[0]
        client = OpenAIClient(base_url=f"http://localhost:{port}/v1", model="m", max_retries=0)
        with pytest.raises(TransportFailure, match=r"no connection \(Connection refused\)"):
            await client.complete(HELLO)
        await client.close()

    asyncio.run(run())


@pytest.mark.parametrize("make", [lambda: None, httpx2.AsyncHTTPTransport])
def test_all_transports_send_the_same(
    make: Callable[[], httpx2.AsyncBaseTransport | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUNAEVAL_API_KEY", CANARY_KEY)
    sent: list[bytes] = []

    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(WHOLE)
        writer.close()

    async def run() -> int:
        server = await asyncio.start_server(keep, "127.0.0.1", 0)
        port = int(server.sockets[0].getsockname()[1])
        client = OpenAIClient(
            base_url=f"http://127.0.0.1:{port}/v1?api-version=1", model="m", transport=make()
        )
        await client.complete(HELLO)
        await client.close()
        server.close()
        return port

    port = asyncio.run(run())
    lines = sent[0].decode().lower().strip().split("\r\n")
    assert lines[0] == "post /v1/chat/completions?api-version=1 http/1.1"
    told = dict(line.split(": ", 1) for line in lines[1:])
    assert told.pop("content-length").isdigit()
    assert told == {
        "host": f"127.0.0.1:{port}",
        "accept": "application/json",
        "accept-encoding": "gzip, deflate",
        "content-type": "application/json",
        "user-agent": "tunaeval",
        "authorization": f"bearer {CANARY_KEY}",
    }
