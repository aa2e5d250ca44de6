"""A workspace: a directory that is created from files, compared before and after, and removed.

Files are compared by SHA-256; one of more than `MAX_HASHED` bytes by its size and time. Links,
devices and unreadable files are entries of their own kinds and are never opened.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal, Self, TypeAlias

from tunaeval.errors import UsageError, WorkspaceError
from tunaeval.limits import MAX_SANDBOX_BYTES
from tunaeval.tools.launching import size_of
from tunaeval.tools.processes import NOTHING, Child
from tunaeval.types.wanted import refusal, wanted_items, wanted_seconds

from .commands import (
    COMMAND_SECONDS,
    OUTPUT_BYTES,
    CommandLine,
    Ran,
    Words,
    allowed,
    check_system,
    imports_apart,
    run_command,
)
from .confined import MAX_BYTES, READ_FLAGS, Confined, Parts
from .sandbox import Sandbox


class Workspace:
    """A new directory among the system's temporary files.

        with tunaeval.Workspace({"calc.py": "def add(a, b): return a - b"}) as workspace:
            (workspace.path / "calc.py").write_text("def add(a, b): return a + b")
            print(workspace.changes())            # 1 changed (calc.py)

    `files` are texts or bytes by path; `commands` are the lists of words that `run` allows, with
    `{path}` for any path inside; `pages` are texts by address, for tools that fetch. `before` is
    the snapshot taken at the start. `at` is an existing directory to use instead; it is not removed
    on closing. `hidden` is a directory that commands cannot read besides, where the system can hide
    it: of the processes outside they see nothing anyway. In a `sandbox` commands can do less.
    Raises `WorkspaceError` for a path that leads out of the workspace, for `commands` on a system
    other than Linux, and on one that cannot confine paths (Windows).

    Examples:
        >>> with tunaeval.Workspace({"calc.py": "def add(a, b): return a - b"}) as workspace:
        ...     _ = (workspace.path / "calc.py").write_text("def add(a, b): return a + b")
        ...     str(workspace.changes())
        ...
        '1 changed (calc.py)'
    """

    def __init__(
        self,
        files: Mapping[str, str | bytes] | None = None,
        *,
        at: str | os.PathLike[str] | None = None,
        commands: Sequence[Sequence[str]] = (),
        pages: Mapping[str, str] | None = None,
        seconds: float = COMMAND_SECONDS,
        output_bytes: int = OUTPUT_BYTES,
        hidden: str = "",
        sandbox: Sandbox | None = None,
    ) -> None:
        if files is not None and not isinstance(files, Mapping):
            raise refusal("files", files, "texts or bytes by path, in a dictionary")
        if pages is not None and not isinstance(pages, Mapping):
            raise refusal("pages", pages, "texts by address, in a dictionary")
        listed = wanted_items(commands, "commands", list | tuple, "lists of words")
        self.commands = tuple(
            wanted_items(one, f"commands[{index}]", str, "words")
            for index, one in enumerate(listed)
        )
        if self.commands:
            check_system()
        self.pages = dict(pages or {})
        self.hidden, self.sandbox = hidden, sandbox
        self._seconds, self._output_bytes = wanted_seconds(seconds, "seconds"), output_bytes
        self._is_ours = at is None
        folder = tempfile.mkdtemp(prefix="tunaeval-") if at is None else os.fspath(at)
        self.path = Path(os.path.realpath(folder))
        try:
            self.confined = Confined(self.path)
        except OSError as error:
            raise WorkspaceError(f"{folder!r:.80} cannot be used: {error.strerror}") from error
        try:
            for path, content in (files or {}).items():
                self.confined.write(path, file_bytes(path, content), new=True)
        except BaseException:
            self.close()
            raise
        self.before: Snapshot = snapshot(self.confined)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"Workspace({str(self.path)!r})"

    def __getitem__(self, path: str) -> WorkspaceFile:
        """Return a file of the workspace, which need not exist."""
        return WorkspaceFile(self.confined, "/".join(self.confined.parts(path)))

    def loss(self) -> str | None:
        """Return what happened to a directory that is gone ("was removed"), or None."""
        return self.confined.loss()

    def snapshot(self, earlier: Snapshot | None = None) -> Snapshot:
        """Return the current entries; files untouched since `earlier` are not read again.

        The snapshot of a directory that is gone is empty.
        """
        if self.loss() is not None:
            return Snapshot()
        return snapshot(self.confined, earlier or self.before)

    def changes(self, since: Snapshot | None = None) -> Changes:
        """Return what has changed since `since`, by default since the workspace was created."""
        earlier = since or self.before
        return earlier.changes(self.snapshot(earlier))

    def run(self, command: str | Words, *, seconds: float | None = None) -> Ran:
        """Run a command line that `commands` allow, or words that the caller has checked.

        `seconds` can only shorten the workspace's limit. Raises `WorkspaceError` if it cannot run.
        """
        if why := self.loss():
            raise WorkspaceError(f"no command can run: the workspace {why}")
        requested = self._seconds if seconds is None else wanted_seconds(seconds, "seconds")
        limit = min(requested, self._seconds)
        if not isinstance(command, str):
            return self.run_line(CommandLine(command, self.path), limit)
        with allowed(command, self.commands, self.confined) as line:
            return self.run_line(line, limit)

    def run_line(self, line: CommandLine, seconds: float) -> Ran:
        """Run a command line that has been checked. Raises `WorkspaceError` if it cannot run."""
        return run_command(
            line.words,
            line.folder,
            files=line.files,
            seconds=seconds,
            output_bytes=self._output_bytes,
            hidden=self.hidden,
            apart=imports_apart(line, self.before.entries, self.confined),
            sandbox=self.sandbox,
            workspace=self.path,
        )

    def excess(self) -> str | None:
        """Return in words that the directory has outgrown its sandbox, or None."""
        if self.sandbox is None or size_of(str(self.path)) <= MAX_SANDBOX_BYTES:
            return None
        return f"it outgrew its sandbox: it has more than {MAX_SANDBOX_BYTES >> 20} MiB"

    def close(self) -> None:
        """Remove the directory and its content, unless it was given as `at`."""
        self.confined.close()
        if self._is_ours:
            _remove(self.path)


def file_bytes(name: str, content: object) -> bytes:
    """Return the bytes to write to a file. Raises UsageError if `content` is neither text nor
    bytes, or is text that UTF-8 cannot encode.
    """
    if isinstance(content, bytes):
        return content
    if not isinstance(content, str):
        raise refusal(f"the file {name!r}", content, "its text, or bytes")
    try:
        return content.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise UsageError(
            f"the file {name!r} contains a lone surrogate, which UTF-8 cannot write; give bytes"
        ) from None


@dataclass(frozen=True, slots=True, repr=False)
class WorkspaceFile:
    """A file of a workspace; its properties read it anew each time."""

    confined: Confined
    path: str

    def __repr__(self) -> str:
        """Return the path and the text, so that a failed assertion shows them."""
        try:
            return f"{self.path}: {self.data.decode('utf-8', 'replace')[:_SHOWN]!r}"
        except WorkspaceError as error:
            return f"{self.path}: {error}"

    @property
    def exists(self) -> bool:
        """Whether the path exists, also as a directory or a link."""
        return self.confined.status(self.path) is not None

    @property
    def data(self) -> bytes:
        """The content as bytes. Raises `WorkspaceError` if it cannot be read."""
        return self.confined.read(self.path, limit=MAX_BYTES)

    @property
    def text(self) -> str:
        """The content as text. Raises `WorkspaceError` if it is not UTF-8."""
        data = self.data
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise WorkspaceError(f"{self.path!r:.80} is no text: {error.reason}") from error

    def contains(self, text: str) -> bool:
        """Whether the file is text and contains `text`."""
        try:
            return text in self.text
        except WorkspaceError:
            return False


def _remove(path: Path) -> None:
    """Remove a tree, even if its directories are write-protected or nested deeply; links in it are
    not followed.
    """
    if path.is_symlink() or path.is_file():
        with suppress(OSError):
            path.unlink()
        return
    top = str(path)

    def again(function: Callable[..., object], name: str, _error: object) -> None:
        inside = (name,) if name == top else (os.path.dirname(name), name)  # noqa: PTH120 - rmtree passes strings
        with suppress(OSError):
            for folder in inside:
                if os.path.isdir(folder) and not os.path.islink(folder):  # noqa: PTH112, PTH114 - as above
                    os.chmod(folder, stat.S_IRWXU)  # noqa: PTH101 - as above
            function(name)

    with suppress(RecursionError):
        shutil.rmtree(top, onerror=again)
    if path.exists():  # nested more deeply than Python's recursion limit
        with Child(["/bin/rm", "-rf", "--", top], out=NOTHING) as process:
            process.wait()


MAX_HASHED = 64 * 1024 * 1024
MAX_ENTRIES = 20_000
_MAX_DEPTH = 128

Kind: TypeAlias = Literal["file", "directory", "link", "other", "unreadable"]


@dataclass(frozen=True, slots=True)
class WorkspaceEntry:
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


_SHOWN = 2_000
"""How many characters of a file's text are shown."""


