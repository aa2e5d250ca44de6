"""Locks: one process at a time may write to a directory, and writers of one file take turns.

A directory's lock file names the process that writes. The files are locked by the operating system
(`flock`), so the lock of a process that dies is released. The text in the lock file is for people,
and for other machines, as a shared disk may not pass locks on.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from tunaeval.errors import RecordError
from tunaeval.types.calls import JsonObject

from .plain_files import check_writable

LOCK_FILE = "run.lock"

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
_MOST_BYTES = 4_096
_WITHOUT_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP})
"""Errors of disks that have no locks; there only the text in the file keeps others out."""


class DirectoryLock:
    """A lock on a directory, which the constructor acquires and `release` releases.

    `note` says whose lock was taken over, or is None: a process that ended without releasing it,
    or, with `take_over`, one of another machine, which cannot be seen from here. Raises
    RecordError, naming the process, if another one has the lock.

        lock = DirectoryLock(Path("runs/mine"))
        try:
            ...
        finally:
            lock.release()
    """

    def __init__(self, directory: Path, *, take_over: bool = False) -> None:
        self.path = directory / LOCK_FILE
        self._file = self._claimed()
        try:
            self.note = self._taken_from(take_over=take_over)
            self._sign()
        except BaseException:
            os.close(self._file)
            raise

    def release(self) -> None:
        """Release the lock and remove its file; a second call does nothing."""
        if self._file < 0:
            return
        file, self._file = self._file, -1
        try:
            self.path.unlink(missing_ok=True)  # before releasing: afterwards it may be another's
        except OSError:
            os.ftruncate(file, 0)
        release(file)
        os.close(file)

    def _claimed(self) -> int:
        """Return the lock file, open and locked. Try again if its owner removes it meanwhile."""
        while True:
            file = -1
            try:
                check_writable(self.path)
                file = os.open(self.path, _FLAGS, 0o644)
                claim(file)
                if _is_same(file, self.path):
                    return file
                os.close(file)
            except OSError as error:
                if file >= 0 and error.errno in _WITHOUT_LOCKS:
                    return file
                holder = None if file < 0 else _read_holder(file)
                if file >= 0:
                    os.close(file)
                raise self._error(error, holder) from error

    def _error(self, error: OSError, holder: JsonObject | None) -> RecordError:
        if holder is not None and error.errno in TAKEN:
            return RecordError(
                f"{str(self.path.parent)!r} is being written by {_owner(holder)}; two writers "
                "would count results twice: wait for it to end, or end it"
            )
        return RecordError(
            f"cannot lock {str(self.path)!r}: {error.strerror or error}; choose a directory that "
            "can be written to"
        )

    def _taken_from(self, *, take_over: bool) -> str | None:
        """Return a note on the process that the lock file still names, or None if it names none.

        Raises RecordError, unless `take_over`, for a process of another machine: it may still run.
        """
        holder = _read_holder(self._file)
        if not holder:
            return None
        if holder.get("host") == platform.node():
            return f"{_owner(holder)} ended without letting go; its lock is taken over"
        if take_over:
            return f"the lock of {_owner(holder)} is taken over, as asked"
        raise RecordError(
            f"{str(self.path.parent)!r} is locked by {_owner(holder)}, and this machine cannot see "
            "whether that process still runs; if it does not, take the run over (--take-over, or "
            "take_over=True)"
        )

    def _sign(self) -> None:
        """Write into the lock file which process has the lock."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        text = json.dumps({"process": os.getpid(), "host": platform.node(), "since": now})
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, text.encode())


def is_held(directory: Path) -> bool:
    """Whether a process writes to a directory, as far as can be seen from here.

    A process of this machine that has ended is known by its number, without a try of the lock,
    which would be in the way of a process that takes it over in the same instant.
    """
    try:
        file = os.open(directory / LOCK_FILE, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return False
    try:
        holder = _read_holder(file)
        process, is_here = holder.get("process"), holder.get("host") == platform.node()
        if is_here and isinstance(process, int) and os.name == "posix":
            os.kill(process, 0)
        claim(file)
        release(file)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is locked, or this disk has no locks
        return True
    finally:
        os.close(file)
    return bool(holder) and not is_here


def _is_same(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _read_holder(file: int) -> JsonObject:
    """Return what the owner of the lock has written into its file; {} if that is no JSON object."""
    os.lseek(file, 0, os.SEEK_SET)
    try:
        found = json.loads(os.read(file, _MOST_BYTES))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _owner(holder: JsonObject) -> str:
    if not holder:
        return "another process"
    return (
        f"process {holder.get('process')!r:.20} on {holder.get('host')!r:.60} "
        f"(since {holder.get('since')!r:.40})"
    )


if sys.platform == "win32":
    import msvcrt

    def claim(file: int) -> None:
        _lock_byte(file, msvcrt.LK_NBLCK)

    def release(file: int) -> None:
        _lock_byte(file, msvcrt.LK_UNLCK)

    def _lock_byte(file: int, how: int) -> None:
        os.lseek(file, (1 << 31) - 2, os.SEEK_SET)  # nobody reads or writes so far behind the end
        msvcrt.locking(file, how, 1)

else:
    try:
        import fcntl
    except ImportError:
        fcntl = None  # type: ignore[assignment] # a system without it is like a disk without locks

    def claim(file: int) -> None:
        if fcntl is None:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(file: int) -> None:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_UN)


TAKEN = frozenset({errno.EAGAIN, errno.EACCES, errno.EDEADLK})
"""The errors, by platform, that `claim` raises while another process has the file."""

_PAUSE_SECONDS = 0.001


@contextmanager
def turn(path: Path, *, patience_seconds: float = 5.0) -> Iterator[None]:
    """Lock a file, created if missing, while the block runs; only callers of `turn` wait for each
    other. The lock of a process that dies is released. Raises OSError if the file cannot be opened,
    or, with EAGAIN, EACCES or EDEADLK, if the lock was not free within `patience_seconds`.
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
            if error.errno in _WITHOUT_LOCKS:
                return None
            if error.errno not in TAKEN or time.monotonic() > until:
                raise
        time.sleep(_PAUSE_SECONDS)
