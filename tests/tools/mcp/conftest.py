"""Servers to connect to; without the extra `mcp` these tests are skipped."""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(autouse=True, scope="session")
def _sdk() -> None:
    pytest.importorskip("mcp.client", reason="needs the extra mcp: pip install 'tunaeval[mcp]'")


@pytest.fixture
def raw() -> Callable[..., str]:
    """The command of the server that breaks in these ways."""
    return lambda *faults: shlex.join([sys.executable, str(HERE / "raw.py"), *faults])


@pytest.fixture
def offering() -> str:
    return f"{shlex.join([sys.executable, str(HERE / 'offering.py')])} {{workspace}}"


@pytest.fixture
def clock() -> str:
    """The command of a server that is not ours."""
    if command := shutil.which("mcp-server-time", path=str(Path(sys.executable).parent)):
        return command
    pytest.skip("needs a server that is not ours: pip install mcp-server-time")


@pytest.fixture(scope="session")
def address(_sdk: None) -> Iterator[str]:
    """The address of the SDK's server over HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(HERE / "offering.py"), "--port", str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        for _ in range(300):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
        process.kill()
