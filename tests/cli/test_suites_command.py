"""`tunaeval suites check` and `renamed`, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tuna


def written(folder: Path, *expects: dict[str, Any]) -> str:
    rows = [
        {"id": f"s{number}", "prompt": "Do it.", "expect": expect}
        for number, expect in enumerate(expects, 1)
    ]
    (folder / "mine.json").write_text(json.dumps(rows))
    return "mine.json"


def bash(**arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": "bash", "arguments": arguments}]}


@pytest.mark.parametrize("profile", ["tunacode", "strict"])
@pytest.mark.parametrize("name", ["tunacode", "smoke"])
def test_the_built_in_suites_can_be_passed(here: Tuna, name: str, profile: str) -> None:
    done = here("suites", "check", name, "--profile", profile)
    assert (done.returncode, done.stdout) == (0, "")
    assert "0 fail their own answer" in done.stderr


def test_a_scenario_that_its_own_answer_fails_is_an_error(here: Tuna, tmp_path: Path) -> None:
    two = {"calls": [*bash(command="a")["calls"], *bash(command="b")["calls"]], "max_calls": 1}
    file = written(tmp_path, bash(command="ls"), two)
    done = here("suites", "check", file)
    assert done.returncode == 1
    assert "s2  fails its own answer  wanted at most 1 call, got 2" in done.stdout
    assert "2 scenarios, 1 fail their own answer under strict" in done.stderr


def test_an_argument_that_is_required_and_not_expected_fails_where_extras_do(
    here: Tuna, tmp_path: Path
) -> None:
    file = written(tmp_path, bash(timeout=5))
    assert here("suites", "check", file, "--profile", "tunacode").returncode == 0
    told = here("suites", "check", file, "--json")
    assert told.returncode == 1
    (doubt,) = json.loads(told.stdout)["doubts"]
    assert (doubt["id"], doubt["reason"]) == ("s1", "command='a' was not expected")


def test_no_answer_found_is_no_error(here: Tuna, tmp_path: Path) -> None:
    done = here("suites", "check", written(tmp_path, bash(command={"$regex": "a^b"})))
    assert done.returncode == 0
    assert "no answer found" in done.stdout


def test_gold_with_an_unknown_tool_or_type_is_named(here: Tuna, tmp_path: Path) -> None:
    unknown = here("suites", "check", written(tmp_path, {"tools": ["bsh"]}))
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "scenario 1, expect.tools[0]: no tool is called 'bsh'" in unknown.stderr
    wrong = here("suites", "check", written(tmp_path, bash(command=["ls"])))
    assert wrong.returncode == 2
    assert "expect.calls[0].arguments.command" in wrong.stderr


def test_more_words_than_are_known_are_wrong_use(here: Tuna) -> None:
    done = here("suites", "check", "smoke", "tunacode")
    assert done.returncode == 2
    assert "found 'check smoke tunacode'" in done.stderr


def test_a_suite_is_renamed_into_a_file(here: Tuna, tmp_path: Path) -> None:
    done = here("suites", "renamed", "smoke", "--seed", "3", "-o", "new.jsonl")
    assert (done.returncode, done.stdout) == (0, "")
    assert "smoke-renamed-3: 12 scenarios in new.jsonl" in done.stderr
    assert here("suites", "check", "new.jsonl", "--profile", "strict").returncode == 0
    again = here("suites", "renamed", "smoke", "-o", "new.jsonl")
    assert (again.returncode, "File exists" in again.stderr) == (2, True)
    assert here("suites", "renamed", "smoke").returncode == 2
    assert [path.name for path in tmp_path.iterdir()] == ["new.jsonl"]
