"""Opens regular files alone, to read or write them; and the tables that the package comes with.

Opening a named pipe may wait forever, and a device may never end. So neither is read or written,
nor is a link to one; only standard streams that a shell has opened are written to. A refusal is an
`OSError` with a message, like any other fault of a file: damage in what is compressed, and a size
beyond the limit. Looking up what is at a path raises nothing.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from functools import cache
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import IO, Any

from tunaeval.limits import MAX_UNPACKED_BYTES
from tunaeval.showing import similar

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # never wait for a pipe that replaced the file meanwhile
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_PIECE = 1 << 20
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
    found = _lookup(path)
    if isinstance(found, OSError):
        raise found
    _check(found, path, "read")
    file = os.open(path, _FLAGS)
    try:
        _check(os.fstat(file), path, "read")
        return os.fdopen(file, "rb")
    except BaseException:
        os.close(file)
        raise


def read_bounded(file: IO[bytes], most: int = MAX_UNPACKED_BYTES) -> bytes:
    """Return the rest of a file. Raise OSError if that is more than `most` bytes."""
    pieces, size = [], 0
    while piece := file.read(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise OSError(errno.EFBIG, f"it has more than {most:,} bytes; split it")
    return b"".join(pieces)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError if a pipe, directory or the like is at the path; opening finds other faults."""
    found = _lookup(path)
    if isinstance(found, os.stat_result) and not is_output(path):
        _check(found, path, "written to")


def make_directory(path: Path) -> None:
    """Make a directory and those above it, unless it is there. Raise OSError if that fails."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        there = "a file" if is_there(path) else "a link to nothing"
        raise OSError(errno.EEXIST, f"{there} has this name", str(path)) from error


def is_output(path: str | os.PathLike[str]) -> bool:
    """Whether a path names a stream that a shell has opened for this process, such as /dev/stdout,
    or /dev/null. Such a path is written to directly, and no new file may replace it.
    """
    return _OUTPUTS.fullmatch(os.path.abspath(path)) is not None  # noqa: PTH100 - as above


def is_there(path: str | os.PathLike[str]) -> bool:
    """Whether anything is known to be at a path."""
    return isinstance(_lookup(path), os.stat_result)


def is_absent(path: str | os.PathLike[str]) -> bool:
    """Whether nothing is known to be at a path. If neither is known, opening it says why."""
    return isinstance(_lookup(path), FileNotFoundError | NotADirectoryError)


def is_directory(path: str | os.PathLike[str]) -> bool:
    """Whether a directory is known to be at a path."""
    return seen_at(path) == "a directory"


def seen_at(path: str | os.PathLike[str]) -> str:
    """Return what is at a path, such as "a file", or why that is not known, for messages."""
    found = _lookup(path)
    if isinstance(found, FileNotFoundError):
        return "no such file"
    if isinstance(found, OSError):
        return (found.strerror or str(found)).lower()
    return kind_of(found.st_mode) or "a file"


def unread(path: str | os.PathLike[str], wanted: str, error: Exception | None = None) -> str:
    """Return the words for a file that cannot be read, which follow its name: why (an `error`, or
    what is at the path), then the existing name that is most like a missing one, or `wanted`.
    """
    found = error or _lookup(path)
    if isinstance(found, os.stat_result):
        return f"cannot be read: it is {kind_of(found.st_mode) or 'a file'}; {wanted}"
    why = getattr(found, "strerror", None) or found
    near = nearest(Path(path)) if isinstance(found, FileNotFoundError) else None
    return f"cannot be read: {why}; {wanted if near is None else f'did you mean {near!r}?'}"


def nearest(path: Path) -> str | None:
    """Return the existing path whose name is most like that of a missing one, if any is like it."""
    if path.parent.name and not is_there(path.parent):
        return nearest(path.parent)
    # A suffix that many files have makes no name like another.
    names = {one.stem: str(one) for one in islice(entries(path.parent), _MOST_ENTRIES)}
    return next((names[name] for name in similar(path.stem, [*names])), None)


_MOST_ENTRIES = 10_000


def entries(directory: Path, pattern: str = "*") -> list[Path]:
    """Return what is in a directory by a pattern, sorted; nothing where it cannot be searched."""
    try:
        return sorted(directory.glob(pattern))
    except OSError:
        return []


def real(path: Path) -> Path:
    """Return a path from the root without links, as far as these can be followed."""
    return Path(os.path.realpath(path))


def _lookup(path: str | os.PathLike[str]) -> os.stat_result | OSError:
    try:
        return os.stat(path)  # noqa: PTH116 - as above
    except OSError as error:
        return error
    except ValueError as error:
        return OSError(errno.EINVAL, f"no file has such a name ({error})", repr(path))


def kind_of(mode: int) -> str | None:
    """Return what a file with this `st_mode` is, such as "a pipe"; None for a regular file."""
    return None if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "no file")


def _check(status: os.stat_result, path: str | os.PathLike[str], done: str) -> None:
    kind = kind_of(status.st_mode)
    if kind == "a directory":
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if kind is not None:
        raise OSError(errno.EINVAL, f"it is {kind}, which is not {done}", os.fspath(path))
