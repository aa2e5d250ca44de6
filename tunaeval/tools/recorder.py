"""Recorders, which keep executions of wrapped tools: bounded, and shared between threads.

A `ContextRecorder` has a recorder for each run of an agent, a `ResultRecorder` finds executions by
result, and a `SessionRecorder` belongs to a scoring session. Which session records an execution is
decided when the tool has run, so tools are wrapped once:

- A tool that a session wraps has a `Router` as its recorder. A session has an `Inbox`, which is
  open while the session's block runs, and current in the context of that block.
- The router passes an execution to the inbox that is current where the tool is called, and to the
  open ones around it.
- If none is current, as in a plain thread, the execution goes to the open inbox of the session that
  wrapped the tool last; if several are open, a warning is logged once.
- An execution for a session that has ended or not begun is not recorded, and a warning is logged
  once (`tunaeval.scoring`).

A tool keeps no session alive: an inbox has a weak reference to its session's recorder.
"""

from __future__ import annotations

import logging
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from threading import Lock
from typing import Any, TypeAlias, TypeVar
from weakref import ref

from tunaeval.types import copies
from tunaeval.types.messages import ToolExecution
from tunaeval.types.wanted import refusal, wanted_count, wanted_items

from .success import Classifier, chosen

T = TypeVar("T")
Listener: TypeAlias = Callable[[ToolExecution], object]
Make: TypeAlias = Callable[..., ToolExecution]
Deferred: TypeAlias = tuple[int, Make, tuple[object, ...]]


class Recorder:
    """Collects the last `limit` executions, in the order in which they ended.

    `classifiers` decide whether a run succeeded, in their order: names of the group
    `tunaeval.classifiers`, or objects of that protocol; the built-in ones by default. `listener` is
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
            raise refusal("listener", listener, "a function that takes an execution")
        self.limit = wanted_count(limit, "limit")
        self.classifiers = None if classifiers is None else chosen(classifiers)
        self.listener = listener
        self._begin()

    @property
    def executions(self) -> tuple[ToolExecution, ...]:
        """The executions so far, as a snapshot: later calls do not change it."""
        return _executions_of(copied(self._state[0]))

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
        """The key under which this recorder marks a call as answered.

        Where wrapped tools call each other, the outer one marks the call; the inner ones do not.
        """
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
        kept = copies.copied(execution)
        self.keep(lambda: copies.copied(kept), None)

    def keep(self, make: Make, ending: object, *facts: object) -> None:
        """Keep `make` and `facts`; `make(*facts)` builds the execution when it is read.

        `ending` is the object that the tool returned or raised. A subclass may use it; it is not
        kept here.
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
        return _executions_of(copied(kept))

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


def _executions_of(kept: list[Deferred]) -> tuple[ToolExecution, ...]:
    return tuple(make(*facts) for _, make, facts in kept)


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
        keep = super().keep if run is None else run.keep
        keep(make, ending, *facts)

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


def busy_seconds(executions: Iterable[ToolExecution]) -> float | None:
    """Return the seconds in which at least one of the executions ran; 0 if there are none.

    None if any duration is unknown, because the sum of the others would be too small. A run begins
    by the wall clock and is as long as the monotonic clock measured. A generator counts from its
    start for as long as its own code ran, without the waits for its consumer.

    Examples:
        >>> recorder = tunaeval.Recorder()
        >>> _ = tunaeval.wrap_tool(len, recorder)("abc")
        >>> tunaeval.busy_seconds(recorder.executions) < 1
        True
    """
    spans = []
    for run in wanted_items(executions, "executions", ToolExecution, "executions"):
        start, seconds = run.started_at, run.duration_seconds
        if seconds is None or not (math.isfinite(start) and 0 <= seconds < math.inf):
            return None
        spans.append((start, start + seconds))
    total, until = 0.0, -math.inf
    for start, end in sorted(spans):
        if end > until:
            total += end - max(start, until)
            until = end
    return total


def _nobody() -> None:
    """Return None, as a weak reference to a recorder does that no longer exists."""


_TITLE = 60
"""Characters of a session's query by which a warning names it."""

_LOG = logging.getLogger("tunaeval.scoring")


