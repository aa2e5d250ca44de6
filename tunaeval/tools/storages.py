"""Two other recorders: one for each run of an agent, and one that finds executions by result."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tunaeval.types.messages import ToolExecution

from .recorder import Make, Recorder, copied


class ContextRecorder(Recorder):
    """A recorder with a separate recorder for each run of an agent; tools are wrapped only once.

        recorder = ContextRecorder()
        with recorder.run() as run:
            agent(task)
        run.by_call["c1"]

    Inside the block executions go to `run` alone, also from tasks and threads that inherit the
    context; outside of all blocks they go to this recorder. `run` has the same limit, and is freed
    with its last reference.

    Examples:
        >>> recorder = tunaeval.ContextRecorder()
        >>> size = tunaeval.wrap_tool(len, recorder)
        >>> with recorder.run() as run:
        ...     _ = size("abc")
        ...
        >>> len(run.executions), len(recorder.executions)
        (1, 0)
    """

    @contextmanager
    def run(self) -> Iterator[Recorder]:
        """Yield a new recorder, which receives the executions inside the `with` block."""
        run = Recorder(self.limit, classifiers=self.classifiers, listener=self.listener)
        token = self._run.set(run)
        try:
            yield run
        finally:
            self._run.reset(token)

    def keep(self, make: Make, ending: object, *facts: object) -> None:
        run = self._run.get()
        if run is None:
            super().keep(make, ending, *facts)
        else:
            run.keep(make, ending, *facts)

    def _begin(self) -> None:
        self._run: ContextVar[Recorder | None] = ContextVar("tunaeval_run", default=None)
        super()._begin()


class ResultRecorder(Recorder):
    """A recorder that finds an execution by the result object of its run.

        execution = recorder.of(tool("a.py"))

    The latest `limit` results are kept alive until `clear`.

    Examples:
        >>> recorder = tunaeval.ResultRecorder()
        >>> words = tunaeval.wrap_tool(str.split, recorder)
        >>> recorder.of(words("a b")).tool
        'split'
    """

    def of(self, result: object) -> ToolExecution | None:
        """Return the latest execution that returned or raised this very object, or None.

        Small values (None, True, 3, "") are one object wherever they come from.
        """
        for ending, make, facts in reversed(copied(self._results)):
            if ending is result:
                return make(*facts)
        return None

    def keep(self, make: Make, ending: object, *facts: object) -> None:
        self._results.append((ending, make, facts))
        super().keep(make, ending, *facts)

    def clear(self) -> None:
        """Forget all executions and results."""
        super().clear()
        self._results: deque[tuple[object, Make, tuple[object, ...]]] = deque(maxlen=self.limit)


STORAGES: dict[str, type[Recorder]] = {
    "collector": Recorder,
    "context": ContextRecorder,
    "result": ResultRecorder,
}
"""The recorder classes by the name of their storage."""
