"""What the status of an HTTP response means: one table for the clients, `run` and the doctor."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

About: TypeAlias = Literal["answer", "address", "key", "request", "load", "absence", "server"]


class Meaning(NamedTuple):
    """The cause that a status names, and whether the request is sent `again`.

    `about` is "answer" if there is no fault. A wrong "address" or "key" fails every request, and a
    refused "request" only itself. With "load" a later try is answered; with "absence" the server is
    away behind its gateway; "server" is an error of the server. `Patience` decides how often a
    request is sent again, or the response's Retry-After, which all requests wait for if `rests` is
    true (RFC 6585, 4; RFC 9110, 15.6.4).
    """

    about: About
    again: bool = False
    rests: bool = False

    @property
    def is_lost(self) -> bool:
        """Whether the request was not looked at, so that the same one may be answered later."""
        return self.about in ("load", "absence")


_KEY, _ADDRESS = Meaning("key"), Meaning("address")
_LOAD, _ABSENCE = Meaning("load", again=True), Meaning("absence", again=True)
_MEANINGS = {
    401: _KEY,
    403: _KEY,
    404: _ADDRESS,
    405: _ADDRESS,
    407: _KEY,
    408: _LOAD,
    409: _LOAD,
    429: Meaning("load", again=True, rests=True),
    503: Meaning("absence", again=True, rests=True),
    # 520 to 524 are Cloudflare's words for 502 and 504, and 529 is an overloaded server's.
    **dict.fromkeys((502, 504, *range(520, 525), 529), _ABSENCE),
}
_BY_HUNDRED = {2: Meaning("answer"), 3: _ADDRESS, 4: Meaning("request")}


def meaning(status: int | None) -> Meaning:
    """Return what a status means; None, where nothing came, means that the server is away."""
    if status is None:
        return _ABSENCE
    other = _BY_HUNDRED.get(status // 100, Meaning("server", again=status >= 500))
    return _MEANINGS.get(status, other)
