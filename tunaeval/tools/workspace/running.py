"""One command, run without a shell and within limits.

It gets neither the caller's environment nor an input, its output is kept up to a limit, and after
its time limit it is killed with all processes that it started. "python" is the interpreter of this
program.
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
    """The result of a command: its exit code (None after a timeout) and its output, stdout and
    stderr together; `cut` if there was more output than was kept.
    """

    words: Words
    code: int | None
    output: str
    cut: bool = False

    def __str__(self) -> str:
        """Return the text that the model gets."""
        cut = "\n(more was printed)" if self.cut else ""
        text = f"{self.output}{cut}"
        if self.code is None:
            return f"{text}\nthe command took too long and was ended\nExit Code: 124".lstrip()
        return f"{text}\nExit Code: {self.code}".lstrip()


def run_command(
    words: Words,
    folder: Path,
    *,
    files: Sequence[int] = (),
    seconds: float = COMMAND_SECONDS,
    output_bytes: int = OUTPUT_BYTES,
) -> Ran:
    """Run a command in a folder and wait for it; it inherits the descriptors `files`.

    Raises `WorkspaceError` if it cannot be started.
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
    """The first bytes of the output; the rest is read, to keep the program going, and dropped."""

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
    """Kill what is left of the command's process group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _environment() -> dict[str, str]:
    """Return an environment without the caller's variables, so that commands see no API keys."""
    path = os.pathsep.join((str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"))
    return {
        "PATH": path,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
    }
