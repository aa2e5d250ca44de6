"""A suite in other words is as hard as it was: it can be passed, and nothing else has changed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.errors import SuiteError
from tunaeval.matching.answers import own_answer
from tunaeval.tasks.suites.check import check_suite
from tunaeval.tasks.suites.loading import load_catalogue, load_suite, without, write_suite
from tunaeval.tasks.suites.renamed import renamed
from tunaeval.types.calls import Tools, ToolSpec
from tunaeval.types.runs import Suite

TUNACODE = load_suite("tunacode")
names = st.lists(
    st.sampled_from(["read", "read_file", "open", "view_file", "x", "x_2", "do_x", "path", "file"]),
    min_size=1,
    max_size=6,
    unique=True,
)


def suite_of(tools: list[str], arguments: list[str], folder: Path) -> Suite:
    """A suite in which each tool is expected with all of the arguments."""
    schema = {
        "type": "object",
        "properties": {**{name: {"type": "string"} for name in arguments}, "same": REFERENCE},
        "required": arguments,
    }
    rows = [
        {
            "prompt": f"Do {number}.",
            "expect": {"calls": [{"name": name, "arguments": dict.fromkeys(arguments, "v")}]},
        }
        for number, name in enumerate(tools)
    ]
    told = [{"name": name, "parameters": schema} for name in tools]
    path = folder / "made.json"
    path.write_text(json.dumps({"tools": told, "paths": {tools[0]: arguments}, "scenarios": rows}))
    return load_suite(path)


REFERENCE: dict[str, Any] = {"$ref": "#/properties/path"}


@given(tools=names, arguments=names, seed=st.integers(0, 99))
def test_a_renamed_suite_passes_its_own_check(
    tmp_path_factory: pytest.TempPathFactory, tools: list[str], arguments: list[str], seed: int
) -> None:
    old = suite_of(tools, arguments, tmp_path_factory.mktemp("suite"))
    new = renamed(old, seed=seed)
    assert not set(new.tools) & set(old.tools)
    assert len(new.tools) == len(old.tools)
    for profile in ("tunacode", "strict"):
        assert check_suite(new, profile=profile) == ()
    for before, after in zip(old.tools.values(), new.tools.values(), strict=True):
        properties = after.parameters["properties"]
        assert len(properties) == len(before.parameters["properties"])
        assert set(after.parameters["required"]) == set(properties) - {list(properties)[-1]}
        assert after.paths <= set(properties)
        assert len(after.paths) == len(before.paths)
        if "path" in arguments:
            (same,) = [one["$ref"] for one in properties.values() if "$ref" in one]
            assert same.removeprefix("#/properties/") in properties


@pytest.mark.parametrize("seed", range(3))
def test_the_shipped_suite_can_be_passed_under_other_names(seed: int, tmp_path: Path) -> None:
    new = renamed(TUNACODE, seed=seed)
    write_suite(new, tmp_path / "new.jsonl")
    assert check_suite(load_suite(tmp_path / "new.jsonl"), profile="strict") == ()


def test_a_seed_says_it_all() -> None:
    assert renamed(TUNACODE, seed=1) == renamed(TUNACODE, seed=1)
    assert renamed(TUNACODE, seed=1).digest != renamed(TUNACODE, seed=2).digest


def test_an_old_answer_fails_and_values_stay() -> None:
    new = renamed(TUNACODE, seed=1)
    for before, after in zip(TUNACODE.scenarios, new.scenarios, strict=True):
        assert (before.id, before.tags) == (after.id, after.tags)
        assert before.prompt in after.prompt
        assert before.prompt != after.prompt
        old, answer = own_answer(before.expect, TUNACODE.tools), own_answer(after.expect, new.tools)
        for one, other in zip(old, answer, strict=True):
            assert one.name != other.name
            assert list(one.arguments.values()) == list(other.arguments.values())


@pytest.mark.parametrize("catalogue", [None, "tunacode-2025-12", "tunacode-0.2"])
def test_descriptions_speak_of_the_new_names(catalogue: str | None) -> None:
    tools = load_catalogue(catalogue) if catalogue else TUNACODE.tools
    suite = TUNACODE.model_copy(update={"tools": tools, "scenarios": ()})
    old = {name for spec in tools.values() for name in spec.parameters["properties"]} | set(tools)
    for spec in renamed(suite, seed=1).tools.values():
        schemas = spec.parameters["properties"].values()
        words = " ".join([spec.description, *(one.get("description", "") for one in schemas)])
        assert not set(re.findall(r"`(\w+)`", words)) & old
        assert not set(re.findall(r"\b[a-z]+_\w+", words)) & old


def test_a_description_inside_of_a_parameter_speaks_of_the_new_names_and_its_values_stay() -> None:
    inner = {
        "type": "object",
        "properties": {"description": {"description": "Of `path`."}, "default": {"$ref": "#"}},
        "default": {"description": "Of `path`."},
        "description": "Beside `path`.",
    }
    schema = {"type": "object", "properties": {"path": {}, "more": inner}}
    suite = TUNACODE.model_copy(
        update={"tools": Tools([ToolSpec("t", "", schema)]), "scenarios": ()}
    )
    (spec,) = renamed(suite, seed=0).tools.values()
    (path, more) = spec.parameters["properties"]
    assert spec.parameters["properties"][more] == {
        "type": "object",
        "properties": {
            "description": {"description": f"Of `{path}`."},
            "default": {"$ref": "#"},
        },
        "default": {"description": "Of `path`."},
        "description": f"Beside `{path}`.",
    }


def test_a_tool_that_a_prompt_names_is_renamed_there_unless_it_is_copied(tmp_path: Path) -> None:
    rows = [
        {"prompt": "Call list_dir.", "expected_tool": "list_dir"},
        {"prompt": "Look for list_dir.", "expected_tool": "grep",
         "expected_args": {"pattern": "list_dir"}},
    ]  # fmt: skip
    (tmp_path / "a.json").write_text(json.dumps(rows))
    new = renamed(load_suite(tmp_path / "a.json"), seed=0)
    first, second = new.scenarios
    assert first.expect.calls is not None
    assert f"Call {first.expect.calls[0].name}." in first.prompt
    assert "Look for list_dir." in second.prompt


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    whole = TUNACODE.model_copy(update={"tools": load_catalogue("tunacode-2025-12")})
    whole = without(whole, ["none-hello"])  # which counts the digest anew
    for number, suite in enumerate((TUNACODE, load_suite("smoke"), whole)):
        path = tmp_path / f"{number}.jsonl"
        write_suite(suite, path)
        assert load_suite(path) == suite


def test_a_suite_whose_scenarios_have_their_own_tools_is_written_too(tmp_path: Path) -> None:
    scenario = TUNACODE.scenarios[0].model_copy(update={"tools": TUNACODE.tools})
    suite = TUNACODE.model_copy(update={"scenarios": (scenario,), "tools": Tools()})
    new = renamed(suite, seed=0)
    write_suite(new, tmp_path / "own.jsonl")
    read = load_suite(tmp_path / "own.jsonl")
    assert (len(read.tools), check_suite(read)) == (0, ())


def test_a_file_that_is_there_or_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("mine")
    with pytest.raises(SuiteError, match="cannot be written: File exists"):
        write_suite(TUNACODE, tmp_path / "a.jsonl")
    with pytest.raises(SuiteError, match=r"give it a name in \.jsonl"):
        write_suite(TUNACODE, tmp_path / "a.yaml")
    assert (tmp_path / "a.jsonl").read_text() == "mine"
