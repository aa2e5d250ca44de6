"""Frameworks' tools, wrapped for a recorder: a file per framework, each known by its shape.

No framework is imported. What comes back is a copy with the same name, description and schema;
the tool that was given stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import FunctionType, MethodType
from typing import Protocol, TypeVar

from tunaeval.errors import UsageError
from tunaeval.tools import wrapper
from tunaeval.types import roles

from . import functions, langchain, openai_agents, pydantic_ai, smolagents, tinyagent
from .refusals import refusal_of

Tool = TypeVar("Tool")


class Adapter(Protocol):
    """How the tools of one framework are known, and wrapped."""

    def fits(self, tool: roles.AnyTool) -> bool: ...

    def runs(self, tool: roles.AnyTool) -> Iterable[object]:
        """What is called inside when the tool runs: where a recorder may be found."""
        ...

    def wrap(self, tool: roles.AnyTool, recorder: roles.Recorder) -> roles.AnyTool:
        """A copy that this recorder hears of."""
        ...


ADAPTERS: tuple[Adapter, ...] = (langchain, pydantic_ai, tinyagent, openai_agents, smolagents)


def wrap_tool(tool: Tool, recorder: roles.Recorder) -> Tool:
    """A copy of `tool` that behaves the same; `recorder` takes an execution of each run.

    A tool is a function of any kind (coroutine functions, generators, bound methods, partials,
    callable objects), or a tool of LangChain, pydantic-ai, OpenAI Agents, smolagents or tinyagent.
    A function becomes a function; name, docstring, signature and schema stay, and a function's
    `__wrapped__` is the function. A tool that this recorder records already comes back as it is.
    Raises UsageError for what cannot be wrapped, saying what to wrap instead.

    A recorded run answers the call that the framework says, else that of `tunaeval.call_id`.

    Examples:
        >>> recorder = tunaeval.Recorder()
        >>> size = tunaeval.wrap_tool(len, recorder)
        >>> size("abc"), recorder.executions[0].tool
        (3, 'len')
    """
    wrapper.check_recorder(recorder)
    adapter = _adapter_of(tool)
    if any(wrapper.is_recorded(run, recorder) for run in adapter.runs(tool)):
        return tool
    if adapter is functions and (refusal := refusal_of(tool)) is not None:
        raise UsageError(refusal)
    wrapped: Tool = adapter.wrap(tool, recorder)
    return wrapped


def recorders_of(tool: object) -> Iterator[roles.Recorder]:
    """The recorders that hear of a tool's runs."""
    for run in _adapter_of(tool).runs(tool):
        yield from wrapper.recorders_of(run)


def _adapter_of(tool: object) -> Adapter:
    if not isinstance(tool, FunctionType | MethodType):
        for adapter in ADAPTERS:
            if adapter.fits(tool):
                return adapter
    return functions
