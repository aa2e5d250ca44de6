"""What can be wrong with a suite file, and how it is told: a case a row."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tunaeval.errors import SuiteError, UnknownNameError
from tunaeval.tasks.suites.loading import load_catalogue, load_suite
from tunaeval.types.calls import JsonObject, JsonValue

READ = {"calls": [{"name": "read_file", "arguments": {"filepath": "a"}}]}


def written(path: Path, content: object) -> Path:
    """Text and bytes as they are, lists in .jsonl a line each, everything else as JSON."""
    if path.suffix == ".jsonl" and isinstance(content, list):
        content = "\n".join(map(json.dumps, content))
    if not isinstance(content, str | bytes):
        content = json.dumps(content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def scenario(**fields: JsonValue) -> list[JsonObject]:
    """Two scenarios, the second with these fields."""
    return [{"prompt": "p", "expect": READ}, {"prompt": "q", "expect": READ, **fields}]


def call(name: str, **arguments: JsonValue) -> list[JsonObject]:
    return scenario(expect={"calls": [{"name": name, "arguments": arguments}]})


def suite(**header: JsonValue) -> JsonObject:
    return {**header, "scenarios": scenario()}


def old(**fields: JsonValue) -> list[JsonObject]:
    return [{"prompt": "p", **fields}]


AT = "scenario 2, expect.calls[0]"
CITY = {"name": "t", "parameters": {"properties": {"c": {"enum": ["Oslo", "Rome"]}}}}
OSLO = [{"prompt": "p", "expected_tool": "t", "expected_args": {"c": "Bonn"}}]

ERRORS: dict[str, tuple[str, object, tuple[str, ...]]] = {
    # the file itself
    "bad JSON": ("a.json", '[{"prompt": }]', ("a.json, line 1, column 13", "no JSON")),
    "bad JSON on a later line": ("a.json", "[\n1,\n2 3]", ("line 3, column 3",)),
    "JSON lines named .json": ("a.json", "{}\n{}", ("line 2, column 1", ".jsonl")),
    "a bad line": (
        "a.jsonl",
        '{"prompt": "p", "expect": {"none": true}}\n{"x',
        ("line 2, column",),
    ),
    "bad YAML": (
        "a.yaml",
        "name: [x\nscenarios: 1",
        ("a.yaml: line 2, column 1", "this YAML cannot be read"),
    ),
    "not UTF-8": ("a.json", b'[\n"\xff"]', ("a.json: line 2", "0xff", "UTF-8")),
    "a key twice": ("a.jsonl", '{"prompt": "p", "prompt": "q"}', ("line 1", "'prompt' twice")),
    "a key twice in YAML": ("a.yml", "name: a\nname: b", ("line 2, column 1", "'name' a second")),
    "NaN": ("a.json", "[NaN]", ("a.json", "NaN", "null")),
    "beyond floats": ("a.json", "[1e999]", ("1e999", "smaller")),
    "a date in YAML": ("a.yaml", "- prompt: 2024-01-31", ("line 1, column 11", "a date", "quotes")),
    "infinity in YAML": ("a.yaml", "- .inf", ("line 1, column 3", "inf")),
    "a number as a key in YAML": ("a.yaml", "1: x", ("line 1, column 1", "the key 1", "quotes")),
    "an alias in YAML": ("a.yaml", "a: &x [1]\nb: *x", ("line 2, column 4", "alias")),
    "a Python object in YAML": ("a.yaml", "!!python/name:os.system x", ("line 1", "python/name")),
    "two documents": ("a.yaml", "a: 1\n---\nb: 2", ("line 2", "single document")),
    "depth": ("a.json", "[" * 100_000, ("a.json", "nested too deeply")),
    "depth in YAML": ("a.yaml", "[" * 5_000, ("a.yaml", "nested too deeply")),
    "another ending": ("a.toml", "", ("a.toml", ".json, .jsonl, .yaml, .yml")),
    # its header
    "a text": ("a.json", '"tunacode"', ("a.json", "found 'tunacode'", "list of scenarios")),
    "scenarios of another kind": ("a.json", {"scenarios": 3}, ("a.json, scenarios: found 3",)),
    "no scenarios": ("a.json", [], ("a.json", "no scenario", "add")),
    "only a header": ("a.jsonl", [{"name": "x"}], ("a.jsonl", "no scenario")),
    "an empty file": ("a.jsonl", "", ("a.jsonl", "no scenario")),
    "an unknown field": ("a.json", suite(catalog="x"), ("a.json, catalog", "mean 'catalogue'")),
    "an unknown field in line 1": ("a.jsonl", [{"name": "x", "tool": 1}], ("line 1, tool",)),
    "a name of another kind": ("a.json", suite(name=3), ("a.json, name: found 3", "string")),
    "an unknown catalogue": (
        "a.json",
        suite(catalogue="tunacode-2025"),
        ("a.json, catalogue", "'tunacode-2025'", "mean 'tunacode-2025-12'"),
    ),
    "catalogue and tools": ("a.json", suite(catalogue="x", tools=[]), ("tools", "catalogue")),
    "two prompts": (
        "a.json",
        suite(system_prompt="x", system_prompt_file="y"),
        ("a.json, system_prompt_file: is given beside system_prompt",),
    ),
    "no tools": ("a.json", suite(tools=[]), ("a.json, tools: has no tool",)),
    "tools of another kind": ("a.json", suite(tools={"a": 1}), ("wanted a list of tools",)),
    "an unknown tool of a scenario": (
        "a.json",
        {"tools": [CITY], "scenarios": scenario(tools=["u"], expect={"none": True})[1:]},
        ("scenario 1, tools[0]: no tool of the suite is called 'u'",),
    ),
    "a tool twice in a scenario": (
        "a.json",
        {"tools": [CITY], "scenarios": scenario(tools=["t", "t"], expect={"none": True})[1:]},
        ("scenario 1: tools[1]: the name 't' is taken",),
    ),
    "a bad tool": ("a.json", suite(tools=[{}]), ("a.json: tools[0].name is missing",)),
    "paths of another kind": ("a.json", suite(paths=["x"]), ("a.json, paths: found", "object")),
    "paths of no list": ("a.json", suite(paths={"bash": "cwd"}), ("paths.bash", "'cwd'", "list")),
    "paths of no tool": ("a.json", suite(paths={"gerp": []}), ("paths.gerp", "mean 'grep'")),
    "paths of no argument": (
        "a.json",
        suite(paths={"grep": ["path", "dir"]}),
        ("a.json, paths.grep[1]", "'dir'", "'directory'"),
    ),
    "no prompt file": (
        "a.json",
        suite(system_prompt_file="p.md"),
        ("a.json, system_prompt_file: 'p.md' cannot be read: No such file",),
    ),
    "a prompt file above": ("a.json", suite(system_prompt_file="../p.md"), ("own folder",)),
    "a prompt file elsewhere": ("a.json", suite(system_prompt_file="/etc/hosts"), ("own folder",)),
    # a selection
    "from no suite": ("a.json", {"from": "tunacod", "select": ["a"]}, ("from", "'tunacode'")),
    "an empty selection": ("a.json", {"from": "smoke", "select": []}, ("select", "list")),
    "an unknown id": (
        "a.json",
        {"from": "smoke", "select": ["none-hello", "none-helo"]},
        ("a.json, select[1]", "mean 'none-hello'"),
    ),
    "an id chosen twice": (
        "a.json",
        {"from": "smoke", "select": ["none-hello", "none-hello"]},
        ("a.json, select[1]", "is at 0 already"),
    ),
    "a selection beside scenarios": (
        "a.json",
        {"from": "smoke", "select": ["none-hello"], **suite()},
        ("a.json: found beside from and select",),
    ),
    "a selection beside tools": (
        "a.json",
        {"from": "smoke", "select": ["none-hello"], "tools": []},
        ("a.json, tools: found beside from and select",),
    ),
    # a scenario
    "a scenario of another kind": ("a.json", [*scenario(), 7], ("scenario 3: found 7", "object")),
    "an unknown scenario field": ("a.json", scenario(tag=["x"]), ("scenario 2, tag", "'tags'")),
    "its line": ("a.jsonl", scenario(tag=["x"]), ("a.jsonl, line 2, tag", "'tags'")),
    "no prompt": ("a.json", [{"expect": READ}], ("scenario 1, prompt: is missing",)),
    "an empty prompt": ("a.json", scenario(prompt=" "), ("scenario 2, prompt", "white space")),
    "a prompt that is no text": ("a.json", scenario(prompt=3), ("scenario 2, prompt: found 3",)),
    "a lone surrogate": (
        "a.json",
        scenario(prompt="\ud800"),
        ("scenario 2, prompt", "lone surrogate"),
    ),
    "an id that is no text": ("a.json", scenario(id=3), ("scenario 2, id: found 3", "string")),
    "an empty id": ("a.json", scenario(id=""), ("scenario 2, id",)),
    "an id twice": (
        "a.jsonl",
        [{"id": "x", **row} for row in scenario()],
        ("a.jsonl, line 2, id: 'x' is taken by ", "a.jsonl, line 1; rename"),
    ),
    "an id like a made one": ("a.json", scenario(id="scenario-1"), ("taken by", "scenario 1")),
    "tags of another kind": ("a.json", scenario(tags=[1]), ("scenario 2, tags[0]: found 1",)),
    "nothing expected": ("a.json", [{"prompt": "p"}], ("scenario 1, expect: is missing",)),
    "an empty expectation": ("a.json", scenario(expect={}), ("expect: nothing is expected",)),
    "an unknown field of expect": ("a.json", scenario(expect={"call": []}), ("mean 'calls'",)),
    "an unknown field of a call": (
        "a.json",
        scenario(expect={"calls": [{"name": "grep", "args": {}}]}),
        (f"{AT}.args", "mean 'arguments'"),
    ),
    "an unknown mode": (
        "a.json",
        scenario(expect={**READ, "match": "any"}),
        ("expect.match", "any"),
    ),
    "none and calls": ("a.json", scenario(expect={**READ, "none": True}), ("expect: none: true",)),
    "calls and tools": ("a.json", scenario(expect={**READ, "tools": ["grep"]}), ("exclude",)),
    "an unknown tool": ("a.json", call("gerp"), (f"{AT}.name", "'gerp'", "mean 'grep'")),
    "an unknown tool in a sequence": (
        "a.json",
        scenario(expect={"tools": ["grep", "read"]}),
        ("scenario 2, expect.tools[1]", "'read'", "'read_file'"),
    ),
    "an unknown tool forbidden": ("a.json", scenario(expect={"forbid": ["rm"]}), ("forbid[0]",)),
    "an unknown argument": (
        "a.json",
        call("grep", patern="x"),
        (f"{AT}.arguments.patern", "argument of grep", "mean 'pattern'"),
    ),
    "a wrong type": (
        "a.json",
        call("bash", command="x", timeout="30"),
        (f"{AT}.arguments.timeout", "found '30', wanted integer or null"),
    ),
    "a boolean for a number": ("a.json", call("web_fetch", timeout=True), ("found True",)),
    "a wrong type in a list": (
        "a.json",
        call("list_dir", ignore=["a", 1]),
        ("found ['a', 1], wanted array of string each or null",),
    ),
    "a wrong type for an object": ("a.json", call("bash", env="A=1"), ("found 'A=1'", "object")),
    "a wrong type among several": (
        "a.json",
        call("grep", pattern={"$any_of": ["x", 1]}),
        (f"{AT}.arguments.pattern: found 1, wanted string",),
    ),
    "a value outside an enum": (
        "a.json",
        {"tools": [CITY], "scenarios": OSLO},
        ("expected_args.c: found 'Bonn', wanted one of 'Oslo', 'Rome'",),
    ),
    "an unknown matcher": (
        "a.json",
        call("grep", pattern={"$anyof": ["x"]}),
        ("scenario 2, expect: calls[0].arguments.pattern", "'$anyof'", "$any_of"),
    ),
    "an empty choice": ("a.json", call("grep", pattern={"$any_of": []}), ("at least one value",)),
    # the two older shapes
    "an unknown expected_tool": (
        "a.json",
        old(expected_tool="gerp"),
        ("scenario 1, expected_tool", "mean 'grep'"),
    ),
    "expected_tool of another kind": ("a.json", old(expected_tool=3), ("expected_tool: found 3",)),
    "expected_args of another kind": (
        "a.json",
        old(expected_tool="grep", expected_args=[1]),
        ("scenario 1, expected_args: found [1]",),
    ),
    "an unknown expected argument": (
        "a.json",
        old(expected_tool="read_file", expected_args={"file_path": "x"}),
        ("scenario 1, expected_args.file_path", "mean 'filepath'"),
    ),
    "arguments of no call": (
        "a.json",
        old(expected_tool=None, expected_args={"x": 1}),
        ("scenario 1, expected_args", "no call"),
    ),
    "a misspelt older field": (
        "a.json",
        old(expected_tool="grep", expected_arg={}),
        ("scenario 1, expected_arg", "mean 'expected_args'"),
    ),
    "an unknown tool in an older sequence": (
        "a.json",
        [{"query": "q", "expected_tool_sequence": ["glob", "reed_file"]}],
        ("scenario 1, expected_tool_sequence[1]", "mean 'read_file'"),
    ),
    "a sequence of another kind": (
        "a.json",
        [{"query": "q", "expected_tool_sequence": "glob"}],
        ("scenario 1, expected_tool_sequence: found 'glob'",),
    ),
    "a query that is no text": (
        "a.json",
        [{"query": 1, "expected_tool_sequence": ["glob"]}],
        ("scenario 1, query: found 1",),
    ),
    "a prompt and a query": (
        "a.json",
        [{"query": "q", "prompt": "p", "expected_tool_sequence": ["glob"]}],
        ("both prompt and query",),
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, case: str) -> None:
    name, content, pieces = ERRORS[case]
    path = written(tmp_path / name, content)
    with pytest.raises(SuiteError) as caught:
        load_suite(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    for piece in pieces:
        assert piece in message


def test_a_name_that_is_not_built_in_has_near_misses() -> None:
    with pytest.raises(SuiteError, match=r"'tunacod'.*did you mean 'tunacode'.*\.jsonl"):
        load_suite("tunacod")
    with pytest.raises(SuiteError, match="'zzz'; known: everyday, repair-tasks, smoke, tunacode"):
        load_suite("zzz")
    with pytest.raises(UnknownNameError, match=r"tunacode-0\.2"):
        load_catalogue("tunacode-0.3")


def test_a_path_that_is_no_file_is_told_apart(tmp_path: Path) -> None:
    words = r"none\.json' cannot be read: No such file .* smoke, tunacode"
    with pytest.raises(SuiteError, match=words):
        load_suite(tmp_path / "none.json")
    with pytest.raises(SuiteError, match="cannot be read: it is a directory"):
        load_suite(str(tmp_path))


def test_a_file_beyond_the_cap_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    path.touch()
    os.truncate(path, (64 << 20) + 1)
    with pytest.raises(SuiteError, match=r"huge\.json: has more than 64 MiB"):
        load_suite(path)


def test_a_link_may_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "p.md").symlink_to(written(tmp_path / "secret.md", "x"))
    path = written(tmp_path / "in" / "s.json", suite(system_prompt_file="p.md"))
    with pytest.raises(SuiteError, match="own folder"):
        load_suite(path)
