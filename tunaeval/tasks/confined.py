"""A directory whose files are read and written; no path and no link leads out of it.

A path is split first: an absolute path that is not below the directory, or one that climbs above
it, is refused. Then each part is opened relative to the descriptor of the part before it, and no
link is followed, so a link that is put there meanwhile has no effect. A file with a second name (a
hard link) is not read; a written file replaces the old one instead of changing it in place.

A pattern of paths has `*` and `?` within a name, `**` for any directories, and `{a,b}`. Names are
matched character by character, and directories by dynamic programming, so that matching takes at
most the length of the pattern times that of the path.
"""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from secrets import token_hex

from tunaeval.errors import WorkspaceError
from tunaeval.files.plain_files import kind_of

MAX_BYTES = 8 * 1024 * 1024
"""The longest file that is read whole or written."""
MAX_PARTS = 64
MAX_WALKED = 5_000
_MAX_NAME = 255
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
READ_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)

Parts = tuple[str, ...]


class Confined:
    """The directory `root`, which has to exist. Every method raises `WorkspaceError`, with the
    reason, for a path that leaves it and for an operation that fails.
    """

    def __init__(self, root: Path) -> None:
        if os.open not in os.supports_dir_fd or not hasattr(os, "O_NOFOLLOW"):
            raise WorkspaceError(
                "this system cannot open files from a directory's descriptor without following "
                "links, so paths could not be confined; workspaces need Linux or macOS"
            )
        self.root = root
        self._fd = os.open(root, _DIRECTORY)

    def close(self) -> None:
        """Close the directory's descriptor; the directory is left as it is."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def loss(self) -> str | None:
        """Return why the directory cannot be used any more, or None if it can.

        A new directory in its place is used from now on: callers may recreate it.
        """
        try:
            now = self.root.lstat()
        except FileNotFoundError:
            return "was removed"
        except OSError as error:
            return f"cannot be reached any more ({error.strerror})"
        if not stat.S_ISDIR(now.st_mode):
            return f"was replaced by a {'link' if stat.S_ISLNK(now.st_mode) else 'file'}"
        try:
            new = os.open(self.root, _DIRECTORY)
        except OSError as error:
            return f"cannot be opened any more ({error.strerror})"
        if os.path.sameopenfile(new, self._fd):
            os.close(new)
        else:
            self.close()
            self._fd = new
        return None if os.access(self.root, os.R_OK | os.X_OK) else "cannot be read any more"

    def parts(self, path: str) -> Parts:
        """Return the path from the root as names: "./src//a.py" is ("src", "a.py"), "." is ()."""
        return parts_of(path, str(self.root))

    @contextmanager
    def directory(self, parts: Parts, *, make: bool = False) -> Iterator[int]:
        """Yield a descriptor of the directory; `make` creates what is missing."""
        fd = os.dup(self._fd)
        try:
            for index, name in enumerate(parts):
                inner = _opened(fd, name, parts[: index + 1], make=make)
                os.close(fd)
                fd = inner
            yield fd
        finally:
            os.close(fd)

    def read(self, path: str, *, limit: int = MAX_BYTES) -> bytes:
        """Return the bytes of a file, which may have at most `limit`."""
        *above, name = self._file_parts(path)
        with self.directory(tuple(above)) as folder, _os_errors(path):
            file = os.open(name, READ_FLAGS, dir_fd=folder)
            try:
                return _read_bytes(file, path, limit)
            finally:
                os.close(file)

    def opened(self, parts: Parts) -> int | None:
        """Return a descriptor to read a file; None for a directory, or if nothing is there."""
        path = "/".join(parts) or "."
        found = self.status(path)
        if found is None or stat.S_ISDIR(found.st_mode):
            return None
        with self.directory(parts[:-1]) as folder, _os_errors(path):
            file = os.open(parts[-1], READ_FLAGS, dir_fd=folder)
        try:
            check_kind(os.fstat(file), path)
        except BaseException:
            os.close(file)
            raise
        return file

    def write(self, path: str, data: bytes, *, new: bool = False) -> None:
        """Write a file, creating its directories; with `new`, raise if it exists."""
        if len(data) > MAX_BYTES:
            raise WorkspaceError(f"{path!r:.80}: {len(data)} bytes are more than {MAX_BYTES}")
        *above, name = self._file_parts(path)
        with self.directory(tuple(above), make=True) as folder, _os_errors(path):
            there = _status(folder, name)
            if there is not None and (new or not stat.S_ISREG(there.st_mode)):
                kind = kind_of(there.st_mode) or "a file"
                raise WorkspaceError(f"{path!r:.80} exists already, and is {kind}")
            mode = 0o644 if there is None else stat.S_IMODE(there.st_mode) & 0o777
            draft = f".{token_hex(8)}.draft"
            _write_new(draft, data, mode, folder)
            os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)

    def names(self, parts: Parts = ()) -> list[tuple[str, os.stat_result]]:
        """Return the entries of a directory, sorted by name; links are not followed."""
        with self.directory(parts) as folder, _os_errors("/".join(parts) or "."):
            found = ((name, _status(folder, name)) for name in sorted(os.listdir(folder)))  # noqa: PTH208 - of a descriptor, which Path cannot list
            return [(name, status) for name, status in found if status is not None]

    def status(self, path: str) -> os.stat_result | None:
        """Return the status of an entry, links not followed; None if there is none."""
        parts = self.parts(path)
        if not parts:
            return os.fstat(self._fd)
        try:
            with self.directory(parts[:-1]) as folder:
                return _status(folder, parts[-1])
        except WorkspaceError:
            return None

    def _file_parts(self, path: str) -> Parts:
        parts = self.parts(path)
        if not parts or path.endswith("/"):
            raise WorkspaceError(f"the path {path!r:.80} is a directory; wanted a file")
        return parts


def parts_of(path: str, root: str = "") -> Parts:
    """Return the names in a path within `root`. Raises `WorkspaceError` for any other path."""
    if not isinstance(path, str):
        raise WorkspaceError(f"the path {path!r:.60} is no text")
    fault = _path_fault(path)
    if fault:
        raise WorkspaceError(f"the path {path!r:.80} {fault}")
    if root and (path == root or path.startswith(root + "/")):
        path = path[len(root) :].lstrip("/")
    elif path.startswith(("/", "~")):
        raise _outside(path)
    found: list[str] = []
    for name in path.split("/"):
        if name == "..":
            if not found:
                raise _outside(path)
            found.pop()
        elif name not in {"", "."}:
            found.append(name)
    if len(found) > MAX_PARTS:
        raise WorkspaceError(f"the path {path!r:.80} is deeper than {MAX_PARTS} directories")
    return tuple(found)


def check_kind(status: os.stat_result, path: str, *, folders: bool = False) -> None:
    """Raise `WorkspaceError` unless it is a file with one name (or a directory, with `folders`)."""
    kind = kind_of(status.st_mode)
    if folders and stat.S_ISDIR(status.st_mode):
        return
    if kind is not None:
        raise WorkspaceError(f"{path!r:.80} is {kind}, and no file")
    if status.st_nlink > 1:
        raise WorkspaceError(
            f"{path!r:.80} is a hard link, whose other name may be outside; it is not read"
        )


def walked(confined: Confined, top: Parts) -> Iterator[Parts]:
    """Yield every path below a directory; links are not followed. Raises `WorkspaceError` for a
    directory that cannot be read, and for more than `MAX_WALKED` entries.
    """
    found = confined.status("/".join(top) or ".")
    waiting = [top] if found is not None and stat.S_ISDIR(found.st_mode) else []
    count = 0
    while waiting:
        folder = waiting.pop()
        for name, status in confined.names(folder):
            count += 1
            if count > MAX_WALKED:
                raise WorkspaceError(f"there are over {MAX_WALKED} files in {'/'.join(top)!r:.80}")
            yield (*folder, name)
            if stat.S_ISDIR(status.st_mode):
                waiting.append((*folder, name))


def _path_fault(path: str) -> str | None:
    if not path:
        return "is empty"
    if "\0" in path:
        return "contains a NUL"
    try:
        longest = max(len(os.fsencode(name)) for name in path.split("/"))
    except UnicodeEncodeError:
        return "contains a lone surrogate"
    return f"has a name of more than {_MAX_NAME} bytes" if longest > _MAX_NAME else None


def _outside(path: str) -> WorkspaceError:
    return WorkspaceError(f"the path {path!r:.80} leads out of the workspace; give one inside it")


def _opened(fd: int, name: str, parts: Parts, *, make: bool) -> int:
    with _os_errors("/".join(parts)):
        try:
            return os.open(name, _DIRECTORY, dir_fd=fd)
        except FileNotFoundError:
            if not make:
                raise
        os.mkdir(name, 0o755, dir_fd=fd)
        return os.open(name, _DIRECTORY, dir_fd=fd)


def _read_bytes(file: int, path: str, limit: int) -> bytes:
    status = os.fstat(file)
    check_kind(status, path)
    if status.st_size > limit:
        raise WorkspaceError(f"{path!r:.80} has {status.st_size} bytes, more than {limit}")
    pieces: list[bytes] = []
    left = limit
    while left > 0 and (piece := os.read(file, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _write_new(name: str, data: bytes, mode: int, folder: int) -> None:
    file = os.open(name, _NEW, mode, dir_fd=folder)
    try:
        with os.fdopen(file, "wb") as stream:
            stream.write(data)
    except OSError:
        os.unlink(name, dir_fd=folder)
        raise


def _status(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


_REASONS = {
    errno.ELOOP: "is a link, and links are not followed",
    errno.ENOTDIR: "goes through a link or a file, which is no directory",
    errno.ENOENT: "is not there",
    errno.EISDIR: "is a directory",
}


@contextmanager
def _os_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, error.strerror or str(error))
        raise WorkspaceError(f"{path!r:.80}: {reason}") from error


MAX_PATTERN = 400
_MAX_CHOICES = 64


def path_fits(path: str, pattern: str) -> bool:
    """Whether a path from the root matches. A pattern without a slash matches names in any
    directory; one that ends in a slash matches everything below that directory.

        path_fits("src/a/b.py", "src/**/*.py")   path_fits("src/a.py", "*.py")
    """
    return any(_fits_one(path, one) for one in choices(pattern))


@lru_cache(maxsize=256)
def choices(pattern: str) -> tuple[str, ...]:
    """Return the patterns without braces: "*.{py,md}" is "*.py" and "*.md"."""
    if len(pattern) > MAX_PATTERN:
        raise WorkspaceError(f"the pattern {pattern!r:.60} has over {MAX_PATTERN} characters")
    waiting, found = [pattern], []
    while waiting:
        one = waiting.pop()
        start = one.find("{")
        end = one.find("}", start)
        if start < 0 or end < 0:
            found.append(one)
        else:
            waiting += [
                one[:start] + each + one[end + 1 :] for each in one[start + 1 : end].split(",")
            ]
        if len(found) + len(waiting) > _MAX_CHOICES:
            raise WorkspaceError(f"the pattern {pattern!r:.60} has over {_MAX_CHOICES} choices")
    return tuple(found)


def _fits_one(path: str, pattern: str) -> bool:
    if pattern.endswith("/"):
        pattern += "**"
    wanted = [name for name in pattern.split("/") if name not in {"", "."}]
    if "/" not in pattern:
        wanted = ["**", *wanted]
    return _matches(path.split("/"), wanted, "**", name_fits)


def name_fits(name: str, pattern: str) -> bool:
    """Whether one name matches: `*` is any characters, `?` is one."""
    return _matches(name, pattern, "*", lambda character, want: want in {"?", character})


def _matches(
    items: Sequence[str], wanted: Sequence[str], any_number: str, fits: Callable[[str, str], bool]
) -> bool:
    met = [True] + [False] * len(items)
    for want in wanted:
        if want == any_number:
            first = met.index(True) if True in met else len(met)
            met = [index >= first for index in range(len(met))]
        else:
            met = [False] + [met[index] and fits(item, want) for index, item in enumerate(items)]
    return met[-1]


def plain(name: str) -> str:
    """Return a name in a form that is equal for names that file systems may treat as the same,
    because they ignore case or invisible characters.
    """
    read = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")  # as git's output is
    compared = unicodedata.normalize("NFKC", read)
    return "".join(one for one in compared if unicodedata.category(one) != "Cf").casefold()
