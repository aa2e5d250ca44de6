"""What a model is told: every tool whole, and an example that is read back in the same format."""

from __future__ import annotations

import json

import pytest

from tunaeval import instructions, parse
from tunaeval.grammar.formats import FORMATS
from tunaeval.testing.strategies import tools_for
from tunaeval.types.calls import ToolCall, Tools, ToolSpec

NESTED = ToolSpec(
    "search",
    'Finds "things" in Größe\nand order.',
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "what is sought, 例"},
            "options": {"$ref": "#/$defs/Options"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["query"],
        "$defs": {"Options": {"type": "object", "properties": {"limit": {"type": "integer"}}}},
    },
)
TOOLS = Tools([NESTED, ToolSpec("ping")])


@pytest.mark.parametrize("name", FORMATS)
def test_the_example_is_a_call_in_that_format(name: str) -> None:
    told = instructions(TOOLS, name)
    example = told.partition("in exactly this form:\n")[2].rpartition("\n\n")[0]
    shown = ToolCall("a_tool", {"an_argument": "", "another_argument": {}})
    result = parse(example, name, tools_for([shown]) if FORMATS[name].by_tool else None)
    (call,) = result.calls
    assert call.name == "a_tool"
    assert call.arguments["an_argument"] == "its value"
    assert call.arguments.get("another_argument", {"a_key": [1, 2]}) == {"a_key": [1, 2]}
    assert not result.diagnoses
    assert not result.content.strip()


@pytest.mark.parametrize("name", FORMATS)
def test_each_tool_is_told_whole_on_a_line_of_its_own(name: str) -> None:
    lines = instructions(TOOLS, name).splitlines()
    told = [json.loads(line) for line in lines if line.startswith('{"name": "search"')]
    assert told == [TOOLS["search"].as_openai()["function"]]
    assert "Größe" in instructions(TOOLS, name)


def test_a_format_of_bare_text_shows_how_other_values_are_written() -> None:
    assert '{"a_key": [1, 2]}' in instructions(TOOLS, "qwen3-coder")
    assert "a_key" not in instructions(TOOLS, "hermes")