class Paths(tuple[str, ...]):
    """Paths in order, equal to a set of them, too."""

    __slots__ = ()
    __hash__ = tuple.__hash__

    def __eq__(self, other: object) -> bool:
        return set(self) == other if isinstance(other, set | frozenset) else super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other


@dataclass(frozen=True, slots=True)
class Changes:
    """The paths in which two snapshots differ, sorted; of directories only the empty ones count."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def paths(self) -> Paths:
        """All changed paths."""
        return Paths(sorted({*self.added, *self.removed, *self.changed}))

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def __str__(self) -> str:
        """Return one line: "2 added (a.py, b.py), 1 changed (c.py)"."""
        summaries = [
            f"{len(paths)} {word} ({', '.join(paths[:4])}{', ...' if len(paths) > 4 else ''})"
            for word in ("added", "removed", "changed")
            if (paths := getattr(self, word))
        ]
        return ", ".join(summaries) or "nothing changed"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The entries of a workspace by path; `complete` is False if there were too many."""

    entries: Mapping[str, WorkspaceEntry] = field(default_factory=dict)
    complete: bool = True

    def __post_init__(self) -> None:
        """Make the entries unchangeable, because checks of others look at them."""
        object.__setattr__(self, "entries", MappingProxyType(self.entries))

    def changes(self, later: Snapshot) -> Changes:
        """Return the differences from this snapshot to `later`."""
        before, after = _leaves(self.entries), _leaves(later.entries)
        both = sorted(before.keys() & after.keys())
        return Changes(
            added=tuple(sorted(after.keys() - before.keys())),
            removed=tuple(sorted(before.keys() - after.keys())),
            changed=tuple(
                path for path in both if before[path].is_same_as != after[path].is_same_as
            ),
        )


