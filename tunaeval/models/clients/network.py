"""How a server is reached: headers of the caller's own, the proxy, certificates and HTTP/2."""

from __future__ import annotations

import base64
import os
import re
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from ipaddress import ip_address, ip_network
from typing import NamedTuple
from urllib.request import getproxies_environment, proxy_bypass

import httpx2

from tunaeval.errors import ClientSetupError
from tunaeval.files.keys import Secret, SecretBytes, long_enough, of_headers, remember, shown_safely

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FRAMING = frozenset({"connection", "content-length", "te", "trailer", "transfer-encoding"})
"""Headers that say where a request ends, or how long its connection lasts."""
_PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")


class Route(NamedTuple):
    """The proxy on the way to a server: its address without a password, and who named it."""

    proxy: httpx2.Proxy
    named_by: str

    def __str__(self) -> str:
        return f"the proxy {str(self.proxy.url).rstrip('/')} ({self.named_by})"


@dataclass(frozen=True, slots=True)
class Network:
    """The options of a client for the way to its server.

    `headers` go along with every request, in place of the client's own of the same name. `ca` is a
    file of certificates in PEM that are trusted in place of the system's. `cert` and `cert_key` are
    the files of the client's own certificate and its key, which `cert` may contain. `proxy` is the
    URL of a proxy: None for those of the environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and
    NO_PROXY), an empty one for no proxy at all. `http2` speaks HTTP/2 where the server does, which
    only https has.

    Raises ClientSetupError for what cannot be right; no message contains a header's value or a
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
    def is_of_transport(self) -> bool:
        """Whether an option is set that only the built-in transport serves."""
        return bool(self.ca or self.cert or self.cert_key or self.proxy or self.http2)

    @property
    def secrets(self) -> frozenset[str]:
        """Return the secrets, which no message may contain."""
        return long_enough(self.headers.values())

    def over(self, headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
        """Return these headers with those of the caller, which replace them."""
        both = httpx2.Headers(headers)
        for name, value in self.headers.items():
            both[name] = value
        safe = shown_safely(both) | {name.lower(): one for name, one in self.headers.items()}
        return [
            (name, SecretBytes(value) if isinstance(safe[name.decode().lower()], Secret) else value)
            for name, value in both.raw
        ]

    def route(self, url: httpx2.URL) -> Route | None:
        """Return the proxy on the way to `url`, if there is one. Raises ClientSetupError."""
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
        """Whom to trust: those in `ca`, else in $SSL_CERT_FILE or $SSL_CERT_DIR where they are set,
        as OpenSSL does, else those of the system. Raises ClientSetupError.
        """
        return _authorities(self.ca)

    def identity(self) -> ssl.SSLContext:
        """Return the TLS context with the trusted authorities and any client certificate."""
        context = self.authorities()
        if self.cert is not None:
            _show(context, self.cert, self.cert_key)
        return context


def check_header(name: object, value: object) -> None:
    """Raise ClientSetupError for a header that cannot be sent. Its value is not in the message."""
    if not (isinstance(name, str) and isinstance(value, str)):
        raise ClientSetupError(f"the header {name!r:.60} is no text with a text as its value")
    if not _NAME.fullmatch(name):
        raise ClientSetupError(f"{name!r:.60} is no name of a header; wanted letters and hyphens")
    if name.lower() in _FRAMING:
        raise ClientSetupError(f"the header {name!r} is not the caller's to set; leave it out")
    if not (value.isascii() and value.isprintable()):
        raise ClientSetupError(
            f"the value of the header {name!r} has a character that no header has; set it again"
        )


def _is_near(host: str, exempt: str) -> bool:
    """Whether a host is an address in one of the networks of NO_PROXY (10.0.0.0/8)."""
    try:
        address = ip_address(host)
    except ValueError:
        return False
    for one in exempt.split(","):
        with suppress(ValueError):
            if address in ip_network(one.strip().strip("[]"), strict=False):
                return True
    return False


def _route(address: str, named_by: str) -> Route:
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
    return Route(httpx2.Proxy(url), named_by)


def _authorities(ca: str | None) -> ssl.SSLContext:
    file, folder = ca, None
    what = f"the certificates in 'ca' (--ca {ca!r})"
    if ca is None:
        file, folder = (os.environ.get(name) or None for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
        what = f"the certificates in $SSL_CERT_FILE ({file!r}) or $SSL_CERT_DIR ({folder!r})"
    if file is None and folder is None:
        return httpx2.create_ssl_context(trust_env=False)
    try:
        return ssl.create_default_context(cafile=file, capath=folder)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        raise ClientSetupError(
            f"{what} cannot be read: {getattr(error, 'strerror', None) or error}; name a file of "
            "certificates in PEM, or leave it out"
        ) from error


def _show(context: ssl.SSLContext, cert: str, key: str | None) -> None:
    """Have a context show the client's own certificate."""

    def refuse() -> str:
        """Refuse a key with a password: OpenSSL would ask for it on the terminal in mid-run."""
        raise ClientSetupError(
            f"the key of the client certificate {cert!r} is encrypted; name a file with the key "
            "as it is, which only you can read"
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
        raise ClientSetupError(
            f"the client certificate {cert!r} or its key {key!r} cannot be read: "
            f"{error.strerror or error}"
        ) from error
