"""When a request to a server is sent: in which turn, how many at once, and which are tried again.

Before each request to a server, its client waits here for its turn. The request waits

- while the server has asked for a pause: 429 or 503 with Retry-After apply to all requests
  (RFC 6585, 4; RFC 9110, 15.6.4);
- while as many requests are in flight as the server can take and this process has file descriptors
  for: half as many after each 429, timeout or lack of descriptors, one more after as many replies
  (additive increase, multiplicative decrease: Chiu and Jain 1989);
- for its share of `rpm` requests a minute;
- and while the circuit breaker is open: after ten failures in a row, of any requests, one request
  at a time tests at growing intervals whether the server is back.

The first three waits stop the clock of the request, as they are not its own fault.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import re
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TypeVar
from weakref import WeakKeyDictionary

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from tunaeval.types.deadlines import Deadline

from .statuses import meaning

_T = TypeVar("_T")
_LOG = logging.getLogger("tunaeval.clients")

MAX_RETRY_AFTER_SECONDS = 120.0
"""A server that asks for a longer pause is not waited for that long: it is asked again sooner."""

MAX_RESTING_SECONDS = 300.0
"""How long pauses in a row, without an answer between them, stop the clocks of requests."""

REFUSED = "refused"
"""The kind of a failure that every request has if the address or the key is wrong. A content filter
gives it to one request alone, so only many requests show which it is.
"""

_SECONDS = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,20})?")
"""Python reads `1_0`, `1e3`, `inf` and digits of other scripts as numbers, too."""

_BASE_SECONDS = 0.5
CAP_SECONDS = 20.0
_BODY_RETRIES = 1
_RETRIES = 8
_LAST_SHARE = 0.7
"""The largest share of the time left that a pause takes, so that there is time for another try."""
_FIRST_CONTACT_RETRIES = 2
_SPARE = 24
"""Descriptors for the files of a run, the event loop and look-ups of names."""
_UNKNOWN = 16
"""How many descriptors count as open if the system does not say."""
_OPEN = Path("/dev/fd")


@dataclass(eq=False, repr=False)
class TryFailed(Exception):  # noqa: N818 - one try's outcome; it never leaves this package
    """One try failed. `again` says whether another could succeed; `kind` is TransportFailure's.

    `words` is the server's message, whole and perhaps with the key, so `message` never has it.
    `advice` follows the message. `is_ours` means that this process ran out of file descriptors.
    """

    message: str
    _: KW_ONLY
    words: str | None = None
    advice: str | None = None
    kind: str = "body"
    status: int | None = None
    again: bool = True
    retry_after: float | None = None
    is_ours: bool = False

    @property
    def asks_all(self) -> bool:
        """Whether the server asks with this failure that all requests pause."""
        return self.retry_after is not None and meaning(self.status).rests

    @property
    def is_of_server(self) -> bool:
        """Whether the server is in trouble, not only this request, and named no time to wait."""
        is_trouble = self.kind in ("connect", "timeout") or (self.status or 0) >= 500
        return self.again and is_trouble and not self.asks_all and not self.is_ours


@dataclass(frozen=True, slots=True)
class Patience:
    """How long, and how many times, one request is tried.

    If there is a time limit, tries go on until it is over: `deadline` seconds with all pauses, or
    what the request's own clock has left, which stops while all requests wait. Without a limit, or
    if `max_retries` is given, their number is limited: eight retries take half a minute on average
    and 70 s at most, long enough for a server to restart. A server that was never reached is tried
    twice more, as its address is probably wrong; a broken body once more.
    """

    max_retries: int | None
    deadline: float | None

    def tries(self, *, reached: Callable[[], bool], clock: Deadline | None = None) -> AsyncRetrying:
        """Return the retry loop of one request. `reached` says whether the server ever answered."""
        limits = [] if self.deadline is None else [Deadline(self.deadline)]
        clocks = limits if clock is None else [*limits, clock]
        broken = 0
        most: float = math.inf if clocks else _RETRIES
        if self.max_retries is not None:
            most = self.max_retries

        def left() -> float:
            return min((one.left for one in clocks), default=math.inf)

        def is_over(state: RetryCallState) -> bool:
            nonlocal broken
            failure = _failure(state)
            broken += failure.kind == "body"
            retries = most
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


class Rest:
    """A pause that a server asked for, and that all requests to it keep.

    Otherwise the other requests would go on to a server that has too many, and each be refused.
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
        """Whether the clocks of requests stop during the pause.

        They do for the first `MAX_RESTING_SECONDS` of pauses in a row. Then they go on, so that a
        server that asks for pause after pause is not waited for without end.
        """
        return self._since is None or self._until - self._since <= MAX_RESTING_SECONDS

    def ask(self, failure: TryFailed) -> None:
        """Pause for as long as the failure asks, unless a longer pause is under way."""
        if failure.asks_all and failure.retry_after is not None:
            now = time.monotonic()
            self._since = now if self._since is None else self._since
            self._until = max(self._until, now + failure.retry_after)

    def over(self) -> None:
        """Note that the server answered, so that the next pause is the first in a row."""
        self._since = None


