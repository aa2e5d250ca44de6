"""Schemas that refer: followed within themselves, never out of themselves, never in a circle."""

from __future__ import annotations

import pytest

from tunaeval.parsing.repair.schema import fit
from tunaeval.types.calls import JsonObject, JsonValue

POINT: JsonObject = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "next": {"$ref": "#/$defs/Point"}},
    "required": ["x"],
}


@pytest.mark.parametrize(
    ("reference", "root"),
    [
        ("#/$defs/Point", {"$defs": {"Point": POINT}}),
        ("#/definitions/Point", {"definitions": {"Point": POINT, "$defs": 1}}),
        ("#/$defs/a~1b~0c", {"$defs": {"a/b~c": POINT}}),
        ("#/$defs/Gr%C3%B6%C3%9Fe%20x", {"$defs": {"Größe x": POINT}}),
        ("#/anyOf/1", {"anyOf": [{}, POINT]}),
        ("#", POINT),
    ],
)
def test_a_local_reference_is_followed(reference: str, root: JsonObject) -> None:
    fitted = fit({"x": "3"}, {"$ref": reference}, root={**root})
    assert fitted.value == {"x": 3}
    assert [repair.message for repair in fitted.repairs] == ["$.x: '3' read as integer 3"]
    assert [
        note.message.partition(": ")[0]
        for note in fit([{}], {"items": {"$ref": reference}}, root=root).notes
    ] == ["$[0]"]


def test_a_schema_that_refers_to_itself_follows_the_value_down() -> None:
    schema = {"$ref": "#/$defs/Point", "$defs": {"Point": POINT}}
    fitted = fit({"x": 1, "next": {"x": "2", "next": {"x": "3", "next": {}}}}, schema)
    assert fitted.value == {"x": 1, "next": {"x": 2, "next": {"x": 3, "next": {}}}}
    assert [note.message.partition(": ")[0] for note in fitted.notes] == ["$.next.next.next"]


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("https://example.com/schema.json", "none is fetched"),
        ("other.json#/$defs/Point", "none is fetched"),
        ("file:///etc/passwd", "none is fetched"),
        ("", "none is fetched"),
        (7, "none is fetched"),
        ("#Point", "an anchor"),
        ("#/$defs/Pint", "there is no 'Pint'"),
        ("#/$defs/Point/7", "there is no '7'"),
        ("#/$defs/\ud800%ff", "there is no"),
    ],
)
def test_any_other_reference_is_a_fault_with_its_path(reference: object, said: str) -> None:
    schema = {"properties": {"at": {"$ref": reference}}, "$defs": {"Point": POINT}}
    fitted = fit({"at": {"x": 1}}, schema)
    assert fitted.value == {"at": {"x": 1}}
    (note,) = fitted.notes
    assert note.code == "unresolved-ref"
    assert note.message.startswith("$.at: ")
    assert said in note.message


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"allOf": [{"$ref": "#"}]},
        {"anyOf": [{"$ref": "#"}, {"oneOf": [{"$ref": "#"}]}]},
    ],
)
def test_a_circle_ends_as_a_fault(schema: JsonObject) -> None:
    assert {note.code for note in fit(3, schema).notes} == {"unresolved-ref"}


def test_a_schema_that_holds_itself_is_no_circle_for_ever() -> None:
    schema: JsonObject = {"type": "array"}
    schema["allOf"] = [schema]
    schema["items"] = schema
    fitted = fit([[], "x"], schema)
    assert "wrong-type" in {note.code for note in fitted.notes}
    assert fitted.value == [[], "x"]


def test_lone_items_are_not_wrapped_for_ever() -> None:
    fitted = fit(3, {"type": "array", "items": {"$ref": "#"}})
    assert fitted.value == 3
    assert [note.code for note in fitted.notes] == ["wrong-type"]


def test_alternatives_within_alternatives_are_not_tried_over_and_over() -> None:
    lists = {"type": "array", "items": {"$ref": "#"}}
    schema = {"anyOf": [lists, {**lists}, {"allOf": [lists, {**lists}]}, {"type": "string"}]}
    value: JsonValue = 1.5
    for _ in range(40):
        value = [value]
    assert [note.code for note in fit(value, schema).notes] == ["wrong-type"]


def test_the_same_fault_is_told_once() -> None:
    schema: JsonObject = {"$defs": {"d0": {"required": ["a"]}}, "$ref": "#/$defs/d30"}
    for n in range(30):
        twice = [{"$ref": f"#/$defs/d{n}"}] * 2
        schema["$defs"][f"d{n + 1}"] = {"allOf": twice}
    assert len(fit({}, schema).notes) == 1
