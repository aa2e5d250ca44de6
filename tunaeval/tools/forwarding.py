"""Pass connections on between a port and a Unix socket, in and out of a network namespace.

    python -I -S forwarding.py SOCKET PORT WORD...

Inside of a sandbox this runs a command while it passes on connections to 127.0.0.1:PORT to the
socket, and ends with the command's exit code. Outside, `served` passes them on to that port.

This file runs without the package: it imports the standard library alone.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

_HOST, _PIECE = "127.0.0.1", 1 << 16
_IGNORED = 13, 25  # SIGPIPE and SIGXFSZ, which Python ignores, and so would the command


async def served(path: str, port: int) -> asyncio.Server:
    """Return a server on a Unix socket that passes connections on to a local port."""

    async def passed(*near: Any) -> None:
        await _pass_on(near, asyncio.open_connection(_HOST, port))

    if sys.platform == "win32":
        raise OSError("Windows has no sandbox, which alone is served so")
    return await asyncio.start_unix_server(passed, path)


async def _pass_on(near: Any, connecting: Awaitable[Any]) -> None:
    """Pass on what comes at either end of two connections, each a reader and a writer."""
    far: Any = (None, near[1])
    with suppress(OSError):
        far = await connecting
        await asyncio.gather(_pumped(near[0], far[1]), _pumped(far[0], near[1]))
    for one in (near[1], far[1]):
        one.close()


async def _pumped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
        writer.write_eof()


async def _main(path: str, port: str, *words: str) -> int:
    if sys.platform == "win32":
        return 126

    async def passed(*near: Any) -> None:
        await _pass_on(near, asyncio.open_unix_connection(path))

    await asyncio.start_server(passed, _HOST, int(port))
    child = os.posix_spawn(words[0], words, os.environ, setsigdef=_IGNORED)  # noqa: ASYNC221 - at once
    _, status = await asyncio.to_thread(os.waitpid, child, 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    code = asyncio.run(_main(*sys.argv[1:]))
    os._exit(code if code >= 0 else 128 - code)
