"""HTTP/1.1 on loopback: connections read and written by h11, a server that ends without a trace."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeAlias

import h11
import orjson

from tunaeval.files.keys import shown_safely

_MAX_BODY = 64 << 20
_MAX_HEADERS = 16 << 10
_READ = 1 << 16
_GRACE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request, whole."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """One response: its parts are sent one by one; more than one are sent as chunks.

    With `breaks_off` the connection is closed after the last part, without an end.
    """

    status: int
    parts: tuple[bytes, ...]
    content_type: str = "application/json"
    breaks_off: bool = False
    length: int | None = None
    """Of the whole body, where it is sent with its length."""
    allow: str | None = None
    """The methods that there are, for who asks for them."""


Respond: TypeAlias = Callable[[HttpRequest], Awaitable[HttpResponse]]


class TooLong(Exception):  # noqa: N818 - says what the body is
    """A request of more than is read."""


class Loopback:
    """A server at a free port of 127.0.0.1, in the event loop that starts it."""

    def __init__(self, respond: Respond) -> None:
        self._respond = respond
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._stops = False
        self.port = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """No connection, task or descriptor is left after it."""
        if self._server is None:
            return
        self._stops = True
        self._server.close()
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _Connection(reader, writer, self._respond).run()
        except (ConnectionError, h11.RemoteProtocolError):
            return  # the client went away, or speaks no HTTP
        finally:
            if self._stops:
                writer.transport.abort()
            writer.close()
            try:
                await asyncio.wait_for(writer.wait_closed(), _GRACE_SECONDS)
            except (ConnectionError, TimeoutError):
                writer.transport.abort()


class _Connection:
    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, respond: Respond
    ) -> None:
        self._reader, self._writer, self._respond = reader, writer, respond
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_MAX_HEADERS)

    async def run(self) -> None:
        """Requests and responses in turn, as long as the client keeps the connection."""
        while True:
            try:
                request = await self._request()
            except TooLong:
                words = f"the request has more than {_MAX_BODY} bytes"
                await self._send(_error(413, words), is_last=True)
                await self._drain()
                return
            except h11.RemoteProtocolError as error:
                await self._refuse(error)
                await self._drain()
                return
            if request is None:
                return
            response = await self._respond(request)
            await self._send(response, is_head=request.method == "HEAD")
            if response.breaks_off or self._http.our_state is not h11.DONE:
                return
            if self._http.their_state is not h11.DONE:
                return
            self._http.start_next_cycle()

    async def _request(self) -> HttpRequest | None:
        head: h11.Request | None = None
        body = bytearray()
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                if self._http.they_are_waiting_for_100_continue:
                    await self._write(h11.InformationalResponse(status_code=100, headers=[]))
                self._http.receive_data(await self._reader.read(_READ))
            elif isinstance(event, h11.Request):
                head = event
                _check_size(head)
                _check_length(head)
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > _MAX_BODY:
                    raise TooLong
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                headers = shown_safely(
                    {
                        name.decode("latin-1"): value.decode("latin-1")
                        for name, value in head.headers
                    }
                )
                target = head.target.decode("latin-1")
                return HttpRequest(head.method.decode("ascii"), target, headers, bytes(body))
            else:  # the connection is closed, or was paused
                return None

    async def _send(
        self, response: HttpResponse, *, is_head: bool = False, is_last: bool = False
    ) -> None:
        headers = [("content-type", response.content_type)]
        if response.allow is not None:
            headers = [("allow", response.allow)]
        elif response.length is None:
            headers.append(("transfer-encoding", "chunked"))
        else:
            headers.append(("content-length", str(response.length)))
        if is_last:
            headers.append(("connection", "close"))
        phrase = HTTPStatus(response.status).phrase if response.status in _PHRASES else "Scripted"
        await self._write(
            h11.Response(status_code=response.status, headers=headers, reason=phrase.encode())
        )
        for part in () if is_head else response.parts:
            await self._write(h11.Data(data=part))
        if is_head or not response.breaks_off:
            await self._write(h11.EndOfMessage())

    async def _refuse(self, error: h11.RemoteProtocolError) -> None:
        """Say what is wrong with a request that is none, if that can still be said."""
        if self._http.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            status, words = error.error_status_hint, f"this is no HTTP request: {error}"
            if status == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
                words = f"the headers have more than {_MAX_HEADERS:,} bytes"
            await self._send(_error(status, words), is_last=True)

    async def _drain(self) -> None:
        """Read what is still on its way, so that the answer is not lost: a connection that is
        closed on bytes that nobody read is reset.
        """
        if self._writer.can_write_eof():
            self._writer.write_eof()
        left = 2 * _MAX_BODY  # what is announced may be all on its way, and a little too long
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_SECONDS):
                while left > 0 and (chunk := await self._reader.read(_READ)):
                    left -= len(chunk)

    async def _write(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if data:
            self._writer.write(data)
            await self._writer.drain()


_PHRASES: frozenset[int] = frozenset(HTTPStatus)


def whole(status: int, body: bytes, content_type: str = "application/json") -> HttpResponse:
    """A response that is sent in one piece."""
    return HttpResponse(status, (body,), content_type, length=len(body))


def streamed(events: Iterable[bytes]) -> HttpResponse:
    """Server-sent events, each a chunk of its own."""
    return HttpResponse(200, tuple(events), "text/event-stream; charset=utf-8")


def options(methods: Iterable[str]) -> HttpResponse:
    """The answer to who asks for the methods that there are."""
    return HttpResponse(204, (), allow=", ".join(sorted(methods)))


def _check_size(head: h11.Request) -> None:
    """Raise RemoteProtocolError for headers that are too long: h11 counts what is not whole yet."""
    size = sum(len(name) + len(value) + len(": \r\n") for name, value in head.headers)
    if size + len(head.target) > _MAX_HEADERS:
        raise h11.RemoteProtocolError("its headers are too long", error_status_hint=431)


def _check_length(head: h11.Request) -> None:
    """Raise TooLong for a body that is announced too long, before any of it comes, and
    RemoteProtocolError where a proxy on the way may have seen another end of it than is seen here.
    """
    headers = dict(head.headers)
    length = headers.get(b"content-length")
    if length is not None and b"transfer-encoding" in headers:
        raise h11.RemoteProtocolError("it has both Transfer-Encoding and Content-Length")
    if int(length or 0) > _MAX_BODY:
        raise TooLong


def _error(status: int, words: str) -> HttpResponse:
    error = {"message": words, "type": "invalid_request_error", "param": None, "code": None}
    return whole(status, orjson.dumps({"error": error}))