def read_retry_after(header: str | None, *, now: float | None = None) -> float | None:
    """Return the seconds that a Retry-After header asks for, if more than 0 and at most 120.

    The header is a number of seconds or a date, from which `now` is subtracted (RFC 9110, 10.2.3).
    Servers also write fractions, which are read, and nonsense, which counts as no header.
    """
    seconds = _asked_for(header, now)
    return seconds if 0 < seconds <= MAX_RETRY_AFTER_SECONDS else None


def asks_for_too_long(header: str | None) -> bool:
    """Whether a Retry-After header asks for a pause of more than 120 seconds."""
    return _asked_for(header) > MAX_RETRY_AFTER_SECONDS


def _asked_for(header: str | None, now: float | None = None) -> float:
    """Return the seconds in a Retry-After header, or NaN, for which every comparison is false."""
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
    """Return the seconds until the next try, partly random so that clients do not retry at once."""
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


_FAILURES_IN_A_ROW = 10
_FIRST_PROBE_SECONDS = 0.5
_TOLD_SECONDS = 30.0
"""The seconds between two notes that all requests wait."""


class Breaker:
    """A circuit breaker: after ten failures in a row, one request at a time probes the server."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._in_a_row = 0
        self._opened_at = self._next_at = 0.0
        self._pause = 0.0
        self._probes = False
        self.last: TryFailed | None = None
        """The failure that made the server count as down; None while it counts as up."""

    @property
    def is_open(self) -> bool:
        return self.last is not None

    def wait(self) -> float:
        """Return the seconds until the next probe, or 0 if the calling request may be the probe."""
        left = self._next_at - time.monotonic()
        return max(left, 0.05) if self._probes else max(0.0, left)

    def probe(self) -> None:
        """Make the calling request the probe, so that others wait for its end."""
        self._probes = True

    def gave_up(self, *, is_probe: bool) -> None:
        """Let another request be the probe if this one was, as it ended without an answer."""
        if is_probe:
            self._probes = False

    def failed(self, failure: TryFailed, *, is_probe: bool, left: float = math.inf) -> None:
        """Count a failure that shows trouble of the server.

        `left` is the time in seconds that the failed request still has. The next probe comes before
        it is over; otherwise an outage that ends in that time would fail every waiting request.
        """
        self._in_a_row += 1
        now = time.monotonic()
        if self.last is None and self._in_a_row >= _FAILURES_IN_A_ROW:
            self._opened_at, self._pause = now, _FIRST_PROBE_SECONDS
            _LOG.warning(
                "%s: %d requests in a row failed (%s); it is asked one at a time until it answers",
                self.name, self._in_a_row, failure,
            )  # fmt: skip
        elif not is_probe:
            return
        else:
            self._pause = min(CAP_SECONDS, 2 * self._pause)
        self.last, self._probes = failure, False
        pause = self._pause * random.uniform(0.5, 1.0)
        self._next_at = now + min(pause, _LAST_SHARE * max(0.0, left))

    def succeeded(self) -> bool:
        """Note that the server answered, and return whether it had counted as down."""
        self._in_a_row, self._probes = 0, False
        if self.last is None:
            return False
        self.last = None
        down = time.monotonic() - self._opened_at
        _LOG.warning("%s answers again, after %.0f s", self.name, down)
        return True


@dataclass(slots=True)
class _Lane:
    """The requests of one event loop: how many are in flight, and which wait, in their order."""

    in_flight: int = 0
    waiting: dict[asyncio.Future[None], None] = field(default_factory=dict)

    async def wait(self, seconds: float | None) -> None:
        """Wait until `wake` is called, or for at most `seconds`; None sets no limit."""
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        self.waiting[turn] = None
        timer = None if seconds is None else loop.call_later(seconds, _wake, turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.wake(1)  # it was this one's turn: let the next one have it
            raise
        finally:
            self.waiting.pop(turn, None)
            if timer is not None:
                timer.cancel()

    def wake(self, count: int) -> None:
        for turn in list(self.waiting)[: max(0, count)]:
            del self.waiting[turn]
            _wake(turn)


class Pace:
    """Decides when a request to one server is sent; at most `connections` are in flight at once."""

    def __init__(self, name: str, connections: int, *, rpm: float | None = None) -> None:
        self._most = affordable(connections, address=name)
        self._limit = float(self._most)
        self._cut_at = 0.0
        self._interval = 0.0 if rpm is None else 60.0 / rpm
        self._next_at = 0.0
        self._rest = Rest()
        self._told_at = -math.inf
        self._answered = False
        self.breaker = Breaker(name)
        # A future serves one event loop; a client may outlive one.
        self._lanes: WeakKeyDictionary[asyncio.AbstractEventLoop, _Lane] = WeakKeyDictionary()

    @property
    def limit(self) -> int:
        """The number of requests that may be in flight now."""
        return int(self._limit)

    async def in_turn(
        self, ask: Callable[[], Awaitable[_T]], clock: Deadline | None, longest_rest: float
    ) -> _T:
        """Call `ask` in its turn and return its result. Waiting for other requests stops `clock`.

        A pause of `longest_rest` seconds or more that the server asked for is ignored. A failure is
        counted and raised. Raises TimeoutError if `clock` runs out before `ask` is called.
        """
        lane = self._lanes.get(loop := asyncio.get_running_loop())
        if lane is None:
            lane = self._lanes[loop] = _Lane()
        is_probe = await self._enter(lane, clock, longest_rest)
        started = time.monotonic()
        try:
            answer = await ask()
        except TryFailed as failure:
            self._failed(failure, started, clock, is_probe=is_probe)
            raise
        except BaseException:
            self.breaker.gave_up(is_probe=is_probe)
            raise
        else:
            self._succeeded()
            return answer
        finally:
            lane.in_flight -= 1
            lane.wake(self.limit - lane.in_flight)

    async def _enter(self, lane: _Lane, clock: Deadline | None, longest_rest: float) -> bool:
        """Wait for a turn, and return whether this request is the breaker's probe."""
        is_probe = False
        while True:
            if self.breaker.is_open:
                if not (seconds := self.breaker.wait()):
                    self.breaker.probe()
                    is_probe = True
                    break
                await lane.wait(_before(clock, seconds))
            elif 0 < (rest := self._rest.left) < longest_rest:
                rest *= random.uniform(1.0, 1.1)
                if self._rest.stops_clocks:
                    with stopped(clock):
                        await lane.wait(rest)
                else:
                    await lane.wait(_before(clock, rest))
            elif lane.in_flight >= self.limit:
                with stopped(clock):
                    await lane.wait(None)
            else:
                break
        lane.in_flight += 1
        if self._interval:
            try:
                await self._share(clock)
            except BaseException:
                self.breaker.gave_up(is_probe=is_probe)
                lane.in_flight -= 1
                lane.wake(1)
                raise
        return is_probe

    async def _share(self, clock: Deadline | None) -> None:
        """Wait until the limit of requests a minute lets this one begin."""
        now = time.monotonic()
        start = max(now, self._next_at)
        self._next_at = start + self._interval
        if start > now:
            with stopped(clock):
                await asyncio.sleep(start - now)

    def _failed(
        self, failure: TryFailed, started: float, clock: Deadline | None, *, is_probe: bool
    ) -> None:
        self._rest.ask(failure)
        if failure.asks_all and time.monotonic() - self._told_at > _TOLD_SECONDS:
            self._told_at = time.monotonic()
            _LOG.warning("%s: all requests wait, as it asks for (%s)", self.breaker.name, failure)
        # A request that was on its way when the number was cut says nothing of the new one.
        asks_for_fewer = failure.status == 429 or failure.kind == "timeout" or failure.is_ours
        if asks_for_fewer and started >= self._cut_at:
            self._limit = max(1.0, self._limit / 2)
            self._cut_at = time.monotonic()
            _LOG.info("asked %d at a time from now on (%s)", self.limit, failure)
        # Where nothing ever answered, each request gives up soon by itself (see `Patience`), and
        # waits for no server to come back.
        self._answered |= failure.status is not None
        is_unknown = failure.kind == "connect" and not self._answered
        if failure.is_of_server and not is_unknown:
            was_open = self.breaker.is_open
            left = math.inf if clock is None else clock.left
            self.breaker.failed(failure, is_probe=is_probe, left=left)
            if self.breaker.is_open and not was_open:
                for lane in self._lanes.values():
                    lane.wake(len(lane.waiting))  # their clocks go on
        elif not (failure.is_ours or is_unknown) and self.breaker.succeeded():
            self._reopen()

    def _succeeded(self) -> None:
        self._answered = True
        self._rest.over()
        self._limit = min(self._most, self._limit + 1 / self._limit)
        if self.breaker.succeeded():
            self._reopen()

    def _reopen(self) -> None:
        """Begin with a quarter of the connections, so that a server that is back is not flooded."""
        self._limit = max(1.0, min(self._limit, self._most / 4))
        for lane in self._lanes.values():
            lane.wake(self.limit)


