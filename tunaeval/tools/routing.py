"""Which scoring sessions hear of a tool's run: decided when it ends, so a tool is wrapped once.

A session has an `Inbox`, which is open while the session's block runs, and current in the context
of that block. A tool that a session wraps has a `Router` for its recorder: a run goes to the inbox
that is current where the tool is called, and to the open ones around it. Where none is current, as
in a plain thread, it goes to the open inbox of the session that wrapped the tool last; where others
are open, too, that is logged once. What runs for a session that has ended or has not begun is
recorded nowhere, which is logged once (`tunaeval.scoring`).

A tool keeps no session alive: an inbox knows its session's recorder by a weak reference.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextvars import ContextVar
from threading import Lock
from weakref import ref

from .recorder import Make, Recorder


def _nobody() -> None:
    """The recorder of an inbox that takes nothing."""


_TITLE = 60
"""Characters of a session's query by which a warning names it."""

_LOG = logging.getLogger("tunaeval.scoring")


class Inbox:
    """Takes what ran for one session, while it is open.

    Without a recorder it takes nothing, and is there to be open between others.
    """

    __slots__ = (
        "_doubted", "_recorder", "_warned", "alone", "around", "ended", "is_open", "recorder",
        "title",
    )  # fmt: skip

    recorder: Callable[[], Recorder | None]
    """Asked for the session's recorder, which is None unless the inbox is open."""
    alone: Callable[[], Recorder | None]
    """The same where no other inbox is around this one: the quick way to know who hears."""

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
        """From here on it is current in this context, inside of the one that was."""
        outer = _current.get()
        chain = () if outer is None else (outer, *outer.around)
        self.around = tuple(one for one in chain if one.is_open and one is not self)
        self.is_open, self.ended = True, False
        self._warned = self._doubted = False
        self.recorder = self._recorder
        self.alone = _nobody if self.around else self._recorder
        _current.set(self)

    def close(self) -> None:
        """What comes now comes too late."""
        self.is_open, self.ended = False, True
        self.recorder = self.alone = _nobody
        if _current.get() is self:  # a block may end in another context than it began in
            _current.set(next((one for one in self.around if one.is_open), None))

    def is_of(self, recorder: object) -> bool:
        """Whether this is where its session records, when it does."""
        return recorder is not None and self._recorder() is recorder

    @property
    def is_over(self) -> bool:
        """Whether nothing can come of it any more: it ended, or its session was forgotten."""
        return self.ended or (self._recorder is not _nobody and self._recorder() is None)

    def hearing(self) -> list[Recorder]:
        """The recorders of its session and of the open ones around that."""
        found = [one.recorder() for one in (self, *self.around)]
        return [recorder for recorder in found if recorder is not None]

    def warn(self, make: Make, facts: tuple[object, ...]) -> None:
        """Say once that a tool ran when the session had ended, or had not begun."""
        if not self._warned:
            self._warned = True
            so = _ENDED if self.is_over else _NOT_BEGUN
            _LOG.warning(
                "the tool %r ran for the session %r, which " + so, make(*facts).tool, self.title
            )

    def doubt(self, among: int, make: Make, facts: tuple[object, ...]) -> None:
        """Say once that a tool ran where nobody knows for which of the open sessions."""
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
    """A session's own: it keeps what comes while its inbox is open.

    In another process there is no session, and it keeps what it hears.
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
    """The recorder of one tool that sessions wrap: it keeps nothing, and passes on what it gets."""

    _inboxes: tuple[Inbox, ...]
    _adding: Lock

    @property
    def taker(self) -> object:
        """All routers are one in this: a tool that a tool calls while it runs answers no call."""
        return Router

    def add(self, inbox: Inbox) -> None:
        """A session wraps the tool, too; it is the last one that did."""
        with self._adding:
            others = (one for one in self._inboxes if one is not inbox and not one.is_over)
            self._inboxes = (*others, inbox)

    def reaches(self, recorder: object) -> bool:
        """Whether a session that wrapped the tool records there."""
        return recorder is self or any(one.is_of(recorder) for one in self._inboxes)

    def keep(self, make: Make, ending: object, *facts: object) -> None:
        inbox = _current.get()
        if inbox is not None and (recorder := inbox.alone()) and recorder.listener is None:
            # As its own `keep`, written out: a call of that would be a third of the time.
            kept, numbers = recorder._state  # noqa: SLF001 - of a recorder as this is one
            kept.append((next(numbers), make, facts))
            return
        recorders = None if inbox is None else inbox.hearing()
        if not recorders:
            recorders = self._elsewhere(inbox, make, facts)
        for recorder in recorders:
            recorder.keep(make, ending, *facts)

    def _elsewhere(
        self, inbox: Inbox | None, make: Make, facts: tuple[object, ...]
    ) -> list[Recorder]:
        """Who hears where no session of this context does."""
        if inbox is None or inbox.is_open:
            known = [one for one in self._inboxes if one.recorder() is not None]
            if known:
                last = known[-1]
                if not {*known} <= {last, *last.around}:
                    last.doubt(len(known), make, facts)
                return last.hearing()
            inbox = self._inboxes[-1] if self._inboxes else None
        if inbox is not None:
            inbox.warn(make, facts)
        return []

    def _begin(self) -> None:
        self._inboxes = ()
        self._adding = Lock()
        super()._begin()
