"""How a server is reached: headers, proxy, certificates, connections, and why a request failed.

Connections belong to several httpx2 transports of 16 each. A pool of httpx2 looks at all of its
connections several times per request, so one pool of 256 costs twice as much as sixteen of 16;
`benchmarks/throughput.py` has the figures.
"""

from __future__ import annotations

import asyncio
import base64
import errno
import logging
import os
import re
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from ipaddress import ip_address, ip_network
from typing import NamedTuple
from urllib.request import getproxies_environment, proxy_bypass
from weakref import WeakMethod

import httpx2

from tunaeval.errors import ClientSetupError
from tunaeval.files.keys import Secret, SecretBytes, long_enough, of_headers, remember, shown_safely
from tunaeval.files.plain_files import is_there, unread

from .pace import REFUSED, TryFailed

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FRAMING = frozenset({"connection", "content-length", "te", "trailer", "transfer-encoding"})
"""Headers that say where a request ends, or how long its connection lasts."""
_PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")


class ProxyRoute(NamedTuple):
    """The proxy for a server, and the option or variable that names it; `str` shows no password."""

    proxy: httpx2.Proxy
    named_by: str

    def __str__(self) -> str:
        return f"the proxy {str(self.proxy.url).rstrip('/')} ({self.named_by})"


@dataclass(frozen=True, slots=True)
class Network:
    """How a client reaches its server, by the options of `OpenAIClient` with these names.

    Raises ClientSetupError for a value that cannot work; no message contains a header's value or a
    password.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    ca: str | None = None
    cert: str | None = None
    cert_key: str | None = None
    proxy: str | None = None
    http2: bool = False

    def __post_init__(self) -> None:
        for name, value in self.headers.items():
            check_header(name, value)
        headers = {name: Secret(value) for name, value in self.headers.items()}
        object.__setattr__(self, "headers", headers)
        if self.proxy is not None:
            object.__setattr__(self, "proxy", Secret(self.proxy))
        if self.cert_key is not None and self.cert is None:
            raise ClientSetupError(
                f"the key {self.cert_key!r} belongs to a certificate that is not given; name its "
                "file with 'cert' (--cert FILE)"
            )
        if self.http2 and find_spec("h2") is None:
            raise ClientSetupError(
                "HTTP/2 needs the package h2; run: pip install 'tunaeval[http2]', or leave out "
                "'http2' (--http2)"
            )
        remember(of_headers(headers))

    @property
    def secrets(self) -> frozenset[str]:
        """The values of `headers` that no message may show; very short ones are left out."""
        return long_enough(self.headers.values())

    def over(self, headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
        """Return `headers` and this network's own, which win over the same names, as raw pairs."""
        both = httpx2.Headers(headers)
        for name, value in self.headers.items():
            both[name] = value
        safe = shown_safely(both) | {name.lower(): one for name, one in self.headers.items()}
        return [
            (name, SecretBytes(value) if isinstance(safe[name.decode().lower()], Secret) else value)
            for name, value in both.raw
        ]

    def route(self, url: httpx2.URL) -> ProxyRoute | None:
        """Return the proxy for `url`, or None if there is none. Raises ClientSetupError."""
        if self.proxy is not None:
            return _route(self.proxy, "'proxy', --proxy") if self.proxy else None
        found = getproxies_environment()
        scheme = next((one for one in (url.scheme, "all") if found.get(one)), None)
        if scheme is None or proxy_bypass(url.netloc.decode("ascii")):
            return None
        if _is_near(url.host, found.get("no", "")):
            return None
        names = (f"{scheme}_proxy", f"{scheme}_proxy".upper())
        named_by = next((name for name in names if os.environ.get(name)), names[0])
        return _route(found[scheme], f"${named_by}")

    def authorities(self) -> ssl.SSLContext:
        """Return a TLS context that trusts the authorities in `ca`, else those in $SSL_CERT_FILE
        and $SSL_CERT_DIR, else the system's. Raises ClientSetupError if they cannot be read.
        """
        file, folder = self.ca, None
        what = f"the certificates in 'ca' (--ca {self.ca!r})"
        if file is None:
            file, folder = (
                os.environ.get(one) or None for one in ("SSL_CERT_FILE", "SSL_CERT_DIR")
            )
            what = f"the certificates in $SSL_CERT_FILE ({file!r}) or $SSL_CERT_DIR ({folder!r})"
        if file is None and folder is None:
            return httpx2.create_ssl_context(trust_env=False)
        try:
            return ssl.create_default_context(cafile=file, capath=folder)
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            wanted = "name a file of certificates in PEM, or leave it out"
            raise ClientSetupError(
                f"{what} {unread(file or folder or '', wanted, error)}"
            ) from error

    def identity(self) -> ssl.SSLContext:
        """Return the TLS context with the trusted authorities and any certificate of the client."""
        context = self.authorities()
        if self.cert is not None:
            _show(context, self.cert, self.cert_key)
        return context


