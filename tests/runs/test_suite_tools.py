"""Which tools a suite asks with: a catalogue's, some of them, its own, or those that stand in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tunaeval.errors import SuiteError
from tunaeval.tasks.suites.loading import load_catalogue, load_suite, own_tools, write_suite
from tunaeval.types.calls import JsonObject

WHOLE = load_catalogue("tunacode-2025-12")
READ = {"calls": [{"name": "read_file", "arguments": {"filepath": "a"}}]}
NO_CALL = {"id": "here", "prompt": "p", "expect": {"none": True}}


def written(folder: Path, *rows: JsonObject, **header: Any) -> Path:
    path = folder / f"suite-{len(list(folder.iterdir()))}.json"
    path.write_text(json.dumps({**header, "scenarios": rows or [NO_CALL]}))
    return path


def test_a_suite_may_choose_among_the_tools_of_a_catalogue(tmp_path: Path) -> None:
    header: JsonObject = {"catalogue": "tunacode-0.2", "tools": ["write_file", "bash"]}
    lines = tmp_path / "a.jsonl"
    lines.write_text("\n".join(map(json.dumps, [header, NO_CALL])))
    for path in (lines, written(tmp_path, **header)):
        suite = load_suite(path)
        assert list(suite.tools) == ["write_file", "bash"]
        assert suite.tools["bash"] == load_catalogue("tunacode-0.2")["bash"]
    whole = load_suite(written(tmp_path, catalogue="tunacode-0.2"))
    assert whole.tools == load_catalogue("tunacode-0.2")
    assert whole.digest != suite.digest


def test_a_suite_may_leave_out_what_is_said_of_parameters(tmp_path: Path) -> None:
    described = {"type": "object", "description": "d", "properties": {"description": {}}}
    parameters = {"properties": {"a": described, "b": True}}
    own = {"name": "t", "description": "d", "parameters": parameters}
    spec = load_suite(written(tmp_path, tools=[own], parameter_descriptions=False)).tools["t"]
    assert spec.description == "d"
    assert spec.parameters["properties"] == {
        "a": {"type": "object", "properties": {"description": {}}},
        "b": True,
    }
    told = load_suite(written(tmp_path, tools=[own], parameter_descriptions=True)).tools["t"]
    assert told.parameters == parameters
    catalogue = load_suite(written(tmp_path, parameter_descriptions=False)).tools
    assert list(catalogue) == list(WHOLE)
    assert "description" not in str([spec.parameters for spec in catalogue.values()])


def test_scenarios_that_are_left_out_may_expect_tools_that_there_are_not(tmp_path: Path) -> None:
    here = {"id": "here", "prompt": "p", "expect": {"tools": ["bash"]}}
    gone = {"id": "gone", "prompt": "q", "expect": READ, "tags": ["reads"]}
    path, bash = written(tmp_path, here, gone), [WHOLE["bash"]]
    for left_out in ("gone", "reads"):
        suite = load_suite(path, tools=bash, exclude=[left_out])
        assert [one.id for one in suite.scenarios] == ["here"]
        assert list(suite.tools) == ["bash"]
        assert suite.digest == load_suite(written(tmp_path, here), tools=bash).digest
    with pytest.raises(SuiteError, match=r"scenario 2, expect\.calls\[0\]\.name: no tool"):
        load_suite(path, tools=bash)
    with pytest.raises(SuiteError, match="did you mean 'gone'"):
        load_suite(path, tools=bash, exclude=["gon", "gone"])


def test_a_selection_is_held_against_tools_for_what_it_selects(tmp_path: Path) -> None:
    few = tmp_path / "few.json"
    few.write_text(json.dumps({"from": "tunacode", "select": ["bash-git-status", "none-hello"]}))
    assert list(load_suite(few, tools=[WHOLE["bash"]]).tools) == ["bash"]
    with pytest.raises(SuiteError, match="no tool is called 'bash'"):
        load_suite(few, tools=[WHOLE["grep"]])


def test_a_suite_says_which_tools_are_its_own(tmp_path: Path) -> None:
    row = {"prompt": "p", "expect": {"tools": ["not-there"]}}
    assert own_tools(written(tmp_path, row)) is None
    named = written(tmp_path, row, catalogue="tunacode-0.2", tools=["bash"])
    assert list(own_tools(named) or ()) == ["bash"]
    assert own_tools("smoke") == own_tools("tunacode") == load_suite("tunacode").tools
    assert own_tools("bfcl:simple") is None


@pytest.mark.parametrize(
    ("header", "pieces"),
    [
        (
            {"catalogue": "tunacode-0.2", "tools": []},
            (".json, tools: found [], wanted names", "'tunacode-0.2'", "leave catalogue out"),
        ),
        (
            {"catalogue": "tunacode-0.2", "tools": [{"name": "t"}]},
            ("tools: found [{'name': 't'}], wanted names",),
        ),
        ({"catalogue": "tunacode-0.2", "tools": None}, ("tools: found None",)),
        ({"catalogue": 3}, ("catalogue: found 3", "string")),
        ({"catalogue": "tunacode-0.3", "tools": ["bash"]}, ("catalogue: ", "'tunacode-0.2'")),
        (
            {"catalogue": "tunacode-0.2", "tools": ["bash", "read_fil"]},
            (".json, tools[1]: no tool of tunacode-0.2", "mean 'read_file'"),
        ),
        (
            {"catalogue": "tunacode-0.2", "tools": ["bash", "bash"]},
            ("tools[1]: 'bash' is at 0 already",),
        ),
        (
            {"parameter_descriptions": "no"},
            ("parameter_descriptions: found 'no', wanted true or false",),
        ),
    ],
)
def test_what_a_header_cannot_say_is_named_with_its_place(
    tmp_path: Path, header: JsonObject, pieces: tuple[str, ...]
) -> None:
    with pytest.raises(SuiteError) as caught:
        load_suite(written(tmp_path, **header))
    for piece in pieces:
        assert piece in str(caught.value)


CITY: JsonObject = {"name": "weather", "parameters": {"properties": {"city": {"type": "string"}}}}
SHELF: JsonObject = {"name": "shelf", "parameters": {"properties": {"place": {"type": "string"}}}}


def test_a_scenario_may_name_the_tools_of_the_header_that_it_offers(tmp_path: Path) -> None:
    rows: list[JsonObject] = [
        {**NO_CALL, "id": "one", "tools": ["shelf"]},
        {**NO_CALL, "id": "both", "tools": ["shelf", "weather"]},
        {**NO_CALL, "id": "mixed", "tools": ["weather", {"name": "own"}, '{"name": "text"}']},
        {**NO_CALL, "id": "all"},
    ]
    header: Any = {"tools": [CITY, SHELF], "paths": {"shelf": ["place"]}}
    suite = load_suite(written(tmp_path, *rows, **header))
    assert [one.tools and list(one.tools) for one in suite.scenarios] == [
        ["shelf"], ["shelf", "weather"], ["weather", "own", "text"], None,
    ]  # fmt: skip
    for scenario in suite.scenarios[:2]:
        assert scenario.tools
        assert scenario.tools["shelf"] == suite.tools["shelf"]
    write_suite(suite, tmp_path / "again.jsonl")
    again = load_suite(tmp_path / "again.jsonl")
    assert again.digest == suite.digest
    assert '"tools": ["shelf", "weather"]' in (tmp_path / "again.jsonl").read_text()


def test_names_of_tools_mean_those_that_replace_the_header(tmp_path: Path) -> None:
    rows = [{**NO_CALL, "tools": ["bash"]}, {**NO_CALL, "id": "gone", "tools": ["grep"]}]
    path = written(tmp_path, *rows)
    suite = load_suite(path, tools=[{"name": "bash", "description": "Mine."}], exclude=["gone"])
    (scenario,) = suite.scenarios
    assert scenario.tools
    assert scenario.tools["bash"].description == "Mine."
