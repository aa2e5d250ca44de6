"""Schemas that mean nothing, or too much: no exception, whatever they hold."""

from __future__ import annotations

import inspect
import sys

from hypothesis import given
from hypothesis import strategies as st

from tunaeval.parsing.repair.schema import fit
from tunaeval.testing.strategies import json_values
from tunaeval.types.calls import JsonObject, JsonValue

KINDS = ("string", "integer", "number", "boolean", "array", "object", "null")

_KEYWORDS = (
    "type", "properties", "required", "additionalProperties", "patternProperties", "items",
    "prefixItems", "additionalItems", "enum", "const", "anyOf", "oneOf", "allOf", "nullable",
    "$ref", "$defs", "definitions", "a", "b",
)  # fmt: skip


def garbage() -> st.SearchStrategy[JsonValue]:
    """Schemas whose keywords hold anything at all, references that lead anywhere included."""
    pointers = st.lists(st.sampled_from([*_KEYWORDS, "0", "1", "~1", "%"]), max_size=3)
    references = pointers.map(lambda steps: "/".join(["#", *steps]))
    atoms = json_values(1) | st.sampled_from(KINDS) | references
    return st.recursive(
        atoms,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(_KEYWORDS), inner, max_size=4)
            | st.builds(lambda to: {"$ref": to}, references)
        ),
        max_leaves=12,
    )


@given(value=json_values(), schema=json_values())
def test_a_schema_that_is_none_is_no_exception(value: JsonValue, schema: JsonValue) -> None:
    fitted = fit(value, schema)
    assert fitted.repairs or repr(fitted.value) == repr(value)


@given(value=json_values(), schema=garbage())
def test_whatever_stands_in_a_schema_is_no_exception(value: JsonValue, schema: JsonValue) -> None:
    fitted = fit(value, schema)
    assert all(note.message.startswith("$") for note in fitted.notes)


def test_what_is_beyond_all_limits_is_no_exception() -> None:
    assert fit(10**5000, {"type": "string"}).notes
    assert fit({1: 10**5000, "a": 1}, {"type": "string"}).notes
    assert fit("1" * 100_000, {"type": "integer"}).notes
    deep: JsonValue = []
    for _ in range(5000):
        deep = [deep]
    assert {note.code for note in fit(deep, {"items": {"$ref": "#"}}).notes} == {"too-deep"}


def test_a_caller_deep_in_its_own_stack_gets_a_fault() -> None:
    value: JsonValue = []
    for _ in range(100):
        value = [value]

    def below(depth: int) -> str:
        return below(depth - 1) if depth else codes()

    def codes() -> str:
        return ",".join(note.code for note in fit(value, {"items": {"$ref": "#"}}).notes)

    room = sys.getrecursionlimit() - len(inspect.stack(0))
    assert below(room - 120) == "too-deep"


def test_a_schema_deeper_than_any_text_is_no_exception() -> None:
    deep: JsonObject = {"type": "array"}
    for _ in range(3000):
        deep = {"type": "array", "items": deep}
    value: JsonValue = []
    for _ in range(120):
        value = [value]
    assert fit(value, deep).value == value
    assert not fit("x", {"type": "object"}).repairs