def check_header(name: object, value: object) -> None:
    """Raise ClientSetupError, without the value, for a header that cannot be sent."""
    if not (isinstance(name, str) and isinstance(value, str)):
        raise ClientSetupError(
            f"the header {name!r:.60} cannot be sent; wanted a string as its name and its value"
        )
    if not _NAME.fullmatch(name):
        raise ClientSetupError(
            f"{name!r:.60} is not the name of a header; wanted letters and hyphens"
        )
    if name.lower() in _FRAMING:
        raise ClientSetupError(f"the header {name!r} is set by the client itself; leave it out")
    if not (value.isascii() and value.isprintable()):
        raise ClientSetupError(
            f"the value of the header {name!r} has a character that no header may have; correct it"
        )


def _is_near(host: str, exempt: str) -> bool:
    """Whether a host is an IP address in one of the networks in NO_PROXY, such as 10.0.0.0/8."""
    try:
        address = ip_address(host)
    except ValueError:
        return False
    for one in exempt.split(","):
        with suppress(ValueError):
            if address in ip_network(one.strip().strip("[]"), strict=False):
                return True
    return False


def _route(address: str, named_by: str) -> ProxyRoute:
    wanted = "wanted a URL such as http://127.0.0.1:3128, or none ('')"
    try:
        url = httpx2.URL(address if "://" in address else f"http://{address}")
    except httpx2.InvalidURL:
        raise ClientSetupError(f"the proxy of {named_by} cannot be read; {wanted}") from None
    shown = str(url.copy_with(userinfo=b""))
    if url.scheme not in _PROXY_SCHEMES or not url.host:
        raise ClientSetupError(f"the proxy of {named_by} is {shown!r:.60}; {wanted}")
    if url.scheme.startswith("socks") and find_spec("socksio") is None:
        raise ClientSetupError(
            f"the proxy of {named_by}, {shown!r}, speaks SOCKS, which needs the package socksio; "
            "run: pip install 'httpx2[socks]', or name a proxy that speaks HTTP"
        )
    pair = f"{url.username}:{url.password}"
    remember(long_enough([url.password, pair, base64.b64encode(pair.encode()).decode()]))
    return ProxyRoute(httpx2.Proxy(url), named_by)


def _show(context: ssl.SSLContext, cert: str, key: str | None) -> None:
    """Load the client's own certificate into a TLS context. Raises ClientSetupError."""

    def refuse() -> str:
        """Raise, before OpenSSL asks for the key's password on the terminal in mid-run."""
        raise ClientSetupError(
            f"the key of the client certificate {cert!r} is encrypted; name a file with the "
            "unencrypted key, which only you can read"
        )

    try:
        context.load_cert_chain(cert, key, password=refuse)
    except ssl.SSLError as error:
        reason = (error.reason or "").lower().replace("_", " ")
        if "mismatch" in reason:
            words = f"the key {key or cert!r} is that of another"
        elif key is None:
            words = "there is no key in its file; name the key's file with 'cert_key' (--cert-key)"
        else:
            words = f"it or its key {key!r} is not in PEM ({reason or error})"
        raise ClientSetupError(f"the client certificate {cert!r} cannot be used: {words}") from None
    except OSError as error:
        missing = key if key and is_there(cert) else cert
        words = unread(missing, "wanted files in PEM", error)
        raise ClientSetupError(f"the client certificate {missing!r} {words}") from error


