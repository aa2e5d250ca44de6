"""A server that is a command ends with all that it has started, and what it prints is bounded."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.mcp.processes import is_running, sees_processes
from tunaeval.errors import TransportFailure
from tunaeval.tools import mcp
from tunaeval.tools.mcp import McpServer

Raw = Callable[..., str]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="supervisors need Linux")


@LINUX
@sees_processes
@pytest.mark.parametrize("fault", ["", "stays"])
def test_what_a_server_has_started_ends_with_its_connection(raw: Raw, fault: str) -> None:
    mark = f"mark-{time.monotonic_ns()}"

    async def used() -> None:
        async with McpServer(raw("breeds", mark, *fault.split())) as server:
            await server.call("do", {"how": "well"})
            assert is_running(mark)

    asyncio.run(used())
    assert not is_running(mark)


@LINUX
@sees_processes
def test_no_server_survives_that_its_parent_is_killed(raw: Raw) -> None:
    mark = f"mark-{time.monotonic_ns()}"
    ran = subprocess.run(
        [sys.executable, "-m", "tests.tools.mcp.killed", raw("breeds"), mark],
        cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.stdout == "20 killed, 0 left\n", ran.stderr


def test_of_what_a_server_prints_to_stderr_only_the_end_is_kept(raw: Raw) -> None:
    async def fails() -> bytes:
        async with McpServer(raw("shouts")) as server:
            with pytest.raises(TransportFailure, match="of its stderr: the last words"):
                await server.call("do", {"how": "garbage"})
            return server._last_words

    assert len(asyncio.run(fails())) <= 4096


@LINUX
def test_a_server_that_prints_without_an_end_is_ended(
    raw: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp, "MAX_LINE", 1 << 20)

    async def fails() -> None:
        async with McpServer(raw()) as server:
            assert (await server.call("do", {"how": "huge"})).text == "x" * 200_000
            await server.call("do", {"how": "flood"})

    with pytest.raises(TransportFailure, match="a line of over 1048576 bytes on stdout"):
        asyncio.run(fails())


@LINUX
@pytest.mark.parametrize("file", [None, "text"])
def test_what_is_no_program_is_said_to_be_none(tmp_path: Path, file: str | None) -> None:
    if file:
        (tmp_path / "server").write_text(file)
    words = os.strerror(13 if file else 2)
    with pytest.raises(TransportFailure, match=f"cannot be started: {words}"):
        asyncio.run(McpServer(str(tmp_path / "server")).__aenter__())
