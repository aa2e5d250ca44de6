"""Frameworks' tools, wrapped for a recorder: a file per framework, each told by its shape.

No framework is imported. What comes back is a copy with the same name, description and schema;
the tool that was given stays as it was.
"""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import Protocol, TypeVar

from tunaeval import tools
from tunaeval.types import roles

from . import langchain, pydantic_ai, tinyagent

Tool = TypeVar("Tool")


class Adapter(Protocol):
    """How the tools of one framework are known, and wrapped."""

    def fits(self, tool: roles.AnyTool) -> bool: ...

    def wrap(self, tool: roles.AnyTool, recorder: roles.Recorder) -> roles.AnyTool: ...


ADAPTERS: tuple[Adapter, ...] = (langchain, pydantic_ai, tinyagent)


def wrap_tool(tool: Tool, recorder: roles.Recorder) -> Tool:
    """A copy of `tool` that behaves the same; `recorder` takes an execution of each run.

    A tool is a function of any kind (coroutine functions, generators, bound methods, partials,
    callable objects), or a tool of LangChain, pydantic-ai or tinyagent. Name, docstring, signature
    and schema stay, and a function's `__wrapped__` is the function. A tool that this recorder
    records already comes back as it is. Raises UsageError for what cannot be wrapped.

    A recorded run answers the call that the framework says, else that of `tunaeval.call_id`.
    """
    if not isinstance(tool, FunctionType | MethodType):
        for adapter in ADAPTERS:
            if adapter.fits(tool):
                wrapped: Tool = adapter.wrap(tool, recorder)
                return wrapped
    return tools.wrap_tool(tool, recorder)  # type: ignore[type-var] # it refuses what is no function
