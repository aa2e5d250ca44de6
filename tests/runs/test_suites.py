"""Suite files of every kind and shape are read alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tunaeval.errors import SuiteError
from tunaeval.tasks.suites.loading import load_catalogue, load_suite
from tunaeval.types.calls import JsonObject, JsonValue, ToolSpec
from tunaeval.types.runs import Expectation, ExpectedCall

CATALOGUE = load_catalogue("tunacode-2025-12")
READ = {"calls": [{"name": "read_file", "arguments": {"filepath": "a"}}]}
Write: TypeAlias = Callable[[str, object], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file: text and bytes as they are, lists in .jsonl a line each, else JSON."""

    def write(name: str, content: object) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        match content:
            case bytes():
                path.write_bytes(content)
            case str():
                path.write_text(content, encoding="utf-8")
            case _ if name.endswith(".jsonl") and isinstance(content, list):
                path.write_text("\n".join(map(json.dumps, content)), encoding="utf-8")
            case _:
                path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write


# --- any valid suite ---------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
WORD = TEXT.filter(str.strip)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
FINITE = SCALARS.filter(lambda value: value not in (float("inf"), float("-inf")))
JSON = st.recursive(
    FINITE, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
)
VALUES: dict[str, st.SearchStrategy[JsonValue]] = {
    "string": TEXT,
    "integer": st.integers(),
    "boolean": st.booleans(),
    "null": st.none(),
    "object": st.dictionaries(WORD.filter(lambda key: "$" not in key), TEXT, max_size=2),
}


def plain_values(schema: JsonObject) -> st.SearchStrategy[JsonValue]:
    """Values of a schema's type, and of its items' type where it is an array."""
    if "anyOf" in schema:
        return st.one_of([plain_values(branch) for branch in schema["anyOf"]])
    if schema["type"] == "array":
        return st.lists(plain_values(schema["items"]), max_size=2)
    return VALUES[schema["type"]]


def values(schema: JsonObject) -> st.SearchStrategy[JsonValue]:
    """Values that a schema takes, and matchers around them."""
    plain = plain_values(schema)
    return st.one_of(
        plain,
        st.lists(plain, min_size=1, max_size=2).map(lambda some: {"$any_of": some}),
        st.just({"$ignore": True}),
    )


def calls(spec: ToolSpec) -> st.SearchStrategy[JsonObject]:
    schemas = {name: values(schema) for name, schema in spec.parameters["properties"].items()}
    arguments = st.fixed_dictionaries({}, optional=schemas)
    return st.fixed_dictionaries({"name": st.just(spec.name), "arguments": arguments})


CALLS = st.lists(st.sampled_from(list(CATALOGUE.values())).flatmap(calls), min_size=1, max_size=2)
NAMES = st.lists(st.sampled_from(list(CATALOGUE)), min_size=1, max_size=3)
MODES = st.sampled_from(["exactly", "in_order", "any_order", "subset", "superset"])
EXPECTATIONS = st.one_of(
    st.just({"none": True}),
    st.fixed_dictionaries({"calls": CALLS}, optional={"match": MODES}),
    st.fixed_dictionaries({"tools": NAMES}),
    st.fixed_dictionaries({"forbid": NAMES, "max_calls": st.integers(1, 9)}),
)
SCENARIOS = st.fixed_dictionaries(
    {"prompt": WORD, "expect": EXPECTATIONS},
    optional={"id": WORD, "tags": st.lists(TEXT, max_size=2), "notes": TEXT}
    | {"metadata": st.dictionaries(TEXT, JSON, max_size=2)},
)
ROWS = st.lists(
    SCENARIOS, min_size=1, max_size=3, unique_by=lambda row: str(row.get("id", id(row)))
).filter(lambda rows: all("scenario-" not in row.get("id", "") for row in rows))
HEADERS = st.fixed_dictionaries({"name": WORD}, optional={"system_prompt": TEXT})


