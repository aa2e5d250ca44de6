"""Wrappers that others register: who is asked first, and what is said of one that fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import tunaeval
from tunaeval.errors import PluginError, PluginShapeError, UsageError
from tunaeval.registry import Registry
from tunaeval.tools import frameworks
from tunaeval.tools.frameworks import wrappers
from tunaeval.types.roles import ToolWrapper
from tunaeval.types.shapes import instance_of


@dataclass
class Gadget:
    """A tool of a framework that nobody knows."""

    label: str
    job: Callable[..., object]


@dataclass
class GadgetWrapper:
    name: str = "gadget"

    def fits(self, tool: object) -> bool:
        return isinstance(tool, Gadget)

    def wrap(self, tool: Gadget, recorder: Any) -> Gadget:
        return Gadget(self.name, tunaeval.record_runs(tool.job, recorder, name=tool.label))

    def runs(self, tool: Gadget) -> tuple[object, ...]:
        return (tool.job,)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Registry[ToolWrapper]:
    """A registry of wrappers of its own, with the built-in ones."""
    own = {
        name: f"{frameworks.__name__}:{name.upper().replace('-', '_')}"
        for name in wrappers.in_turn()
    }
    registry: Registry[ToolWrapper] = Registry(
        "tunaeval.wrappers", "tool wrapper", builtins=own, check=instance_of(ToolWrapper)
    )
    monkeypatch.setattr(frameworks, "wrappers", registry)
    return registry


def drill() -> Gadget:
    return Gadget("drill", lambda depth: depth)


def test_a_tool_of_an_unknown_framework_is_wrapped_once_by_a_wrapper_that_is_added(
    known: Registry[ToolWrapper],
) -> None:
    recorder, tool = tunaeval.Recorder(), drill()
    with pytest.raises(UsageError, match=r"in the group tunaeval\.wrappers"):
        tunaeval.wrap_tool(tool, recorder)
    known.add("gadget", GadgetWrapper())
    wrapped = tunaeval.wrap_tool(tool, recorder)
    assert tunaeval.wrap_tool(wrapped, recorder) is wrapped
    assert wrapped.job(depth=3) == 3
    (run,) = recorder.executions
    assert (run.tool, run.arguments) == ("drill", {"depth": 3})


def test_the_latest_that_was_added_is_asked_first(known: Registry[ToolWrapper]) -> None:
    for name in ("first", "second"):
        known.add(name, GadgetWrapper(name))
    assert tunaeval.wrap_tool(drill(), tunaeval.Recorder()).label == "second"
    assert [*known.in_turn()][:2] == ["second", "first"]
    assert [*known.in_turn()][2:] == [
        "langchain", "pydantic-ai", "tinyagent", "openai-agents", "smolagents", "mcp",
    ]  # fmt: skip


class Raises(GadgetWrapper):
    def fits(self, tool: object) -> bool:  # noqa: ARG002 - as wrappers are called
        raise ValueError("no such thing")


class Broken(GadgetWrapper):
    def wrap(self, tool: Gadget, recorder: object) -> Any:  # noqa: ARG002 - as wrappers are called
        raise ValueError("no such thing")


class Empty(GadgetWrapper):
    def wrap(self, tool: Gadget, recorder: object) -> Any:  # noqa: ARG002 - as wrappers are called
        return None


def test_one_that_cannot_be_asked_is_skipped_and_named_in_the_refusal(
    known: Registry[ToolWrapper],
) -> None:
    known.add("gadget", GadgetWrapper())
    known.add("raises", Raises("raises"))
    assert tunaeval.wrap_tool(drill(), tunaeval.Recorder()).label == "gadget"
    with pytest.raises(UsageError) as refused:
        tunaeval.wrap_tool(object(), tunaeval.Recorder())
    assert "skipped: tool wrapper 'raises' raised ValueError: no such thing" in str(refused.value)


@pytest.mark.parametrize(
    ("wrapper", "did"), [(Broken(), "raised ValueError: no such thing"), (Empty(), "returned None")]
)
def test_one_that_does_not_wrap_is_a_plug_ins_error(
    known: Registry[ToolWrapper], wrapper: ToolWrapper, did: str
) -> None:
    known.add("gadget", wrapper)
    with pytest.raises(PluginError, match=f"tool wrapper 'gadget' {did}"):
        tunaeval.wrap_tool(drill(), tunaeval.Recorder())


def test_the_shape_of_a_wrapper_is_checked_when_it_is_added(known: Registry[ToolWrapper]) -> None:
    with pytest.raises(PluginShapeError, match="has no name"):
        known.add("odd", object())  # type: ignore[arg-type]  # it is refused
    with pytest.raises(PluginShapeError, match="wanted an instance"):
        known.add("gadget", GadgetWrapper)  # type: ignore[arg-type]  # it is refused
