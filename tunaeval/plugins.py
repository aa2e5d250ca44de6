"""Who brought a plug-in, and the one sentence that is said when it misbehaves.

Whoever calls a plug-in catches what it raises and names it with the words of here: its kind, its
name, and the distribution that brought it, where it came by an entry point.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from tunaeval.errors import PluginError

LONGEST = 300
"""Characters of an exception's words that are kept."""

_BROUGHT: dict[int, tuple[object, str]] = {}
"""What was loaded from entry points, by its id, which stays its own while it is kept here."""

_WARNED: dict[int, object] = {}
"""What was warned of, likewise."""


_MODULES: dict[str, dict[str, None]] = {}
"""Who is loaded from which package."""


def remember_module(module: str, who: str) -> None:
    """Keep who is loaded from a module, before it is imported."""
    _MODULES.setdefault(module.partition(".")[0], {})[who] = None


def running(frame: FrameType | None) -> str | None:
    """The plug-in whose code is running in a frame, called by us; None where there is none."""
    found: str | None = None
    while frame is not None:
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if found and package == "tunaeval":
            return " or ".join(_MODULES[found])
        found = found or (package if package in _MODULES else None)
        frame = frame.f_back
    return None


class _Exits:
    """`os._exit` as it is, and for how many it is replaced."""

    real = staticmethod(os._exit)
    lock = threading.Lock()
    count = 0
    process = 0


@contextmanager
def exits_raised() -> Iterator[None]:
    """Where a plug-in calls `os._exit`, raise SystemExit, which is caught as its own failure.

    Its call would end the process without a word, and with an exit code that says what it likes.
    """
    with _Exits.lock:
        _Exits.count += 1
        _Exits.process = os.getpid()
        os._exit = _raised
    try:
        yield
    finally:
        with _Exits.lock:
            _Exits.count -= 1
            if not _Exits.count:
                os._exit = _Exits.real


def _raised(status: int) -> NoReturn:
    caller = sys._getframe(1)  # noqa: SLF001 - there is no other way to know
    if os.getpid() == _Exits.process and running(caller):  # what it has forked ends as it likes
        raise SystemExit(status)
    _Exits.real(status)


def remember(thing: object, who: str) -> None:
    """Keep who brought a thing that was loaded from an entry point."""
    _BROUGHT[id(thing)] = (thing, who)


def who(thing: object, kind: str, name: str | None = None) -> str:
    """A plug-in in words: "client 'mine' of my-package 1.0"; of what was given as a value, the name
    that it is known by, or has.
    """
    for known in (thing, type(thing)):
        if id(known) in _BROUGHT:
            return _BROUGHT[id(known)][1]
    try:
        called: object = getattr(thing, "name", None) if name is None else name
    except Exception:  # noqa: BLE001 - a plug-in's attributes may run code
        called = None
    return f"{kind} {called!r}" if isinstance(called, str) else f"{kind} {shown(thing)}"


def words_of(error: BaseException) -> str:
    """An exception in one line: "ValueError: what it says"."""
    try:
        said = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - an exception's own __str__ may raise anything
        said = ""
    name = type(error).__name__
    return f"{name}: {said[:LONGEST]}" if said else name


def shown(value: object) -> str:
    """The beginning of a value's repr."""
    try:
        return f"{value!r:.60}"
    except Exception:  # noqa: BLE001 - nor does a plug-in's __repr__ hide who returned it
        return f"a {type(value).__name__}"


def raised(thing: object, kind: str, error: BaseException, wanted: str) -> PluginError:
    """The error that names a plug-in that raised; to be raised from what it raised."""
    return PluginError(f"{who(thing, kind)} raised {words_of(error)}; wanted {wanted}")


def returned(thing: object, kind: str, value: str, wanted: str) -> PluginError:
    """The error that names a plug-in that returned `value`, in words."""
    return PluginError(f"{who(thing, kind)} returned {value}; wanted {wanted}")


def warn_once(thing: object, kind: str, did: str) -> None:
    """Log what a plug-in did where nothing can be raised, the first time that it does anything."""
    import logging  # noqa: PLC0415 - only where something went wrong

    if id(thing) not in _WARNED:
        _WARNED[id(thing)] = thing
        logging.getLogger("tunaeval.plugins").warning("%s %s", who(thing, kind), did)
