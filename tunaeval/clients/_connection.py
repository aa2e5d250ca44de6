"""One HTTP/1.1 connection: h11 knows the protocol and does no IO, asyncio moves the bytes.

Of requests and responses nothing is known here: h11 refuses what breaks the protocol, on either
side. A request is written all at once. What comes while nobody waits for it is read no further, and
on a connection that nobody uses it is the end of the connection, as nothing may come there.
"""

from __future__ import annotations

import asyncio
import os
import re
import select
import ssl
import time
from collections.abc import Callable
from typing import cast

import h11
import httpx

_KEEP_IDLE_SECONDS = 30.0
_MOST_HEADER_BYTES = 100 * 1024
_NEXT_ADDRESS_SECONDS = 0.25
"""So long one address of a name is tried alone (RFC 8305, 8)."""
_ERRNO = re.compile(r"\[Errno (\d+)\]")


async def connect(host: str, port: int, *, tls: ssl.SSLContext | None = None) -> Connection:
    """Open a connection, over TLS where a context is given. Raises httpx.ConnectError."""
    loop = asyncio.get_running_loop()
    try:
        _, connection = await loop.create_connection(
            Connection, host, port, ssl=tls, happy_eyeballs_delay=_NEXT_ADDRESS_SECONDS
        )
    except OSError as error:  # ssl.SSLError is one
        raise httpx.ConnectError(str(error)) from _first(error)
    return connection


class Unanswered(httpx.RemoteProtocolError):
    """A connection that ended before the head of an answer."""


class Connection(asyncio.Protocol):
    """Opened by `connect`; it carries one request at a time, and is `drop`ped at any time.

        response = await connection.ask(request)
        while chunk := await connection.more(): ...
        connection.rest()           # True: it can carry another one

    Raises what httpx raises: ReadError, RemoteProtocolError, LocalProtocolError.
    """

    def __init__(self) -> None:
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MOST_HEADER_BYTES)
        self._waiting: asyncio.Future[None] | None = None
        self._ended = self._is_held = False
        self._why: Exception | None = None
        self._idle_since: float | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._is_readable = _readability(transport.get_extra_info("socket").fileno())

    def data_received(self, data: bytes) -> None:
        if self._idle_since is not None:
            self._ended = True
            self._transport.abort()
            return
        self._http.receive_data(data)
        if self._waiting is None:
            self._is_held = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(exc)

    def _end(self, why: Exception | None) -> None:
        if not self._ended:
            self._ended, self._why = True, why
            self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)
        self._waiting = None

    async def ask(self, request: httpx.Request) -> h11.Response:
        """Send a request whole, and the head of what is answered."""
        self._idle_since = None
        try:
            parts = [
                self._http.send(
                    h11.Request(
                        method=request.method,
                        target=request.url.raw_path,
                        headers=request.headers.raw,
                    )
                ),
                self._http.send(h11.Data(data=await request.aread())),
                self._http.send(h11.EndOfMessage()),
            ]
        except h11.LocalProtocolError as error:
            raise httpx.LocalProtocolError(str(error)) from error
        self._transport.write(b"".join(filter(None, parts)))
        while True:
            event = await self._event()
            if isinstance(event, h11.Response):
                return event
            if not isinstance(event, h11.InformationalResponse):
                raise httpx.RemoteProtocolError("the connection was closed without an answer")

    async def more(self) -> bytes:
        """The next piece of the response's body, as it comes; nothing at its end."""
        event = await self._event()
        return bytes(event.data) if isinstance(event, h11.Data) else b""

    def rest(self) -> bool:
        """End the exchange; whether there can be another one: this one came to its end."""
        if self._ended or not (self._http.our_state is self._http.their_state is h11.DONE):
            return False
        self._http.start_next_cycle()
        self._idle_since = time.monotonic()
        return True

    def is_fresh(self) -> bool:
        """Whether a connection at rest is still open, as far as one can know."""
        if self._ended or self._idle_since is None:
            return False
        is_old = time.monotonic() - self._idle_since > _KEEP_IDLE_SECONDS
        return not is_old and not self._is_readable()

    def drop(self) -> None:
        """Close it at once, whatever is on its way."""
        self._ended = True
        self._transport.abort()

    async def _event(self) -> type[h11.NEED_DATA | h11.PAUSED] | h11.Event:
        """The next event of the response, once it has come."""
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                if self._ended and self._http.their_state is h11.SEND_RESPONSE:
                    words = str(self._why or "") or "the server closed it before it answered"
                    raise Unanswered(words) from self._why
                if self._why is not None:
                    raise httpx.ReadError(str(self._why)) from self._why
                if self._ended:
                    self._http.receive_data(b"")
                else:
                    await self._data()
        except h11.RemoteProtocolError as error:
            raise httpx.RemoteProtocolError(str(error)) from error
        return event

    async def _data(self) -> None:
        """Wait until there is more, or no more to come."""
        self._waiting = asyncio.get_running_loop().create_future()
        if self._is_held:
            self._is_held = False
            self._transport.resume_reading()
        await self._waiting


def _readability(descriptor: int) -> Callable[[], bool]:
    """Whether something has come that the event loop has had no time for: an end, most likely."""
    if not hasattr(select, "poll"):  # Windows
        return lambda: bool(select.select([descriptor], [], [], 0)[0])
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return lambda: bool(poll.poll(0))


def _first(error: OSError) -> OSError:
    """Of a name with several addresses, why the first one failed, which has an errno."""
    named = None if isinstance(error, ssl.SSLError) or error.errno else _ERRNO.search(str(error))
    return OSError(int(named[1]), os.strerror(int(named[1]))) if named else error