class Plain(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        del data
        return True


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(header=HEADERS, rows=ROWS)
def test_one_suite_in_three_formats_is_one_suite(
    write: Write, header: JsonObject, rows: list[JsonObject]
) -> None:
    whole = {**header, "scenarios": rows}
    suites = [
        load_suite(write("any.json", whole)),
        load_suite(write("any.jsonl", [header, *rows])),
        load_suite(write("any.yaml", yaml.dump(whole, Dumper=Plain))),
    ]
    assert len({suite.digest for suite in suites}) == 1
    assert suites[0].scenarios == suites[1].scenarios == suites[2].scenarios
    assert {suite.name for suite in suites} == {header["name"]}
    assert [s.prompt for s in suites[0].scenarios] == [row["prompt"] for row in rows]


def test_the_digest_tells_suites_apart_by_what_they_ask(write: Write) -> None:
    row = {"id": "a", "prompt": "p", "expect": READ}
    schema = {"name": "read_file", "parameters": {"properties": {"filepath": {}}}}
    variants: list[JsonObject] = [
        {"scenarios": [row]},
        {"scenarios": [{**row, "prompt": "q"}]},
        {"scenarios": [{**row, "id": "b"}]},
        {"scenarios": [{**row, "expect": {"none": True}}]},
        {"scenarios": [row], "system_prompt": "Be brief."},
        {"scenarios": [row], "tools": [schema]},
        {"scenarios": [row], "tools": [schema], "paths": {"read_file": ["filepath"]}},
    ]
    digests = [load_suite(write("v.json", variant)).digest for variant in variants]
    assert len(set(digests)) == len(variants)
    renamed = load_suite(write("v.json", {**variants[0], "name": "other", "description": "x"}))
    assert renamed.digest == digests[0]


# --- the shapes --------------------------------------------------------------------------------


def test_a_group_is_read_in_every_shape_and_one_that_is_none_changes_nothing(write: Write) -> None:
    ours = {"id": "a", "prompt": "p", "expect": READ}
    old = {"id": "b", "prompt": "q", "expected_tool": None}
    plain = load_suite(write("plain.json", [ours, old]))
    grouped = load_suite(write("grouped.json", [{**one, "group": "g"} for one in (ours, old)]))
    empty = load_suite(write("empty.json", [{**ours, "group": None}, old]))
    assert [one.group for one in grouped.scenarios] == ["g", "g"]
    assert empty.digest == plain.digest != grouped.digest


def test_a_bare_list_has_the_catalogue_and_the_prompt_of_tunacode(write: Write) -> None:
    suite = load_suite(write("mine.json", [{"prompt": "Read a", "expect": READ}]))
    assert suite.name == "mine"
    assert suite.tools == CATALOGUE
    assert suite.system_prompt == load_suite("tunacode").system_prompt
    assert [scenario.id for scenario in suite.scenarios] == ["scenario-1"]


def test_one_expected_call_in_the_shape_of_the_old_harness(write: Write) -> None:
    rows: list[JsonObject] = [
        {"prompt": "Read a", "expected_tool": "read_file", "expected_args": {"filepath": "a"}},
        {"id": "own", "prompt": "List", "expected_tool": "list_dir"},
        {"prompt": "Hello", "expected_tool": None},
    ]
    for name in ("old.json", "old.jsonl"):
        first, second, third = load_suite(write(name, rows)).scenarios
        assert first.expect == Expectation.model_validate(READ)
        assert second.id == "own"
        assert second.expect == Expectation(calls=(ExpectedCall(name="list_dir"),))
        assert third.expect == Expectation(none=True)


def test_a_tool_sequence_keeps_the_rest_as_metadata(write: Write) -> None:
    rest = {
        "task_type": "content_search",
        "codebase_root": ".",
        "expected_files": ["src/a.py"],
        "expected_content": ["def a"],
        "metadata": {"template": "t"},
    }
    row = {
        "task_id": "t-7",
        "query": "Where is a?",
        "expected_tool_sequence": ["grep", "read_file"],
    }
    (scenario,) = load_suite(write("rows.jsonl", [{**row, **rest}])).scenarios
    assert (scenario.id, scenario.prompt) == ("t-7", "Where is a?")
    assert scenario.expect == Expectation(tools=("grep", "read_file"))
    assert scenario.metadata == rest


def test_lines_need_no_header_and_may_be_empty(write: Write) -> None:
    row = json.dumps({"prompt": "a\u2028b", "expect": READ}, ensure_ascii=False)
    suite = load_suite(write("lines.jsonl", f"\ufeff{row}\r\n\n  \n{row}\n"))
    assert [s.id for s in suite.scenarios] == ["scenario-1", "scenario-2"]
    assert suite.scenarios[0].prompt == "a\u2028b"


def test_a_suite_may_bring_its_own_tools_and_paths(write: Write) -> None:
    def look(at: str, *, hard: bool = False) -> None:
        del at, hard

    tool = {"name": "look", "parameters": {"type": "object", "properties": {"at": {}}}}
    row = {"prompt": "Look", "expect": {"calls": [{"name": "look", "arguments": {"at": "x/"}}]}}
    header = {"tools": [tool], "paths": {"look": ["at"]}, "scenarios": [row]}
    assert load_suite(write("own.json", header)).tools["look"].paths == {"at"}
    given_tools = load_suite(write("own.json", [row]), tools=[look]).tools
    assert given_tools["look"].parameters["required"] == ["at"]


def test_more_paths_may_be_declared_for_a_catalogue(write: Write) -> None:
    data = {"paths": {"bash": ["command"]}, "scenarios": [{"prompt": "a", "expect": READ}]}
    tools = load_suite(write("more.json", data)).tools
    assert tools["bash"].paths == {"command", "cwd"}
    assert tools["grep"].paths == {"directory", "path"}


def test_the_system_prompt_may_stand_in_a_file_beside_it(write: Write) -> None:
    write("prompts/p.md", "Be kind.\n")
    data = {"system_prompt_file": "prompts/p.md", "scenarios": [{"prompt": "a", "expect": READ}]}
    assert load_suite(write("s.json", data)).system_prompt == "Be kind."
    assert load_suite(write("e.json", {**data, "system_prompt_file": ""})).system_prompt
    del data["system_prompt_file"]
    assert load_suite(write("n.json", {**data, "system_prompt": ""})).system_prompt == ""


def test_a_selection_takes_scenarios_by_id(write: Write) -> None:
    chosen = ["grep-regex", "none-hello"]
    suite = load_suite(write("few.yaml", f"from: tunacode\nselect: {json.dumps(chosen)}\n"))
    assert [scenario.id for scenario in suite.scenarios] == chosen
    assert suite.name == "few"


def test_arguments_that_a_schema_leaves_open_may_be_expected(write: Write) -> None:
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    row = {"prompt": "a", "expect": {"calls": [{"name": "t", "arguments": {"x": 1}}]}}
    data = {"tools": [{"name": "t", "parameters": schema}], "scenarios": [row]}
    assert load_suite(write("open.json", data)).scenarios[0].expect.calls
    row["expect"] = {"calls": [{"name": "t", "arguments": {"x": "1"}}]}
    with pytest.raises(SuiteError, match=r"arguments\.x: found '1', wanted integer"):
        load_suite(write("open.json", data))


def test_a_scenario_says_more_of_itself_and_only_that_changes_the_digest(tmp_path: Path) -> None:
    row = {"id": "a", "prompt": "Say hello.", "expect": {"none": True}}
    more = {"group": "g", "weight": 2, "difficulty": "hard", "sources": ["an issue"]}
    defaults: JsonObject = {"group": None, "weight": 1, "difficulty": None, "sources": []}
    digests = []
    for name, said in (("plain", {}), ("defaults", defaults), ("more", more)):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps([row | said]))
        digests.append(load_suite(path).digest)
    (scenario,) = load_suite(tmp_path / "more.json").scenarios
    assert (scenario.group, scenario.weight, scenario.difficulty) == ("g", 2.0, "hard")
    assert scenario.sources == ("an issue",)
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("said", [{"weight": -1}, {"difficulty": "odd"}, {"sources": "an issue"}])
def test_what_it_cannot_say_is_named(tmp_path: Path, said: dict[str, object]) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"id": "a", "prompt": "?", "expect": {"none": True}, **said}]))
    with pytest.raises(SuiteError, match=f"scenario 1, {next(iter(said))}"):
        load_suite(path)
