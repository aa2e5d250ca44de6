"""pydantic-ai's tools, recorded while an agent with a scripted model runs them."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

import tunaeval
from tests.tools.samples import only

ai = pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")
models = pytest.importorskip("pydantic_ai.models.function")
parts = pytest.importorskip("pydantic_ai.messages")
test_models = pytest.importorskip("pydantic_ai.models.test")


async def search(ctx: Any, pattern: str, limit: int = 3) -> str:
    """Search for a pattern."""
    assert ctx.tool_call_id
    await asyncio.sleep(0)
    return f"{pattern} {limit}"


def read(path: str) -> str:
    """Read a file."""
    time.sleep(0.001)
    return path


def insist(path: str) -> str:
    """Ask for another try."""
    raise ai.ModelRetry(path)


search.__annotations__["ctx"] = ai.RunContext[None]


def asked(*calls: tuple[str, dict[str, Any], str]) -> Any:
    """A model that makes these calls at once, then says that it is done."""

    def answer(messages: list[Any], info: Any) -> Any:
        del info
        if any(isinstance(message, parts.ModelResponse) for message in messages):
            return parts.ModelResponse([parts.TextPart("done")])
        made = [parts.ToolCallPart(name, args, tool_call_id=id_) for name, args, id_ in calls]
        return parts.ModelResponse(made)

    return models.FunctionModel(answer)


def go(model: Any, tools: list[Any]) -> str:
    """What the agent says at last; a loop of its own, which is closed."""
    output: str = asyncio.run(ai.Agent(model, tools=tools).run("go")).output
    return output


@pytest.mark.parametrize("function", [search, read])
def test_a_copy_is_told_to_a_model_as_the_tool_is(function: Any) -> None:
    tool = ai.Tool(function, name="other", max_retries=2)
    schema, before = tool.function_schema, dict(vars(tool))
    inner = dict(vars(schema))
    wrapped = tunaeval.wrap_tool(tool, tunaeval.Recorder())
    assert wrapped is not tool
    assert wrapped.tool_def == tool.tool_def
    assert (vars(tool), vars(schema)) == (before, inner)
    assert wrapped.max_retries == 2


def test_runs_are_recorded_under_the_calls_of_the_model() -> None:
    recorder = tunaeval.Recorder()
    tools = [tunaeval.wrap_tool(ai.Tool(function), recorder) for function in (search, read)]
    calls = [("search", {"pattern": str(n), "limit": n}, f"s{n}") for n in range(5)]
    calls += [("read", {"path": str(n)}, f"r{n}") for n in range(5)]
    assert go(asked(*calls), tools) == "done"
    found = {id_: [run.arguments for run in runs] for id_, runs in recorder.by_call.items()}
    assert found == {id_: [args] for _, args, id_ in calls}
    assert all(run.queued_seconds is not None for run in recorder.executions)


def test_a_function_that_was_wrapped_before_becomes_a_tool() -> None:
    recorder = tunaeval.Recorder()
    wrapped = tunaeval.wrap_tool(search, recorder)
    assert ai.Tool(wrapped).tool_def == ai.Tool(search).tool_def
    go(asked(("search", {"pattern": "x"}, "c1")), [wrapped])
    assert only(recorder).arguments["pattern"] == "x"


def test_any_tool_of_a_test_model_is_recorded() -> None:
    recorder = tunaeval.Recorder()
    tool = tunaeval.wrap_tool(ai.Tool(search), recorder)
    go(test_models.TestModel(), [tool])
    run = only(recorder)
    assert (run.tool, run.ok, set(run.arguments)) == ("search", True, {"pattern", "limit"})


def test_a_retry_that_is_asked_for_is_a_failure() -> None:
    recorder = tunaeval.Recorder()
    tool = tunaeval.wrap_tool(ai.Tool(insist), recorder)
    assert go(asked(("insist", {"path": "gone"}, "c1")), [tool]) == "done"
    run = only(recorder)
    assert (run.ok, run.ok_reason, run.error) == (False, "exception", "ModelRetry: gone")


def test_wrapping_twice_records_once_and_two_recorders_both_hear() -> None:
    one, two = tunaeval.Recorder(), tunaeval.Recorder()
    once = tunaeval.wrap_tool(ai.Tool(search), one)
    assert tunaeval.wrap_tool(once, one) is once
    both = tunaeval.wrap_tool(once, two)
    go(asked(("search", {"pattern": "x"}, "c1")), [both])
    for recorder in (one, two):
        run = only(recorder)
        assert (run.call_id, run.arguments) == ("c1", {"pattern": "x", "limit": 3})


def test_nothing_of_the_run_is_held_on_to() -> None:
    """A context holds all messages and dependencies; a recorder of thousands must not."""
    import gc
    import weakref

    class Dependencies:
        pass

    dependencies = Dependencies()
    held = weakref.ref(dependencies)
    recorder = tunaeval.Recorder()
    tool = tunaeval.wrap_tool(ai.Tool(search), recorder)
    agent = ai.Agent(asked(("search", {"pattern": "x"}, "c1")), tools=[tool])
    asyncio.run(agent.run("go", deps=dependencies))
    del dependencies, agent
    gc.collect()
    assert held() is None
    assert len(recorder) == 1
