"""What two descriptions of a tool say differently is found at its place, and nothing else is."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval import Change, Drift, ToolSpec, compare_tools, find_drift
from tunaeval.tools.tool_prompts import tool_spec
from tunaeval.types.calls import JsonObject, JsonValue


def move(source: Path, target: Path, *, times: int = 1, how: Literal["copy", "link"]) -> None:
    """Put a file elsewhere.

    Args:
        source: Where it is.
        times: How often.
    """


OURS = tool_spec(move)


def changed(where: str, value: JsonValue) -> ToolSpec:
    """Ours, with another value at a place in its schema; `...` takes away what is there."""
    schema = deepcopy(dict(OURS.parameters))
    *path, last = where.split(".")
    inner: Any = schema
    for key in path:
        inner = inner[key]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return replace(OURS, parameters=schema)


def places(ours: ToolSpec, theirs: ToolSpec) -> list[str]:
    return [change.place for change in find_drift(ours, theirs).changes]


CHANGES: list[tuple[ToolSpec, list[Change]]] = [
    (replace(OURS, name="mv"), [Change("name", "move", "mv")]),
    (
        replace(OURS, description="Rename a file."),
        [Change("description", "Put a file elsewhere.", "Rename a file.", misleads=False)],
    ),
    (
        replace(OURS, description=" "),
        [Change("description", "Put a file elsewhere.", ..., misleads=False)],
    ),
    (
        changed("required", ["source", "target"]),
        [Change("required", ["how", "source", "target"], ["source", "target"])],
    ),
    (
        changed("properties.force", {"type": "boolean"}),
        [Change("parameters.force", ..., {"type": "boolean"})],
    ),
    (
        changed("properties.times", ...),
        [Change("parameters.times", OURS.parameters["properties"]["times"], ...)],
    ),
    (
        changed("properties.times.type", ["integer", "null"]),
        [Change("parameters.times.type", "integer", "integer or null")],
    ),
    (
        changed("properties.times.default", 2),
        [Change("parameters.times.default", 1, 2, misleads=False)],
    ),
    (
        changed("properties.times.default", None),
        [Change("parameters.times.default", 1, None, misleads=False)],
    ),
    (
        changed("properties.times.default", ...),
        [Change("parameters.times.default", 1, ..., misleads=False)],
    ),
    (
        changed("properties.target.description", "Where to."),
        [Change("parameters.target.description", ..., "Where to.", misleads=False)],
    ),
    (
        changed("properties.target.format", ...),
        [Change("parameters.target.format", "path", ..., misleads=False)],
    ),
    (
        changed("properties.how.enum", ["copy", "move"]),
        [Change("parameters.how.enum", ["copy", "link"], ["copy", "move"])],
    ),
    (changed("properties.times.minimum", 1), [Change("parameters.times.minimum", ..., 1)]),
]


@pytest.mark.parametrize(("theirs", "changes"), CHANGES, ids=[str(c[0].place) for _, c in CHANGES])
def test_one_difference_is_one_change_at_its_place(theirs: ToolSpec, changes: list[Change]) -> None:
    drift = find_drift(OURS, theirs)
    assert list(drift.changes) == changes
    assert bool(drift) == changes[0].misleads
    assert (drift.only_in_prompt, drift.only_in_schema) == ((), ())


def properties(schema: JsonObject, **more: JsonValue) -> ToolSpec:
    return ToolSpec("t", "", {"type": "object", "properties": {"a": schema}, **more})


POINT = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
NULL = {"type": "null"}
SAME = [
    ({"type": ["string", "null"]}, {"anyOf": [NULL, {"type": "string"}]}),
    ({"type": "string"}, {"type": "string", "title": "A", "examples": ["b"]}),
    ({"enum": ["a", "b"]}, {"type": "string", "enum": ["b", "a"]}),
    ({"const": 1}, {"enum": [1]}),
    (POINT, {"$ref": "#/$defs/Point"}),
    (POINT, {**POINT, "additionalProperties": False}),
    ({"anyOf": [POINT, NULL]}, {"oneOf": [NULL, {"$ref": "#/$defs/Point"}]}),
    ({"type": "array", "items": {}}, {"type": "array"}),
    ({"description": "How\n  far."}, {"description": "How far."}),
    ({**POINT, "description": "Mine."}, {"$ref": "#/$defs/Point", "description": "Mine."}),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_says_the_same_in_other_words_is_no_difference(
    one: JsonObject, other: JsonObject
) -> None:
    definitions = {"Point": {**POINT, "title": "Point"}}
    assert places(properties(one), properties(other, **{"$defs": definitions})) == []


DIFFERENT = [
    ({"type": "array", "items": {"type": "string"}}, {"type": "array"}, ["a.items.type"]),
    ({"type": "object"}, POINT, ["a.required", "a.properties.x.type"]),
    (
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        ["a.additionalProperties.type"],
    ),
    (POINT, {"anyOf": [POINT, NULL]}, ["a.type"]),
    ({"$ref": "#/$defs/No"}, {"$ref": "#/$defs/Other"}, ["a.$ref"]),
    (
        {"anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "items": POINT}]},
        {"anyOf": [{"type": "string", "minLength": 2}, {"type": "array", "items": POINT}]},
        ["a.anyOf[0].minLength"],
    ),
]


@pytest.mark.parametrize(("one", "other", "found"), DIFFERENT)
def test_a_difference_inside_of_a_parameter_has_its_place(
    one: JsonObject, other: JsonObject, found: list[str]
) -> None:
    assert places(properties(one), properties(other)) == [f"parameters.{place}" for place in found]


words = st.text("ab \n", max_size=5)
leaves: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(["string", "integer", "null", "object"]).map(lambda kind: {"type": kind}),
    st.fixed_dictionaries({"enum": st.lists(st.sampled_from(["a", 1, None]), unique_by=repr)}),
    st.just({"$ref": "#/$defs/d"}),
    st.just({}),
    st.just(True),
)


def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", ["object", "null"]]),
            "items": inner,
            "properties": st.dictionaries(st.sampled_from(["a", "description"]), inner),
            "anyOf": st.lists(inner, max_size=3),
            "allOf": st.lists(inner, max_size=2),
            "description": words,
            "default": st.sampled_from([None, 1, []]),
        },
    )


schemas = st.recursive(leaves, around, max_leaves=6)
specs = st.builds(
    lambda name, description, arguments, definition: ToolSpec(
        name,
        description,
        {"type": "object", "properties": arguments, "$defs": {"d": definition}},
    ),
    st.sampled_from(["t", "u"]),
    words,
    st.dictionaries(st.sampled_from(["a", "b", "description"]), schemas),
    schemas,
)


@given(specs, specs)
def test_both_sides_see_the_same_differences(one: ToolSpec, other: ToolSpec) -> None:
    there, back = find_drift(one, other), find_drift(other, one)
    mirrored = {(c.place, repr(c.theirs), repr(c.ours), c.misleads) for c in back.changes}
    assert {(c.place, repr(c.ours), repr(c.theirs), c.misleads) for c in there.changes} == mirrored
    assert bool(there) == bool(back)
    assert str(there).count("\n") + 1 >= len(there.changes)


def turned(value: JsonValue) -> JsonValue:
    """The same with every object the other way around."""
    if isinstance(value, dict):
        return {key: turned(value[key]) for key in reversed(value)}
    return [turned(item) for item in value] if isinstance(value, list) else value


@given(specs)
def test_a_tool_does_not_drift_from_itself_in_any_shape(spec: ToolSpec) -> None:
    again = replace(spec, parameters=turned(spec.parameters), description=f" {spec.description}\n")
    for other in (spec, spec.as_openai(), spec.as_anthropic(), spec.as_responses(), again):
        assert find_drift(spec, other) == Drift(spec.name)


def test_a_function_and_the_tools_that_frameworks_make_of_it_do_not_differ() -> None:
    pydantic_ai = pytest.importorskip("pydantic_ai")
    langchain = pytest.importorskip("langchain_core.tools")

    def find(pattern: str, limit: int | None = 3, *, names: list[str]) -> str:
        """Find `pattern`."""
        return f"{pattern}{limit}{names}"

    assert find_drift(find, pydantic_ai.Tool(find)).changes == ()
    assert find_drift(find, langchain.tool(find)).changes == ()


def test_lists_are_compared_by_name() -> None:
    read, write = ToolSpec("read", "Read."), ToolSpec("write", "Write.")
    drifts = compare_tools([write, read, OURS], [replace(read, description="See."), move, print_])
    assert [str(drift) for drift in drifts] == [
        "write: name: only ours, 'write'",
        "read: description: ours 'Read.', theirs 'See.'",
        "print_: name: only theirs, 'print_'",
    ]
    assert [bool(drift) for drift in drifts] == [True, False, True]
    assert compare_tools([OURS], [move]) == ()


def print_(text: str) -> None: ...


@pytest.mark.parametrize("keyword", ["anyOf", "properties"])
def test_a_schema_that_was_made_to_be_endless_ends(keyword: str) -> None:
    def level(depth: int) -> JsonObject:
        below = {"$ref": f"#/$defs/{depth + 1}"}
        both = [below, {**below, "title": "b"}]
        return {keyword: both if keyword == "anyOf" else dict(zip("ab", both, strict=True))}

    definitions = {str(depth): level(depth) for depth in range(60)}
    definitions["60"] = {"$ref": "#/$defs/0"}
    endless = properties({"$ref": "#/$defs/0"}, **{"$defs": definitions})
    begun = process_time()
    assert find_drift(endless, endless).changes == ()
    assert process_time() - begun < 10


def breaks(ours: ToolSpec, theirs: ToolSpec) -> list[str]:
    return [change.place for change in find_drift(ours, theirs).changes if change.breaks]


LINE = {"type": "object", "properties": {"line": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("old", "new", "broken"),
    [
        ({"a": {"type": "integer"}}, {"a": {"type": "number"}}, False),
        ({"a": {"type": "number"}}, {"a": {"type": "integer"}}, True),
        ({"a": {"type": "string"}}, {"a": {"type": ["string", "null"]}}, False),
        ({"a": {"type": "string"}}, {"a": {}}, False),
        ({"a": {}}, {"a": {"type": "string"}}, True),
        ({"a": {"enum": [1, 2]}}, {"a": {"enum": [2, 1, 3]}}, False),
        ({"a": {"enum": [1, 2]}}, {"a": {"enum": [1]}}, True),
        ({"a": {"enum": [1, 2]}}, {"a": {"type": "integer"}}, False),
        ({"a": {"type": "integer"}}, {"a": {"type": "integer", "minimum": 1}}, True),
        ({"a": {"type": "integer", "minimum": 1}}, {"a": {"type": "integer"}}, False),
        ({"a": {"default": 1}}, {"a": {"default": 2, "description": "other"}}, False),
        ({"a": {"type": "object"}}, {"a": LINE}, False),
        ({"a": LINE}, {"a": {"type": "object"}}, True),
        ({"a": LINE}, {"a": {**LINE, "required": ["line"]}}, True),
        ({"a": {}}, {"a": {}, "b": {"type": "integer"}}, False),
        ({"a": {}, "b": {}}, {"a": {}}, True),
    ],
)
def test_what_is_narrowed_or_gone_breaks(old: JsonObject, new: JsonObject, broken: bool) -> None:
    ours, theirs = (ToolSpec("t", "", {"properties": one}) for one in (old, new))
    assert bool(breaks(ours, theirs)) is broken


def test_a_tool_that_is_gone_breaks_and_a_new_one_does_not() -> None:
    drifts = compare_tools([{"name": "a"}], [{"name": "b"}])
    assert [[change.breaks for change in drift.changes] for drift in drifts] == [[True], [False]]


KINDS: tuple[JsonValue, ...] = ("string", "integer", "number", "boolean", ["string", "null"], None)
VALUES: tuple[JsonValue, ...] = ("x", 1, 1.5, True, None, "y")
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(KINDS[:-1]),
        "enum": st.lists(st.sampled_from(VALUES[:2]), min_size=1, unique=True),
        "minimum": st.integers(0, 2),
    },
)
SCHEMAS = st.dictionaries(st.sampled_from("abc"), FIELDS, max_size=3).flatmap(
    lambda properties: st.builds(
        lambda required: {"type": "object", "properties": properties, "required": required},
        st.lists(st.sampled_from(sorted(properties) or ["a"]), unique=True)
        if properties
        else st.just([]),
    )
)


@given(old=SCHEMAS, new=SCHEMAS, data=st.data())
def test_where_nothing_breaks_every_right_call_stays_right(
    old: JsonObject, new: JsonObject, data: st.DataObject
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    named = {key: st.sampled_from(VALUES) for key in old["properties"]}
    call = data.draw(st.fixed_dictionaries({}, optional=named))
    right, stays = (jsonschema.Draft202012Validator(one).is_valid(call) for one in (old, new))
    if right and not breaks(ToolSpec("t", "", old), ToolSpec("t", "", new)):
        assert stays, (old, new, call)