class Inbox:
    """Receives the executions of tools while the `with` block of its session is active.

    An inbox without a recorder records nothing itself, but leads to the inboxes around it.
    """

    recorder: Callable[[], Recorder | None]
    """Return the session's recorder while the inbox is open, else None."""
    alone: Callable[[], Recorder | None]
    """Like `recorder`, but None if other inboxes are around this one: the fast path of `Router`."""

    def __init__(self, title: object, recorder: SessionRecorder | None) -> None:
        self.title = title[:_TITLE] if isinstance(title, str) else ""
        self.is_open = False
        self.ended = False
        self.around: tuple[Inbox, ...] = ()
        self.recorder = self.alone = _nobody
        self._warned = self._doubted = False
        self._recorder = _nobody if recorder is None else ref(recorder)
        if recorder is not None:
            recorder.only_for(self)

    def open(self) -> None:
        """Make the inbox current in this context, inside of the one that was current."""
        outer = _current.get()
        chain = () if outer is None else (outer, *outer.around)
        self.around = tuple(one for one in chain if one.is_open and one is not self)
        self.is_open, self.ended = True, False
        self._warned = self._doubted = False
        self.recorder = self._recorder
        self.alone = _nobody if self.around else self._recorder
        _current.set(self)

    def close(self) -> None:
        """End the session's block; later runs are not recorded."""
        self.is_open, self.ended = False, True
        self.recorder = self.alone = _nobody
        if _current.get() is self:  # a block may end in another context than it began in
            _current.set(next((one for one in self.around if one.is_open), None))

    def is_of(self, recorder: object) -> bool:
        """Whether `recorder` is the recorder of the inbox's session."""
        return recorder is not None and self._recorder() is recorder

    @property
    def is_over(self) -> bool:
        """Whether it can record nothing any more: it ended, or its recorder no longer exists."""
        return self.ended or (self._recorder is not _nobody and self._recorder() is None)

    def recorders_around(self) -> list[Recorder]:
        """Return the recorders of the session and of the open sessions around it."""
        found = [one.recorder() for one in (self, *self.around)]
        return [recorder for recorder in found if recorder is not None]

    def warn(self, make: Make, facts: tuple[object, ...]) -> None:
        """Log once that a tool ran after the session had ended, or before it began."""
        if not self._warned:
            self._warned = True
            so = _ENDED if self.is_over else _NOT_BEGUN
            _LOG.warning(
                "the tool %r ran for the session %r, which " + so, make(*facts).tool, self.title
            )

    def doubt(self, among: int, make: Make, facts: tuple[object, ...]) -> None:
        """Log once that it is unknown for which of the open sessions a tool ran."""
        if not self._doubted:
            self._doubted = True
            _LOG.warning(
                "the tool %r ran where no session's context is, as in a thread of a pool, while %d "
                "sessions that wrapped it are open; it counts for %r, which wrapped it last. Run "
                "it by contextvars.copy_context().run to say which it is",
                make(*facts).tool, among, self.title,
            )  # fmt: skip


_ENDED = "has ended; what runs for that session is recorded no more"
_NOT_BEGUN = "has not begun: write `with session:` around it; it is recorded nowhere"


class SessionRecorder(Recorder):
    """A session's recorder: it keeps runs while the session's inbox is open.

    In another process there is no session, and it keeps every run.
    """

    _inbox: Inbox | None

    def only_for(self, inbox: Inbox) -> None:
        self._inbox = inbox

    def keep(self, make: Make, ending: object, *facts: object) -> None:
        if self._inbox is None or self._inbox.is_open:
            super().keep(make, ending, *facts)
        else:
            self._inbox.warn(make, facts)

    def _begin(self) -> None:
        self._inbox = None
        super()._begin()


_current: ContextVar[Inbox | None] = ContextVar("tunaeval_session", default=None)


class Router(Recorder):
    """The recorder of a tool that sessions wrap: it passes runs on to sessions and keeps none."""

    _inboxes: tuple[Inbox, ...]
    _adding: Lock

    @property
    def taker(self) -> object:
        """The key of all routers, so that only the outermost tool answers a model's call."""
        return Router

    def add(self, inbox: Inbox) -> None:
        """Add the inbox of a session that wraps the tool, as the latest one."""
        with self._adding:
            others = (one for one in self._inboxes if one is not inbox and not one.is_over)
            self._inboxes = (*others, inbox)

    def reaches(self, recorder: object) -> bool:
        """Whether `recorder` is this router, or belongs to a session that wrapped the tool."""
        return recorder is self or any(one.is_of(recorder) for one in self._inboxes)

    def keep(self, make: Make, ending: object, *facts: object) -> None:
        inbox = _current.get()
        if inbox is not None and (recorder := inbox.alone()) and recorder.listener is None:
            # `recorder.keep` inlined: calling it would be a third of the time.
            kept, numbers = recorder._state  # noqa: SLF001 - the state of another `Recorder`
            kept.append((next(numbers), make, facts))
            return
        recorders = None if inbox is None else inbox.recorders_around()
        if not recorders:
            recorders = self._elsewhere(inbox, make, facts)
        for recorder in recorders:
            recorder.keep(make, ending, *facts)

    def _elsewhere(
        self, inbox: Inbox | None, make: Make, facts: tuple[object, ...]
    ) -> list[Recorder]:
        """Return the recorders for a run when the current context has no open session."""
        if inbox is None or inbox.is_open:
            known = [one for one in self._inboxes if one.recorder() is not None]
            if known:
                last = known[-1]
                if not {*known} <= {last, *last.around}:
                    last.doubt(len(known), make, facts)
                return last.recorders_around()
            inbox = self._inboxes[-1] if self._inboxes else None
        if inbox is not None:
            inbox.warn(make, facts)
        return []

    def _begin(self) -> None:
        self._inboxes = ()
        self._adding = Lock()
        super()._begin()
