"""Connections to one server: httpx2's transports, each of a few connections.

A pool of httpx2 looks at all of its connections several times for every request, so that one pool
of 256 costs twice what sixteen of 16 do; `benchmarks/throughput.py` has the figures.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import ssl
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from types import TracebackType

import httpx2

from .network import Network, Route

_LOG = logging.getLogger("tunaeval.clients")

_CONNECTIONS = 16
"""The most connections of one transport."""
_FEW = 2
"""Idle connections of a transport, where descriptors were wanting."""
_KEEP_IDLE_SECONDS = 30.0
_SPARE = 24
"""Descriptors for the files of a run, the event loop and look-ups of names."""
_UNKNOWN = 16
"""Open at the start where the system does not say how many are."""
_OPEN = Path("/dev/fd")


class Pools:
    """Has as many transports as requests in flight need, those used first the busiest.

        async with pools.transport() as transport: ...  # from a request to its response's end

    Whoever calls it limits how many requests are in flight, and how long each may take. With a
    `transport` of the caller's, all requests go through that one.
    """

    def __init__(
        self, network: Network, url: httpx2.URL, transport: httpx2.AsyncBaseTransport | None
    ) -> None:
        self._given = transport
        self.route: Route | None = None if transport is not None else network.route(url)
        self._http2 = network.http2
        self._pools: list[_Pool] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._most_idle = _CONNECTIONS
        # A transport makes a context of its own unless it is given one, which takes 20 ms. This
        # one trusts nobody: no https is spoken there.
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if transport is None and (url.scheme == "https" or network.ca or network.cert):
            self._tls = network.identity()
        if self.route is not None and self.route.proxy.url.scheme == "https":
            self.route.proxy.ssl_context = network.authorities()

    def transport(self) -> AbstractAsyncContextManager[httpx2.AsyncBaseTransport]:
        """Lend a transport to one request, from its beginning to the end of its response."""
        if self._given is not None:
            return nullcontext(self._given)
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # a second asyncio.run: sockets of the first are of no use
            self._pools, self._loop = [], loop
        for pool in self._pools:
            if pool.in_flight < _CONNECTIONS:
                return pool
        pool = _Pool(self, self._new())
        self._pools.append(pool)
        return pool

    def _new(self) -> httpx2.AsyncHTTPTransport:
        limits = httpx2.Limits(
            max_connections=_CONNECTIONS,
            max_keepalive_connections=self._most_idle,
            keepalive_expiry=_KEEP_IDLE_SECONDS,
        )
        proxy = None if self.route is None else self.route.proxy
        return httpx2.AsyncHTTPTransport(
            verify=self._tls, http2=self._http2, limits=limits, proxy=proxy
        )

    def has(self, pool: _Pool) -> bool:
        """Whether further requests are to go through a transport."""
        return pool in self._pools

    async def keep_few(self) -> None:
        """Keep few idle connections from now on: descriptors were wanting, also for others."""
        if self._most_idle == _CONNECTIONS:
            self._most_idle = _FEW
            await self._end([pool for pool in self._forgotten() if not pool.in_flight])

    async def aclose(self) -> None:
        if self._given is not None:
            await self._given.aclose()
        elif asyncio.get_running_loop() is self._loop:
            await self._end(self._forgotten())
            await asyncio.sleep(0)  # the loop closes their sockets

    def _forgotten(self) -> list[_Pool]:
        pools, self._pools = self._pools, []
        return pools

    async def _end(self, pools: list[_Pool]) -> None:
        for pool in pools:
            await pool.transport.aclose()


class _Pool:
    """A transport, and how many requests are on their way through it."""

    def __init__(self, pools: Pools, transport: httpx2.AsyncBaseTransport) -> None:
        self._pools = pools
        self.transport = transport
        self.in_flight = 0

    async def __aenter__(self) -> httpx2.AsyncBaseTransport:
        self.in_flight += 1
        return self.transport

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.in_flight -= 1
        if isinstance(error, httpx2.ConnectError) and is_shortage(error):
            await self._pools.keep_few()
        if not self.in_flight and not self._pools.has(self):
            await self.transport.aclose()


def affordable(wanted: int, *, address: str) -> int:
    """`wanted` connections, or as many as the process may open; at least one. Says so if fewer.

    Each takes a descriptor, and others are needed, too.
    """
    try:
        import resource  # noqa: PLC0415 - Unix alone has it
    except ImportError:
        return wanted
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY:
        return wanted
    can = max(1, most - _open_now() - _SPARE)
    if can < wanted:
        _LOG.warning(
            "%s: asked %d at a time and not %d, as this process may open %d files (ulimit -n)",
            address, can, wanted, most,
        )  # fmt: skip
    return min(can, wanted)


def is_shortage(error: BaseException | None) -> bool:
    """Whether an exception, or its cause, says that no further file can be opened."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            return True
        if isinstance(error, BaseExceptionGroup):
            return any(map(is_shortage, error.exceptions))
        error = error.__cause__ or error.__context__
    return False


def _open_now() -> int:
    try:
        return sum(1 for _ in _OPEN.iterdir())
    except OSError:
        return _UNKNOWN