def snapshot(confined: Confined, earlier: Snapshot | None = None) -> Snapshot:
    """Return the current entries. Files with the same stamp in `earlier` are not read again."""
    known = earlier.entries if earlier is not None else {}
    found: dict[str, WorkspaceEntry] = {}
    waiting: list[Parts] = [()]
    while waiting:
        folder = waiting.pop()
        names: list[tuple[str, os.stat_result]] = []
        with suppress(WorkspaceError):  # it is gone or not readable, and counts as empty
            names = confined.names(folder)
        for name, status in names:
            if len(found) >= MAX_ENTRIES:
                return Snapshot(found, complete=False)
            path = "/".join((*folder, name))
            entry = _entry(confined, (*folder, name), status, known.get(path))
            found[path] = entry
            if entry.kind == "directory":
                waiting.append((*folder, name))
    return Snapshot(found)


def _entry(
    confined: Confined, parts: Parts, status: os.stat_result, known: WorkspaceEntry | None
) -> WorkspaceEntry:
    stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    mode = status.st_mode
    if stat.S_ISDIR(mode):
        deep = len(parts) >= _MAX_DEPTH
        return WorkspaceEntry("other" if deep else "directory", stamp=stamp)
    if stat.S_ISLNK(mode):
        return WorkspaceEntry("link", target=_target(confined, parts), stamp=stamp)
    if not stat.S_ISREG(mode):
        return WorkspaceEntry("other", stamp=stamp)
    if known is not None and known.stamp == stamp and known.kind == "file":
        return known
    executable = bool(mode & stat.S_IXUSR)
    if status.st_size > MAX_HASHED:
        return WorkspaceEntry("file", status.st_size, executable=executable, stamp=stamp)
    digest = _digest(confined, parts)
    kind: Kind = "file" if digest is not None else "unreadable"
    return WorkspaceEntry(kind, status.st_size, digest, executable, stamp=stamp)


def _target(confined: Confined, parts: Parts) -> str | None:
    try:
        with confined.directory(parts[:-1]) as folder:
            return os.readlink(parts[-1], dir_fd=folder)
    except (OSError, WorkspaceError):
        return None


def _digest(confined: Confined, parts: Parts) -> str | None:
    try:
        with confined.directory(parts[:-1]) as folder:
            file = os.open(parts[-1], READ_FLAGS, dir_fd=folder)
            with os.fdopen(file, "rb") as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, WorkspaceError):
        return None


def _leaves(entries: Mapping[str, WorkspaceEntry]) -> dict[str, WorkspaceEntry]:
    """Return all entries but directories with content: these come and go with what is in them."""
    parents = {path.rpartition("/")[0] for path in entries}
    return {path: entry for path, entry in entries.items() if path not in parents}
