"""How a command ends at Ctrl-C or SIGTERM, however often they come.

The first signal ends it in order: requests in flight are cancelled, clients are closed, finished
results are reported. A second signal, or `GRACE_SECONDS` without an end, ends the process at once.
Either way no finished result is lost, for it is on disk by then.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
from collections.abc import Coroutine
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    import asyncio  # at run time only for commands that have a loop, as --help must be quick

GRACE_SECONDS = 5.0

T = TypeVar("T")

_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
_SHOW_CURSOR = "\x1b[?25h"  # in case a progress bar has hidden it


class Terminated(KeyboardInterrupt):
    """A signal ended the command. `code` is its exit code, `word` says in words how it ended."""

    def __init__(self, number: int) -> None:
        super().__init__(_WORDS.get(signal.Signals(number), "ended"))
        self.code = 128 + number

    @property
    def word(self) -> str:
        return " ".join([str(self), *getattr(self, "__notes__", ())])


class Ending:
    """A context manager, made once for a command, that handles its signals.

    In a thread other than the main one it does nothing, as Python allows no handlers there. With
    `last`, the process ends with the command, so Ctrl-C is ignored afterwards; but after a first
    signal the handlers stay, so that a second one ends the process.
    """

    def __init__(self) -> None:
        self.last = False
        self.where = ""
        """Words that say where what was finished is kept, and how it goes on."""
        self._old_handlers: dict[int, Any] = {}
        self._first: int | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        with suppress(ValueError):
            for number in _WORDS:
                self._old_handlers[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self.last and self._first is not None:
            atexit.register(_ignore, *self._old_handlers)
            return
        if self._timer is not None:
            self._timer.cancel()
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)
        if self.last and self._old_handlers:
            _ignore(signal.SIGINT)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine, which a signal cancels. Raises Terminated if a signal came."""
        import asyncio  # noqa: PLC0415 - as above

        async def cancellable() -> T:
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
            if self._first is not None:
                raise Terminated(self._first)
            try:
                return await work
            finally:
                self._task = None

        try:
            result = asyncio.run(cancellable())
        except asyncio.CancelledError:
            if self._first is None:
                raise
            raise Terminated(self._first) from None
        finally:
            self._loop = None
            work.close()  # otherwise a coroutine that never began would warn
        if self._first is not None:
            raise Terminated(self._first)
        return result

    def _handle(self, number: int, _: FrameType | None) -> None:
        """Handle a signal: the first one ends the command in order, any other ends it at once."""
        if self._first is not None:
            _end_at_once(self._first, self.where)
        self._first = number
        self._timer = threading.Timer(GRACE_SECONDS, _end_at_once, (number, self.where))
        self._timer.daemon = True
        self._timer.start()
        if self._loop is None:
            raise Terminated(number)
        if self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)


def _end_at_once(number: int, where: str) -> None:
    """End the process now, without waiting for a lock or a busy thread. `where` is added."""
    word = _WORDS.get(signal.Signals(number), "ended")
    with suppress(OSError):
        cursor = _SHOW_CURSOR if os.isatty(2) else ""
        os.write(
            2, f"{cursor}\ntunaeval: {word} at once; what was finished is kept{where}\n".encode()
        )
    os._exit(128 + number)


def _ignore(*numbers: int) -> None:
    """Ignore these signals, also while the interpreter shuts down and resets Python's handlers."""
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)
