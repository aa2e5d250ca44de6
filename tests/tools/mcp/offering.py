"""A server with the official SDK: `python offering.py DIRECTORY`, or `offering.py --port PORT`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel


class Weather(BaseModel):
    city: str
    degrees: int


def weather(city: str) -> Weather:
    """Say the weather in a city."""
    if city == "Atlantis":
        raise ToolError("no such city")
    return Weather(city=city, degrees=21)


def note(text: str) -> str:
    """Write a text to note.txt."""
    Path(sys.argv[1], "note.txt").write_text(text, encoding="utf-8")
    return f"written by process {os.getpid()}"


server = MCPServer("offering")
for tool in (weather, note):
    server.add_tool(tool)
if __name__ == "__main__":
    if sys.argv[1] == "--port":
        server.run("streamable-http", port=int(sys.argv[2]))
    server.run()
