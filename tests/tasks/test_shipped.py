"""The suites and catalogues that come with the package, held to what is promised of them."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

import pytest

from tunaeval.matching.calls import match
from tunaeval.reports.drift import find_drift
from tunaeval.tasks.suites.loading import (
    about_suites,
    catalogue_names,
    load_catalogue,
    load_suite,
    suite_names,
)
from tunaeval.types.calls import JsonValue, ToolCall
from tunaeval.types.runs import Scenario, Suite

KINDS = {"optional", "near-miss", "path", "quotes", "multiline", "unicode", "no-call", "parallel"}

# Of the questions and tools that the packaged recordings answer.
DIGEST = "e872bda255119ae14b2d139665741507e00f4270909085df74ddd896687dc71f"

# Parameters that must be given, then those that may be, with their defaults (... for none).
DECEMBER = {
    "bash": ("command", {"cwd": None, "env": None, "timeout": 30, "capture_output": True}),
    "glob": (
        "pattern",
        {
            "directory": ".",
            "recursive": True,
            "include_hidden": False,
            "exclude_dirs": None,
            "max_results": 5000,
            "sort_by": "modified",
            "case_sensitive": False,
            "use_gitignore": True,
        },
    ),
    "grep": (
        "pattern",
        {
            "directory": ".",
            "path": None,
            "case_sensitive": False,
            "use_regex": False,
            "include_files": None,
            "exclude_files": None,
            "max_results": 50,
            "context_lines": 2,
            "search_type": "smart",
            "return_format": "string",
            "output_mode": "content",
        },
    ),
    "list_dir": ("", {"directory": ".", "max_files": 100, "show_hidden": False, "ignore": None}),
    "read_file": ("filepath", {"offset": 0, "limit": None}),
    "update_file": ("filepath target patch", {}),
    "web_fetch": ("url", {"timeout": 60}),
    "write_file": ("filepath content", {}),
    "research_codebase": ("query", {"directories": None, "max_files": 3}),
    "todowrite": ("todos", {}),
    "todoread": ("", {}),
    "todoclear": ("", {}),
}
SINCE_0_2 = {
    "bash": ("command", {"cwd": ..., "env": ..., "timeout": ..., "capture_output": ...}),
    "discover": ("query", {"directory": ...}),
    "hashline_edit": (
        "filepath operation",
        {"line": ..., "start": ..., "end": ..., "after": ..., "new": ...},
    ),
    "read_file": ("filepath", {"offset": ..., "limit": ...}),
    "web_fetch": ("url", {"timeout": ...}),
    "write_file": ("filepath content", {}),
}


@pytest.fixture(scope="module")
def tunacode() -> Suite:
    return load_suite("tunacode")


@pytest.mark.parametrize(
    ("name", "table"), [("tunacode-2025-12", DECEMBER), ("tunacode-0.2", SINCE_0_2)]
)
def test_a_catalogue_has_exactly_the_parameters_of_its_era(
    name: str, table: dict[str, tuple[str, dict[str, JsonValue]]]
) -> None:
    found = {}
    for tool, spec in load_catalogue(name).items():
        schema = spec.parameters
        assert schema["additionalProperties"] is False
        required = schema.get("required", [])
        properties = schema["properties"]
        optional = {
            key: properties[key].get("default", ...) for key in properties.keys() - required
        }
        found[tool] = (" ".join(required), optional)
    assert found == table


@pytest.mark.parametrize("name", catalogue_names())
def test_a_catalogue_describes_each_tool_and_each_parameter_in_sentences(name: str) -> None:
    for spec in load_catalogue(name).values():
        assert re.fullmatch(r"[A-Z].*\.", spec.description), spec.name
        for parameter, schema in spec.parameters["properties"].items():
            words = schema.get("description", "")
            assert re.fullmatch(r"[A-Za-z].*[.?]", words), (spec.name, parameter)


@pytest.mark.parametrize("name", catalogue_names())
def test_a_catalogue_speaks_of_no_argument_that_its_tool_lacks(name: str) -> None:
    tools = load_catalogue(name)
    items = {"content", "status", "activeForm", "in_progress", "number", "hash"}
    for spec in tools.values():
        known = {*spec.parameters["properties"], *items}
        words = [spec.description]
        words += [schema["description"] for schema in spec.parameters["properties"].values()]
        spelled = {one for text in words for one in re.findall(r"`([a-z_]+)`", text)}
        assert spelled <= known, spec.name
        assert not find_drift(spec, tools=tools), spec.name


def test_paths_are_declared_and_contents_are_not() -> None:
    paths = {
        name: {
            tool: sorted(spec.paths) for tool, spec in load_catalogue(name).items() if spec.paths
        }
        for name in catalogue_names()
    }
    assert paths == {
        "tunacode-2025-12": {
            "bash": ["cwd"],
            "glob": ["directory"],
            "grep": ["directory", "path"],
            "list_dir": ["directory"],
            "read_file": ["filepath"],
            "update_file": ["filepath"],
            "write_file": ["filepath"],
            "research_codebase": ["directories"],
        },
        "tunacode-0.2": {
            "bash": ["cwd"],
            "discover": ["directory"],
            "hashline_edit": ["filepath"],
            "read_file": ["filepath"],
            "write_file": ["filepath"],
        },
    }


def test_tunacode_asks_with_the_tools_that_its_recordings_answered(tunacode: Suite) -> None:
    """Eight tools, each described, their parameters not: so the mini harness asked."""
    whole = load_catalogue("tunacode-2025-12")
    assert list(tunacode.tools) == [
        "bash", "glob", "grep", "list_dir", "read_file", "update_file", "web_fetch", "write_file",
    ]  # fmt: skip
    for name, spec in tunacode.tools.items():
        drift = find_drift(spec, whole[name])
        assert not drift
        assert {change.place.rpartition(".")[2] for change in drift.changes} == {"description"}
        assert all(change.ours is ... for change in drift.changes)
        assert (spec.description, spec.paths) == (whole[name].description, whole[name].paths)
    assert tunacode.digest == DIGEST


def test_tunacode_has_the_promised_counts(tunacode: Suite) -> None:
    expectations = [scenario.expect for scenario in tunacode.scenarios]
    several = [e for e in expectations if len(e.calls or e.tools or ()) >= 2]
    tools = Counter(call.name for e in expectations for call in e.calls or ())
    assert len(expectations) >= 120
    assert sum(e.none for e in expectations) >= 20
    assert len(several) >= 8
    assert {e.match for e in several} >= {"any_order", "in_order"}
    assert sum(e.tools is not None for e in expectations) >= 2
    assert tools.keys() == tunacode.tools.keys()
    assert min(tools.values()) >= 8


def test_every_kind_of_difficulty_is_there_more_than_once(tunacode: Suite) -> None:
    tags = Counter(tag for scenario in tunacode.scenarios for tag in scenario.tags)
    assert tags.keys() == KINDS | tunacode.tools.keys()
    assert min(tags.values()) >= 8


def test_tags_say_what_is_expected(tunacode: Suite) -> None:
    for scenario in tunacode.scenarios:
        expect = scenario.expect
        names = {call.name for call in expect.calls or ()} | set(expect.tools or ())
        assert set(scenario.tags) & tunacode.tools.keys() == names, scenario.id
        assert ("no-call" in scenario.tags) == expect.none, scenario.id
        assert ("parallel" in scenario.tags) == (len(expect.calls or expect.tools or ()) > 1), (
            scenario.id
        )


def test_the_optional_arguments_that_matter_are_asked_for(tunacode: Suite) -> None:
    asked = {
        (call.name, argument)
        for scenario in tunacode.scenarios
        for call in scenario.expect.calls or ()
        for argument in call.arguments
    }
    wanted = {
        "bash": "timeout cwd env capture_output",
        "glob": "directory include_hidden max_results recursive exclude_dirs",
        "grep": "case_sensitive use_regex context_lines include_files max_results path",
        "list_dir": "show_hidden max_files ignore",
        "read_file": "offset limit",
        "web_fetch": "timeout",
    }
    assert {(tool, name) for tool, names in wanted.items() for name in names.split()} <= asked


def test_ids_are_readable(tunacode: Suite) -> None:
    for scenario in tunacode.scenarios:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", scenario.id)


@pytest.mark.parametrize(("name", "most"), [("tunacode", 0.75), ("everyday", 0.7)])
def test_no_two_prompts_are_nearly_the_same(name: str, most: float) -> None:
    scenarios = load_suite(name).scenarios
    words = {s.id: set(re.findall(r"\w+", s.prompt.casefold())) for s in scenarios}
    near = [
        (one, other)
        for one, other in combinations(words, 2)
        if len(words[one] & words[other]) > most * len(words[one] | words[other])
    ]
    assert near == []


def test_what_has_to_be_copied_stands_in_the_prompt(tunacode: Suite) -> None:
    """An argument that a prompt does not name could only be guessed; two are common knowledge."""
    guessed = [
        (scenario.id, text)
        for scenario in tunacode.scenarios
        for call in scenario.expect.calls or ()
        for text in spellings(call.arguments)
        if not stands_in(text, scenario)
    ]
    assert [where for where, _ in guessed] == ["glob-python-files", "glob-name-not-content"]


def stands_in(spelled: list[str], scenario: Scenario) -> bool:
    """All lines of one of the spellings; what is below the root of the project needs no word."""
    escaped = scenario.prompt.replace('\\"', '"')
    return any(
        all(line.strip() in scenario.prompt + escaped for line in text.split("\n")) or text == "."
        for text in spelled
    )


def spellings(value: JsonValue) -> list[list[str]]:
    """Each string in the arguments, with the other spellings that are right."""
    match value:
        case str():
            return [[value]]
        case {"$any_of": [str(), *_] as texts}:
            return [texts]
        case {"$any_of": [first, *_]}:
            return spellings(first)
        case dict():
            return [one for item in value.values() for one in spellings(item)]
        case list():
            return [one for item in value for one in spellings(item)]
    return []


def test_a_reply_that_does_what_is_expected_passes(tunacode: Suite) -> None:
    """No expectation of ours is out of reach."""
    for scenario in tunacode.scenarios:
        calls = [
            ToolCall(call.name, {key: first(value) for key, value in call.arguments.items()})
            for call in scenario.expect.calls or ()
        ] or [ToolCall(name, {}) for name in scenario.expect.tools or ()]
        for profile in ("tunacode", "strict"):
            verdict = match(scenario.expect, calls, profile=profile, tools=tunacode.tools)
            assert verdict.ok, (scenario.id, verdict.reason)


def first(value: JsonValue) -> JsonValue:
    return value["$any_of"][0] if isinstance(value, dict) and "$any_of" in value else value


def test_the_system_prompt_describes_no_wire_format_and_no_tool(tunacode: Suite) -> None:
    assert 0 < len(tunacode.system_prompt) < 1000
    assert not re.search(
        r"[{}<>]|json|xml|tag|argument name", tunacode.system_prompt, re.IGNORECASE
    )
    for tool in tunacode.tools.keys() - {"bash"}:
        assert tool not in tunacode.system_prompt


def test_an_id_is_of_one_question_in_all_suites() -> None:
    """For a recording answers a scenario by its id."""
    prompts: dict[str, set[str]] = {}
    for name in suite_names():
        for scenario in load_suite(name).scenarios:
            prompts.setdefault(scenario.id, set()).add(scenario.prompt)
    assert [one for one, asked in prompts.items() if len(asked) > 1] == []


def test_smoke_is_twelve_of_tunacode_with_every_tool(tunacode: Suite) -> None:
    smoke = load_suite("smoke")
    assert len(smoke.scenarios) == 12
    assert all(scenario in tunacode.scenarios for scenario in smoke.scenarios)
    assert {tag for s in smoke.scenarios for tag in s.tags} >= tunacode.tools.keys()
    assert sum(s.expect.none for s in smoke.scenarios) == 2
    assert [len(s.expect.calls or ()) for s in smoke.scenarios].count(2) == 1
    assert smoke.system_prompt == tunacode.system_prompt
    assert smoke.digest != tunacode.digest


def test_every_suite_is_told_in_one_line() -> None:
    assert (
        tuple(about_suites())
        == suite_names()
        == (
            "everyday",
            "repair-tasks",
            "smoke",
            "tunacode",
        )
    )
    assert all("\n" not in line and 20 < len(line) < 90 for line in about_suites().values())
