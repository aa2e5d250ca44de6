"""How bytes get to a server and back: one kept connection for each request in flight.

httpx's own pool is scanned whole several times for every request, so one pool of 64 connections
costs 3 ms of CPU a request, and its connections cost twice what the protocol does, which h11
knows. Here a request takes the connection that was used last from a stack, or opens one.
`benchmarks/throughput.py` has the figures.
"""

from __future__ import annotations

import asyncio
import math
import os
import ssl
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import TypeAlias

import httpx

from tunaeval.errors import ClientSetupError

from ._connection import Connection, connect
from ._descriptors import is_shortage

_Address: TypeAlias = tuple[str, str, int]
_Stack: TypeAlias = list[Connection]

_PORTS = {"http": 80, "https": 443}


class StackTransport(httpx.AsyncBaseTransport):
    """An httpx transport that keeps idle connections in a stack for each address.

    It has as many connections as requests were ever in flight at once: whoever calls it sets the
    limit, and how long anything may take. Redirects, proxies, cookies and .netrc are not its
    business.
    """

    def __init__(self) -> None:
        self._idle: defaultdict[_Address, _Stack] = defaultdict(list)
        self._loop: asyncio.AbstractEventLoop | None = None
        self.closed = False
        self._tls: ssl.SSLContext | None = None
        self._open = 0
        self._most_idle = math.inf

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        stack = self._stack(address := _address(url))
        connection = self._take(stack) or await self._new(address)
        try:
            head = await connection.ask(request)
        except BaseException:  # a cancellation too: nobody else knows this connection
            self.drop(connection)
            raise
        return httpx.Response(
            head.status_code,
            headers=head.headers.raw_items(),
            stream=_Body(connection, self, stack),
            request=request,
        )

    async def aclose(self) -> None:
        stacks = list(self._idle.values())
        self._idle.clear()
        self.closed = True
        if asyncio.get_running_loop() is self._loop:
            for connection in [connection for stack in stacks for connection in stack]:
                self.drop(connection)
            await asyncio.sleep(0)  # the loop closes their sockets

    def _stack(self, address: _Address) -> _Stack:
        loop = asyncio.get_running_loop()
        self.closed = False
        if loop is not self._loop:  # a second asyncio.run: sockets of the first are of no use
            self._idle.clear()
            self._loop, self._open = loop, 0
        return self._idle[address]

    async def _new(self, address: _Address) -> Connection:
        scheme, host, port = address
        if scheme == "https" and self._tls is None:
            self._tls = _authorities()
        try:
            connection = await connect(host, port, tls=self._tls if scheme == "https" else None)
        except httpx.ConnectError as error:
            if is_shortage(error):
                self._most_idle = max(1, self._open // 2)
            raise
        self._open += 1
        return connection

    def _take(self, stack: _Stack) -> Connection | None:
        """The connection used last that is still alive; dead ones are closed on the way."""
        while stack:
            connection = stack.pop()
            if connection.is_fresh():
                return connection
            self.drop(connection)
        return None

    def drop(self, connection: Connection) -> None:
        """Close a connection that is not used again."""
        self._open -= 1
        connection.drop()

    def keep(self, connection: Connection, stack: _Stack) -> None:
        """Have a connection used again, if it can be; where descriptors were wanting, few are."""
        if connection.rest() and not self.closed and len(stack) < self._most_idle:
            stack.append(connection)
        else:
            self.drop(connection)


def _address(url: httpx.URL) -> _Address:
    return url.scheme, url.raw_host.decode("ascii"), url.port or _PORTS[url.scheme]


def _authorities() -> ssl.SSLContext:
    """Whom to trust: $SSL_CERT_FILE or $SSL_CERT_DIR where they are set, as OpenSSL does, else the
    authorities that come with httpx. Raises ClientSetupError for a file that cannot be used.
    """
    file, folder = (os.environ.get(name) or None for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
    if file is None and folder is None:
        return httpx.create_ssl_context(trust_env=False)
    try:
        return ssl.create_default_context(cafile=file, capath=folder)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        raise ClientSetupError(
            f"the certificates in $SSL_CERT_FILE ({file!r}) or $SSL_CERT_DIR ({folder!r}) cannot "
            f"be read: {getattr(error, 'strerror', None) or error}; name a file of certificates "
            "in PEM, or unset both"
        ) from error


class _Body(httpx.AsyncByteStream):
    """A response's bytes; closing it gives the connection back, if it can be used again."""

    def __init__(self, connection: Connection, transport: StackTransport, stack: _Stack) -> None:
        self._connection = connection
        self._transport = transport
        self._stack = stack

    def __aiter__(self) -> AsyncIterator[bytes]:  # a generator costs as much as the whole body
        return self

    async def __anext__(self) -> bytes:
        if chunk := await self._connection.more():
            return chunk
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self._transport.keep(self._connection, self._stack)