_CONNECTIONS = 16
"""The most connections of one transport."""
_FEW = 2
"""The most idle connections of a transport once the process ran out of file descriptors."""
_KEEP_IDLE_SECONDS = 30.0


class Pools:
    """The transports to one server: another one is made when all have 16 requests in flight.

        async with pools.transport() as transport: ...  # from a request to its response's end

    The caller limits how many requests are in flight and how long each may take. If a `transport`
    is given, all requests go through that one.
    """

    def __init__(
        self, network: Network, url: httpx2.URL, transport: httpx2.AsyncBaseTransport | None
    ) -> None:
        self._given = transport
        self.route: ProxyRoute | None = None if transport is not None else network.route(url)
        self._is_https, self._is_certified = url.scheme == "https", network.cert is not None
        self._http2 = network.http2
        self._pools: list[_Pool] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._most_idle = _CONNECTIONS
        # A transport makes a context of its own unless it is given one, which takes 20 ms. This
        # one trusts nobody: no https is spoken there.
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if transport is None and (self._is_https or network.ca or network.cert):
            self._tls = network.identity()
        if self.route is not None and self.route.proxy.url.scheme == "https":
            self.route.proxy.ssl_context = network.authorities()

    @asynccontextmanager
    async def transport(self) -> AsyncIterator[httpx2.AsyncBaseTransport]:
        """Lend a transport to one request, until its response is read."""
        if self._given is not None:
            yield self._given
            return
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # a second asyncio.run: sockets of the first are of no use
            self._pools, self._loop = [], loop
        pool = next((pool for pool in self._pools if pool.in_flight < _CONNECTIONS), None)
        if pool is None:
            pool = _Pool(self._new())
            self._pools.append(pool)
        pool.in_flight += 1
        try:
            yield pool.transport
        except httpx2.ConnectError as error:
            if is_shortage(error):
                await self._keep_few()
            raise
        finally:
            pool.in_flight -= 1
            if not pool.in_flight and pool not in self._pools:
                await pool.transport.aclose()

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

    async def _keep_few(self) -> None:
        """Keep few idle connections from now on, as the process ran out of file descriptors."""
        if self._most_idle == _CONNECTIONS:
            self._most_idle = _FEW
            await self._end([pool for pool in self._forgotten() if not pool.in_flight])

    async def aclose(self) -> None:
        if self._given is not None:
            await self._given.aclose()
        elif asyncio.get_running_loop() is self._loop:
            await self._end(self._forgotten())
            await asyncio.sleep(0)  # the loop closes their sockets

    def failure_of(self, error: Exception, *, is_answered: bool) -> TryFailed:
        """Return the failure of a try whose connection could not be made, or broke; `is_answered`
        says whether a response had begun.
        """
        root = _root(error)
        if isinstance(root, ssl.SSLCertVerificationError):
            return TryFailed(
                f"its certificate is not trusted ({root.verify_message}); check the address, or "
                "name the authority that signed it with --ca FILE ('ca'), $SSL_CERT_FILE or "
                "$SSL_CERT_DIR, else those of the system are trusted; $REQUESTS_CA_BUNDLE is not "
                "read",
                kind=REFUSED,
                again=False,
            )
        if isinstance(root, ssl.SSLError) and root.reason in _NO_TLS:
            words = "its answer is not encrypted; write http:// for https://, or use its TLS port"
            return TryFailed(words, kind=REFUSED, again=False)
        if isinstance(error, httpx2.ProxyError):
            return _refusal_of_proxy(str(error))
        words = _system_words(root)
        # So it looks when a server asks for a certificate: an alert, or the end of the connection.
        is_alert = isinstance(root, ssl.SSLError) and "ALERT" in (root.reason or "")
        is_end = self._is_https and not is_answered and not isinstance(error, httpx2.ConnectError)
        if is_alert or is_end:
            words += _CERTIFICATE_TIPS[self._is_certified]
        if isinstance(error, httpx2.ConnectError):
            tip, ours = _SERVER_TIP, is_shortage(root)
            if ours:
                tip = "ask fewer at a time, or raise the limit (ulimit -n)"
            elif self.route is not None:
                tip = "is the proxy running, and is its address right? $NO_PROXY names who has none"
            return TryFailed(f"no connection ({words}); {tip}", kind="connect", is_ours=ours)
        return TryFailed(f"the connection broke ({words})", kind="connect")

    def _forgotten(self) -> list[_Pool]:
        pools, self._pools = self._pools, []
        return pools

    async def _end(self, pools: list[_Pool]) -> None:
        for pool in pools:
            await pool.transport.aclose()


