"""Turns at a file that several threads and processes write to."""

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
        os.lseek(file, 1 << 60, os.SEEK_SET)  # far behind the end of any file
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
"""The errors, by platform, that `claim` raises while another process has the file."""

_PAUSE_SECONDS = 0.001


@contextmanager
def turn(path: Path, *, patience_seconds: float = 5.0) -> Iterator[None]:
    """Lock the file, which is created if missing, while the block runs; only callers of `turn` are
    kept out. The lock of a process that dies is released. Raises OSError if the file cannot be
    opened, or, with EAGAIN, EACCES or EDEADLK, if no turn came in time.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    file = os.open(path, flags, 0o644)
    try:
        _await(file, time.monotonic() + patience_seconds)
        try:
            yield
        finally:
            release(file)  # closing is not enough if a forked child has a copy
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
