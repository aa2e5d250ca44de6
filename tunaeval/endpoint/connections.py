"""HTTP/1.1 on loopback: connections, read and written by h11, and a server for them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import select
import socket
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import h11
import httpx2
import orjson

from tunaeval.clients.network import LOOPBACK
from tunaeval.clients.pace import openable
from tunaeval.errors import UsageError
from tunaeval.files.keys import shown_safely

_MAX_BODY = 64 << 20
_MAX_HEADERS = 16 << 10
_READ = 1 << 16
_GRACE_SECONDS = 5.0
_PAUSE_SECONDS = 0.1
_BACKLOG = 1024
_NO_CONTENT = 204
_LOG = logging.getLogger("tunaeval.endpoint")


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A complete HTTP request. Its query and its body, which may have secrets, are in no repr."""

    method: str
    path: str = field(repr=False)
    headers: dict[str, str]
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """An HTTP response, whose parts are sent one by one, as chunks unless it has a `length`. Those
    of an async generator are sent as it makes them; it is closed if the client leaves. With
    `breaks_off` the connection is closed after the last part, without an end of the response.
    """

    status: int
    parts: tuple[bytes, ...] | AsyncGenerator[bytes, None]
    content_type: str = "application/json"
    breaks_off: bool = False
    length: int | None = None
    """The length of the body in bytes, or None for chunks."""
    headers: tuple[tuple[str, str], ...] = ()
    """Further headers."""


Respond: TypeAlias = Callable[[HttpRequest], Awaitable[HttpResponse]]


