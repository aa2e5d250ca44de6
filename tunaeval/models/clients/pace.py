"""How fast one server is asked: whose turn it is, how many at once, how many a minute.

Every request to a server asks here for its turn. It waits

- while the server has asked for a rest: 429 or 503 with Retry-After concern all requests
  (RFC 6585, 4; RFC 9110, 15.6.4);
- while so many are in flight as the server bears, and this process has descriptors for: half as
  many after each 429 or timeout, and when no further file can be opened, one more after as many
  replies (additive increase, multiplicative decrease: Chiu and Jain 1989);
- for its share of `rpm` requests a minute;
- and while the breaker is open: after ten failures in a row, of whichever requests, one at a time
  tries whether the server is back, at growing intervals.

Waits of the first three kinds stop the clock of the request: they are no fault of its own.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TypeVar
from weakref import WeakKeyDictionary

from tunaeval.types.deadlines import Deadline

from .pools import affordable
from .retries import CAP_SECONDS, Rest, TryFailed

_T = TypeVar("_T")

_LOG = logging.getLogger("tunaeval.clients")

_FAILURES_IN_A_ROW = 10
_FIRST_PROBE_SECONDS = 0.5
_TOLD_SECONDS = 30.0
"""The seconds between two notes that all requests wait."""


class Breaker:
    """Whether a server is taken to be down, by failures in a row of any requests to it."""

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
        """Return the seconds until the next probe; 0 if this request may be it."""
        left = self._next_at - time.monotonic()
        return max(left, 0.05) if self._probes else max(0.0, left)

    def probe(self) -> None:
        """Make this request the probe."""
        self._probes = True

    def gave_up(self, *, is_probe: bool) -> None:
        """Let another request be the probe, since this one ended without an answer."""
        if is_probe:
            self._probes = False

    def failed(self, failure: TryFailed, *, is_probe: bool) -> None:
        """Count a failure that says something of the server."""
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
        self._next_at = now + self._pause * random.uniform(0.5, 1.0)

    def succeeded(self) -> bool:
        """Note an answer of the server; return whether the server counted as down."""
        self._in_a_row, self._probes = 0, False
        if self.last is None:
            return False
        self.last = None
        down = time.monotonic() - self._opened_at
        _LOG.warning("%s answers again, after %.0f s", self.name, down)
        return True


@dataclass(slots=True)
class _Lane:
    """The requests of one event loop: how many are in flight, and who waits, the first first."""

    in_flight: int = 0
    waiting: dict[asyncio.Future[None], None] = field(default_factory=dict)

    async def wait(self, seconds: float | None) -> None:
        """Wait until `wake` is called, or for so many seconds."""
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
    """The order of the requests to one server, at most `connections` of which are in flight."""

    def __init__(self, name: str, connections: int, *, rpm: float | None = None) -> None:
        self._most = affordable(connections, address=name)
        self._limit = float(self._most)
        self._cut_at = 0.0
        self._interval = 0.0 if rpm is None else 60.0 / rpm
        self._next_at = 0.0
        self._rest = Rest()
        self._told_at = -math.inf
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
        """What `ask` gives, in its turn. `clock` is stopped while others are waited for.

        A rest of `longest_rest` seconds or more is not kept. What the request raises is counted.
        Raises TimeoutError when the time of `clock` is over before it is asked.
        """
        lane = self._lanes.get(loop := asyncio.get_running_loop())
        if lane is None:
            lane = self._lanes[loop] = _Lane()
        is_probe = await self._enter(lane, clock, longest_rest)
        started = time.monotonic()
        try:
            answer = await ask()
        except TryFailed as failure:
            self._failed(failure, started, is_probe=is_probe)
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
        """Wait for a turn; return whether it is that of a probe."""
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
                    with _stopped(clock):
                        await lane.wait(rest)
                else:
                    await lane.wait(_before(clock, rest))
            elif lane.in_flight >= self.limit:
                with _stopped(clock):
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
            with _stopped(clock):
                await asyncio.sleep(start - now)

    def _failed(self, failure: TryFailed, started: float, *, is_probe: bool) -> None:
        self._rest.ask(failure)
        if failure.asks_all and time.monotonic() - self._told_at > _TOLD_SECONDS:
            self._told_at = time.monotonic()
            _LOG.warning("%s: all requests wait, as it asks for (%s)", self.breaker.name, failure)
        # A request that was on its way when the number was cut says nothing of the new one.
        if _asks_for_fewer(failure) and started >= self._cut_at:
            self._limit = max(1.0, self._limit / 2)
            self._cut_at = time.monotonic()
            _LOG.info("asked %d at a time from now on (%s)", self.limit, failure)
        if failure.is_of_server:
            was_open = self.breaker.is_open
            self.breaker.failed(failure, is_probe=is_probe)
            if self.breaker.is_open and not was_open:
                for lane in self._lanes.values():
                    lane.wake(len(lane.waiting))  # their clocks go on
        elif not failure.is_ours and self.breaker.succeeded():
            self._reopen()

    def _succeeded(self) -> None:
        self._rest.over()
        self._limit = min(self._most, self._limit + 1 / self._limit)
        if self.breaker.succeeded():
            self._reopen()

    def _reopen(self) -> None:
        """Begin with a quarter of the requests, not to flood a server that just came back."""
        self._limit = max(1.0, min(self._limit, self._most / 4))
        for lane in self._lanes.values():
            lane.wake(self.limit)


def _asks_for_fewer(failure: TryFailed) -> bool:
    return failure.status == 429 or failure.kind == "timeout" or failure.is_ours


def _before(clock: Deadline | None, seconds: float) -> float:
    """Return the seconds, or those that are left if fewer. Raises TimeoutError if none are."""
    if clock is None:
        return seconds
    if clock.left <= 0:
        raise TimeoutError
    return min(seconds, clock.left)


def _stopped(clock: Deadline | None) -> AbstractContextManager[None]:
    return nullcontext() if clock is None else clock.paused()


def _wake(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)
