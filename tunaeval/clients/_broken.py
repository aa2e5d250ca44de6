"""Why a server was not reached, or not heard to the end, in the words of the system."""

from __future__ import annotations

import errno
import os
import ssl

import httpx

from ._connection import Unanswered
from ._descriptors import is_shortage
from ._retries import REFUSED, TryFailed

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
"""The names of this machine."""

_PROXIES = frozenset({"all_proxy", "http_proxy", "https_proxy"})
_NO_CERTIFICATE = "; it may want a client certificate, and tunaeval has none to give"


def failure_of(error: httpx.TransportError, url: httpx.URL) -> TryFailed:
    """The failure of a try whose connection to `url` was not made, or broke."""
    root = _root(error)
    if isinstance(root, ssl.SSLCertVerificationError):
        return TryFailed(
            f"its certificate is not trusted ({root.verify_message}); check the address, or name "
            "the authority that signed it in $SSL_CERT_FILE or $SSL_CERT_DIR, for no other "
            "variable is read",
            kind=REFUSED,
            again=False,
        )
    words = _system_words(root) + (_NO_CERTIFICATE if _is_refusal(error, root, url) else "")
    if isinstance(error, httpx.ConnectError):
        tip, ours = "is the server running, and is the base URL right?", is_shortage(root)
        if ours:
            tip = "ask fewer at a time, or raise the limit (ulimit -n)"
        elif url.host not in LOOPBACK and (proxies := _proxies()):
            tip += f" The proxy that {proxies} names is not used"
        return TryFailed(f"no connection ({words}); {tip}", kind="connect", is_ours=ours)
    return TryFailed(f"the connection broke ({words})", kind="connect")


def _is_refusal(error: httpx.TransportError, root: BaseException, url: httpx.URL) -> bool:
    """Whether a server ended it as those do that want a certificate of their client."""
    if isinstance(root, ssl.SSLError):
        return "ALERT" in (root.reason or "")
    return url.scheme == "https" and isinstance(error, Unanswered)


def _proxies() -> str:
    """The variables that name a proxy."""
    named = [name for name, value in os.environ.items() if value and name.lower() in _PROXIES]
    return ", ".join(f"${name}" for name in sorted(named))


def _root(error: BaseException) -> BaseException:
    """What was first: the exception that others were raised from."""
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
    """Whether it is a breach of HTTP, in h11's words; below it is only how h11 found out."""
    is_breach = isinstance(error, httpx.ProtocolError) and bool(str(error))
    return is_breach and not isinstance(error.__cause__, OSError)


def _system_words(error: BaseException) -> str:
    """The system's words for an errno, without the address that asyncio puts beside them."""
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.lower().replace("_", " ")
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, ConnectionResetError):
        number = errno.ECONNRESET  # asyncio raises some without
    if number is not None and number > 0:
        return os.strerror(number)
    return str(error) or type(error).__name__
