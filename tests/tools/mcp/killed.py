"""Connect to MCP servers in 20 processes, kill each by SIGKILL, and print who survives.

`python killed.py PLACE MARK`: the command of a server, and the beginning of a word in it that each
process gets, so that its server can be found. The SDK is imported once, and then forked.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
import time

import mcp.client.stdio

from tests.tools.mcp.processes import is_running
from tunaeval.tools.mcp import McpServer

PLACE, MARK = sys.argv[1:]
WHEN = ("as it starts", "as it waits", "as it runs a call", "as it ends")
assert mcp.client.stdio


async def hold(mark: str, when: str, ready: int) -> None:
    silent = ["silent"] if when == WHEN[0] else []
    async with McpServer(shlex.join([*shlex.split(PLACE), mark, *silent])) as server:
        if when == WHEN[2]:
            asyncio.get_running_loop().call_later(0.05, os.write, ready, b"1")
            await server.call("do", {"how": "hang"})
        os.write(ready, b"1")
        if when == WHEN[1]:
            await asyncio.sleep(600)
    await asyncio.sleep(600)


def killed(number: int) -> str:
    mark, when = f"{MARK}-{number}", WHEN[number % len(WHEN)]
    told, ready = os.pipe()
    process = os.fork()
    if not process:
        asyncio.run(hold(mark, when, ready))
        os._exit(0)
    os.close(ready)
    if when == WHEN[0]:
        while not is_running(mark):
            time.sleep(0.01)
    else:
        os.read(told, 1)
    os.close(told)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return mark


marks = [killed(number) for number in range(20)]
until = time.monotonic() + 30
while (left := [mark for mark in marks if is_running(mark)]) and time.monotonic() < until:
    time.sleep(0.02)
print(len(marks), "killed,", len(left), "left", *left)
