"""Which failures are worth another try, how many, and after what pause."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

MAX_RETRY_AFTER_SECONDS = 120.0
"""A server that asks for a longer pause is not waited for that long: it is asked again sooner."""

_BASE_SECONDS = 0.5
_CAP_SECONDS = 20.0
_BODY_RETRIES = 1
_FIRST_CONTACT_RETRIES = 2
_RETRIED_STATUSES = frozenset({408, 409, 429})
_REST_STATUSES = frozenset({429, 503})
"""With a Retry-After these speak of the server, not of a request (RFC 6585, 4; 9110, 15.6.4)."""


class TryFailed(Exception):  # noqa: N818 - one try's outcome; it never leaves this room
    """One try failed. `again` says whether another could succeed; `kind` is TransportFailure's.

    `said` is what the server said, uncut and not yet rid of the key: it is never in the message.
    """

    def __init__(
        self,
        message: str,
        *,
        said: str | None = None,
        kind: str = "body",
        status: int | None = None,
        again: bool = True,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.said = said
        self.kind = kind
        self.status = status
        self.again = again
        self.retry_after = retry_after


def is_retried(status: int) -> bool:
    """Whether a server that answers with this status may answer otherwise next time."""
    return status in _RETRIED_STATUSES or status >= 500


@dataclass(frozen=True, slots=True)
class Patience:
    """How long one request is tried for: so many retries, and no pause that ends after `deadline`.

    Eight retries take half a minute on average and 70 s at most, which outlasts the restart of a
    server. One that was never reached gets two, for that is a wrong address; a broken body one.
    """

    max_retries: int
    deadline: float | None

    def within(self, seconds: float | None) -> Patience:
        """The same for a request that is waited for so long, and no longer."""
        if seconds is None or (self.deadline is not None and self.deadline <= seconds):
            return self
        return replace(self, deadline=seconds)

    def tries(self, *, reached: Callable[[], bool]) -> AsyncRetrying:
        """The tries of one request. `reached`: whether the server has ever answered."""
        broken = 0

        def is_over(state: RetryCallState) -> bool:
            nonlocal broken
            failure = _failure(state)
            broken += failure.kind == "body"
            retries = self.max_retries
            if failure.kind == "connect" and not reached():
                retries = min(retries, _FIRST_CONTACT_RETRIES)
            elapsed = state.seconds_since_start or 0.0
            limit = math.inf if self.deadline is None else self.deadline
            return (
                state.attempt_number > retries
                or broken > _BODY_RETRIES
                or elapsed + (failure.retry_after or 0) >= limit
            )

        return AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, TryFailed) and error.again),
            stop=is_over,
            wait=_pause,
            reraise=True,
        )


class Rest:
    """A pause that a server asked one request for, and that all requests to it keep.

    A server that is asked too much would hear from the others all the same, and refuse each.
    """

    def __init__(self) -> None:
        self._until = -math.inf

    def ask(self, failure: TryFailed) -> None:
        """Rest as long as a refusal asks for, unless a longer rest was asked for already."""
        if failure.status in _REST_STATUSES and failure.retry_after is not None:
            self._until = max(self._until, time.monotonic() + failure.retry_after)

    async def keep(self, *, deadline: float | None) -> None:
        """Wait until the rest is over, unless that is longer than a request may take in all."""
        limit = math.inf if deadline is None else deadline
        while 0 < (left := self._until - time.monotonic()) < limit:  # noqa: ASYNC110 - it may grow
            await asyncio.sleep(left * random.uniform(1.0, 1.1))


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
    """NaN for nothing and for nonsense: a comparison with it is false."""
    if header is None:
        return math.nan
    try:
        return float(header)
    except ValueError:
        try:
            until = parsedate_to_datetime(header).timestamp()
        except (ValueError, OverflowError):
            return math.nan
        return until - (time.time() if now is None else now)


def _pause(state: RetryCallState) -> float:
    """Seconds until the next try, spread so that many clients do not come back at once."""
    asked = _failure(state).retry_after
    if asked is not None:
        return asked * random.uniform(1.0, 1.1)
    ceiling = min(_CAP_SECONDS, _BASE_SECONDS * 2.0 ** min(state.attempt_number - 1, 30))
    return random.uniform(0.0, ceiling)


def _failure(state: RetryCallState) -> TryFailed:
    error = state.outcome.exception() if state.outcome else None
    return error if isinstance(error, TryFailed) else TryFailed("unknown")
