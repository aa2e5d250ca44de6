"""Where executions of wrapped tools are kept: bounded, and safe to share between threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any, TypeAlias, TypeVar

from tunaeval.types.messages import ToolExecution
from tunaeval.types.wanted import refusal, wanted_count

from .busy import busy_seconds
from .classifying import chosen
from .success import Classifier

T = TypeVar("T")
Listener: TypeAlias = Callable[[ToolExecution], object]
Make: TypeAlias = Callable[..., ToolExecution]
Deferred: TypeAlias = tuple[int, Make, tuple[object, ...]]


class Recorder:
    """Collects the last `limit` executions, oldest first, in the order in which they ended.

    `classifiers` decide over success, in their order: names of the group `tunaeval.classifiers`,
    or values of that shape (the built-in ones where none are given). `listener` is called with
    each execution as it ends, `tunaeval.print_execution` for one.

    What a wrapper passes in is put together when `executions` is read, so that a call pays for
    little more than looking at the clock. There is no lock, which would cost a call 0.2 µs: each
    step is one that threads cannot interrupt, and `clear` starts with a new deque and new numbers.

    To another process goes an empty recorder with the same settings: what it hears there stays
    there until its `executions` are sent back.

    Examples:
        >>> recorder = tunaeval.Recorder()
        >>> size = tunaeval.wrap_tool(len, recorder)
        >>> size("abc")
        3
        >>> recorder.executions[0].tool, recorder.executions[0].ok
        ('len', True)
    """

    def __init__(
        self,
        limit: int = 10_000,
        *,
        classifiers: Iterable[str | Classifier] | None = None,
        listener: Listener | None = None,
    ) -> None:
        if listener is not None and not callable(listener):
            raise refusal("listener", listener, "what takes an execution")
        self.limit = wanted_count(limit, "limit")
        self.classifiers = None if classifiers is None else chosen(classifiers)
        self.listener = listener
        self._begin()

    @property
    def executions(self) -> tuple[ToolExecution, ...]:
        """What was recorded until now, as values of their own: later calls do not change them."""
        return _made(copied(self._state[0]))

    @property
    def by_call(self) -> dict[str | None, tuple[ToolExecution, ...]]:
        """The executions by the id of the call that they answer; under None, those of no known one.

        A call may have been answered more than once, by a second attempt or under a reused id.
        """
        found: dict[str | None, list[ToolExecution]] = {}
        for execution in self.executions:
            found.setdefault(execution.call_id, []).append(execution)
        return {call_id: tuple(answers) for call_id, answers in found.items()}

    @property
    def busy_seconds(self) -> float | None:
        """How long at least one of the tools ran, as `tunaeval.busy_seconds` counts it."""
        return busy_seconds(self.executions)

    @property
    def taker(self) -> object:
        """For whom a run answers a call: of nested runs, only the outer one does for a taker."""
        return self

    def reaches(self, recorder: object) -> bool:
        """Whether what is recorded here is recorded there as well."""
        return recorder is self

    @property
    def dropped(self) -> int:
        """How many had to go for later ones; inexact while other threads are recording."""
        kept = copied(self._state[0])
        return max(number for number, *_ in kept) + 1 - len(kept) if kept else 0

    def record(self, execution: ToolExecution) -> None:
        """Keep an execution that somebody else timed."""
        self.keep(_same, None, execution)

    def keep(self, make: Make, ending: object, *facts: object) -> None:
        """Keep what an execution will be made of, `make(*facts)`, when it is read.

        `ending` is the very thing that the tool gave back or raised; it is not kept here.
        """
        del ending
        kept, numbers = self._state
        kept.append((next(numbers), make, facts))
        if self.listener is not None:
            self.listener(make(*facts))

    def take(self) -> tuple[ToolExecution, ...]:
        """The executions, which are forgotten: to be scored once, and kept no longer."""
        kept, _ = self._state
        self.clear()
        return _made(copied(kept))

    def clear(self) -> None:
        """Forget everything, the count of the dropped too."""
        kept: deque[Deferred] = deque(maxlen=self.limit)
        self._state = kept, count()

    def __len__(self) -> int:
        return len(self._state[0])

    def __bool__(self) -> bool:
        return True  # an empty recorder is one

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}(limit={self.limit}, executions={len(self)}, dropped={self.dropped})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
        self._begin()

    def _begin(self) -> None:
        """What is of this process alone: no part of the settings."""
        self.clear()


def copied(kept: deque[T]) -> list[T]:
    """The items of a deque to which other threads may be adding."""
    while True:
        try:
            return list(kept)
        except RuntimeError:  # another thread recorded just now
            continue


def _made(kept: list[Deferred]) -> tuple[ToolExecution, ...]:
    return tuple(make(*facts) for _, make, facts in kept)


def _same(execution: ToolExecution) -> ToolExecution:
    return execution
