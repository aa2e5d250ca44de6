"""A directory for an agent to work in: files put there, and what has become of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tunaeval.errors import UsageError


@dataclass(frozen=True, slots=True)
class WorkFile:
    """A file of a workspace, as it is now; `before` is what was put there."""

    path: Path
    before: bytes | None

    @property
    def exists(self) -> bool:
        return self.path.is_file()

    @property
    def text(self) -> str:
        """Its text; what is no UTF-8 is replaced. Raises FileNotFoundError."""
        return self.path.read_bytes().decode("utf-8", "replace")

    @property
    def changed(self) -> bool:
        """Whether it differs from what was put there, or came or went since."""
        return (self.path.read_bytes() if self.exists else None) != self.before

    def contains(self, text: str) -> bool:
        """Whether it is there, with this text in it."""
        return self.exists and text in self.text


class Workspace:
    """A new directory. `write` puts files there, `workspace["calc.py"]` is one of them.

    tunaeval_workspace.write({"calc.py": "def add(a, b): return a-b"})
    my_agent("Fix add().", directory=tunaeval_workspace.path)
    assert tunaeval_workspace["calc.py"].contains("a+b")
    assert tunaeval_workspace.changed == ("calc.py",)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.path.mkdir(parents=True)
        self._before: dict[str, bytes] = {}

    def __fspath__(self) -> str:
        return str(self.path)

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Put these files there, by their paths. Raises UsageError for a path that leads out."""
        for name, content in files.items():
            target = self._inside(name)
            target.parent.mkdir(parents=True, exist_ok=True)
            data = content if isinstance(content, bytes) else content.encode("utf-8")
            target.write_bytes(data)
            self._before[target.relative_to(self.path.resolve()).as_posix()] = data

    def __getitem__(self, name: str) -> WorkFile:
        target = self._inside(name)
        return WorkFile(
            target, self._before.get(target.relative_to(self.path.resolve()).as_posix())
        )

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of all files that are there, sorted."""
        found = (one for one in self.path.rglob("*") if one.is_file() and not one.is_symlink())
        return tuple(sorted(one.relative_to(self.path).as_posix() for one in found))

    @property
    def changed(self) -> tuple[str, ...]:
        """The paths of files that were changed, made or removed since they were put there."""
        every = sorted({*self.files, *self._before})
        return tuple(name for name in every if self[name].changed)

    def _inside(self, name: str) -> Path:
        root = self.path.resolve()
        target = (root / name).resolve()
        if not target.is_relative_to(root) or target == root:
            raise UsageError(f"{name!r} leads out of the workspace; wanted a path in it")
        return target
