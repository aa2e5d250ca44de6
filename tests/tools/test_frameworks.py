"""Tools of the real frameworks are described and run as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest

from tests.tools.executing import execute_all
from tunaeval import Recorder, ToolCall, wrap_tool
from tunaeval.tools.specs import to_tools
from tunaeval.tools.tool_prompts import tool_spec

langchain = pytest.importorskip("langchain_core.tools")
pydantic_ai = pytest.importorskip("pydantic_ai")
tinyagent = pytest.importorskip("tinyagent")


def add(a: int, b: int = 2) -> int:
    """Add."""
    return a + b


async def run_agent_tool(
    tool_call_id: str, args: dict[str, Any], _signal: object, on_update: Callable[[object], None]
) -> Any:
    on_update(None)
    said = tinyagent.TextContent(text=f"{tool_call_id}: {add(**args)}")
    return tinyagent.AgentToolResult([said])


TOOLS = [
    langchain.tool(add),
    pydantic_ai.Tool(add),
    tinyagent.AgentTool("add", "Add.", dict(tool_spec(add).parameters), "", run_agent_tool),
]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: type(tool).__module__)
def test_tools_of_frameworks_are_described(tool: Any) -> None:
    spec = to_tools([tool])["add"]
    assert spec.description == "Add."
    assert list(spec.parameters["properties"]) == ["a", "b"]
    assert spec.parameters["required"] == ["a"]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: type(tool).__module__)
def test_tools_of_frameworks_are_run(tool: Any) -> None:
    (result,) = execute_all([ToolCall("add", {"a": 1}, "c1")], [tool])
    said: Any = getattr(result.value, "content", result.value)
    assert result.ok
    assert said in (3, [tinyagent.TextContent(text="c1: 3")])


@pytest.mark.parametrize("tool", [add, *TOOLS], ids=lambda tool: type(tool).__module__)
@pytest.mark.parametrize("wrapped_before", [False, True])
def test_a_run_is_recorded_once_and_with_its_call(tool: Any, wrapped_before: bool) -> None:
    recorder = Recorder()
    given = wrap_tool(tool, recorder) if wrapped_before else tool
    execute_all([ToolCall("add", {"a": 1}, "c1")], [given], recorder=recorder)
    assert [run.call_id for run in recorder.executions] == ["c1"]


def test_what_a_framework_puts_in_is_not_asked_of_a_model() -> None:
    def with_context(
        ctx: pydantic_ai.RunContext[int],  # type: ignore[name-defined] # importorskip hides it
        query: str,
    ) -> None: ...
    def with_call_id(query: str, call: Annotated[str, langchain.InjectedToolCallId]) -> None: ...

    for tool in (with_context, with_call_id):
        assert list(tool_spec(tool).parameters["properties"]) == ["query"]
