"""Tools as data sets keep them: JSON text, Arrow's nulls, xLAM's arguments, Python's type names."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval import parse, to_tools
from tunaeval.testing.strategies import json_values
from tunaeval.tools.specs import plain_schema

PLAIN: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "weather", "description": "Tells it.", "parameters": PLAIN},
}


@pytest.mark.parametrize(
    "tools", [json.dumps([TOOL]), [json.dumps(TOOL)], [json.dumps(TOOL["function"])]]
)
def test_a_list_of_tools_may_be_text_and_so_may_each_of_them(tools: Any) -> None:
    assert to_tools(tools) == to_tools([TOOL])


def test_nulls_that_arrow_has_put_in_are_left_out() -> None:
    nulls = {"description": None, "enum": None, "items": None, "properties": None, "const": None}
    filled = {
        "type": "object",
        "enum": None,
        "properties": {
            "city": {"type": "string", **nulls},
            "days": {"type": "integer", **nulls},
            "path": None,
        },
        "required": ["city"],
        "anyOf": None,
    }
    tool = {"function": {**TOOL["function"], "parameters": filled, "strict": None}, "name": None}
    assert to_tools([tool])["weather"].parameters == PLAIN


def test_a_null_that_is_a_value_stays() -> None:
    schema = {"properties": {"a": {"type": ["string", "null"], "default": None}}}
    assert plain_schema(schema) == schema
    assert plain_schema({"properties": {"a": {"const": None}}}) == {
        "properties": {"a": {"const": None}}
    }


def test_arguments_without_a_frame_get_one() -> None:
    xlam = {
        "city": {"description": "Where.", "type": "str"},
        "days": {"description": "How long.", "type": "int, optional"},
        "type": {"description": "What.", "type": "str", "default": "rain"},
        "at": {"description": "When.", "type": "List[Tuple[int, int]], optional"},
    }
    spec = to_tools([{"name": "weather", "parameters": xlam}])["weather"]
    assert spec.parameters["required"] == ["city"]
    kinds = {key: inner["type"] for key, inner in spec.parameters["properties"].items()}
    assert kinds == {"city": "string", "days": "integer", "type": "string", "at": "array"}
    read = parse('{"name": "weather", "arguments": {"days": "x"}}', tools=[spec])
    assert {note.code for note in read.diagnoses} == {"wrong-type", "missing-argument"}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("dict", {"type": "object"}),
        ("float", {"type": "number"}),
        ("List[int]", {"type": "array", "items": {"type": "integer"}}),
        ("Dict[str, int]", {"type": "object"}),
        ("Union[int, str]", {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        ("Optional[int]", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ("any", {}),
        ("string", {"type": "string"}),
        ("Callable[[int], int]", {"type": "Callable[[int], int]"}),
    ],
)
def test_types_in_pythons_names_are_those_of_json_schema(
    written: str, meant: dict[str, Any]
) -> None:
    schema = {"type": "dict", "properties": {"a": {"type": written}}}
    assert plain_schema(schema) == {"type": "object", "properties": {"a": meant}}


@pytest.mark.parametrize(
    "schema",
    [
        PLAIN,
        {},
        {"properties": {"type": {"type": "string"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/P"}}, "$defs": {"P": {}}},
    ],
)
def test_a_json_schema_comes_back_as_it_is(schema: dict[str, Any]) -> None:
    before = json.dumps(schema)
    assert plain_schema(schema) == json.loads(before)
    assert json.dumps(schema) == before


@given(schema=st.dictionaries(st.text(), json_values()))
def test_no_schema_is_an_exception_and_what_was_given_stays(schema: dict[str, Any]) -> None:
    before = repr(schema)
    assert None not in [plain_schema(schema).get(key, 0) for key in ("type", "properties", "enum")]
    assert repr(schema) == before
