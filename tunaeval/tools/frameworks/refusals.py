"""Tools of frameworks that are not wrapped: how each is recognized, and what to wrap instead.

A framework runs its tools in its own way, and a wrapper around one would no longer be a tool of
that framework. The function that it runs can be wrapped before it becomes a tool.
"""

from __future__ import annotations

from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NamedTuple

from tunaeval.showing import brief

_RECORDED = "tunaeval.wrap_tool(function, recorder)"
_OF_MCP = f"server.add_tool({_RECORDED}), or the function that asks the server"


class Instead(NamedTuple):
    """The kind of a refused tool, and the code to write instead."""

    kind: str
    write: str


PACKAGES = {
    "anthropic": Instead("a tool of Anthropic's SDK", f"beta_tool({_RECORDED})"),
    "google.adk": Instead("a tool of Google ADK", f"FunctionTool({_RECORDED})"),
    "mcp": Instead("a tool of MCP", _OF_MCP),
    "mcp_types": Instead("a tool of MCP", _OF_MCP),
    "fastmcp": Instead("a tool of FastMCP", _OF_MCP),
    "inspect_ai": Instead("a tool of Inspect", f"return {_RECORDED} where @tool makes it"),
    "pydantic_ai.toolsets": Instead("a toolset of pydantic-ai", f"FunctionToolset([{_RECORDED}])"),
    "llama_index": Instead("a tool of LlamaIndex", f"FunctionTool.from_defaults({_RECORDED})"),
    "crewai": Instead("a tool of CrewAI", f"tool({_RECORDED})"),
    "autogen": Instead("a tool of AutoGen", f"Tool(func_or_tool={_RECORDED})"),
    "autogen_core": Instead("a tool of AutoGen", f"FunctionTool({_RECORDED}, description)"),
    "autogen_ext": Instead("a tool of AutoGen", f"FunctionTool({_RECORDED}, description)"),
    "smolagents": Instead("no Tool of smolagents", f"smolagents.tool({_RECORDED})"),
    "strands": Instead("a tool of Strands", f"tool({_RECORDED})"),
    "dspy": Instead("a tool of DSPy", f"dspy.Tool({_RECORDED})"),
}
"""The refused tools by the package of their class or one of its base classes."""

SCHEMAS = (
    "args_schema", "input_schema", "inputSchema", "inputs", "parameters", "params_json_schema",
)  # fmt: skip
"""The attributes in which tools keep the schema of their arguments."""

_NO_OBJECTS = (type, partial, FunctionType, MethodType, BuiltinFunctionType)
"""Callables that are never a framework's tool, whatever attributes they have."""


def refusal_of(tool: object) -> str | None:
    """Return why a tool that no adapter knows cannot be wrapped, and a remedy; None if it can."""
    package = "inspect_ai" if _is_of_inspect(tool) else _package_of(tool)
    if package is not None:
        kind, write = PACKAGES[package]
        return (
            f"{brief(tool, 80)} is {kind}, which is not wrapped as it is; "
            f"wrap the function that it runs, before it becomes a tool: {write}"
        )
    schema = _schema_of(tool)
    if schema is None:
        return None
    return (
        f"{brief(tool, 80)} has a name and {schema!r}, as a framework's tool has, and the "
        "framework is not known here; wrap the function that it runs, before it becomes a tool, or "
        "what is called alone: tunaeval.wrap_tool(tool.__call__, recorder)"
    )


def _is_of_inspect(tool: object) -> bool:
    """Whether Inspect's registry has marked this function as a tool or a maker of tools."""
    mark: Any = getattr(tool, "__registry_info__", None)
    return getattr(mark, "type", None) == "tool"


def _package_of(tool: object) -> str | None:
    for kind in type(tool).__mro__:
        parts = kind.__module__.split(".")
        for length in range(len(parts), 0, -1):
            if (package := ".".join(parts[:length])) in PACKAGES:
                return package
    return None


def _schema_of(tool: object) -> str | None:
    """Return the attribute with the schema of a callable object, if it also has a name."""
    if isinstance(tool, _NO_OBJECTS) or not callable(tool):
        return None
    if not isinstance(getattr(tool, "name", None), str):
        return None
    return next((name for name in SCHEMAS if getattr(tool, name, None) is not None), None)
