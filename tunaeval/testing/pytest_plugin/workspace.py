"""A directory for an agent to work in: files put there, and what has become of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tunaeval.errors import UsageError, WorkspaceError
from tunaeval.tools.workspace.snapshots import Entry, Snapshot
from tunaeval.tools.workspace.space import Workspace as Watched
from tunaeval.tools.workspace.space import file_bytes
from tunaeval.types.wanted import refusal


@dataclass(frozen=True, slots=True)
class WorkFile:
    """Something in a workspace by its path, as it is now."""

    workspace: Workspace
    name: str

    @property
    def path(self) -> Path:
        """Where it is, for programs that are given paths."""
        return self.workspace.path / self.name

    @property
    def exists(self) -> bool:
        """Whether it is a file; a link or a directory is none."""
        entry = self.workspace.now.entries.get(self.name)
        return entry is not None and entry.kind in {"file", "unreadable"}

    @property
    def text(self) -> str:
        """Its text; what is no UTF-8 is replaced. Raises UsageError where there is no file."""
        with _as_usage():
            return self.workspace.watched[self.name].data.decode("utf-8", "replace")

    @property
    def changed(self) -> bool:
        """Whether it differs from what was put there, or came or went since."""
        return self.name in self.workspace.changed

    def contains(self, text: str) -> bool:
        """Whether it is a file with this text in it."""
        if not isinstance(text, str):
            raise refusal("text", text, "a text to look for")
        return self.exists and text in self.text


class Workspace:
    """A new directory. `write` puts files there, `workspace["calc.py"]` is one of them.

    tunaeval_workspace.write({"calc.py": "def add(a, b): return a-b"})
    my_agent("Fix add().", directory=tunaeval_workspace.path)
    assert tunaeval_workspace["calc.py"].contains("a+b")
    assert tunaeval_workspace.changed == ("calc.py",)
    """

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True)
        self.watched = Watched(at=path)
        self.path = self.watched.path
        self._before: dict[str, Entry] = {}

    def __fspath__(self) -> str:
        return str(self.path)

    def close(self) -> None:
        self.watched.close()

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Put these files there, by their paths. Raises UsageError for a path that leads out, and
        for what cannot be written there.
        """
        if not isinstance(files, Mapping):
            raise refusal("files", files, "texts or bytes by path, in a dictionary")
        for name, content in files.items():
            data = file_bytes(name, content)
            with _as_usage():
                self.watched.confined.write(name, data)
        there = self.now.entries
        for name in files:
            parts = self.watched.confined.parts(name)
            for end in range(1, len(parts) + 1):
                path = "/".join(parts[:end])
                if path in there:  # it was put there
                    self._before[path] = there[path]

    def __getitem__(self, name: str) -> WorkFile:
        with _as_usage():
            parts = self.watched.confined.parts(name)
        if not parts:
            raise UsageError(f"{name!r} is the workspace itself; wanted the path of a file in it")
        return WorkFile(self, "/".join(parts))

    @property
    def now(self) -> Snapshot:
        """What is there; nothing where an agent took the directory away."""
        return self.watched.snapshot()

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of all files that are there, sorted."""
        kinds = {"file", "unreadable"}
        return tuple(sorted(path for path, one in self.now.entries.items() if one.kind in kinds))

    @property
    def changed(self) -> tuple[str, ...]:
        """The paths of what was changed, made or removed since it was put there: of files (their
        bytes, and whether they can be run), links, and directories that are empty.
        """
        return Snapshot(self._before).changes(self.now).paths


@contextmanager
def _as_usage() -> Iterator[None]:
    """A path that a test gives wrongly is the test's mistake."""
    try:
        yield
    except WorkspaceError as error:
        raise UsageError(str(error)) from None
