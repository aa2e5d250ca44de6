"""How many connections a process can have: each takes a descriptor, and others are needed, too."""

from __future__ import annotations

import errno
import logging
from pathlib import Path

_LOG = logging.getLogger("tunaeval.clients")

_SPARE = 24
"""For the files of a run, the event loop and look-ups of names."""
_UNKNOWN = 16
"""Open at the start where the system does not say how many are."""
_OPEN = Path("/dev/fd")


def affordable(wanted: int, *, address: str) -> int:
    """`wanted` connections, or as many as the process may open; at least one. Says so if fewer."""
    try:
        import resource  # noqa: PLC0415 - Unix alone has it
    except ImportError:
        return wanted
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY:
        return wanted
    can = max(1, most - _open_now() - _SPARE)
    if can < wanted:
        _LOG.warning(
            "%s: asked %d at a time and not %d, as this process may open %d files (ulimit -n)",
            address, can, wanted, most,
        )  # fmt: skip
    return min(can, wanted)


def is_shortage(error: BaseException | None) -> bool:
    """Whether it, or what it was raised from, says that no further file can be opened."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            return True
        if isinstance(error, BaseExceptionGroup):
            return any(map(is_shortage, error.exceptions))
        error = error.__cause__ or error.__context__
    return False


def _open_now() -> int:
    try:
        return sum(1 for _ in _OPEN.iterdir())
    except OSError:
        return _UNKNOWN
