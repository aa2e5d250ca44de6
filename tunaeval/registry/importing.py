"""A plug-in's import, which may do anything: raise whatever there is, leave, or hang.

Whatever it does is its own failure, and named; only a signal that came from outside ends more.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from tunaeval.errors import PluginLoadError
from tunaeval.plugins import exits_raised, words_of

IMPORT_SECONDS = 60.0
"""How long the import of one plug-in may take; $TUNAEVAL_IMPORT_SECONDS says otherwise."""

_HEEDED = (signal.SIGINT, signal.SIGTERM)


class _TooLong(BaseException):
    """The time is over. No Exception, which the plug-in might catch."""


def imported(load: Callable[[], object], what: str, where: str) -> object:
    """What `load` imports. Raises PluginLoadError with `what` it is and `where` from.

    In the main thread, where there are timers (not on Windows), an import that hangs is ended.
    """
    came: list[int] = []
    seconds = import_seconds()
    try:
        with _heeding(came), exits_raised(), _limited(seconds):
            return load()
    except _TooLong:
        raise PluginLoadError(not_imported(what, where, too_long(seconds))) from None
    except BaseException as error:
        if came:
            raise
        raise PluginLoadError(not_imported(what, where, words_of(error))) from error


def not_imported(what: str, where: str, why: str) -> str:
    """The sentence for an import that fails."""
    return f"{what} cannot be imported from {where!r}: {why}; repair or uninstall it"


def too_long(seconds: float) -> str:
    """Why an import fails that takes too long."""
    return (
        f"it did not end within {seconds:g} s (more time: TUNAEVAL_IMPORT_SECONDS in the "
        "environment)"
    )


def import_seconds() -> float:
    """How long the import of one plug-in may take here."""
    try:
        seconds = float(os.environ.get("TUNAEVAL_IMPORT_SECONDS", ""))
    except ValueError:
        return IMPORT_SECONDS
    return seconds if 0 < seconds < threading.TIMEOUT_MAX else IMPORT_SECONDS


@contextmanager
def _heeding(came: list[int]) -> Iterator[None]:
    """Note which signals came from outside; what they did before they do still."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _HEEDED}

    def heed(number: int, frame: FrameType | None) -> None:
        came.append(number)
        handler: Any = before[signal.Signals(number)]
        handler(number, frame)

    theirs = {number: handler for number, handler in before.items() if callable(handler)}
    for number in theirs:
        signal.signal(number, heed)
    try:
        yield
    finally:
        for number, handler in theirs.items():
            if signal.getsignal(number) is heed:  # else the plug-in has set its own
                signal.signal(number, handler)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise `_TooLong` after so long, where that can be done and nobody else uses the timer."""
    is_main = threading.current_thread() is threading.main_thread()
    if not (
        hasattr(signal, "setitimer") and is_main and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    ):
        yield
        return

    def end(*_: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
