"""An MCP server for tests, over stdio or HTTP: `python offering.py [HOW] [PORT]`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel


class Weather(BaseModel):
    city: str
    degrees: int


server = MCPServer("offering")
how = sys.argv[1] if len(sys.argv) > 1 else "well"


@server.tool()
def weather(city: str) -> Weather:
    """Say the weather in a city."""
    if city == "Atlantis":
        raise ValueError("no such city")
    return Weather(city=city, degrees=21)


@server.tool()
def note(text: str) -> str:
    """Write a text to note.txt in the directory that the server was given."""
    Path(sys.argv[2], "note.txt").write_text(text, encoding="utf-8")
    return f"{os.getpid()} wrote"


@server.tool()
async def misbehave(how: str) -> Any:
    """Hang, die, print to stdout, or answer with garbage."""
    match how:
        case "hang":
            await asyncio.sleep(600)
        case "die":
            print("out of luck \x1b[31m", file=sys.stderr, flush=True)
            os._exit(3)
        case "print":
            os.write(1, b"hello\n")
        case "error":
            return CallToolResult(content=[TextContent(text="Error: no")], is_error=True)
    return "fine"
