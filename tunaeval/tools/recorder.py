"""Where executions of wrapped tools are kept: bounded, and safe to share between threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import RLock
from typing import TypeAlias

from tunaeval.errors import UsageError
from tunaeval.types import ToolExecution

Deferred: TypeAlias = tuple[Callable[..., ToolExecution], tuple[object, ...]]


class Recorder:
    """Collects the last `limit` executions, oldest first, in the order in which they ended.

    `dropped` counts those that had to go for later ones. What a wrapper hands in is put together
    when `executions` is read, so that a call pays for little more than looking at the clock.
    """

    def __init__(self, limit: int = 10_000) -> None:
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise UsageError(
                f"Recorder(limit={limit!r}): wanted a whole number of executions, 1 or more"
            )
        self.limit = limit
        self.dropped = 0
        self._kept: deque[Deferred] = deque(maxlen=limit)
        # Reentrant: a signal handler or a finaliser may run a wrapped tool while we append.
        self._lock = RLock()

    @property
    def executions(self) -> tuple[ToolExecution, ...]:
        """What was recorded until now, as values of their own: later calls do not change them."""
        with self._lock:
            kept = list(self._kept)
        return tuple(make(*facts) for make, facts in kept)

    def record(self, execution: ToolExecution) -> None:
        """Keep an execution that somebody else timed."""
        self.defer(_same, execution)

    def defer(self, make: Callable[..., ToolExecution], *facts: object) -> None:
        """Keep what an execution will be made of, `make(*facts)`, when it is read."""
        with self._lock:
            if len(self._kept) == self.limit:
                self.dropped += 1
            self._kept.append((make, facts))

    def clear(self) -> None:
        """Forget everything, the count of the dropped too."""
        with self._lock:
            self._kept.clear()
            self.dropped = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __bool__(self) -> bool:
        return True  # an empty recorder is one

    def __repr__(self) -> str:
        return f"Recorder(limit={self.limit}, executions={len(self)}, dropped={self.dropped})"


def _same(execution: ToolExecution) -> ToolExecution:
    return execution
