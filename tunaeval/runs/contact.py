"""Ask a client for an answer in time, and decide whether no request can succeed.

A wrong key or address fails all requests; a content filter fails one. So results of refused and
unconnected requests are kept back until any other answer arrives; then they are passed on without
the advice about a wrong key or address. If none arrives, the run ends, and no file has the results
that were kept back: a resumed run with the right key asks for all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeAlias

from tunaeval.errors import ClientSetupError, PluginError, TransportFailure
from tunaeval.types.deadlines import Deadline
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.roles import Client
from tunaeval.types.runs import ScenarioResult
from tunaeval.types.third_party import reply_of

_PATIENCE = 5
"""With this many refusals or failures to connect, and no other answer, no request can succeed."""


Placed: TypeAlias = tuple[int, ScenarioResult]
"""A result after its place in the run: the scenario's index * repeats + repeat - 1."""


class Contact:
    """Keeps results back until any request of a run succeeds; `places` results are to come."""

    def __init__(self, concurrency: int, places: int, *, was_answered: bool) -> None:
        most = max(_PATIENCE, concurrency)
        # If the run had answers before, failures of the few requests that are left prove nothing.
        self._most = most if was_answered else min(places, most)
        self._is_heard = False
        self._refused = 0
        self._kept_back: list[Placed] = []
        self._advice: set[str] = set()

    def hold_nothing(self) -> None:
        """Pass every result on at once, because a run does not see an agent's requests."""
        self._is_heard = True

    def heard(self, answer: Reply | TransportFailure) -> None:
        """Take note of a request's answer: whether requests can succeed at all."""
        is_hopeless = isinstance(answer, TransportFailure) and answer.kind in HOPELESS
        if isinstance(answer, TransportFailure) and answer.advice:
            self._advice.add(f"; {answer.advice}")
        self._refused += is_hopeless
        self._is_heard = self._is_heard or not is_hopeless

    def known(self, place: int, result: ScenarioResult) -> Iterator[Placed]:
        """Return the results that can be passed on now: this one and those kept back, or none.

        Raises ClientSetupError if no request can succeed.
        """
        self._kept_back.append((place, result))
        if not self._is_heard and self._refused >= self._most:
            error, hint = result.error or "", "is the server running"
            has_hint = hint in error or not error.startswith("connect")
            raise ClientSetupError(
                f"no request succeeded; the first {self._refused} failed in the same way "
                f"({error}){'' if has_hint else f'; {hint} at this address?'}"
            )
        return self.rest() if self._is_heard else iter(())

    def rest(self) -> Iterator[Placed]:
        """Yield the results that were kept back; they are no longer kept."""
        while self._kept_back:
            place, result = self._kept_back.pop(0)
            yield place, self._without_stale_advice(result)

    def _without_stale_advice(self, result: ScenarioResult) -> ScenarioResult:
        """Return the result; once requests succeed, without advice on a wrong key or address."""
        if result.error is None or not self._is_heard:
            return result
        for advice in self._advice:
            if result.error.endswith(advice):
                shorter = {
                    "error": result.error.removesuffix(advice),
                    "reason": result.reason.removesuffix(advice),
                }
                return result.model_copy(update=shorter)
        return result


HOPELESS = frozenset({"connect", "refused"})
"""Kinds of failures that every request has if the address or the key is wrong."""


async def answer_of(
    client: Client, request: Request, deadline: Deadline
) -> Reply | TransportFailure:
    """Return the client's answer, or a failure.

    The client knows the time limit, so that it can report in time what a server answered instead;
    only a silent client is cut off. It may stop the deadline during a pause of all requests.
    """
    request = replace(request, within_seconds=max(0.0, deadline.left), deadline=deadline)
    late = TransportFailure(f"the scenario took over {deadline.seconds:g} s", kind="timeout")
    try:
        async with limited(deadline, grace=min(0.5, max(0.05, 0.1 * deadline.seconds))):
            return await reply_of(client, request)
    except TimeoutError:
        return late
    except TransportFailure as failure:
        return late if failure.kind == "timeout" and deadline.left <= 0 else failure
    except PluginError as error:  # a plug-in's failure does not end the run
        return TransportFailure(str(error), kind="body")


@asynccontextmanager
async def limited(deadline: Deadline, *, grace: float) -> AsyncIterator[None]:
    """Raise TimeoutError in the block when the deadline is over: `asyncio.timeout` itself has no
    deadlines that can be stopped.

    `grace` are additional seconds for a client that knows the deadline and may still report what
    happened.
    """
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle

    def look() -> None:
        nonlocal timer
        left = deadline.left + grace
        if left > 0 or deadline.is_paused:
            timer = loop.call_later(max(left, _SHORTEST_SECONDS), look)
        else:
            limit.reschedule(loop.time())

    async with asyncio.timeout(None) as limit:
        timer = loop.call_later(max(0.0, deadline.left + grace), look)
        try:
            yield
        finally:
            timer.cancel()


_SHORTEST_SECONDS = 0.02
"""Seconds between two checks of a deadline that is stopped."""
