"""Tools of frameworks that are refused: with which words, and whether what these say to wrap works.

Prints for each the refusal, whether a wrapped function becomes the same tool, and what was recorded
when the framework ran it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import mcp.types
from anthropic import beta_async_tool, beta_tool
from google.adk.tools import FunctionTool
from inspect_ai.tool import Tool, ToolDef, tool
from mcp.server.mcpserver import MCPServer
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import FunctionToolset

import tunaeval
from tests.hosts.plain_tools import read

Function = Callable[..., Any]


class Try(NamedTuple):
    """How a function becomes a tool, what a model sees of it, and how it is run."""

    make: Callable[[Function], Any]
    shown: Callable[[Any], object]
    run: Callable[[Any], Awaitable[object]]


def reading() -> Function:
    """A function of its own each time: Inspect marks the one that it is given."""

    async def read(path: str) -> str:
        """Read a file.

        Args:
            path: Which file.
        """
        return f"contents of {path}"

    return read


def served(function: Function) -> Any:
    server = MCPServer("host")
    server.add_tool(function)
    return server._tool_manager.get_tool(function.__name__)


def as_given(function: Function) -> Tool:
    return function


inspected = tool(as_given)


def shown_by_inspect(made: Any) -> object:
    spec = ToolDef(made)
    return spec.description, spec.parameters.model_dump()


async def ask_with(toolset: Any) -> object:
    return (await Agent(TestModel(), toolsets=[toolset]).run("Read.")).output


async def at_once(value: object) -> object:
    return value


ARGUMENTS = {"path": "a.txt"}
TRIES = {
    "anthropic": Try(
        beta_tool,
        lambda made: made.to_dict(),
        lambda made: at_once(made.call(ARGUMENTS)),
    ),
    "anthropic, later": Try(
        beta_async_tool,
        lambda made: made.to_dict(),
        lambda made: made.call(ARGUMENTS),
    ),
    "google-adk": Try(
        FunctionTool,
        lambda made: made._get_declaration().model_dump(mode="json"),
        lambda made: made.run_async(args=ARGUMENTS, tool_context=None),
    ),
    "mcp": Try(
        served,
        lambda made: made.parameters,
        lambda made: made.run(ARGUMENTS, None),
    ),
    "inspect": Try(
        inspected,
        shown_by_inspect,
        lambda made: made(**ARGUMENTS),
    ),
    "pydantic-ai toolset": Try(
        lambda function: FunctionToolset([function]),
        lambda made: sorted(made.tools),
        ask_with,
    ),
}  # fmt: skip

DESCRIBED = mcp.types.Tool(name="read", inputSchema={"type": "object"})
"""As a client knows a tool that runs in its server."""


def refusal(made: object) -> str | None:
    try:
        tunaeval.wrap_tool(made, tunaeval.Recorder())
    except tunaeval.errors.UsageError as error:
        return str(error)
    return None


async def tried(one: Try, function: Callable[[], Function]) -> dict[str, object]:
    recorder = tunaeval.Recorder()
    bare, made = one.make(function()), one.make(tunaeval.wrap_tool(function(), recorder))
    answers = [str(await one.run(bare)), str(await one.run(made))]
    return {
        "refusal": refusal(bare),
        "looks_alike": one.shown(bare) == one.shown(made),
        "answers": answers,
        "runs": [[run.tool, run.ok] for run in recorder.executions],
        "is_refused_again": refusal(made) is not None,
    }


async def main() -> None:
    out = sys.stdout
    sys.stdout = sys.stderr  # what frameworks print is no report
    later = {"anthropic, later", "inspect"}
    reports: dict[str, object] = {
        name: await tried(one, reading if name in later else lambda: read)
        for name, one in TRIES.items()
    }
    reports["mcp, described"] = {"refusal": refusal(DESCRIBED)}
    reports["inspect, what makes it"] = {"refusal": refusal(inspected)}
    json.dump(reports, out)


if __name__ == "__main__":
    asyncio.run(main())