class Loopback:
    """A server at a port of 127.0.0.1 (0 is a free one), in the event loop that starts it.

    It has at most half as many connections as the process could open files when it started, so
    that its host can open others. For one more, the connection is closed that has waited longest
    for a request; if all are being answered, the new one waits. asyncio's own servers accept
    whatever comes, and without a descriptor log a traceback without end.
    """

    _listening: socket.socket

    def __init__(self, respond: Respond, port: int = 0) -> None:
        self._respond, self._asked_for = respond, port
        self._accepting: asyncio.Task[None] | None = None
        self._open: dict[asyncio.Task[None], _Connection] = {}
        self._moved = asyncio.Event()
        """Set when a connection ends, or begins to wait for a request."""
        self._most = 1
        self._logged: set[str] = set()
        self._stops = False
        self.port = 0

    async def start(self) -> None:
        at = ("127.0.0.1", self._asked_for)
        try:
            self._listening = socket.create_server(at, backlog=_BACKLOG)
        except OSError as error:
            words = f"the port {at[1]} cannot be used: {error.strerror or error}"
            raise UsageError(f"{words}; choose another port, or 0 for a free one") from None
        self._listening.setblocking(False)
        self.port = self._listening.getsockname()[1]
        self._most = max(1, openable()[0] // 2)
        self._accepting = asyncio.create_task(self._accept())

    async def stop(self) -> None:
        """Stop the server; no connection, task or descriptor is left."""
        if self._accepting is None:
            return
        self._stops = True
        await asyncio.sleep(0)  # a connection that was just accepted is begun, and then ended
        tasks = [self._accepting, *self._open]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._listening.close()
        self._accepting = None

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while not self._stops:
            if len(self._open) >= self._most:
                self._log("full", "it has all %d connections that it can have", self._most)
                await self._make_room()
                continue
            try:
                client, _ = await loop.sock_accept(self._listening)
            except OSError as error:  # no descriptor is left, be there a client or not
                self._log(str(error.errno), "a connection cannot be accepted: %s", error.strerror)
                with contextlib.suppress(TimeoutError):
                    wait = self._make_room() if self._is_asked() else asyncio.sleep(_PAUSE_SECONDS)
                    await asyncio.wait_for(wait, _PAUSE_SECONDS)
                continue
            connection = _Connection(self._respond, self._moved)
            task = loop.create_task(self._serve(connection, client))
            self._open[task] = connection
            task.add_done_callback(partial(self._ended, client))

    def _is_asked(self) -> bool:
        """Whether a client waits to be accepted; to ask takes no descriptor."""
        if sys.platform == "win32":
            return bool(select.select([self._listening], [], [], 0)[0])
        poll = select.poll()
        poll.register(self._listening, select.POLLIN)
        return bool(poll.poll(0))

    async def _make_room(self) -> None:
        """Close the connection that has waited longest; if all are being answered, wait until one
        of them ends or waits.
        """
        self._moved.clear()
        waiting = {task: one.waits for task, one in self._open.items() if one.waits is not None}
        if waiting:
            min(waiting, key=waiting.__getitem__).cancel()
        await self._moved.wait()

    def _ended(self, client: socket.socket, task: asyncio.Task[None]) -> None:
        client.close()  # it has no transport yet if the task was cancelled before it began
        del self._open[task]
        self._moved.set()
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._log(type(error).__name__, "a connection ended by an error: %r", error)

    def _log(self, kind: str, words: str, *values: object) -> None:
        """Log a kind of trouble once, as it may come with every connection."""
        if kind not in self._logged:
            self._logged.add(kind)
            _LOG.warning(f"the model endpoint: {words}; this is logged once", *values)

    async def _serve(self, connection: _Connection, client: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=client)
        try:
            await connection.run(reader, writer)
        except (ConnectionError, h11.RemoteProtocolError):
            return  # the client closed the connection, or does not speak HTTP
        finally:
            if self._stops:
                writer.transport.abort()
            writer.close()
            try:
                await asyncio.wait_for(writer.wait_closed(), _GRACE_SECONDS)
            except (ConnectionError, TimeoutError):
                writer.transport.abort()


class _Connection:
    _reader: asyncio.StreamReader
    _writer: asyncio.StreamWriter

    def __init__(self, respond: Respond, moved: asyncio.Event) -> None:
        self._respond, self._moved = respond, moved
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_MAX_HEADERS)
        self.waits: float | None = time.monotonic()
        """Since when the rest of a request is waited for; None while one is answered."""

    async def run(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read requests and send responses in turn, as long as the client keeps the connection."""
        self._reader, self._writer = reader, writer
        while True:
            self.waits = time.monotonic()
            self._moved.set()
            try:
                request = await self._request()
            except h11.RemoteProtocolError as error:
                await self._refuse(error)
                await self._drain()
                return
            if request is None:
                return
            self.waits = None
            response = await self._respond(request)
            await self._send(response, is_head=request.method == "HEAD")
            if response.breaks_off or self._http.our_state is not h11.DONE:
                return
            if self._http.their_state is not h11.DONE:
                return
            self._http.start_next_cycle()

    async def _request(self) -> HttpRequest | None:
        """Return the next request, or None if the client has closed the connection."""
        head: h11.Request | None = None
        body = bytearray()
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                if self._http.they_are_waiting_for_100_continue:
                    await self._write(h11.InformationalResponse(status_code=100, headers=[]))
                self._http.receive_data(await self._reader.read(_READ))
                self.waits = time.monotonic()
            elif isinstance(event, h11.Request):
                head = event
                _check_headers(head)
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > _MAX_BODY:
                    raise _too_long()
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                pairs = ((name.decode("latin-1"), value) for name, value in head.headers)
                headers = shown_safely({name: value.decode("latin-1") for name, value in pairs})
                target = head.target.decode("latin-1")
                return HttpRequest(head.method.decode("ascii"), target, headers, bytes(body))
            else:  # the connection is closed, or was paused
                return None

    async def _send(
        self, response: HttpResponse, *, is_head: bool = False, is_last: bool = False
    ) -> None:
        headers = [("content-type", response.content_type), *response.headers]
        if response.status == _NO_CONTENT:
            headers = [*response.headers]
        elif response.length is None:
            headers.append(("transfer-encoding", "chunked"))
        else:
            headers.append(("content-length", str(response.length)))
        if is_last:
            headers.append(("connection", "close"))
        phrase = httpx2.codes.get_reason_phrase(response.status) or "Scripted"
        await self._write(
            h11.Response(status_code=response.status, headers=headers, reason=phrase.encode())
        )
        if not isinstance(response.parts, tuple):
            await (response.parts.aclose() if is_head else self._send_made(response.parts))
        elif not is_head:
            await self._send_each(response.parts)
        if is_head or not response.breaks_off:
            await self._write(h11.EndOfMessage())

    async def _send_each(self, parts: tuple[bytes, ...]) -> None:
        for part in parts:
            await self._write(h11.Data(data=part))

    async def _send_made(self, parts: AsyncGenerator[bytes, None]) -> None:
        """Send parts as they are made. Raise ConnectionResetError if the client leaves before."""

        async def sent() -> None:
            async for part in parts:
                await self._write(h11.Data(data=part))

        sending, leaving = asyncio.create_task(sent()), asyncio.create_task(self._left())
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not sending.done():
                raise ConnectionResetError("the client left")
            await sending
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
            await parts.aclose()

    async def _left(self) -> None:
        """Return when the client has closed the connection; what it sends before is kept."""
        with contextlib.suppress(ConnectionError):
            while data := await self._reader.read(_READ):
                self._http.receive_data(data)

    async def _refuse(self, error: h11.RemoteProtocolError) -> None:
        """Send why a request is invalid, unless a response has begun."""
        if self._http.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            status = error.error_status_hint
            words = _TOO_LONG.get(status, f"this is no HTTP request: {error}")
            kind = {"type": "invalid_request_error", "param": None, "code": None}
            body = orjson.dumps({"error": {"message": words, **kind}})
            await self._send(whole(status, body), is_last=True)

    async def _drain(self) -> None:
        """Read what the client still sends. A connection that is closed on unread bytes is reset,
        and the client would lose the response.
        """
        if self._writer.can_write_eof():
            self._writer.write_eof()
        left = 2 * _MAX_BODY  # a body that is a little too long may still be arriving
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_SECONDS):
                while left > 0 and (chunk := await self._reader.read(_READ)):
                    left -= len(chunk)

    async def _write(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if data:
            self._writer.write(data)
            await self._writer.drain()


_TOO_LONG = {
    413: f"the request has more than {_MAX_BODY} bytes",
    431: f"the headers have more than {_MAX_HEADERS:,} bytes",
}


def whole(
    status: int,
    body: bytes,
    content_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """Return a response that is sent in one piece."""
    more = (*(headers or {}).items(),)
    return HttpResponse(status, (body,), content_type, length=len(body), headers=more)


EVENTS = "text/event-stream; charset=utf-8"


def streamed(events: Iterable[bytes]) -> HttpResponse:
    """Return a response of server-sent events, each in a chunk of its own."""
    return HttpResponse(200, tuple(events), EVENTS)


def options(methods: Iterable[str]) -> HttpResponse:
    """Return the response to an OPTIONS request, which lists the allowed methods."""
    return HttpResponse(_NO_CONTENT, (), headers=(("allow", ", ".join(sorted(methods))),))


def foreign(headers: Mapping[str, str]) -> str:
    """Return from where a request of a web page from another origin was sent, or to which host name
    that is not this machine's; "" if neither. Otherwise any open page could spend the API key and
    read the answers. Another port of this machine is another origin, too, as any program may serve
    a page there.
    """
    host, origin = headers.get("host"), headers.get("origin")
    site = headers.get("sec-fetch-site", "none")
    if host is not None and _host_in(f"//{host}") not in LOOPBACK:
        return f"to the host {host!r:.200}"
    if origin is not None and origin != f"http://{host}":
        return f"by a page of {origin!r:.200}"
    if site.lower() not in {"same-origin", "none"}:
        return f"by a page of another origin (Sec-Fetch-Site: {site:.200})"
    return ""


def _host_in(url: str) -> str | None:
    try:
        return httpx2.URL(url).host
    except (httpx2.InvalidURL, ValueError):
        return None


def _check_headers(head: h11.Request) -> None:
    """Raise RemoteProtocolError for headers that are too long, as h11 limits only incomplete ones;
    for a body whose announced length is too large, before any of it is read; and for two lengths,
    as a proxy may have read another end of the body.
    """
    size = sum(len(name) + len(value) + len(": \r\n") for name, value in head.headers)
    if size + len(head.target) > _MAX_HEADERS:
        raise h11.RemoteProtocolError("its headers are too long", error_status_hint=431)
    headers = dict(head.headers)
    length = headers.get(b"content-length")
    if length is not None and b"transfer-encoding" in headers:
        raise h11.RemoteProtocolError("it has both Transfer-Encoding and Content-Length")
    if int(length or 0) > _MAX_BODY:
        raise _too_long()


def _too_long() -> h11.RemoteProtocolError:
    return h11.RemoteProtocolError("its body is too long", error_status_hint=413)
