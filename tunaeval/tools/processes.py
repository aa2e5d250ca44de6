"""Every process that is started: it leads a group of its own, ends with the whole of it, and what
it prints is read with a bound.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Self

from .launching import end_below

NOTHING, PIPE = subprocess.DEVNULL, subprocess.PIPE
_GRACE_SECONDS = 2.0
"""How long what was printed is waited for: a process that left the group may keep the pipe open."""


class Child:
    """A process that runs `command`: its words, or a line for the shell.

    It inherits the descriptors `files`. `end`, or the end of the `with` block, kills it with its
    group (on Windows without it), and if it is `supervised` (see `launched`), all below it. Raises
    OSError, or ValueError for words that no system takes, if it cannot be started.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        given: IO[bytes] | int = NOTHING,
        out: int = PIPE,
        errors: IO[bytes] | int | None = subprocess.STDOUT,
        files: Sequence[int] = (),
        supervised: bool = False,
    ) -> None:
        is_line = isinstance(command, str)
        self._supervised = supervised
        self._process = subprocess.Popen(  # noqa: S603 - callers vouch for what they start
            command if is_line else list(command),
            shell=is_line,
            cwd=folder,
            env=environment,
            stdin=given,
            stdout=out,
            stderr=errors,
            pass_fds=files,
            start_new_session=sys.platform != "win32",
        )
        self.pid = self._process.pid
        self.out, self.errors = self._process.stdout, self._process.stderr
        self._has_lines = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def wait(self, seconds: float | None = None) -> int | None:
        """Return the exit code, or None if the process has not ended after `seconds`."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def line(self) -> bytes:
        """Return the next line that the process prints; b"" at the end of what it prints."""
        self._has_lines = True
        return b"" if self.out is None else self.out.readline()

    def kill(self) -> None:
        """Kill the process with all that `end` kills, unless it has ended and was waited for."""
        if self._supervised:
            end_below(self.pid)
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32" or not hasattr(os, "killpg"):
                self._process.kill()
            else:
                os.killpg(self.pid, signal.SIGKILL)

    def end(self, seconds: float = 0.0) -> None:
        """Close the standard input; kill the process, if it has not ended `seconds` later."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        if not seconds or self.wait(seconds) is None:
            self.kill()
        self._process.wait()
        if self._has_lines and self.out is not None:
            self.out.close()


class Kept:
    """The `first` or the `last` bytes that a stream brings. All of it is read, in a thread of its
    own, so that the process can go on; the stream is closed at its end.
    """

    def __init__(
        self, stream: IO[bytes] | None, *, first: int | None = None, last: int | None = None
    ) -> None:
        assert stream is not None  # noqa: S101 - it is a pipe
        self._stream, self._first, self._last = stream, first, last
        self._bytes = bytearray()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with self._stream as stream:
            while piece := os.read(stream.fileno(), 1 << 16):
                room = None if self._first is None else self._first - len(self._bytes)
                self._bytes += piece[:room]
                if self._last is not None:
                    del self._bytes[: -self._last]

    def so_far(self) -> bytes:
        return bytes(self._bytes)

    def whole(self) -> bytes:
        """Return what was kept when the stream ends, or 2 seconds from now."""
        self._reader.join(_GRACE_SECONDS)
        return self.so_far()
