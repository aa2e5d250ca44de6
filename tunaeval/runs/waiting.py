"""Ask a client for an episode: return its answer, or the reason why none came in time."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import TracebackType
from typing import Self

from tunaeval.errors import PluginError, TransportFailure
from tunaeval.registry import reply_of
from tunaeval.types.deadlines import Deadline
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.roles import Client

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
        with Limited(deadline, grace=_grace(deadline.seconds)):
            return await reply_of(client, request)
    except TimeoutError:
        return late
    except TransportFailure as failure:
        return late if failure.kind == "timeout" and deadline.left <= 0 else failure
    except PluginError as error:  # a plug-in's failure does not end the run
        return TransportFailure(str(error), kind="body")


def _grace(seconds: float) -> float:
    """Return the seconds after the deadline in which a client may still report what happened."""
    return min(0.5, max(0.05, 0.1 * seconds))


class Limited:
    """`with Limited(deadline): await ...` raises TimeoutError when the deadline is over.

    `grace` are additional seconds for a client that knows the deadline and may still report what
    happened. A cancellation from outside passes through, as with `asyncio.timeout`, which has no
    deadlines that can be stopped.
    """

    __slots__ = ("_cancels_before", "_deadline", "_grace", "_is_over", "_loop", "_task", "_timer")

    def __init__(self, deadline: Deadline, *, grace: float = 0.0) -> None:
        self._deadline = deadline
        self._grace = grace
        self._is_over = False

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a deadline ends the waits of a task; there is none here")
        self._task, self._cancels_before = task, task.cancelling()
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(max(0.0, self._left()), self._look)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        is_ours = self._is_over and self._task.uncancel() <= self._cancels_before
        if is_ours and kind is not None and issubclass(kind, asyncio.CancelledError):
            raise TimeoutError from error

    def _left(self) -> float:
        return self._deadline.left + self._grace

    def _look(self) -> None:
        left = self._left()
        if left > 0 or self._deadline.is_paused:
            self._timer = self._loop.call_later(max(left, _SHORTEST_SECONDS), self._look)
        else:
            self._is_over = True
            self._task.cancel()


_SHORTEST_SECONDS = 0.02
"""Seconds between two checks of a deadline that is stopped."""
