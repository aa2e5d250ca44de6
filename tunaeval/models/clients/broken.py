"""Why a connection to a server failed or broke, in the words of the system."""

from __future__ import annotations

import errno
import os
import ssl

import httpx2

from .network import Route
from .pools import is_shortage
from .retries import REFUSED, TryFailed

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
"""The names of this machine."""

_SERVER_TIP = "is the server running, and is the base URL right?"
_CERTIFICATE_TIPS = {
    True: "; it may not accept the client certificate that it was shown",
    False: "; it may want a client certificate: give one with --cert FILE ('cert')",
}
WANTS_A_USER = "the proxy wants a user and a password: put USER:PASSWORD@ before its host"
_PROXY_TIPS = {
    407: WANTS_A_USER,
    403: "the proxy does not let requests through to that address",
}


def failure_of(
    error: Exception,
    *,
    is_https: bool,
    is_answered: bool,
    is_certified: bool,
    route: Route | None,
) -> TryFailed:
    """Return the failure of a try whose connection was not made, or broke.

    `is_answered` says whether a response had begun, `is_certified` whether a client certificate was
    at hand.
    """
    root = _root(error)
    if isinstance(root, ssl.SSLCertVerificationError):
        return TryFailed(
            f"its certificate is not trusted ({root.verify_message}); check the address, or name "
            "the authority that signed it with --ca FILE ('ca'), $SSL_CERT_FILE or $SSL_CERT_DIR, "
            "else those of the system are trusted; $REQUESTS_CA_BUNDLE is not read",
            kind=REFUSED,
            again=False,
        )
    if isinstance(error, httpx2.ProxyError):
        return _refusal_of_proxy(str(error))
    words = _system_words(root)
    # So it looks when a server asks for a certificate: an alert, or the end of the connection.
    is_alert = isinstance(root, ssl.SSLError) and "ALERT" in (root.reason or "")
    is_end = is_https and not is_answered and not isinstance(error, httpx2.ConnectError)
    if is_alert or is_end:
        words += _CERTIFICATE_TIPS[is_certified]
    if isinstance(error, httpx2.ConnectError):
        tip, ours = _SERVER_TIP, is_shortage(root)
        if ours:
            tip = "ask fewer at a time, or raise the limit (ulimit -n)"
        elif route is not None:
            tip = "is the proxy running, and is its address right? $NO_PROXY names who has none"
        return TryFailed(f"no connection ({words}); {tip}", kind="connect", is_ours=ours)
    return TryFailed(f"the connection broke ({words})", kind="connect")


def _refusal_of_proxy(words: str) -> TryFailed:
    """Return the failure of a tunnel, whose status is at the beginning of httpcore2's message."""
    first = words.partition(" ")[0]
    status = int(first) if first.isascii() and first.isdigit() else 0
    tip = _PROXY_TIPS.get(status, "is the base URL right, and can the proxy reach it?")
    return TryFailed(
        f"the proxy refused ({words.strip() or 'without a word'}); {tip}",
        kind="connect" if status >= 500 else REFUSED,
        again=status >= 500,
    )


def _root(error: BaseException) -> BaseException:
    """Return the first exception of a chain, which the others were raised from."""
    while not _says_why(error):
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
            continue
        below = error.__cause__ or error.__context__
        if below is None:
            return error
        error = below
    return error


def _says_why(error: BaseException) -> bool:
    """Whether an exception is h11's complaint about a breach of HTTP; its causes are h11's own."""
    is_breach = isinstance(error, httpx2.ProtocolError) and bool(str(error))
    return is_breach and not isinstance(error.__cause__, OSError)


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
