"""What the status of an HTTP response means: one table for the clients, `run` and the doctor."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

About: TypeAlias = Literal["answer", "address", "key", "request", "load", "absence", "server"]


class Meaning(NamedTuple):
    """What a status is about, and whether another try may be answered.

    It is about the answer itself; the address or the key, which fail every request; this request,
    which is refused; load, so that a later try is answered; a server that is away behind its
    gateway; or an error of the server. Until when it is tried again is told by `Patience`, or by a
    Retry-After, which concerns all requests if `rests` (RFC 6585, 4; RFC 9110, 15.6.4).
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
