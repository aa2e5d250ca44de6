"""Wrapping of frameworks' tools for a recorder: one file per framework; tools are known by shape.

No framework is imported. The result is a copy with the same name, description and schema; the
given tool is not changed.
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
    """How the tools of one framework are recognized and wrapped."""

    def fits(self, tool: roles.AnyTool) -> bool: ...

    def runs(self, tool: roles.AnyTool) -> Iterable[object]:
        """Return the callables inside the tool, on which a recorder may be found."""
        ...

    def wrap(self, tool: roles.AnyTool, recorder: roles.Recorder) -> roles.AnyTool:
        """Return a copy of the tool whose runs are recorded."""
        ...


ADAPTERS: tuple[Adapter, ...] = (langchain, pydantic_ai, tinyagent, openai_agents, smolagents)


def wrap_tool(tool: Tool, recorder: roles.Recorder) -> Tool:
    """Return a copy of `tool` that behaves the same; each run is reported to `recorder`.

    `tool` is a function of any kind (coroutine functions, generators, bound methods, partials,
    callable objects), or a tool of LangChain, pydantic-ai, OpenAI Agents, smolagents or tinyagent.
    A function becomes a function; name, docstring, signature and schema are kept, and a function's
    `__wrapped__` is the original. A tool that this recorder records already is returned as it is.
    Raises UsageError for what cannot be wrapped, with a hint what to wrap instead.

    A recorded run has the call id that the framework passes, else the one of `tunaeval.call_id`.

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
    """Yield the recorders of a tool's runs."""
    for run in _adapter_of(tool).runs(tool):
        yield from wrapper.recorders_of(run)


def _adapter_of(tool: object) -> Adapter:
    if not isinstance(tool, FunctionType | MethodType):
        for adapter in ADAPTERS:
            if adapter.fits(tool):
                return adapter
    return functions
