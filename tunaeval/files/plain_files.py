"""Opens regular files alone, to read or write them; and the tables that the package comes with.

Opening a named pipe may wait forever, and a device may never end. So neither is read or written,
nor is a link to one; only standard streams that a shell has opened are written to. A refusal is an
`OSError` with a message, like any other fault of a file.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from functools import cache
from io import BufferedReader
from typing import Any

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # never wait for a pipe that replaced the file meanwhile
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_OUTPUTS = re.compile(r"/dev/(stdout|stderr|null|fd/\d+)|/proc/self/fd/\d+")
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a directory",
}


@cache
def table_of(package: str | None, name: str) -> dict[str, Any]:
    """Return the content of a TOML file that is beside a package's modules."""
    import tomllib  # noqa: PLC0415 - many imports need no table
    from pkgutil import get_data  # noqa: PLC0415 - as above; importlib.resources takes twice as long

    return tomllib.loads((get_data(package or "", name) or b"").decode("utf-8"))


def open_plain(path: str | os.PathLike[str]) -> BufferedReader:
    """Open a file to be read. Raise OSError if that fails, or if it is no regular file."""
    try:
        _check(os.stat(path), path, "read")  # noqa: PTH116 - the path may be a string
    except ValueError as error:
        raise OSError(errno.EINVAL, f"no file has such a name ({error})", repr(path)) from error
    file = os.open(path, _FLAGS)
    try:
        _check(os.fstat(file), path, "read")
        return os.fdopen(file, "rb")
    except BaseException:
        os.close(file)
        raise


def read_plain(path: str | os.PathLike[str]) -> bytes:
    """Return all bytes of a file. Raise OSError as `open_plain` does."""
    with open_plain(path) as file:
        return file.read()


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError if a pipe, directory or the like is at the path; opening finds other faults."""
    if is_there(path) and not is_output(path):
        _check(os.stat(path), path, "written to")  # noqa: PTH116 - as above


def is_output(path: str | os.PathLike[str]) -> bool:
    """Whether a path names a stream that a shell has opened for this process, such as /dev/stdout,
    or /dev/null. Such a path is written to directly, and no new file may replace it.
    """
    return _OUTPUTS.fullmatch(os.path.abspath(path)) is not None  # noqa: PTH100 - as above


def is_there(path: str | os.PathLike[str]) -> bool:
    """Whether anything is at a path; False also for a path that no file can have."""
    try:
        os.stat(path)  # noqa: PTH116 - as above
    except (OSError, ValueError):
        return False
    return True


def kind_of(mode: int) -> str | None:
    """Return what a file with this `st_mode` is, such as "a pipe"; None for a regular file."""
    return None if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "no file")


def _check(status: os.stat_result, path: str | os.PathLike[str], done: str) -> None:
    kind = kind_of(status.st_mode)
    if kind == "a directory":
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if kind is not None:
        raise OSError(errno.EINVAL, f"it is {kind}, which is not {done}", os.fspath(path))