def _before(clock: Deadline | None, seconds: float) -> float:
    """Return `seconds`, or what is left on the clock if that is less. Raises TimeoutError at 0."""
    if clock is None:
        return seconds
    if clock.left <= 0:
        raise TimeoutError
    return min(seconds, clock.left)


def stopped(clock: Deadline | None) -> AbstractContextManager[None]:
    """Return a block in which the clock, if there is one, does not run."""
    return nullcontext() if clock is None else clock.paused()


def _wake(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


def affordable(wanted: int, *, address: str) -> int:
    """Return how many of `wanted` connections can be open: at least one. Warns if it is not all.

    Each takes a file descriptor, and some have to be left for other files.
    """
    can, most = openable()
    if can < wanted:
        _LOG.warning(
            "%s: asked %d at a time and not %d, as this process may open %d files (ulimit -n)",
            address, can, wanted, most,
        )  # fmt: skip
    return min(can, wanted)


def openable() -> tuple[int, int]:
    """Return how many more connections this process can open, at least one, and its limit of files;
    both are huge where there is none.
    """
    if sys.platform == "win32":
        return sys.maxsize, sys.maxsize
    try:
        import resource  # noqa: PLC0415 - Unix alone has it

        most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    except (ImportError, AttributeError):
        return sys.maxsize, sys.maxsize
    if most == resource.RLIM_INFINITY:
        return sys.maxsize, sys.maxsize
    return max(1, most - _open_now() - _SPARE), most


def _open_now() -> int:
    try:
        return sum(1 for _ in _OPEN.iterdir())
    except OSError:
        return _UNKNOWN
