"""Parts of a network, all real: a proxy, servers with certificates, an authority of our own."""

from __future__ import annotations

import asyncio
import base64
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import hypercorn.asyncio
import pytest
import trustme
from hypercorn.config import Config

from tests.clients.asking import GOOD

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextmanager
def in_a_thread(
    work: Callable[[asyncio.Event, Callable[[], None]], Awaitable[None]],
) -> Iterator[None]:
    """Run `work(stop, ready)` in a loop and a thread of its own."""
    loop, started = asyncio.new_event_loop(), threading.Event()
    stop = asyncio.Event()
    thread = threading.Thread(
        target=lambda: loop.run_until_complete(work(stop, started.set)), daemon=True
    )
    thread.start()
    assert started.wait(10)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


@contextmanager
def listening(serve: Serve, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """Serve connections on a port of this machine."""
    ports: list[int] = []

    async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.CancelledError):
            try:
                await serve(reader, writer)
            finally:
                writer.close()

    async def work(stop: asyncio.Event, ready: Callable[[], None]) -> None:
        server = await asyncio.start_server(guarded, "127.0.0.1", 0, ssl=tls)
        ports.append(server.sockets[0].getsockname()[1])
        ready()
        await stop.wait()
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.02)  # the loop closes their sockets

    with in_a_thread(work):
        yield ports[0]


@dataclass
class Proxy:
    """Forwards requests and opens tunnels; what it was asked, in order."""

    answer: bytes | None = None
    """What it says in place of both."""
    user: str | None = None
    """user:password that it wants."""
    seen: list[str] = field(default_factory=list)
    heads: list[bytes] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head)
            method, target, _ = head.decode().split(" ", 2)
            self.seen.append(f"{method} {target}")
            if self.answer is not None:
                writer.write(self.answer)
                await writer.drain()
            elif self.user is not None and not self._is_let_in(head):
                writer.write(
                    b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n"
                )
            elif method == "CONNECT":
                await self._tunnel(target, reader, writer)
            else:
                await self._forward(target, head, reader, writer)

    def _is_let_in(self, head: bytes) -> bool:
        wanted = base64.b64encode((self.user or "").encode())
        return b"proxy-authorization: basic " + wanted.lower() in head.lower()

    async def _tunnel(
        self, target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        host, _, port = target.rpartition(":")
        there, back = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_copy(reader, back), _copy(there, writer))

    async def _forward(
        self, target: str, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        place, _, path = target.removeprefix("http://").partition("/")
        host, _, port = place.rpartition(":")
        there, back = await asyncio.open_connection(host, int(port))
        first, rest = head.split(b"\r\n", 1)
        back.write(first.replace(target.encode(), f"/{path}".encode()) + b"\r\n" + rest)
        await asyncio.gather(_copy(reader, back), _copy(there, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


@contextmanager
def proxied(proxy: Proxy) -> Iterator[str]:
    with listening(proxy.serve) as port:
        yield f"http://127.0.0.1:{port}"


@dataclass
class Authority:
    """An authority that nobody else trusts, and what it signed, as files."""

    folder: Path
    ca: str = ""
    cert: str = ""
    key: str = ""
    both: str = ""

    def __post_init__(self) -> None:
        self.own = trustme.CA()
        self._server = self.own.issue_cert("localhost", "127.0.0.1")
        client = self.own.issue_cert("somebody@example.org")
        self.ca, self.cert, self.key, self.both = (
            str(self.folder / name) for name in ("ca.pem", "cert.pem", "key.pem", "both.pem")
        )
        self.own.cert_pem.write_to_path(self.ca)
        client.cert_chain_pems[0].write_to_path(self.cert)
        client.private_key_pem.write_to_path(self.key)
        client.private_key_and_cert_chain_pem.write_to_path(self.both)
        self._server.private_key_and_cert_chain_pem.write_to_path(str(self.folder / "server.pem"))

    def tls(self, *, wants_certificate: bool = False) -> ssl.SSLContext:
        """What a server speaks TLS by."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._server.configure_cert(context)
        if wants_certificate:
            self.own.configure_trust(context)
            context.verify_mode = ssl.CERT_REQUIRED
        return context


async def serve_good(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer every request of a connection with a chat completion."""
    with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            await reader.readexactly(length)
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(GOOD), GOOD))
            await writer.drain()


@contextmanager
def speaking_http2(authority: Authority, port: int) -> Iterator[list[str]]:
    """hypercorn with a chat completion for every request; the versions of HTTP it was asked in."""
    versions: list[str] = []

    async def app(scope: dict[str, str], receive: Callable[[], Awaitable[dict[str, object]]],
                  send: Callable[[dict[str, object]], Awaitable[None]]) -> None:  # fmt: skip
        assert scope["type"] == "http", "hypercorn does without a lifespan"
        versions.append(scope["http_version"])
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": GOOD})

    config = Config()
    config.bind = [f"127.0.0.1:{port}"]
    config.certfile = config.keyfile = str(authority.folder / "server.pem")
    config.accesslog = config.errorlog = None

    async def work(stop: asyncio.Event, ready: Callable[[], None]) -> None:
        serving = asyncio.create_task(
            hypercorn.asyncio.serve(app, config, shutdown_trigger=stop.wait)  # type: ignore[arg-type]  # ASGI's own types
        )
        for _ in range(3000):
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                break
            await asyncio.sleep(0.02)
        ready()
        await serving

    with in_a_thread(work):
        yield versions


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)
