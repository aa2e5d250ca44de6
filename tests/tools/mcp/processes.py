"""Whether the processes of a test still run."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

sees_processes = pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="looks at processes under /proc"
)


def is_running(mark: str) -> bool:
    """Whether a server with this word runs, apart from commands that name its command."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if mark.encode() in path.read_bytes().split(b"\0"):
                return True
    return False
