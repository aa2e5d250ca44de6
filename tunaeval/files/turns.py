"""Whose turn it is at a file that several threads and processes write to."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def claim(file: int) -> None:
        os.lseek(file, 1 << 60, os.SEEK_SET)  # far behind all that is ever written or read
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

    def release(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def claim(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


TAKEN = frozenset({errno.EAGAIN, errno.EACCES, errno.EDEADLK})
"""What a claim says, by platform, while another has the file."""

_PAUSE_SECONDS = 0.001


@contextmanager
def turn(path: Path, *, patience_seconds: float = 5.0) -> Iterator[None]:
    """Hold the file while nobody else does who asks here; it is made when it is missing.

    A holder that dies lets go. Raises OSError when the file cannot be had, with EAGAIN, EACCES or
    EDEADLK when no turn came in time.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    file = os.open(path, flags, 0o644)
    try:
        _await(file, time.monotonic() + patience_seconds)
        try:
            yield
        finally:
            release(file)  # closing is not enough where a fork has a copy of it
    finally:
        os.close(file)


def _await(file: int, until: float) -> None:
    while True:
        try:
            return claim(file)
        except OSError as error:
            if error.errno not in TAKEN or time.monotonic() > until:
                raise
        time.sleep(_PAUSE_SECONDS)
