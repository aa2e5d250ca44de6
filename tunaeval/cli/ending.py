"""How a command ends when it is asked to, by Ctrl-C or SIGTERM, once, twice or however often.

The first signal ends it in order: what is in flight is given up, clients are closed, what was
finished is reported. A second one, or `GRACE_SECONDS` without an end, ends the process at once.
Either way nothing is lost that was finished, for that is on disk by then.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Coroutine
from contextlib import suppress
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tunaeval.registry import running

if TYPE_CHECKING:
    import asyncio  # at run time only for a command that has a loop: --help is to be quick

GRACE_SECONDS = 5.0

_exit = os._exit  # as it is, whatever a plug-in's is turned into

T = TypeVar("T")

_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
_SHOW_CURSOR = "\x1b[?25h"  # of a progress bar that could not do it itself


class Ended(KeyboardInterrupt):
    """A signal came. `code` is the exit code, `word` says how the command ended."""

    def __init__(self, number: int) -> None:
        super().__init__(_WORDS.get(signal.Signals(number), "ended"))
        self.code = 128 + number

    @property
    def word(self) -> str:
        return " ".join([str(self), *getattr(self, "__notes__", ())])


class Ending:
    """Heeds the signals from its beginning to its end; made once for a command.

    Threads other than the first cannot heed signals: there it does nothing. Where the process ends
    with it (`last`), a Ctrl-C then has nothing left to interrupt; and if a signal came, a second
    one ends at once until the process is as good as gone.
    """

    def __init__(self) -> None:
        self.last = False
        self._before: dict[int, Any] = {}
        self._first: int | None = None
        self._running = ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        with suppress(ValueError):
            for number in _WORDS:
                self._before[number] = signal.signal(number, self._came)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.last and self._first is not None:
            atexit.register(_ignore, *self._before)
            return
        if self._timer is not None:
            self._timer.cancel()
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self.last and self._before:
            _ignore(signal.SIGINT)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine; a signal cancels it. Raises Ended when one came."""
        import asyncio  # noqa: PLC0415 - as above

        async def told() -> T:
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
            if self._first is not None:
                raise self._ended(self._first)
            try:
                return await work
            finally:
                self._task = None

        try:
            result = asyncio.run(told())
        except asyncio.CancelledError:
            if self._first is None:
                raise
            raise self._ended(self._first) from None
        finally:
            self._loop = None
            work.close()  # of one that was never begun
        if self._first is not None:
            raise self._ended(self._first)
        return result

    def _ended(self, number: int) -> Ended:
        """The signal, and which plug-in was running when it came."""
        error = Ended(number)
        if self._running:
            error.add_note(self._running)
        return error

    def _came(self, number: int, frame: FrameType | None) -> None:
        if self._first is not None:
            _end_at_once(self._first)
        self._first, self._running = number, _while_running(frame)
        self._timer = threading.Timer(GRACE_SECONDS, _end_at_once, (number,))
        self._timer.daemon = True
        self._timer.start()
        if self._loop is None:
            raise self._ended(number)
        if self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)


def _end_at_once(number: int) -> None:
    """End the process now: neither a lock that somebody holds nor a busy thread delays it."""
    word = _WORDS.get(signal.Signals(number), "ended")
    frames = sys._current_frames()  # noqa: SLF001 - there is no other way to know
    frame = frames.get(threading.main_thread().ident or 0)
    how = " ".join(filter(None, (word, "at once", _while_running(frame))))
    with suppress(OSError):
        cursor = _SHOW_CURSOR if os.isatty(2) else ""
        os.write(2, f"{cursor}\ntunaeval: {how}; what was finished is kept\n".encode())
    _exit(128 + number)


def _while_running(frame: FrameType | None) -> str:
    who = running(frame)
    return f"while {who} was running" if who else ""


def _ignore(*numbers: int) -> None:
    """Python would have the default again for what it handles, in the last moment of a process."""
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)
