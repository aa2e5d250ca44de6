"""A child process that lacks what other systems lack: Unix's modules, its signals and its flags.

    python -m tests.other_system SYSTEM PROGRAM

SYSTEM is what `sys.platform` says: "win32", "darwin", "linux" or one that nobody knows. What only
Linux has is gone on each of them, and on "win32" and the unknown one what Unix has, too. Modules of
the standard library that bind such names are imported before, because on another system they are
other modules. PROGRAM is the path of a program, which is run in the working directory.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import errno
import fcntl
import importlib.metadata
import logging
import multiprocessing.connection
import multiprocessing.context
import multiprocessing.popen_fork
import multiprocessing.reduction
import os
import random
import runpy
import shutil
import signal
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import types
import urllib.request
import zoneinfo
from contextlib import suppress

KEPT = (
    asyncio, concurrent.futures, importlib.metadata, logging, multiprocessing.connection,
    multiprocessing.context, multiprocessing.popen_fork, multiprocessing.reduction, random, shutil,
    sqlite3, ssl, subprocess, tempfile, urllib.request, zoneinfo,
)  # fmt: skip
OF_UNIX = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
OS_OF_UNIX = (
    "O_CLOEXEC", "O_DIRECTORY", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "chroot", "fchown", "fork",
    "forkpty", "getegid", "geteuid", "getgid", "getloadavg", "getpgid", "getpgrp", "getuid",
    "killpg", "mkfifo", "nice", "openpty", "posix_spawn", "pread", "pwrite", "register_at_fork",
    "setpgid", "setsid", "statvfs", "sysconf", "uname", "wait", "wait3", "wait4", "waitid",
)  # fmt: skip
OS_OF_LINUX = ("O_PATH", "memfd_create", "pidfd_open", "sched_getaffinity")
SIGNALS_OF_UNIX = (
    "ITIMER_REAL", "SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGUSR1",
    "SIGXFSZ", "SIG_BLOCK", "SIG_SETMASK", "alarm", "getitimer", "pthread_kill", "pthread_sigmask",
    "setitimer", "siginterrupt", "sigwait",
)  # fmt: skip


def without(thing: object, names: tuple[str, ...]) -> None:
    for name in names:
        with suppress(AttributeError):
            delattr(thing, name)


def msvcrt() -> types.ModuleType:
    """Windows' locks of files: a byte at the position, which alone is unlocked again."""
    made, lockf = types.ModuleType("msvcrt"), fcntl.lockf
    ways = {"LK_NBLCK": fcntl.LOCK_EX | fcntl.LOCK_NB, "LK_UNLCK": fcntl.LOCK_UN}
    locked: set[tuple[int, int]] = set()

    def locking(file: int, how: int, size: int) -> None:
        place = (file, os.lseek(file, 0, os.SEEK_CUR))
        if place[1] > 1 << 31:
            raise OSError(errno.EINVAL, "Invalid argument")
        if how == ways["LK_UNLCK"] and place not in locked:
            raise PermissionError(errno.EACCES, "Permission denied")
        lockf(file, how, size, 0, os.SEEK_CUR)
        (locked.discard if how == ways["LK_UNLCK"] else locked.add)(place)

    made.__dict__.update(ways, locking=locking)
    return made


def pretend(system: str) -> None:
    windows = msvcrt()
    without(os, OS_OF_LINUX)
    if system != "darwin":
        sys.modules.update(dict.fromkeys(OF_UNIX))  # type: ignore[arg-type] # None: not to be found
        without(os, OS_OF_UNIX)
        without(signal, SIGNALS_OF_UNIX)
        os.supports_dir_fd.clear()
    if system == "win32":
        sys.modules["msvcrt"] = windows
    sys.platform = system


if __name__ == "__main__":
    pretend(sys.argv[1])
    runpy.run_path(sys.argv[2])
