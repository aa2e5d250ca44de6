"""Which failures are worth another try, how many, and after what pause."""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from tunaeval.types.deadlines import Deadline

MAX_RETRY_AFTER_SECONDS = 120.0
"""A server that asks for a longer pause is not waited for that long: it is asked again sooner."""

MAX_RESTING_SECONDS = 300.0
"""So long rests in a row stop the clocks of requests, while nothing is answered between them."""

REFUSED = "refused"
"""The kind of what every request would meet where the address or the key is wrong. One request
may meet it, too (a content filter), so whoever asks many sees which it is.
"""

_SECONDS = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,20})?")
"""Python reads `1_0`, `1e3`, `inf` and digits of other scripts as numbers, too."""

_BASE_SECONDS = 0.5
CAP_SECONDS = 20.0
_BODY_RETRIES = 1
_RETRIES = 8
_LAST_SHARE = 0.7
"""Of the time that is left a pause takes at most so much: then there is time for another try."""
_FIRST_CONTACT_RETRIES = 2
_RETRIED_STATUSES = frozenset({408, 409, 429})
_REST_STATUSES = frozenset({429, 503})
"""With a Retry-After these speak of the server, not of a request (RFC 6585, 4; 9110, 15.6.4)."""


class TryFailed(Exception):  # noqa: N818 - one try's outcome; it never leaves this package
    """One try failed. `again` says whether another could succeed; `kind` is TransportFailure's.

    `said` is what the server said, uncut and not yet rid of the key: it is never in the message.
    `advice` comes after it. `is_ours`: it is this process that cannot ask, for want of descriptors.
    """

    def __init__(
        self,
        message: str,
        *,
        said: str | None = None,
        advice: str | None = None,
        kind: str = "body",
        status: int | None = None,
        again: bool = True,
        retry_after: float | None = None,
        is_ours: bool = False,
    ) -> None:
        super().__init__(message)
        self.said = said
        self.advice = advice
        self.kind = kind
        self.status = status
        self.again = again
        self.retry_after = retry_after
        self.is_ours = is_ours

    @property
    def asks_all(self) -> bool:
        """Whether the pause of this failure is for all requests to the server."""
        return self.status in _REST_STATUSES and self.retry_after is not None

    @property
    def is_of_server(self) -> bool:
        """Whether it says that the server, and not this request, is in trouble, and not when to
        come back.
        """
        is_trouble = self.kind in ("connect", "timeout") or (self.status or 0) >= 500
        return self.again and is_trouble and not self.asks_all and not self.is_ours


def is_retried(status: int) -> bool:
    """Whether a server that answers with this status may give another answer next time."""
    return status in _RETRIED_STATUSES or status >= 500


@dataclass(frozen=True, slots=True)
class Patience:
    """How long, and how many times, one request is tried.

    By time, where there is a limit: until `deadline` seconds are over, pauses and all, or what the
    request's own clock has left, which stops while all requests wait. Else, or if
    `max_retries` says so, by number: eight retries take half a minute on average and 70 s at most,
    which outlasts the restart of a server. One that was never reached gets two, for that is a
    wrong address; a broken body one.
    """

    max_retries: int | None
    deadline: float | None

    def tries(self, *, reached: Callable[[], bool], clock: Deadline | None = None) -> AsyncRetrying:
        """The tries of one request. `reached`: whether the server has ever answered."""
        limits = [] if self.deadline is None else [Deadline(self.deadline)]
        clocks = limits if clock is None else [*limits, clock]
        broken = 0

        def left() -> float:
            return min((one.left for one in clocks), default=math.inf)

        def is_over(state: RetryCallState) -> bool:
            nonlocal broken
            failure = _failure(state)
            broken += failure.kind == "body"
            retries = self._most(is_limited=bool(clocks))
            if failure.kind == "connect" and not reached():
                retries = min(retries, _FIRST_CONTACT_RETRIES)
            # A rest stops the request's own clock.
            ends = limits if failure.asks_all else clocks
            too_late = any(one.left <= (failure.retry_after or 0) for one in ends)
            return state.attempt_number > retries or broken > _BODY_RETRIES or too_late

        return AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, TryFailed) and error.again),
            stop=is_over,
            wait=lambda state: min(_pause(state), _LAST_SHARE * max(0.0, left())),
            reraise=True,
        )

    def _most(self, *, is_limited: bool) -> float:
        if self.max_retries is not None:
            return self.max_retries
        return math.inf if is_limited else _RETRIES


class Rest:
    """A pause that a server asked one request for, and that all requests to it keep.

    A server that is asked too much would hear from the others all the same, and refuse each.
    """

    def __init__(self) -> None:
        self._since: float | None = None
        self._until = -math.inf

    @property
    def left(self) -> float:
        """The seconds that are left of the pause; below 0 when it is over."""
        return self._until - time.monotonic()

    @property
    def stops_clocks(self) -> bool:
        """Whether waiting for it is nobody's time. Without end, rest after rest, it would be."""
        return self._since is None or self._until - self._since <= MAX_RESTING_SECONDS

    def ask(self, failure: TryFailed) -> None:
        """Rest as long as a refusal asks for, unless a longer rest was asked for already."""
        if failure.asks_all and failure.retry_after is not None:
            now = time.monotonic()
            self._since = now if self._since is None else self._since
            self._until = max(self._until, now + failure.retry_after)

    def over(self) -> None:
        """End the pause, since the server answers again."""
        self._since = None


def read_retry_after(header: str | None, *, now: float | None = None) -> float | None:
    """Seconds that a Retry-After header asks for, if they are more than 0 and at most 120.

    The header holds seconds or an HTTP date (RFC 9110, 10.2.3); servers also write fractions,
    and nonsense, which counts as not there.
    """
    seconds = _asked_for(header, now)
    return seconds if 0 < seconds <= MAX_RETRY_AFTER_SECONDS else None


def asks_for_too_long(header: str | None) -> bool:
    """Whether a Retry-After header asks for a pause that nobody keeps."""
    return _asked_for(header) > MAX_RETRY_AFTER_SECONDS


def _asked_for(header: str | None, now: float | None = None) -> float:
    """Return the number in a header; NaN, with which every comparison is false, if it has none."""
    if header is None:
        return math.nan
    if _SECONDS.fullmatch(header.strip()):
        return float(header)
    try:
        until = parsedate_to_datetime(header).timestamp()
    except (ValueError, OverflowError):
        return math.nan
    return until - (time.time() if now is None else now)


def _pause(state: RetryCallState) -> float:
    """Return the seconds until the next try, spread so that clients do not return all at once."""
    failure = _failure(state)
    if failure.asks_all and failure.retry_after is not None:
        return 0.0  # all requests keep that rest, this one with them
    if failure.retry_after is not None:
        return failure.retry_after * random.uniform(1.0, 1.1)
    ceiling = min(CAP_SECONDS, _BASE_SECONDS * 2.0 ** min(state.attempt_number - 1, 30))
    return random.uniform(0.0, ceiling)


def _failure(state: RetryCallState) -> TryFailed:
    error = state.outcome.exception() if state.outcome else None
    return error if isinstance(error, TryFailed) else TryFailed("unknown")
