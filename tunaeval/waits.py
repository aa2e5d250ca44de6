"""A wait that a `Deadline` ends, however often the deadline was stopped meanwhile."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from tunaeval.types import Deadline


class Limited:
    """`async with Limited(deadline): ...` raises TimeoutError when the deadline is over.

    `grace` are seconds more, for who knows the deadline and may still say what has happened.
    """

    def __init__(self, deadline: Deadline, *, grace: float = 0.0) -> None:
        self._deadline = deadline
        self._grace = grace
        self._timeout = asyncio.timeout(None)

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(max(0.0, self._left), self._look)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        await self._timeout.__aexit__(kind, error, traceback)

    @property
    def _left(self) -> float:
        return self._deadline.left + self._grace

    def _look(self) -> None:
        if self._deadline.is_paused or self._left > 0:
            self._timer = self._loop.call_later(max(self._left, _SHORTEST_SECONDS), self._look)
        else:
            self._timeout.reschedule(self._loop.time())


_SHORTEST_SECONDS = 0.02
"""Between two looks at a deadline that is stopped."""
