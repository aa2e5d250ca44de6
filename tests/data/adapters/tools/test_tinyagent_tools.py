"""tinyagent's tools, recorded while an agent with a scripted model runs them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

import tunaeval
from tests.tools.samples import only

tiny = pytest.importorskip("tinyagent", reason="tiny-agent-os is not installed")
types = pytest.importorskip("tinyagent.agent_types")

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


async def read(tool_call_id: str, args: Any, signal: Any, on_update: Any) -> Any:
    del signal, on_update
    assert tool_call_id
    await asyncio.sleep(0)
    if args["path"] == "raise":
        raise RuntimeError(args["path"])
    return types.AgentToolResult(content=[types.TextContent(text=args["path"])])


def tool() -> Any:
    return types.AgentTool(
        name="read", description="Read a file.", parameters=SCHEMA, label="Read", execute=read
    )


class Said:
    """A reply of a scripted model, as tinyagent streams one."""

    def __init__(self, content: list[Any]) -> None:
        self.message = types.AssistantMessage(content=content, stop_reason="stop")

    async def result(self) -> Any:
        return self.message

    async def __aiter__(self) -> AsyncIterator[Any]:
        yield types.AssistantMessageEvent(type="done", message=self.message)


def run_agent(wrapped: Any, paths: list[str]) -> Any:
    calls = [
        types.ToolCallContent(id=f"c{number}", name="read", arguments={"path": path})
        for number, path in enumerate(paths)
    ]
    replies = iter([Said(calls), Said([types.TextContent(text="done")])])

    async def say(*_: object) -> Said:
        return next(replies)

    agent = tiny.Agent(tiny.AgentOptions(stream_fn=say))
    agent.set_model(types.Model(provider="scripted", id="scripted"))
    agent.set_tools([wrapped])
    return asyncio.run(agent.prompt_text("go"))


def test_a_copy_is_told_to_a_model_as_the_tool_is() -> None:
    bare = tool()
    wrapped = tunaeval.wrap_tool(bare, tunaeval.Recorder())
    assert wrapped is not bare
    assert bare.execute is read
    for name in ("name", "description", "parameters", "label"):
        assert getattr(wrapped, name) == getattr(bare, name)


def test_runs_are_recorded_under_the_calls_of_the_model() -> None:
    recorder = tunaeval.Recorder()
    paths = ["a", "Error: gone", "raise", "Exit Code: 3"]
    assert run_agent(tunaeval.wrap_tool(tool(), recorder), paths) == "done"
    found = {
        id_: [(run.arguments["path"], run.ok_reason) for run in runs]
        for id_, runs in recorder.by_call.items()
    }
    reasons = ["assumed", "error-prefix", "exception", "exit-code"]
    assert found == {f"c{n}": [pair] for n, pair in enumerate(zip(paths, reasons, strict=True))}
    assert {run.tool for run in recorder.executions} == {"read"}


def test_the_result_is_the_very_same() -> None:
    result = types.AgentToolResult(content=[])

    async def execute(tool_call_id: str, args: Any, signal: Any, on_update: Any) -> Any:
        assert (tool_call_id, args, signal, on_update) == ("c1", {"path": "a"}, 1, 2)
        return result

    recorder = tunaeval.Recorder()
    wrapped = tunaeval.wrap_tool(types.AgentTool(name="read", execute=execute), recorder)
    assert asyncio.run(wrapped.execute("c1", {"path": "a"}, 1, 2)) is result
    given: dict[str, Any] = {"tool_call_id": "c1", "args": {"path": "a"}}
    assert asyncio.run(wrapped.execute(**given, signal=1, on_update=2)) is result
    assert [run.arguments for run in recorder.executions] == [{"path": "a"}] * 2


def test_wrapping_over_and_over_records_once_and_two_recorders_both_hear() -> None:
    one, two = tunaeval.Recorder(), tunaeval.Recorder()
    wrapped = tunaeval.wrap_tool(tool(), one)
    for _ in range(3):
        wrapped = tunaeval.wrap_tool(wrapped, one)
    run_agent(tunaeval.wrap_tool(wrapped, two), ["a"])
    assert [only(recorder).call_id for recorder in (one, two)] == ["c0", "c0"]
