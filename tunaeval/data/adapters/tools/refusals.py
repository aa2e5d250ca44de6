"""Tools of frameworks that are not wrapped: how each is known, and what is wrapped instead.

Such an object is run by ways of its framework, and a wrapper around it would be no tool of that
framework any more. The function that it runs can be wrapped before it becomes a tool.
"""

from __future__ import annotations

from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NamedTuple

from tunaeval.showing import brief

_RECORDED = "tunaeval.wrap_tool(function, recorder)"
_OF_MCP = f"server.add_tool({_RECORDED}), or the function that asks the server"


class Instead(NamedTuple):
    """What a refused tool is, and what is written in its place."""

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
"""By the package of a tool's class, or of one that it inherits from."""

SCHEMAS = (
    "args_schema", "input_schema", "inputSchema", "inputs", "parameters", "params_json_schema",
)  # fmt: skip
"""Where tool objects keep the schema of their arguments."""

_NO_OBJECTS = (type, partial, FunctionType, MethodType, BuiltinFunctionType)
"""What may have any attributes, and is called all the same as what it is."""


def refusal_of(tool: object) -> str | None:
    """Why a tool that no adapter knows is not wrapped, and what to wrap; None where it may be."""
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
    """Inspect's tools, and what makes them, are functions that its registry has marked."""
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
    """Where an object that is called keeps a schema, if it has a name as well."""
    if isinstance(tool, _NO_OBJECTS) or not callable(tool):
        return None
    if not isinstance(getattr(tool, "name", None), str):
        return None
    return next((name for name in SCHEMAS if getattr(tool, name, None) is not None), None)
