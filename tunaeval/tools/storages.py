"""Two more places for executions: a mapping per run of an agent, and beside the tools' results."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tunaeval.types.messages import ToolExecution

from .recorder import Make, Recorder, copied


class ContextRecorder(Recorder):
    """Gives each run of an agent a recorder of its own, so that tools are wrapped only once.

        recorder = ContextRecorder()
        with recorder.run() as run:
            agent(task)
        run.by_call["c1"]

    What is recorded inside goes to `run` alone, also from tasks and threads that were given the
    context; outside of all runs it goes to the recorder itself. A run is bounded as the recorder
    is, and forgotten with its last user.

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
        """One run of an agent: the recorder of what happens inside."""
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
    """Keeps an execution beside the very result of its run, which the tool's caller has.

        execution = recorder.of(tool("a.py"))

    The results are kept until they are forgotten, `limit` of them at the most.

    Examples:
        >>> recorder = tunaeval.ResultRecorder()
        >>> words = tunaeval.wrap_tool(str.split, recorder)
        >>> recorder.of(words("a b")).tool
        'split'
    """

    def of(self, result: object) -> ToolExecution | None:
        """The latest execution that ended in `result`, the same object; an exception may be one.

        Small values (None, True, 3, "") are the same object wherever they come from.
        """
        for ending, make, facts in reversed(copied(self._results)):
            if ending is result:
                return make(*facts)
        return None

    def keep(self, make: Make, ending: object, *facts: object) -> None:
        self._results.append((ending, make, facts))
        super().keep(make, ending, *facts)

    def clear(self) -> None:
        """Forget everything, the results too."""
        super().clear()
        self._results: deque[tuple[object, Make, tuple[object, ...]]] = deque(maxlen=self.limit)


STORAGES: dict[str, type[Recorder]] = {
    "collector": Recorder,
    "context": ContextRecorder,
    "result": ResultRecorder,
}
"""Where durations are put, by the word for it."""
