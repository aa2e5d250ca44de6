"""LangChain's tools, recorded while LangChain itself runs them."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest

import tunaeval
from tests.tools.samples import only
from tunaeval.errors import UsageError

langchain = pytest.importorskip("langchain_core.tools", reason="langchain-core is not installed")
runnables = pytest.importorskip("langchain_core.runnables")
messages = pytest.importorskip("langchain_core.messages")


def call(name: str, arguments: dict[str, Any], call_id: str | None = "c1") -> dict[str, Any]:
    return {"name": name, "args": arguments, "id": call_id, "type": "tool_call"}


@langchain.tool  # type: ignore[untyped-decorator] # the package may be missing
def add(a: int, b: int = 2) -> str:
    """Add numbers."""
    return str(a + b)


@langchain.tool  # type: ignore[untyped-decorator] # as above
async def add_later(a: int, b: int = 2) -> str:
    """Add numbers, later."""
    await asyncio.sleep(0)
    return str(a + b)


@langchain.tool(parse_docstring=True)  # type: ignore[untyped-decorator] # as above
def fail(path: str) -> str:
    """Fail.

    Args:
        path: Where.
    """
    raise langchain.ToolException(path)


class Doubling(langchain.BaseTool):  # type: ignore[name-defined,misc] # as above
    """A tool as a class of its own, whose coroutine calls its function."""

    name: str = "double"
    description: str = "Say it twice."

    def _run(self, text: str, run_manager: object = None) -> str:
        assert run_manager is not None
        return text * 2

    async def _arun(self, text: str, run_manager: object = None) -> str:
        return self._run(text, run_manager)


@pytest.mark.parametrize("tool", [add, add_later, fail, Doubling()], ids=lambda tool: tool.name)
def test_a_copy_is_told_to_a_model_as_the_tool_is(tool: Any) -> None:
    before = dict(vars(tool))
    wrapped = tunaeval.wrap_tool(tool, tunaeval.Recorder())
    assert wrapped is not tool
    assert type(wrapped) is type(tool)
    assert vars(tool) == before
    schemas = [one.tool_call_schema.model_json_schema() for one in (tool, wrapped)]
    assert schemas[0] == schemas[1]
    assert (wrapped.name, wrapped.description) == (tool.name, tool.description)


@pytest.mark.parametrize("tool", [add, Doubling()], ids=lambda tool: tool.name)
def test_wrapping_twice_records_once_and_two_recorders_both_hear(tool: Any) -> None:
    one, two = tunaeval.Recorder(), tunaeval.Recorder()
    once = tunaeval.wrap_tool(tool, one)
    assert tunaeval.wrap_tool(once, one) is once
    both = tunaeval.wrap_tool(once, two)
    both.invoke(call(tool.name, {"a": 1} if tool is add else {"text": "x"}))
    assert [only(recorder).call_id for recorder in (one, two)] == ["c1", "c1"]


def test_a_run_answers_the_call_that_it_was_invoked_with() -> None:
    recorder = tunaeval.Recorder()
    wrapped = tunaeval.wrap_tool(add, recorder)
    answer = wrapped.invoke(call("add", {"a": "3"}))
    assert (type(answer), answer.content, answer.tool_call_id) == (messages.ToolMessage, "5", "c1")
    run = only(recorder)
    assert (run.tool, run.call_id, run.arguments) == ("add", "c1", {"a": 3, "b": 2})
    assert run.queued_seconds is not None


def test_parallel_calls_answer_their_own() -> None:
    recorder = tunaeval.Recorder()
    tools = [tunaeval.wrap_tool(tool, recorder) for tool in (add, add_later, Doubling())]

    async def all_of_them() -> list[Any]:
        calls = [
            tool.ainvoke(call(tool.name, {"a": n} if n < 20 else {"text": str(n)}, str(n)))
            for n, tool in enumerate([tools[0]] * 10 + [tools[1]] * 10 + [tools[2]] * 10)
        ]
        return await asyncio.gather(*calls)

    answers = asyncio.run(all_of_them())
    assert [answer.tool_call_id for answer in answers] == [str(n) for n in range(30)]
    assert len(recorder) == 30
    for run in recorder.executions:
        assert str(run.arguments.get("a", run.arguments.get("text"))) == run.call_id


def test_without_an_id_the_run_answers_the_call_around_it() -> None:
    recorder = tunaeval.Recorder()
    wrapped = tunaeval.wrap_tool(add, recorder)
    with tunaeval.call_id("c7"):
        assert wrapped.invoke({"a": 1}) == "3"
    wrapped.invoke({"a": 1})
    assert [run.call_id for run in recorder.executions] == ["c7", None]


def test_a_failure_is_recorded_even_when_the_framework_handles_it() -> None:
    recorder = tunaeval.Recorder()
    with pytest.raises(langchain.ToolException):
        tunaeval.wrap_tool(fail, recorder).invoke(call("fail", {"path": "gone"}))
    handled = fail.model_copy(update={"handle_tool_error": True})
    answer = tunaeval.wrap_tool(handled, recorder).invoke(call("fail", {"path": "gone"}))
    assert (answer.status, answer.content) == ("error", "gone")
    for run in recorder.executions:
        assert (run.ok, run.ok_reason, run.error) == (False, "exception", "ToolException: gone")


def test_what_the_framework_fills_in_is_given_on_and_not_recorded() -> None:
    given: list[Any] = []

    def tell(text: str, config: Any, id_: Any) -> str:
        given.append((text, config["metadata"]["who"], id_))
        return text

    tell.__annotations__ |= {
        "config": runnables.RunnableConfig,
        "id_": Annotated[str, langchain.InjectedToolCallId],
    }
    recorder = tunaeval.Recorder()
    bare = langchain.StructuredTool.from_function(tell, description="Tell.")
    tool = tunaeval.wrap_tool(bare, recorder)
    tool.invoke(call("tell", {"text": "x"}), config={"metadata": {"who": "me"}})
    assert given == [("x", "me", "c1")]
    assert only(recorder).arguments == {"text": "x"}


def test_a_tool_of_one_text_is_recorded() -> None:
    recorder = tunaeval.Recorder()
    bare = langchain.Tool(name="shout", func=lambda words: words.upper(), description="Shout.")
    assert tunaeval.wrap_tool(bare, recorder).invoke("a") == "A"
    assert only(recorder).arguments == {"words": "a"}


def test_what_is_no_recorder_is_refused_here_too() -> None:
    nothing: Any = []
    with pytest.raises(UsageError, match=r"wanted a tunaeval\.Recorder"):
        tunaeval.wrap_tool(add, nothing)
