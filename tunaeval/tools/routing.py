"""Which scoring sessions record the run of a tool: decided when it ends, so tools are wrapped once.

A session has an `Inbox`, which is open while the session's block runs, and current in the context
of that block. A tool that a session wraps has a `Router` as its recorder: it passes a run to the
inbox that is current where the tool is called, and to the open ones around it. Where none is
current, as in a plain thread, it passes the run to the open inbox of the session that wrapped the
tool last; if more are open, that is logged once. A run for a session that has ended or not begun is
recorded nowhere, which is logged once (`tunaeval.scoring`).

A tool keeps no session alive: an inbox has a weak reference to its session's recorder.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextvars import ContextVar
from threading import Lock
from weakref import ref

from .recorder import Make, Recorder


def _nobody() -> None:
    """Stand in for the weak reference to a recorder where there is none."""


_TITLE = 60
"""Characters of a session's query by which a warning names it."""

_LOG = logging.getLogger("tunaeval.scoring")


class Inbox:
    """Receives the runs of one session while the session's block runs.

    An inbox without a recorder records nothing, but can be open between others.
    """

    __slots__ = (
        "_doubted", "_recorder", "_warned", "alone", "around", "ended", "is_open", "recorder",
        "title",
    )  # fmt: skip

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
        """The same for all routers, so that a tool called by a running tool answers no call."""
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
