"""Tools shaped as those of OpenAI Agents, recorded; `tests/hosts` runs the real ones."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.tools.samples import only

Invoke = Callable[..., Awaitable[Any]]


class Handling:
    """An invoker that makes a text of what the function raises which it holds."""

    def __init__(self, invoke: Invoke) -> None:
        self._invoke_tool_impl = invoke

    async def __call__(self, ctx: Any, text: str) -> Any:
        try:
            return await self._invoke_tool_impl(ctx, text)
        except Exception:  # noqa: BLE001 - whatever it is, the model gets a text
            return "It failed, please try again."


@dataclass
class FunctionTool:
    name: str
    on_invoke_tool: Invoke
    params_json_schema: dict[str, Any] = field(default_factory=lambda: {"type": "object"})


@dataclass
class Context:
    tool_call_id: str


async def read(ctx: Any, text: str) -> str:
    await asyncio.sleep(0)
    if "gone" in text:
        raise FileNotFoundError(text)
    if "Error" in text:
        return "Error: no such file"
    return f"{getattr(ctx, 'tool_call_id', None)} {text}"


read.prepare = lambda text: text  # type: ignore[attr-defined] # a mark, as the framework sets them


class Reader(FunctionTool):
    """One whose invoker is a method of its own."""

    def __init__(self) -> None:
        super().__init__("read", self.invoke)

    async def invoke(self, ctx: Any, text: str) -> str:
        return await read(ctx, text)


TOOLS: dict[str, Callable[[], FunctionTool]] = {
    "handling": lambda: FunctionTool("read", Handling(read)),
    "bare": lambda: FunctionTool("read", read),
    "method": Reader,
}


def outcome(tool: FunctionTool, text: str, ctx: object) -> tuple[str, object]:
    try:
        return "returned", asyncio.run(_invoke(tool, text, ctx))
    except Exception as error:  # noqa: BLE001 - whatever it is, it has to be the same
        return type(error).__name__, str(error)


async def _invoke(tool: FunctionTool, text: str, ctx: object) -> object:
    return await tool.on_invoke_tool(ctx, text)


TEXTS = st.sampled_from(['{"path": "a"}', "", "{}", '{"path": "gone"}', "[1]", "{", "Error"])


@pytest.mark.parametrize("make", TOOLS.values(), ids=TOOLS)
@given(text=TEXTS | st.text())
def test_wrapped_and_bare_answer_alike(make: Callable[[], FunctionTool], text: str) -> None:
    tool, recorder = make(), tunaeval.Recorder()
    wrapped = tunaeval.wrap_tool(tool, recorder)
    for ctx in (Context("c1"), object()):
        assert outcome(wrapped, text, ctx) == outcome(tool, text, ctx)
    assert [run.call_id for run in recorder.executions] == ["c1", None]


@pytest.mark.parametrize("make", TOOLS.values(), ids=TOOLS)
def test_a_copy_is_what_the_tool_is(make: Callable[[], FunctionTool]) -> None:
    tool = make()
    before = dict(vars(tool))
    wrapped = tunaeval.wrap_tool(tool, tunaeval.Recorder())
    assert wrapped is not tool
    assert type(wrapped) is type(tool)
    assert vars(tool) == before
    assert wrapped.params_json_schema is tool.params_json_schema
    assert isinstance(wrapped.on_invoke_tool, Handling) == isinstance(tool.on_invoke_tool, Handling)


def test_an_execution_has_the_calls_id_and_arguments() -> None:
    recorder = tunaeval.Recorder()
    outcome(
        tunaeval.wrap_tool(TOOLS["handling"](), recorder),
        '{"path": "a", "limit": 3}',
        Context("c7"),
    )
    run = only(recorder)
    assert (run.tool, run.call_id) == ("read", "c7")
    assert run.arguments == {"path": "a", "limit": 3}
    assert run.duration_seconds is not None


@pytest.mark.parametrize("text", ["{", "[1]", "3", "null"])
def test_arguments_that_are_no_object_are_kept_as_they_were_written(text: str) -> None:
    recorder = tunaeval.Recorder()
    outcome(tunaeval.wrap_tool(TOOLS["handling"](), recorder), text, Context("c1"))
    assert only(recorder).arguments == {"*args": [text]}


def test_what_reaches_the_model_in_other_words_is_recorded_as_raised() -> None:
    recorder = tunaeval.Recorder()
    wrapped = tunaeval.wrap_tool(TOOLS["handling"](), recorder)
    assert outcome(wrapped, "gone", Context("c1")) == ("returned", "It failed, please try again.")
    run = only(recorder)
    assert (run.ok, run.ok_reason, run.error) == (False, "exception", "FileNotFoundError: gone")


def test_marks_of_the_framework_stay_on_what_its_invoker_holds() -> None:
    wrapped: Any = tunaeval.wrap_tool(TOOLS["handling"](), tunaeval.Recorder())
    held = wrapped.on_invoke_tool._invoke_tool_impl
    assert held.prepare("a") == "a"
    assert inspect.signature(held) == inspect.signature(read)


@pytest.mark.parametrize("make", TOOLS.values(), ids=TOOLS)
def test_wrapping_twice_records_once_and_two_recorders_both_hear(
    make: Callable[[], FunctionTool],
) -> None:
    one, two = tunaeval.Recorder(), tunaeval.Recorder()
    once = tunaeval.wrap_tool(make(), one)
    assert tunaeval.wrap_tool(once, one) is once
    outcome(tunaeval.wrap_tool(once, two), "{}", Context("c1"))
    assert [only(recorder).call_id for recorder in (one, two)] == ["c1", "c1"]


def test_a_tool_made_of_a_recorded_function_is_recorded_already() -> None:
    recorder = tunaeval.Recorder()

    class Made(FunctionTool):
        __wrapped__ = staticmethod(tunaeval.wrap_tool(only, recorder))

    made = Made("only", read)
    assert tunaeval.wrap_tool(made, recorder) is made


def test_a_cancellation_passes_and_is_recorded() -> None:
    async def wait(ctx: object, text: str) -> None:
        del ctx, text
        await asyncio.sleep(60)

    async def main(tool: FunctionTool) -> None:
        task = asyncio.ensure_future(tool.on_invoke_tool(Context("c1"), "{}"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    recorder = tunaeval.Recorder()
    asyncio.run(main(tunaeval.wrap_tool(FunctionTool("wait", Handling(wait)), recorder)))
    assert only(recorder).ok_reason == "cancelled"
