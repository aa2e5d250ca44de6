"""A prompt that speaks of other arguments than the tool takes is found out."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval import Drift, ToolPrompt, ToolSpec, find_drift

PROMPTS = Path(__file__).parent / "prompts"


def update_file(filepath: str, target: str, patch: str) -> str:
    return f"{filepath}{target}{patch}"


def spec_of(*names: str, **schemas: object) -> ToolSpec:
    properties = {**{name: {"type": "string"} for name in names}, **schemas}
    return ToolSpec("edit", "", {"type": "object", "properties": properties})


def strays(text: str, *names: str, **schemas: object) -> list[tuple[str, str]]:
    drift = find_drift(spec_of(*names, **schemas), ToolPrompt(text))
    return [(mention.name, mention.evidence) for mention in drift.only_in_prompt]


def test_the_prompt_of_update_file_speaks_of_another_tool() -> None:
    drift = find_drift(update_file, PROMPTS / "update_file_prompt.xml", tools=["read_file"])
    assert [(one.name, one.line, one.evidence) for one in drift.only_in_prompt] == [
        ("old_string", 4, "snake case"),
        ("new_string", 4, "snake case"),
        ("replace_all", 6, "assignment"),
    ]
    assert drift.only_in_schema == ("filepath", "target", "patch")
    assert drift
    assert "update_file: line 4 names 'old_string' (snake case), which it does not" in str(drift)


def test_a_parameter_element_that_the_tool_lacks_is_drift() -> None:
    drift = find_drift(spec_of("plans", "reason"), PROMPTS / "exit_plan_mode_prompt.xml")
    (only,) = drift.only_in_prompt
    assert (only.name, only.line, only.evidence) == ("plan", 8, "parameter element")
    assert only.near == ("plans",)
    assert drift.only_in_schema == ("plans",)
    assert str(drift).endswith("did you mean 'plans'?")


def test_a_tool_is_held_against_its_own_description() -> None:
    def find(pattern: str) -> None:
        """Find `patern` with max_results=3."""

    mentions = find_drift(find).only_in_prompt
    assert [(one.name, one.near) for one in mentions] == [
        ("patern", ("pattern",)),
        ("max_results", ()),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Set limit=3.", [("limit", "assignment")]),
        ('Replace: line="2:f1", new="x"', [("line", "assignment"), ("new", "assignment")]),
        ('{"old_text": "x"}', [("old_text", "key")]),
        ("- query (required): what", [("query", "list")]),
        ("* query (string): what", [("query", "list")]),
        ("Give `file_path`.", [("file_path", "snake case")]),
        ("Give `path`.", [("path", "backticks")]),
    ],
)
def test_an_argument_is_named_in_many_ways(text: str, found: list[tuple[str, str]]) -> None:
    assert strays(text, "filepath", "target") == found


@pytest.mark.parametrize(
    "text",
    [
        "Modes are \"files_with_matches\" and 'all_files'.",
        "See docs/old_notes.md, my_module.name and call do_this() with --no_color=1 and $a_b.",
        "Set PATH=x in the environment; a == b.",
        "Use `git` or `ls`, and edit the filepath (an absolute one).",
        "Open http://localhost/?page=2&old_size=3",
        'Lines are tagged "line_number:hash|content".',
        "Prefer glob (fast), then the target.",
        "",
    ],
)
def test_values_files_functions_and_variables_are_no_arguments(text: str) -> None:
    assert strays(text, "filepath", "target") == []


def test_what_a_schema_knows_is_no_stray_name() -> None:
    operation = {"enum": ["replace_range", "insert_after"], "default": "insert_after"}
    nested = {"type": "object", "properties": {"line_count": {"type": "integer"}}}
    text = "- replace_range: takes line_count=3; see insert_after and edit_all."
    assert strays(text, operation=operation, lines=nested) == [("edit_all", "snake case")]


@given(st.lists(st.sampled_from(["old_name", "new_name", "kind", "count_all"]), unique=True))
def test_a_prompt_that_names_the_parameters_has_no_drift(names: list[str]) -> None:
    text = "\n".join(f"- {name} (required): see `{name}` and {name}=1" for name in names)
    assert find_drift(spec_of(*names), ToolPrompt(text)) == Drift("edit")


@given(st.text() | st.text("ab_=\"'`(-:. \n"), st.lists(st.text(max_size=4), max_size=3))
def test_no_text_raises(text: str, names: list[str]) -> None:
    drift = find_drift(spec_of(*names), ToolPrompt(text))
    known = {one.name for one in drift.only_in_prompt}
    assert not known & set(names)
    assert str(drift).count("line ") >= len(known)


@pytest.mark.parametrize("flood", ['"', "a_b ", "a (", "`ab` ", "a=", "_", "a_"])
def test_four_times_the_text_takes_about_four_times_the_time(flood: str) -> None:
    def seconds(count: int) -> float:
        prompt, begun = ToolPrompt(flood * count), process_time()
        find_drift(spec_of("filepath", "target"), prompt)
        return process_time() - begun

    small, large = (min(seconds(count) for _ in range(3)) for count in (5_000, 20_000))
    assert large < 8 * small + 0.01  # sixteen times, if it were quadratic
