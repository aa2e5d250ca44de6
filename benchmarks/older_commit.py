"""Published replies read by the library that is imported here, and by that of an older commit.

python benchmarks/older_commit.py FOLDER [MODEL]...   # a range of replies a line in, rows out
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from published import Folder, Read, Reply

import tunaeval

ROOT = Path(__file__).parent.parent


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


class Older:
    """The library of a commit, written into a directory and read by a process of its own."""

    def __init__(self, commit: str, path: Path, models: Sequence[str], folder: Path) -> None:
        packed = subprocess.run(
            ["/usr/bin/env", "git", "archive", commit, "tunaeval"],
            cwd=ROOT, capture_output=True, check=False,
        )  # fmt: skip
        if packed.returncode:
            sys.exit(f"--against {commit}: {packed.stderr.decode().strip()}")
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            archive.extractall(folder, filter="data")
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(path.resolve()), *models],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, text=True,
            env={**os.environ, "PYTHONPATH": str(folder)},
        )  # fmt: skip

    def read(self, start: int, end: int) -> list[Found]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(start, end, file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            sys.exit("the older commit cannot read these prompts or replies; its error is above")
        rows = json.loads(line)
        return [Found(one[0], [Read(*call) for call in one[1]], *one[2:]) for one in rows]

    def close(self) -> None:
        self._process.communicate()


def serve(folder: Folder) -> None:
    """The older library's process: a range of replies a line in, what was found out."""
    for line in sys.stdin:
        start, end = map(int, line.split())
        print(json.dumps(read(folder, folder.replies[start:end])), flush=True)


if __name__ == "__main__":
    serve(Folder(Path(sys.argv[1]), sys.argv[2:]))
