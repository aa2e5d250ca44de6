"""Why a server was not reached, or not heard to the end, in the words of the system."""

from __future__ import annotations

import os
import ssl

import httpx

from ._descriptors import is_shortage
from ._retries import REFUSED, TryFailed


def failure_of(error: httpx.TransportError) -> TryFailed:
    """The failure of a try whose connection was not made, or broke."""
    root = _root(error)
    if isinstance(root, ssl.SSLCertVerificationError):
        return TryFailed(
            f"its certificate is not trusted ({root.verify_message}); check the address, or "
            "name the authority that signed it in $SSL_CERT_FILE",
            kind=REFUSED,
            again=False,
        )
    words = _system_words(root)
    if isinstance(error, httpx.ConnectError):
        tip, ours = "is the server running, and is the base URL right?", is_shortage(root)
        if ours:
            tip = "ask fewer at a time, or raise the limit (ulimit -n)"
        return TryFailed(f"no connection ({words}); {tip}", kind="connect", is_ours=ours)
    return TryFailed(f"the connection broke ({words})", kind="connect")


def _root(error: BaseException) -> BaseException:
    """What was first: the exception that others were raised from."""
    while True:
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
            continue
        below = error.__cause__ or error.__context__
        if below is None:
            return error
        error = below


def _system_words(error: BaseException) -> str:
    """The system's words for an errno, without the address that asyncio puts beside them."""
    number = error.errno if isinstance(error, OSError) else None
    if number is not None and number > 0:
        return os.strerror(number)
    return str(error) or type(error).__name__
