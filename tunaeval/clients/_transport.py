"""How bytes get to a server and back: one kept connection for each request in flight.

httpx's own pool is scanned whole several times for every request, so one pool of 64 connections
costs 3 ms of CPU a request. Here a request takes the connection that was used last from a stack,
or opens one. Connections are httpcore's, the layer below httpx: TLS, keep-alive, HTTP/1.1 and
its state machine are as they are in httpx, and so are the exceptions. `benchmarks/throughput.py`
has the figures.
"""

from __future__ import annotations

import asyncio
import math
import os
import ssl
from collections import defaultdict
from collections.abc import AsyncIterable, AsyncIterator
from typing import TypeAlias

import httpcore
import httpx

from tunaeval.errors import ClientSetupError

from ._descriptors import is_shortage

_Address: TypeAlias = tuple[bytes, bytes, int]
_Stack: TypeAlias = list[httpcore.AsyncHTTPConnection]

_PORTS = {"http": 80, "https": 443}
_KEEP_IDLE_SECONDS = 30.0
_ERRORS = (
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.TimeoutException,
    httpcore.UnsupportedProtocol,
)


class StackTransport(httpx.AsyncBaseTransport):
    """An httpx transport that keeps idle connections in a stack for each address.

    It has as many connections as requests were ever in flight at once: whoever calls it sets the
    limit. Redirects, proxies, cookies and .netrc are not its business.
    """

    def __init__(self) -> None:
        self._idle: defaultdict[_Address, _Stack] = defaultdict(list)
        self._loop: asyncio.AbstractEventLoop | None = None
        self.closed = False
        self._ssl_context: ssl.SSLContext | None = None
        self._open = 0
        self._most_idle = math.inf

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        address = (url.raw_scheme, url.raw_host, url.port or _PORTS[url.scheme])
        stack = self._stack(address)
        connection = await self._take(stack) or self._new(address)
        try:
            response = await connection.handle_async_request(
                httpcore.Request(
                    method=request.method,
                    url=httpcore.URL(
                        scheme=address[0], host=address[1], port=address[2], target=url.raw_path
                    ),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        except BaseException as error:  # a cancellation too: nobody else knows this connection
            await self.drop(connection)
            if is_shortage(error):
                self._most_idle = max(1, self._open // 2)
            if isinstance(error, _ERRORS):
                raise _as_httpx(error) from error
            raise
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response, connection, self, stack),
            request=request,
        )

    async def aclose(self) -> None:
        stacks = list(self._idle.values())
        self._idle.clear()
        self.closed = True
        if asyncio.get_running_loop() is self._loop:
            for connection in [connection for stack in stacks for connection in stack]:
                await connection.aclose()

    def _stack(self, address: _Address) -> _Stack:
        loop = asyncio.get_running_loop()
        self.closed = False
        if loop is not self._loop:  # a second asyncio.run: sockets of the first are of no use
            self._idle.clear()
            self._loop, self._open = loop, 0
        return self._idle[address]

    def _new(self, address: _Address) -> httpcore.AsyncHTTPConnection:
        scheme, host, port = address
        if scheme == b"https" and self._ssl_context is None:
            self._ssl_context = _authorities()
        self._open += 1
        return httpcore.AsyncHTTPConnection(
            origin=httpcore.Origin(scheme, host, port),
            ssl_context=self._ssl_context,
            keepalive_expiry=_KEEP_IDLE_SECONDS,
        )

    async def _take(self, stack: _Stack) -> httpcore.AsyncHTTPConnection | None:
        """The connection used last that is still alive; dead ones are closed on the way."""
        while stack:
            connection = stack.pop()
            if connection.is_idle() and not connection.has_expired():
                return connection
            await self.drop(connection)
        return None

    async def drop(self, connection: httpcore.AsyncHTTPConnection) -> None:
        """Close a connection that is not used again."""
        self._open -= 1
        await connection.aclose()

    async def keep(self, connection: httpcore.AsyncHTTPConnection, stack: _Stack) -> None:
        """Have a connection used again, if it can be; where descriptors were wanting, few are."""
        if connection.is_idle() and not self.closed and len(stack) < self._most_idle:
            stack.append(connection)
        else:
            await self.drop(connection)


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

    def __init__(
        self,
        response: httpcore.Response,
        connection: httpcore.AsyncHTTPConnection,
        transport: StackTransport,
        stack: _Stack,
    ) -> None:
        self._response = response
        self._connection = connection
        self._transport = transport
        self._stack = stack

    async def __aiter__(self) -> AsyncIterator[bytes]:
        stream = self._response.stream
        assert isinstance(stream, AsyncIterable)  # noqa: S101 - httpcore types it as either kind
        try:
            async for chunk in stream:
                yield chunk
        except _ERRORS as error:
            raise _as_httpx(error) from error

    async def aclose(self) -> None:
        await self._response.aclose()  # closes the connection unless the body was read whole
        await self._transport.keep(self._connection, self._stack)


def _as_httpx(error: Exception) -> httpx.TransportError:
    """The exception of the same name in httpx, whose names are httpcore's."""
    kind: type[httpx.TransportError] = getattr(httpx, type(error).__name__, httpx.TransportError)
    return kind(str(error))
