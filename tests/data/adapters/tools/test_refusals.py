"""What belongs to a framework and cannot be wrapped is refused, with what to wrap instead."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import tunaeval
from tests.tools.samples import only, read
from tunaeval.errors import UsageError
from tunaeval.tools.frameworks import PACKAGES, SCHEMAS


class Called:
    def __call__(self, path: str) -> str:
        return read(path)


def of_package(package: str, *bases: type) -> Any:
    """An object as a module below this package would make it."""
    return type("Tool", bases or (Called,), {"__module__": f"{package}.tools.function"})()


REFUSED = [of_package(package) for package in PACKAGES]
"""One of each package."""

WORDS = {
    "anthropic.lib": "beta_tool(tunaeval.wrap_tool(function, recorder))",
    "google.adk": "FunctionTool(tunaeval.wrap_tool(function, recorder))",
    "mcp": "server.add_tool(tunaeval.wrap_tool(function, recorder))",
    "mcp_types": "or the function that asks the server",
    "pydantic_ai.toolsets": "FunctionToolset([tunaeval.wrap_tool(function, recorder)])",
}


@pytest.mark.parametrize(("package", "words"), WORDS.items())
def test_a_tool_of_a_known_framework_is_refused_with_what_to_write(
    package: str, words: str
) -> None:
    with pytest.raises(UsageError) as raised:
        tunaeval.wrap_tool(of_package(package), tunaeval.Recorder())
    assert words in str(raised.value)
    assert "wrap the function that it runs, before it becomes a tool" in str(raised.value)


@pytest.mark.parametrize("tool", [*REFUSED, of_package("own", type(REFUSED[0]))])
def test_it_is_known_by_its_class_or_by_one_that_it_inherits_from(tool: Any) -> None:
    with pytest.raises(UsageError, match="which is not wrapped as it is"):
        tunaeval.wrap_tool(tool, tunaeval.Recorder())


@pytest.mark.parametrize(
    "package", ["anthropics", "google", "mcpx.mcp", "my.mcp", "pydantic_ai", "tests"]
)
def test_a_package_that_is_called_alike_is_another(package: str) -> None:
    assert tunaeval.wrap_tool(of_package(package), tunaeval.Recorder())("a") == "a:10"


class Mark(NamedTuple):
    type: str


def marked(function: Callable[..., Any], kind: str) -> Callable[..., Any]:
    function.__registry_info__ = Mark(kind)  # type: ignore[attr-defined] # as Inspect marks it
    return function


def test_a_function_that_inspect_has_marked_as_a_tool_is_refused() -> None:
    with pytest.raises(UsageError, match=r"a tool of Inspect.*return tunaeval\.wrap_tool"):
        tunaeval.wrap_tool(marked(lambda path: path, "tool"), tunaeval.Recorder())
    assert tunaeval.wrap_tool(marked(lambda path: path, "scorer"), tunaeval.Recorder())("a") == "a"


@pytest.mark.parametrize("schema", SCHEMAS)
def test_an_object_with_a_name_and_a_schema_is_somebodys_tool(schema: str) -> None:
    tool: Any = Called()
    tool.name = "read"
    assert tunaeval.wrap_tool(tool, tunaeval.Recorder())("a") == "a:10"
    setattr(tool, schema, {"type": "object"})
    with pytest.raises(UsageError, match=rf"has a name and '{schema}'.*tool\.__call__"):
        tunaeval.wrap_tool(tool, tunaeval.Recorder())
    recorder = tunaeval.Recorder()
    assert tunaeval.wrap_tool(tool.__call__, recorder)("a") == "a:10"
    assert only(recorder).arguments == {"path": "a"}


def test_a_function_may_have_any_attributes() -> None:
    def tool(path: str) -> str:
        return path

    tool.name, tool.parameters = "tool", {}  # type: ignore[attr-defined] # what is tried here
    assert tunaeval.wrap_tool(tool, tunaeval.Recorder())("a") == "a"


def test_a_tool_that_looks_like_one_of_langchain_is_not_taken_for_one() -> None:
    tool = of_package("crewai")
    for name in ("name", "args_schema", "model_copy", "run", "arun", "_run", "_arun"):
        setattr(tool, name, read)
    with pytest.raises(UsageError, match="a tool of CrewAI"):
        tunaeval.wrap_tool(tool, tunaeval.Recorder())


@dataclass
class Described:
    """A tool that is only described, and called elsewhere."""

    name: str = "read"
    input_schema: object = None


def test_what_is_not_called_is_refused_with_what_would_be() -> None:
    with pytest.raises(UsageError, match="of a Described, wrap the function that it runs"):
        tunaeval.wrap_tool(Described(), tunaeval.Recorder())


def test_a_session_logs_the_refusal_and_gives_the_tool_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tool = of_package("anthropic.lib")
    with pytest.raises(UsageError) as raised:
        tunaeval.wrap_tool(tool, tunaeval.Recorder())
    with caplog.at_level(logging.WARNING):
        session = tunaeval.scoring_session("Read.")
        assert session.wrap(tool) is tool
    assert str(raised.value) in caplog.text


def test_a_tool_that_was_made_of_a_recorded_function_is_recorded() -> None:
    recorder = tunaeval.Recorder()
    tool = marked(tunaeval.wrap_tool(lambda path: path, recorder), "tool")
    assert tunaeval.wrap_tool(tool, recorder) is tool
