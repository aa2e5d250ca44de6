"""pytest in a process of its own, with the plug-in and no other, or as it is installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[3]
NAME = "tunaeval.testing.pytest_plugin"


class Child(NamedTuple):
    """How it ended, and what it printed."""

    code: int
    said: str

    @property
    def counts(self) -> dict[str, int]:
        """How many tests passed, failed, ..."""
        last = self.said.rstrip().splitlines()[-1]
        return {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", last)}


def is_installed() -> bool:
    """Whether pytest finds the plug-in by itself, as it does where tunaeval was installed."""
    return any(one.value == NAME for one in entry_points(group="pytest11"))


def run(
    folder: Path,
    *arguments: str,
    files: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    without: tuple[str, ...] = (),
    autoload: bool = False,
) -> Child:
    """Run pytest in the folder, with these files written there first."""
    for name, text in (files or {}).items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    kept = {key: one for key, one in os.environ.items() if not key.startswith(("PYTEST", "OPENAI"))}
    told = {**kept, "PYTHONPATH": str(ROOT), **(environment or {})}
    for name in without:
        told.pop(name, None)
    if not autoload:
        told["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        arguments = ("-p", NAME, *arguments)
    elif not is_installed():
        told["PYTHONPATH"] = f"{_as_installed(folder)}{os.pathsep}{ROOT}"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir",
         str(folder), "--strict-markers", "-W", "error", *arguments, str(folder)],
        capture_output=True, text=True, cwd=folder, env=told, timeout=120, check=False,
    )  # fmt: skip
    return Child(done.returncode, done.stdout + done.stderr)


def _as_installed(folder: Path) -> Path:
    """A directory that says what an installation would, to be put on the path."""
    site = folder.parent / f"{folder.name}-site"
    told = site / "tunaeval_as_installed-1.dist-info"
    told.mkdir(parents=True, exist_ok=True)
    (told / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: tunaeval-as-installed\nVersion: 1\n"
    )
    (told / "entry_points.txt").write_text(f"[pytest11]\ntunaeval = {NAME}\n")
    return site
