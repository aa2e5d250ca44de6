"""Values bent to schemas: as little as possible, every change named, never an exception."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.parsing.repair.schema import fit
from tunaeval.types.calls import JsonObject, JsonValue, Span

TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")

_KEYS = st.sampled_from(["a", "b", "c"])
_ATOMS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(-5, 5)
    | st.sampled_from(["", "3", "-1.5", "true", "False", "[1]", '{"a": "1"}', "x", "null", "3.0"])
)


POINT: JsonObject = {"type": "object", "properties": {"x": {"type": "integer"}}}


def values() -> st.SearchStrategy[JsonValue]:
    """Values whose texts often look like something else."""
    return st.recursive(
        _ATOMS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
        max_leaves=6,
    )


def schemas() -> st.SearchStrategy[JsonObject]:
    """Schemas that mean something."""
    types = st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), max_size=3)
    return st.recursive(
        st.fixed_dictionaries({}, optional={"type": types, "enum": st.lists(_ATOMS, max_size=3)}),
        lambda inner: st.fixed_dictionaries(
            {"type": types},
            optional={
                "properties": st.dictionaries(_KEYS, inner, max_size=3),
                "required": st.lists(_KEYS, max_size=2),
                "additionalProperties": st.booleans(),
                "items": inner,
                "anyOf": st.lists(inner, max_size=3),
                "nullable": st.booleans(),
            },
        ),
        max_leaves=6,
    )


@given(value=values(), schema=schemas())
def test_a_value_that_fits_is_returned_as_it_is(value: JsonValue, schema: JsonObject) -> None:
    fitted = fit(value, schema)
    if not fitted.repairs:
        assert repr(fitted.value) == repr(value)


@given(value=values(), schema=schemas())
def test_fitting_twice_changes_nothing_more(value: JsonValue, schema: JsonObject) -> None:
    once = fit(value, schema)
    if not once.notes:
        twice = fit(once.value, schema)
        assert repr(twice.value) == repr(once.value)
        assert not twice.notes


@given(value=values(), schema=schemas())
def test_the_value_that_was_given_is_not_changed(value: JsonValue, schema: JsonObject) -> None:
    before = repr(value)
    fit(value, schema)
    assert repr(value) == before


def test_a_mended_value_is_a_new_one() -> None:
    value: JsonObject = {"a": "1", "b": ["2"]}
    inner = {"items": {"type": "integer"}}
    fitted = fit(value, {"properties": {"a": {"type": "integer"}, "b": inner}})
    assert fitted.value == {"a": 1, "b": [2]}
    assert value == {"a": "1", "b": ["2"]}


@given(value=values(), schema=schemas())
def test_every_repair_and_fault_says_where(value: JsonValue, schema: JsonObject) -> None:
    fitted = fit(value, schema, span=Span(3, 9))
    for repair in fitted.repairs:
        assert repair.message.startswith("$")
        assert (repair.code, repair.level, repair.span) == ("type", "standard", Span(3, 9))
    assert all(note.message.startswith("$") for note in fitted.notes)


@pytest.mark.parametrize(
    ("value", "type_", "bent"),
    [
        ("3", "integer", 3),
        (" -3 ", "integer", -3),
        ("18446744073709551617", "integer", 2**64 + 1),
        (3.0, "integer", 3),
        ("3", "number", 3),
        ("3.5", "number", 3.5),
        ("1e3", "number", 1000.0),
        ("true", "boolean", True),
        ("False", "boolean", False),
        (3, "string", "3"),
        ("[1, 2]", "array", [1, 2]),
        ('{"a": 1}', "object", {"a": 1}),
    ],
)
def test_what_loses_nothing_is_bent(value: JsonValue, type_: str, bent: JsonValue) -> None:
    fitted = fit(value, {"type": type_})
    assert fitted.value == bent
    assert type(fitted.value) is type(bent)
    assert [repair.code for repair in fitted.repairs] == ["type"]
    assert not fitted.notes


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ("3.5", "integer"),
        (3.5, "integer"),
        ("3 files", "integer"),
        ("03", "integer"),
        ("0x3", "integer"),
        ("1_000", "integer"),
        ("٣", "integer"),
        (1e300, "integer"),
        ("1e400", "number"),
        ("NaN", "number"),
        ("yes", "boolean"),
        (1, "boolean"),
        (0, "boolean"),
        (True, "integer"),
        (True, "number"),
        (True, "string"),
        (1.5, "string"),
        ([], "string"),
        ("", "array"),
        ("[1", "array"),
        ("{1}", "array"),
        ("[1]", "object"),
        ("{'a': 1}", "object"),
        ("", "null"),
        (None, "string"),
        ({}, "string"),
    ],
)
def test_what_would_lose_something_is_left_alone(value: JsonValue, type_: str) -> None:
    fitted = fit(value, {"type": type_})
    assert repr(fitted.value) == repr(value)
    assert not fitted.repairs
    assert [(note.code, note.message.partition(": ")[0]) for note in fitted.notes] == [
        ("wrong-type", "$")
    ]


def test_inner_values_are_fitted_and_the_path_is_told() -> None:
    schema = {
        "type": "object",
        "properties": {
            "lines": {"type": "array", "items": {"type": "integer"}},
            "options": {"type": "object", "properties": {"all": {"type": "boolean"}}},
        },
    }
    fitted = fit({"lines": ["1", 2, "x"], "options": {"all": "true"}}, schema)
    assert fitted.value == {"lines": [1, 2, "x"], "options": {"all": True}}
    assert [repair.message.partition(":")[0] for repair in fitted.repairs] == [
        "$.lines[0]",
        "$.options.all",
    ]
    assert [note.message.partition(": ")[0] for note in fitted.notes] == ["$.lines[2]"]


def test_a_list_in_a_string_is_read_and_then_fitted() -> None:
    schema = {"type": "array", "items": {"type": "integer"}}
    fitted = fit('["1", "2"]', schema)
    assert fitted.value == [1, 2]
    assert len(fitted.repairs) == 3


@pytest.mark.parametrize(
    ("value", "schema", "guessed"),
    [
        ("a", {"type": "array"}, ["a"]),
        (3, {"type": "array"}, [3]),
        ({"a": 1}, {"type": "array"}, [{"a": 1}]),
        ("1", {"type": "array", "items": {"type": "integer"}}, [1]),
        ("None", {"type": "array", "items": {"type": "string"}}, ["None"]),
        ("a,b", {"type": "array", "items": {"type": "string"}}, ["a,b"]),
        ([1, 3], {"type": "array", "items": {"type": "array"}}, [[1], [3]]),
        ("None", {"type": "null"}, None),
        ("none", {"type": ["integer", "null"]}, None),
    ],
)
def test_values_are_made_up_at_lenient_alone(
    value: JsonValue, schema: JsonObject, guessed: JsonValue
) -> None:
    """A list around a lone item, and nothing for "None", may be what was meant, or not."""
    standard, lenient = fit(value, schema), fit(value, schema, level="lenient")
    assert (standard.value, standard.repairs) == (value, ())
    assert "wrong-type" in {note.code for note in standard.notes}
    assert (lenient.value, lenient.notes) == (guessed, ())
    assert ("guessed-type", "lenient") in {(r.code, r.level) for r in lenient.repairs}


def test_one_plain_text_is_a_list_of_texts() -> None:
    schema = {"type": "array", "items": {"type": "string"}}
    fitted = fit("gluten-free", schema)
    assert fitted.value == ["gluten-free"]
    assert [(repair.code, repair.level) for repair in fitted.repairs] == [("type", "standard")]


def test_of_several_types_the_one_that_fits_wins() -> None:
    assert fit("3", {"type": ["integer", "string"]}).value == "3"
    assert fit(None, {"type": ["string", "null"]}).value is None
    assert fit("3", {"type": ["integer", "null"]}).value == 3
    assert fit(None, {"type": "string", "nullable": True}).notes == ()


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_of_several_schemas_the_one_that_fits_wins(keyword: str) -> None:
    options = [{"type": "integer"}, {"type": "string"}]
    assert fit("3", {keyword: options}).value == "3"
    assert fit("3", {keyword: [{"type": "integer"}, {"type": "null"}]}).value == 3
    fitted = fit("x", {keyword: [{"type": "integer"}, {"type": "null"}]})
    assert [note.code for note in fitted.notes] == ["wrong-type"]


@pytest.mark.parametrize(
    ("value", "schema", "code"),
    [
        ({}, {"required": ["a"]}, "missing-argument"),
        ({"b": 1}, {"additionalProperties": False}, "unknown-argument"),
        ("c", {"enum": ["a", "b"]}, "not-allowed"),
        ("a", {"const": "b"}, "not-allowed"),
        ({"a": "c"}, {"properties": {"a": {"type": "string", "enum": ["a"]}}}, "not-allowed"),
        ([1, 2], {"items": {"type": "integer", "const": 1}}, "not-allowed"),
        (True, {"enum": [1]}, "not-allowed"),
        (1.5, {"enum": [1]}, "not-allowed"),
    ],
)
def test_what_a_schema_forbids_is_a_fault(value: JsonValue, schema: JsonObject, code: str) -> None:
    fitted = fit(value, schema)
    assert [note.code for note in fitted.notes] == [code]
    assert fitted.value == value


def test_what_a_schema_does_not_speak_of_is_left_alone() -> None:
    value = {"a": "3", "b": [None]}
    assert fit(value, {"type": "object", "properties": {"c": {"type": "integer"}}}).value == value
    assert fit(value, {}).value == value
    assert fit(value, {"pattern": "(a+)+$", "minProperties": 5}).value == value


def test_all_of_several_schemas_hold() -> None:
    schema = {
        "allOf": [{"properties": {"a": {"type": "integer"}}}, {"required": ["b"]}],
        "properties": {"c": {"type": "boolean"}},
    }
    fitted = fit({"a": "1", "c": "true"}, schema)
    assert fitted.value == {"a": 1, "c": True}
    assert [note.code for note in fitted.notes] == ["missing-argument"]


def test_items_are_fitted_each_by_its_own_schema() -> None:
    pair = [{"type": "integer"}, {"type": "boolean"}]
    value = ["1", "true", 2]
    for schema in (
        {"prefixItems": pair, "items": {"type": "string"}},
        {"items": pair, "additionalItems": {"type": "string"}},
    ):
        assert fit(value, schema).value == [1, True, "2"]
    closed = fit(value, {"prefixItems": pair, "items": False})
    assert [(note.code, note.message.partition(": ")[0]) for note in closed.notes] == [
        ("not-allowed", "$[2]")
    ]


def test_further_properties_may_have_a_schema() -> None:
    schema = {
        "properties": {"a": {"type": "string"}},
        "additionalProperties": {"type": "integer"},
    }
    fitted = fit({"a": "1", "b": "2", "c": "x"}, schema)
    assert fitted.value == {"a": "1", "b": 2, "c": "x"}
    assert [note.message.partition(": ")[0] for note in fitted.notes] == ["$.c"]


def test_names_that_a_pattern_may_allow_are_left_alone() -> None:
    schema = {"patternProperties": {"^(x+)+$": {}}, "additionalProperties": False}
    assert not fit({"x" * 5000: 1}, schema).notes


def test_the_only_alternative_of_the_right_type_says_what_is_wrong_inside() -> None:
    schema = {"anyOf": [POINT, {"type": "null"}]}
    assert [note.message.partition(": ")[0] for note in fit({"x": "no"}, schema).notes] == ["$.x"]
    assert fit({"x": "3"}, schema).value == {"x": 3}
    assert fit(None, schema).value is None


@pytest.mark.parametrize(
    ("value", "schema", "bent"),
    [
        ("2", {"enum": [1, 2]}, 2),
        (2, {"enum": ["1", "2"]}, "2"),
        (1.0, {"const": 1}, 1),
        ("true", {"const": True}, True),
        ("null", {"enum": ["a", None]}, None),
        ("null", {"type": ["integer", "null"]}, None),
    ],
)
def test_a_value_is_bent_to_the_choice_that_it_spells(
    value: JsonValue, schema: JsonObject, bent: JsonValue
) -> None:
    fitted = fit(value, schema)
    assert fitted.value == bent
    assert type(fitted.value) is type(bent)
    assert [repair.code for repair in fitted.repairs] == ["type"]


def test_null_is_allowed_where_the_schema_says_nullable() -> None:
    schema = {"nullable": True, "allOf": [{"$ref": "#/$defs/Point"}]}
    assert not fit(None, schema, root={"$defs": {"Point": POINT}}).notes


def test_types_in_capitals_are_the_same_types() -> None:
    assert fit({"a": "1"}, {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}}).value == {
        "a": 1
    }


def test_types_that_exclude_each_other_are_a_fault() -> None:
    schema = {"type": "number", "anyOf": [{"type": "string"}, {"type": "array"}]}
    assert [note.code for note in fit(0.0, schema).notes] == ["wrong-type"]
