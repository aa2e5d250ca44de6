"""What is said of arguments from the types alone is what the walk through the schema says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tunaeval.parsing.repair.schema import fit, fits, undeclared
from tunaeval.types.calls import Tools, ToolSpec

NAMES = st.sampled_from(["a", "b", "c", "n" * 70])
TYPES = st.sampled_from(
    ["string", "integer", "number", "boolean", "null", "array", "object", "INTEGER", "text"]
)
VALUES = (
    st.sampled_from(["3", "x", "", "true", "None", " 5 ", "[1]", '{"a": 1}', "[1,]", "9" * 90])
    | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
    | st.lists(st.integers(), max_size=1) | st.dictionaries(NAMES, st.integers(), max_size=1)
)  # fmt: skip
PLAIN = st.fixed_dictionaries(
    {"type": TYPES},
    optional={"minimum": st.just(2), "minItems": st.just(1), "pattern": st.just("x")},
)
PROPERTIES = (
    PLAIN
    | st.fixed_dictionaries({"type": st.sampled_from(["array", "ARRAY", "string"]), "items": PLAIN})
    | st.fixed_dictionaries(
        {"enum": st.lists(VALUES, max_size=3)},
        optional={"type": TYPES, "default": st.just("x"), "nullable": st.just(True)},
    )
    | st.sampled_from([{"$ref": "#/$defs/d"}, {"anyOf": [{"type": "integer"}, {"type": "null"}]}])
    | st.sampled_from([True, False, None, "odd", {}, {"items": {"$ref": "#/$defs/d"}}])
)
SCHEMAS = st.fixed_dictionaries(
    {"properties": st.dictionaries(NAMES, PROPERTIES)},
    optional={
        "$defs": st.fixed_dictionaries({"d": PLAIN}),
        "type": st.sampled_from(["object", "object", "array", "OBJECT"]),
        "required": st.lists(NAMES, max_size=2),
        "additionalProperties": st.booleans(),
        "anyOf": st.lists(st.builds(lambda name: {"required": [name]}, NAMES), min_size=1),
        "minProperties": st.integers(0, 2),
    },
)


@given(arguments=st.dictionaries(NAMES, VALUES), schema=SCHEMAS)
def test_types_alone_fit_as_the_schema_says(
    arguments: dict[str, object], schema: dict[str, object]
) -> None:
    tools = Tools([ToolSpec("f", parameters={**schema, "type": "object"})])
    fitted = fit(arguments, tools["f"].parameters)
    said = not (fitted.repairs or fitted.notes or undeclared(arguments, schema))
    assert fits("f", arguments, tools) == said


@settings(max_examples=400)
@given(
    value=VALUES | st.lists(st.integers() | st.sampled_from(["x", "3"]), max_size=3),
    schema=PROPERTIES,
)
def test_one_argument_fits_as_its_schema_says(value: object, schema: object) -> None:
    parameters = {"type": "object", "properties": {"a": schema}, "$defs": {"d": {"type": "string"}}}
    fitted = fit({"a": value}, parameters)
    tools = Tools([ToolSpec("f", parameters=parameters)])
    assert fits("f", {"a": value}, tools) == (not (fitted.repairs or fitted.notes))


@pytest.mark.parametrize(
    ("schema", "fitting", "odd"),
    [
        ({"type": "array", "items": {"type": "integer"}, "minItems": 1}, [1, 2], [1, "2"]),
        ({"type": "string", "enum": ["fast", "slow"]}, "fast", "quick"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, "x"),
        ({"type": "string", "minLength": 3, "pattern": "^x"}, "y", 3),
        ({"$ref": "#/$defs/d"}, "x", 3),
    ],
)
def test_what_a_schema_says_beyond_a_type_is_asked(
    schema: dict[str, object], fitting: object, odd: object
) -> None:
    parameters = {"type": "object", "properties": {"a": schema}, "$defs": {"d": {"type": "string"}}}
    tools = Tools([ToolSpec("f", parameters=parameters)])
    assert fits("f", {"a": fitting}, tools)
    assert not fits("f", {"a": odd}, tools)
