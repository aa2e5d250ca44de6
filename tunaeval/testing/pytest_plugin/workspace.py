"""The fixture `tunaeval_workspace`: a directory for an agent, with its files and their changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tunaeval.errors import UsageError, WorkspaceError
from tunaeval.tasks.space import Paths, Snapshot, WorkspaceEntry, file_bytes
from tunaeval.tasks.space import Workspace as Watched
from tunaeval.types.wanted import refusal


@dataclass(frozen=True, slots=True, repr=False)
class WorkFile:
    """A path in a workspace, with its current state."""

    workspace: Workspace
    name: str

    def __repr__(self) -> str:
        """Return the path and the text, so that a failed assertion shows them."""
        return repr(self.workspace.watched[self.name])

    @property
    def path(self) -> Path:
        """The absolute path, for programs."""
        return self.workspace.path / self.name

    @property
    def exists(self) -> bool:
        """Whether it is a file, and not a link or a directory."""
        entry = self.workspace.now.entries.get(self.name)
        return entry is not None and entry.kind in {"file", "unreadable"}

    @property
    def text(self) -> str:
        """The text, with invalid UTF-8 replaced. Raises UsageError if there is no file."""
        with _as_usage():
            return self.workspace.watched[self.name].data.decode("utf-8", "replace")

    @property
    def changed(self) -> bool:
        """Whether it was changed, created or removed since `write`."""
        return self.name in self.workspace.changed

    def contains(self, text: str) -> bool:
        """Whether it is a file that contains `text`."""
        if not isinstance(text, str):
            raise refusal("text", text, "a text to look for")
        found = self.exists and text in self.text
        self.workspace.missed += [] if found else [f"{self.name} does not contain {text!r}"]
        return found


class Workspace:
    """A new directory. `write` creates files in it, `workspace["calc.py"]` is one of them.

    tunaeval_workspace.write({"calc.py": "def add(a, b): return a-b"})
    my_agent("Fix add().", directory=tunaeval_workspace.path)
    assert tunaeval_workspace["calc.py"].contains("a+b")
    assert tunaeval_workspace.changed == ("calc.py",)
    """

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True)
        self.watched = Watched(at=path)
        self.path = self.watched.path
        self._before: dict[str, WorkspaceEntry] = {}
        self.missed: list[str] = []
        """What `contains` did not find."""

    def __fspath__(self) -> str:
        return str(self.path)

    def close(self) -> None:
        self.watched.close()

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Write files by their paths. Raises UsageError for a path that leads out, and for what
        cannot be written.
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
                if path in there:  # not if it was removed since, or not listed
                    self._before[path] = there[path]

    def __getitem__(self, name: str) -> WorkFile:
        with _as_usage():
            parts = self.watched.confined.parts(name)
        if not parts:
            raise UsageError(f"{name!r} is the workspace itself; wanted the path of a file in it")
        return WorkFile(self, "/".join(parts))

    def report(self) -> str:
        """Return what `contains` did not find, with the texts of all changed files, for a test that
        has failed.
        """
        return "\n".join([*self.missed, *(repr(self[name]) for name in self.changed)])

    @property
    def now(self) -> Snapshot:
        """The current entries; empty if the directory is gone."""
        return self.watched.snapshot()

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of all current files, sorted."""
        kinds = {"file", "unreadable"}
        return tuple(sorted(path for path, one in self.now.entries.items() if one.kind in kinds))

    @property
    def changed(self) -> Paths:
        """The paths that were changed, created or removed since `write`: files (by content and
        executable bit), links, and empty directories. They are equal to a set of them, too.
        """
        return Snapshot(self._before).changes(self.now).paths


@contextmanager
def _as_usage() -> Iterator[None]:
    """Turn a WorkspaceError into a UsageError, because the test gave the path."""
    try:
        yield
    except WorkspaceError as error:
        raise UsageError(str(error)) from None