@dataclass(eq=False, slots=True)
class _Pool:
    """A transport, and the number of requests in flight on it."""

    transport: httpx2.AsyncBaseTransport
    in_flight: int = 0


def is_shortage(error: BaseException | None) -> bool:
    """Whether an exception, or one that led to it, says that the process can open no more files."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            return True
        if isinstance(error, BaseExceptionGroup):
            return any(map(is_shortage, error.exceptions))
        error = error.__cause__ or error.__context__
    return False


LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
"""The names of this machine."""

_SERVER_TIP = "is the server running, and is the base URL right?"
_CERTIFICATE_TIPS = {
    True: "; it may not accept the client certificate that it was shown",
    False: "; it may want a client certificate: give one with --cert FILE ('cert')",
}
_NO_TLS = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"})
"""The reasons that versions of OpenSSL give for an answer in plain HTTP."""
WANTS_A_USER = "the proxy wants a user and a password: put USER:PASSWORD@ before its host"
_PROXY_TIPS = {
    407: WANTS_A_USER,
    403: "the proxy does not let requests through to that address",
}


def _refusal_of_proxy(words: str) -> TryFailed:
    """Return the failure of a tunnel that a proxy refused; `words` begin with the HTTP status."""
    first = words.partition(" ")[0]
    status = int(first) if first.isascii() and first.isdigit() else 0
    tip = _PROXY_TIPS.get(status, "is the base URL right, and can the proxy reach it?")
    return TryFailed(
        f"the proxy refused ({words.strip() or 'without a word'}); {tip}",
        kind="connect" if status >= 500 else REFUSED,
        again=status >= 500,
    )


def _root(error: BaseException) -> BaseException:
    """Return the first exception of a chain, which led to the others.

    A ProtocolError with a message counts as the first unless an OSError caused it: h11 raises it.
    """
    while not (
        isinstance(error, httpx2.ProtocolError)
        and str(error)
        and not isinstance(error.__cause__, OSError)
    ):
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
            continue
        below = error.__cause__ or error.__context__
        if below is None or isinstance(below, TryFailed):  # that of an earlier try
            return error
        error = below
    return error


def _system_words(error: BaseException) -> str:
    """Return the system's message for an errno, without the address that asyncio adds to it."""
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.lower().replace("_", " ")
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, ConnectionResetError):
        number = errno.ECONNRESET  # asyncio raises some without
    if number is not None and number > 0:
        return os.strerror(number)
    return str(error) or "it was closed"


_LOGGERS = (
    "httpx2", "httpcore2.connection", "httpcore2.http11", "httpcore2.http2", "httpcore2.proxy",
    "httpcore2.socks", "hpack.hpack", "hpack.table",
)  # fmt: skip


class KeyFilter(logging.Filter):
    """Hides keys in what the HTTP library logs.

    It works from `begin` to `end`, and calls `hide` to replace the keys.

    It does not keep the client alive whose method `hide` is: one that nobody closes is collected
    with its connections.
    """

    def __init__(self, hide: Callable[[str], str]) -> None:
        super().__init__()
        self._hide = WeakMethod(hide)

    def begin(self) -> None:
        """Begin to filter what the HTTP library logs; a second call changes nothing."""
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(self)

    def end(self) -> None:
        for name in _LOGGERS:
            logging.getLogger(name).removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, without keys."""
        hide, text = self._hide(), record.getMessage()
        if hide is None:
            self.end()
        elif (words := hide(text)) != text:
            record.msg, record.args = words, ()
        return True
