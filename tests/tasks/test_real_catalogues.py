"""Our catalogues are those of the real agents in all but their words, which are our own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.tasks.real_tunacode import VERSIONS, answer_of
from tunaeval import ToolSpec, compare_tools, to_tools
from tunaeval.tasks.suites.loading import load_catalogue
from tunaeval.types.calls import JsonObject, Tools

pytestmark = pytest.mark.hosts

REGISTERED = {
    "tunacode-2025-12": """
import json
from tunacode.core.agents.agent_components.agent_config import get_or_create_agent
from tunacode.core.state import StateManager
state = StateManager()
state.session.user_config["env"]["OPENAI_API_KEY"] = "none"
agent = get_or_create_agent("openai:gpt-4o", state)
told = [tool.tool_def for some in agent.toolsets for tool in getattr(some, "tools", {}).values()]
print(json.dumps([
    {"name": one.name, "description": one.description, "parameters": one.parameters_json_schema}
    for one in told
]))
""",
    "tunacode-0.2": """
import json
from tunacode.core.agents.agent_components.agent_config import _build_tools
print(json.dumps([
    {"name": one.name, "description": one.description, "parameters": one.parameters}
    for one in _build_tools()
]))
""",
}
"""Prints the tools that an agent registers, as its model is told of them."""

LONGEST_SHARED_WORDS = 4


@pytest.fixture(params=REGISTERED)
def both(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Tools, Tools]:
    """A catalogue, and the tools of the real agent."""
    name = request.param
    real: list[JsonObject] = answer_of(VERSIONS[name], REGISTERED[name], home=tmp_path)
    return load_catalogue(name), to_tools(real)


def test_a_catalogue_differs_from_the_real_tools_in_words_alone(both: tuple[Tools, Tools]) -> None:
    ours, real = both
    assert list(ours) == list(real)
    drifts = compare_tools(ours, real)
    assert not any(drifts)
    changed = {change.place.rpartition(".")[2] for drift in drifts for change in drift.changes}
    assert changed == {"description"}


def test_no_words_are_theirs(both: tuple[Tools, Tools]) -> None:
    ours, real = both
    for spec in ours.values():
        theirs = sequences(spec_words(real[spec.name]))
        assert not sequences(spec_words(spec)) & theirs, spec.name


def spec_words(spec: ToolSpec) -> list[str]:
    properties = spec.parameters["properties"].values()
    return [spec.description, *(one.get("description", "") for one in properties)]


def sequences(texts: list[str]) -> set[tuple[str, ...]]:
    """All runs of words that are longer than two texts on one thing may share by chance."""
    length = LONGEST_SHARED_WORDS + 1
    words = [re.findall(r"\w+", text.casefold()) for text in texts]
    return {tuple(each[at : at + length]) for each in words for at in range(len(each) - length + 1)}
