"""What is in a workspace at one time, and what has changed between two times.

Files are compared by SHA-256; one of more than `MAX_HASHED` bytes by its size and time. Links,
devices and unreadable files are entries of their own kinds and are never opened.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tunaeval.errors import WorkspaceError

from .confined import Confined, Parts

MAX_HASHED = 64 * 1024 * 1024
MAX_ENTRIES = 20_000
_MAX_DEPTH = 128

Kind: TypeAlias = Literal["file", "directory", "link", "other", "unreadable"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, directory or link of a workspace. `digest` is the SHA-256 of a file, None if it was
    not read; `stamp` is its size, times and inode, by which an untouched file is recognized.
    """

    kind: Kind
    size: int = 0
    digest: str | None = None
    executable: bool = False
    target: str | None = None
    stamp: tuple[int, ...] = field(default=(), compare=False)

    @property
    def is_same_as(self) -> tuple[object, ...]:
        """The values that equal entries share; the stamp counts only if the content is unknown."""
        known = self.digest is not None or self.kind in {"directory", "link"}
        return (self.kind, self.size, self.digest, self.executable, self.target) + (
            () if known else self.stamp
        )


@dataclass(frozen=True, slots=True)
class Changes:
    """The paths in which two snapshots differ, sorted; of directories only the empty ones count."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """All changed paths."""
        return tuple(sorted({*self.added, *self.removed, *self.changed}))

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def __str__(self) -> str:
        """Return one line: "2 added (a.py, b.py), 1 changed (c.py)"."""
        summaries = [
            f"{len(paths)} {word} ({', '.join(paths[:4])}{', ...' if len(paths) > 4 else ''})"
            for word, paths in (
                ("added", self.added),
                ("removed", self.removed),
                ("changed", self.changed),
            )
            if paths
        ]
        return ", ".join(summaries) or "nothing changed"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The entries of a workspace by path; `complete` is False if there were too many."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    complete: bool = True

    def changes(self, later: Snapshot) -> Changes:
        """Return the differences from this snapshot to `later`."""
        before, after = _leaves(self.entries), _leaves(later.entries)
        return Changes(
            added=tuple(sorted(after.keys() - before.keys())),
            removed=tuple(sorted(before.keys() - after.keys())),
            changed=tuple(
                sorted(
                    path
                    for path in before.keys() & after.keys()
                    if before[path].is_same_as != after[path].is_same_as
                )
            ),
        )


def snapshot(confined: Confined, earlier: Snapshot | None = None) -> Snapshot:
    """Return the current entries. Files with the same stamp in `earlier` are not read again."""
    known = earlier.entries if earlier is not None else {}
    found: dict[str, Entry] = {}
    waiting: list[Parts] = [()]
    while waiting:
        folder = waiting.pop()
        for name, status in _names(confined, folder):
            if len(found) >= MAX_ENTRIES:
                return Snapshot(found, complete=False)
            path = "/".join((*folder, name))
            entry = _entry(confined, (*folder, name), status, known.get(path))
            found[path] = entry
            if entry.kind == "directory":
                waiting.append((*folder, name))
    return Snapshot(found)


def _names(confined: Confined, folder: Parts) -> list[tuple[str, os.stat_result]]:
    try:
        return confined.names(folder)
    except WorkspaceError:  # it is gone or not readable, and counts as empty
        return []


def _entry(confined: Confined, parts: Parts, status: os.stat_result, known: Entry | None) -> Entry:
    stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    mode = status.st_mode
    if stat.S_ISDIR(mode):
        deep = len(parts) >= _MAX_DEPTH
        return Entry("other" if deep else "directory", stamp=stamp)
    if stat.S_ISLNK(mode):
        return Entry("link", target=_target(confined, parts), stamp=stamp)
    if not stat.S_ISREG(mode):
        return Entry("other", stamp=stamp)
    if known is not None and known.stamp == stamp and known.kind == "file":
        return known
    executable = bool(mode & stat.S_IXUSR)
    if status.st_size > MAX_HASHED:
        return Entry("file", status.st_size, executable=executable, stamp=stamp)
    digest = _digest(confined, parts)
    kind: Kind = "file" if digest is not None else "unreadable"
    return Entry(kind, status.st_size, digest, executable, stamp=stamp)


def _target(confined: Confined, parts: Parts) -> str | None:
    try:
        with confined.directory(parts[:-1]) as folder:
            return os.readlink(parts[-1], dir_fd=folder)
    except (OSError, WorkspaceError):
        return None


def _digest(confined: Confined, parts: Parts) -> str | None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        with confined.directory(parts[:-1]) as folder:
            file = os.open(parts[-1], flags, dir_fd=folder)
            with os.fdopen(file, "rb") as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, WorkspaceError):
        return None


def _leaves(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return all entries but directories with content: these come and go with what is in them."""
    parents = {path.rpartition("/")[0] for path in entries}
    return {path: entry for path, entry in entries.items() if path not in parents}
