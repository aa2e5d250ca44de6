"""Published replies read by two versions of the library: by this checkout, and by an older commit.

python -P benchmarks/older_commit.py FOLDER [MODEL]...   # a range of replies a line in, rows out

Each version has a directory and a process of its own (`-P`), which says from which file it read the
library; both files and the digests of what they measure are printed. Two versions of one digest
would be compared with themselves, which is an error.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

BENCHMARKS = Path(__file__).resolve().parent
sys.path.append(str(BENCHMARKS))  # which `-P` leaves out

from figures import Code  # noqa: E402 - as above
from published import Folder, Read, Reply  # noqa: E402 - as above

import tunaeval  # noqa: E402 - as above

ROOT = BENCHMARKS.parent


class Found(NamedTuple):
    """What one version of the library made of one text."""

    outcome: str
    calls: list[Read]
    codes: list[str]
    microseconds: float


def read(folder: Folder, replies: Iterable[Reply], form: str = "auto") -> list[Found]:
    """Read each by the library that is imported here, by its own clock."""
    found = []
    for reply in replies:
        tools = folder.tools(reply)
        begun = time.process_time_ns()
        result = tunaeval.parse(reply.text, form, tools=tools)
        spent = (time.process_time_ns() - begun) / 1000
        calls = [Read(call.name, call.arguments) for call in result.calls]
        codes = sorted({one.code for one in result.diagnoses})
        found.append(Found(result.outcome, calls, codes, spent))
    return found


class Version:
    """One version of the library, below a directory of its own, read by a process of its own."""

    def __init__(self, place: Path, path: Path, models: Sequence[str]) -> None:
        self.digest = Code(place).digest(["parse"])
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__, str(path.resolve()), *models],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=place, text=True,
            env={**os.environ, "PYTHONPATH": str(place)},
        )  # fmt: skip
        self.file = json.loads(self._line())
        if not Path(self.file).is_relative_to(place.resolve()):
            sys.exit(f"{self.file} was read instead of the library in {place}")

    def read(self, start: int, end: int) -> list[Found]:
        assert self._process.stdin is not None
        print(start, end, file=self._process.stdin, flush=True)
        rows = json.loads(self._line())
        return [Found(one[0], [Read(*call) for call in one[1]], *one[2:]) for one in rows]

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit("a version cannot read these prompts or replies; its error is above")
        return line

    def close(self) -> None:
        self._process.communicate()


class Versions(NamedTuple):
    """This checkout and an older commit."""

    here: Version
    older: Version

    def close(self) -> None:
        self.here.close()
        self.older.close()


def unpacked(commit: str, folder: Path) -> None:
    """Put the package as it was at a commit into a folder; exit if there is no such commit."""
    packed = subprocess.run(
        ["/usr/bin/env", "git", "archive", commit, "tunaeval"],
        cwd=ROOT, capture_output=True, check=False,
    )  # fmt: skip
    if packed.returncode:
        sys.exit(f"--against {commit}: {packed.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")


def versions(commit: str, path: Path, models: Sequence[str], place: Path) -> Versions:
    """Start both, each from a copy below `place`, and print what they are; exit if they are one."""
    unpacked(commit, place / "older")
    own = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "tunaeval", place / "here" / "tunaeval", ignore=own)
    both = Versions(*(Version(place / name, path, models) for name in ("here", "older")))
    for name, one in zip(("this checkout", commit), both, strict=True):
        print(f"{name}: {one.file}, digest {one.digest}", file=sys.stderr)
    if both.here.digest == both.older.digest:
        both.close()
        sys.exit(f"--against {commit}: its code is this checkout's, so nothing would be compared")
    return both


def serve(folder: Folder) -> None:
    """A version's process: its file, then for each range of replies what was found."""
    print(json.dumps(str(Path(tunaeval.__file__).resolve())), flush=True)
    for line in sys.stdin:
        start, end = map(int, line.split())
        print(json.dumps(read(folder, folder.replies[start:end])), flush=True)


if __name__ == "__main__":
    serve(Folder(Path(sys.argv[1]), sys.argv[2:]))
