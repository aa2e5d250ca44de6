"""An argument that a tool does not declare is never silent, unless the schema speaks of others."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parsing.samples import codes, tagged
from tunaeval import parse
from tunaeval.types.calls import JsonObject, Tools, ToolSpec
from tunaeval.types.parsing import LEVELS

DECLARED = {"guests": {"type": "integer"}, "city": {"type": "string"}}
SILENT: JsonObject = {"type": "object", "properties": DECLARED}
NAMES = st.sampled_from(["guests", "city", "gusets", "guest", "x y", ""])


def _read(arguments: JsonObject, schema: JsonObject, level: str = "standard") -> list[str]:
    call = json.dumps({"name": "book", "arguments": arguments})
    tools = Tools([ToolSpec("book", parameters=schema)])
    result = parse(tagged(call), "hermes", tools, level)  # type: ignore[arg-type]  # one of LEVELS
    assert [found.arguments for found in result.calls] == [arguments], "the call counts"
    return codes(result)


@given(names=st.sets(NAMES, min_size=1), level=st.sampled_from(LEVELS))
def test_each_undeclared_argument_has_a_diagnosis(names: set[str], level: str) -> None:
    arguments: JsonObject = {name: 4 if name == "guests" else "a" for name in names}
    wrong = names - DECLARED.keys()
    assert _read(arguments, SILENT, level) == ["undeclared-argument"] * len(wrong)


@pytest.mark.parametrize(
    "schema",
    [
        {**SILENT, "additionalProperties": True},
        {**SILENT, "additionalProperties": {"type": "integer"}},
        {**SILENT, "patternProperties": {"^g": {}}},
        {"type": "object"},
        {},
    ],
)
def test_a_schema_that_speaks_of_others_is_believed(schema: JsonObject) -> None:
    assert _read({"gusets": 4}, schema) == []


def test_what_the_schema_forbids_keeps_its_own_name() -> None:
    assert _read({"gusets": 4}, {**SILENT, "additionalProperties": False}) == ["unknown-argument"]


def test_a_tool_without_arguments_declares_none() -> None:
    assert _read({"city": "Oslo"}, {"type": "object", "properties": {}}) == ["undeclared-argument"]
