"""One command, run without a shell and within limits.

It finds neither the caller's environment nor an input, its output is kept up to a limit, and when
its time is over it ends with everything that it has started. "python" is the interpreter that runs
this program.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tunaeval.errors import WorkspaceError

COMMAND_SECONDS = 30.0
OUTPUT_BYTES = 64 * 1024
_GRACE_SECONDS = 2.0

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command: its exit code (None: its time was over) and what it printed, both
    streams as one; `cut` says that it printed more than was kept.
    """

    words: Words
    code: int | None
    output: str
    cut: bool = False

    def __str__(self) -> str:
        """What is said of it to a model."""
        cut = "\n(more was printed)" if self.cut else ""
        said = f"{self.output}{cut}"
        if self.code is None:
            return f"{said}\nthe command took too long and was ended\nExit Code: 124".lstrip()
        return f"{said}\nExit Code: {self.code}".lstrip()


def run_command(
    words: Words,
    folder: Path,
    *,
    files: Sequence[int] = (),
    seconds: float = COMMAND_SECONDS,
    output_bytes: int = OUTPUT_BYTES,
) -> Ran:
    """Run a command in a folder and wait for it; `files` are the descriptors that it is given.

    Raises `WorkspaceError` where it cannot start.
    """
    process = _started(words, folder, files)
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    kept = _Kept(output_bytes)
    reader = threading.Thread(target=kept.read, args=(process.stdout,), daemon=True)
    reader.start()
    try:
        code: int | None = process.wait(seconds)
    except subprocess.TimeoutExpired:
        code = None
    finally:
        _end(process)
    reader.join(_GRACE_SECONDS)  # a process that left the group may keep the pipe
    return Ran(words, code, bytes(kept.data).decode(errors="replace").rstrip(), kept.cut)


def _started(words: Words, folder: Path, files: Sequence[int]) -> subprocess.Popen[bytes]:
    program = sys.executable if words[0] in {"python", "python3"} else words[0]
    environment = _environment()
    found = program if "/" in program else shutil.which(program, path=environment["PATH"])
    if found is None:
        raise WorkspaceError(f"there is no program {words[0]!r:.60} on this machine")
    try:
        return subprocess.Popen(  # noqa: S603 - words of an allow-list, and no shell
            [found, *words[1:]],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=files,
        )
    except (OSError, ValueError) as error:
        raise WorkspaceError(f"the command {shlex.join(words)!r:.80}: {error}") from error


class _Kept:
    """The first bytes of what is printed; the rest is read, so that nobody waits, and dropped."""

    def __init__(self, limit: int) -> None:
        self.data = bytearray()
        self.cut = False
        self._limit = limit

    def read(self, stream: IO[bytes]) -> None:
        with stream:
            while piece := os.read(stream.fileno(), 1 << 16):
                self.cut = self.cut or len(self.data) + len(piece) > self._limit
                self.data += piece[: self._limit - len(self.data)]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the command's group of processes."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _environment() -> dict[str, str]:
    """No variable of the caller's but the path: keys are none of a command's business."""
    path = os.pathsep.join((str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"))
    return {
        "PATH": path,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
    }
