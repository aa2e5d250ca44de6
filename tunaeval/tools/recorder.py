"""The recorder, which keeps executions of wrapped tools: bounded, and shared between threads."""

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
    """Collects the last `limit` executions, in the order in which they ended.

    `classifiers` decide whether a run succeeded, in their order: names of the group
    `tunaeval.classifiers`, or values of that shape; the built-in ones by default. `listener` is
    called with each execution as it ends; `tunaeval.print_execution` is one.

    Executions are built when `executions` is read, so that a call pays for little more than reading
    the clock. There is no lock, which would cost a call 0.2 µs: each step is atomic between
    threads, and `clear` starts with a new deque and a new counter.

    A pickled recorder arrives in the other process empty, with the same settings; executions that
    it records there stay there until the other process sends them back.

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
        """The executions so far, as a snapshot: later calls do not change it."""
        return _made(copied(self._state[0]))

    @property
    def by_call(self) -> dict[str | None, tuple[ToolExecution, ...]]:
        """The executions by the id of the call that they answer; under None, if that is unknown.

        A call may have been answered more than once, by a second attempt or under a reused id.
        """
        found: dict[str | None, list[ToolExecution]] = {}
        for execution in self.executions:
            found.setdefault(execution.call_id, []).append(execution)
        return {call_id: tuple(answers) for call_id, answers in found.items()}

    @property
    def busy_seconds(self) -> float | None:
        """The seconds in which at least one of the tools ran; see `tunaeval.busy_seconds`."""
        return busy_seconds(self.executions)

    @property
    def taker(self) -> object:
        """The key that a call remembers, so that of nested runs only the outer one answers it."""
        return self

    def reaches(self, recorder: object) -> bool:
        """Whether executions that are recorded here are recorded in `recorder` as well."""
        return recorder is self

    @property
    def dropped(self) -> int:
        """How many executions were dropped; inexact while other threads are recording."""
        kept = copied(self._state[0])
        return max(number for number, *_ in kept) + 1 - len(kept) if kept else 0

    def record(self, execution: ToolExecution) -> None:
        """Keep an execution that was timed elsewhere."""
        self.keep(_same, None, execution)

    def keep(self, make: Make, ending: object, *facts: object) -> None:
        """Keep `make` and `facts`; `make(*facts)` builds the execution when it is read.

        `ending` is the object that the tool returned or raised; it is for overrides, not kept here.
        """
        del ending
        kept, numbers = self._state
        kept.append((next(numbers), make, facts))
        if self.listener is not None:
            self.listener(make(*facts))

    def take(self) -> tuple[ToolExecution, ...]:
        """Return the executions and forget them."""
        kept, _ = self._state
        self.clear()
        return _made(copied(kept))

    def clear(self) -> None:
        """Forget all executions, and the count of the dropped ones."""
        kept: deque[Deferred] = deque(maxlen=self.limit)
        self._state = kept, count()

    def __len__(self) -> int:
        return len(self._state[0])

    def __bool__(self) -> bool:
        return True  # `len` alone would make an empty recorder false

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}(limit={self.limit}, executions={len(self)}, dropped={self.dropped})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
        self._begin()

    def _begin(self) -> None:
        """Set up the state that is not pickled."""
        self.clear()


def copied(kept: deque[T]) -> list[T]:
    """Return the items of a deque to which other threads may be appending."""
    while True:
        try:
            return list(kept)
        except RuntimeError:  # another thread recorded just now
            continue


def _made(kept: list[Deferred]) -> tuple[ToolExecution, ...]:
    return tuple(make(*facts) for _, make, facts in kept)


def _same(execution: ToolExecution) -> ToolExecution:
    return execution
