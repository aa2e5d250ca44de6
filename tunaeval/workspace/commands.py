"""Commands in a workspace: which are allowed, and one of them run without a shell, within limits.

An allowed command is a list of words. A word is meant to the letter; `{path}` stands for any one
path inside of the workspace. "python" is the interpreter that runs this program. A command finds
neither the caller's environment nor an input, its output is kept up to a limit, and when its time
is over it ends with everything that it has started.

A command that runs a file runs what the model has written, with the rights of this process: that
is no prison. Allow such commands where the whole process is in a container. What an allowed command
reads as its configuration is not written (`configured.py`), where the command is one of those that
are listed there; of any other, nothing of that is known.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tunaeval.errors import WorkspaceError

from .configured import check_unread, programs_that
from .confined import Confined, Parts, check_kind, walked

PATH_WORD = "{path}"
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


@dataclass(frozen=True, slots=True)
class Line:
    """A command line that is allowed: its words as the program gets them, the directory that it
    runs in, and the descriptors that it is given.
    """

    words: Words
    folder: Path
    files: tuple[int, ...] = ()


@contextmanager
def allowed(
    line: str, commands: Sequence[Sequence[str]], confined: Confined, folder: Parts = ()
) -> Iterator[Line]:
    """A command line that the list allows, to be run in a directory. Raises `WorkspaceError`.

    The directory is open meanwhile, and so is a file of which the program prints no name, so that
    nothing can be put in their place. Any other path is opened by the program, as it is then.
    """
    words, paths = _fitting(line, commands, confined, folder)
    with ExitStack() as stack:
        at = stack.enter_context(confined.directory(folder))
        files: tuple[int, ...] = ()
        if len(paths) == 1 and _name(words) in programs_that("nameless"):
            ((index, path),) = paths.items()
            if (file := confined.opened(path)) is not None:
                stack.callback(os.close, file)
                words = (*words[:index], f"/dev/fd/{file}", *words[index + 1 :])
                files = (file,)
        here = Path(f"/proc/self/fd/{at}")
        yield Line(words, here if here.is_dir() else confined.root.joinpath(*folder), files)


def _fitting(
    line: str, commands: Sequence[Sequence[str]], confined: Confined, folder: Parts
) -> tuple[Words, dict[int, Parts]]:
    """The words of a command line that the list allows, and its paths by their places in it."""
    try:
        words = tuple(shlex.split(line))
    except ValueError as error:
        raise WorkspaceError(f"the command {line!r:.80} cannot be read: {error}") from error
    why = "there is no shell"
    for wanted in commands:
        if not _fits(words, wanted):
            continue
        try:
            paths = {
                index: _path(word, confined, folder)
                for index, (word, want) in enumerate(zip(words, wanted, strict=True))
                if want == PATH_WORD
            }
            for path in paths.values():
                _check_unread(path, words, commands, confined)
        except WorkspaceError as error:
            why = str(error)
        else:
            shown = {index: _shown(path, folder) for index, path in paths.items()}
            return tuple(shown.get(index, word) for index, word in enumerate(words)), paths
    listed = "; ".join(shlex.join(one) for one in commands) or "none"
    raise WorkspaceError(f"the command {line!r:.80} is not allowed here ({why}); allowed: {listed}")


def _fits(words: Words, wanted: Sequence[str]) -> bool:
    return len(words) == len(wanted) and all(
        not word.startswith("-") if want == PATH_WORD else word == want
        for word, want in zip(words, wanted, strict=True)
    )


def _path(word: str, confined: Confined, folder: Parts) -> Parts:
    """The path that a word means in a directory: with no link on the way, nor at its end."""
    parts = confined.parts(word if word.startswith(("/", "~")) else "/".join((*folder, word)))
    with confined.directory(parts[:-1]):
        found = confined.status("/".join(parts) or ".")
    if found is not None:
        check_kind(found, word, folders=True)
    return parts


def _check_unread(
    path: Parts, words: Words, commands: Sequence[Sequence[str]], confined: Confined
) -> None:
    """Raise `WorkspaceError` where the command may change what another reads as configuration."""
    if _name(words) in programs_that("readers"):
        return
    every = tuple(map(tuple, commands))
    check_unread(path, every)
    if not programs_that("writers").isdisjoint(words):
        for inner in walked(confined, path):
            check_unread(inner, every)


def _name(words: Words) -> str:
    return words[0].rpartition("/")[2]


def _shown(path: Parts, folder: Parts) -> str:
    """The path from the directory, without a link or ".." that would be gone through once more."""
    word = os.path.relpath("/".join(("/", *path)), "/".join(("/", *folder)))
    return f"./{word}" if word.startswith("-") else word


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
