"""Work passes a task of `repair-tasks`, and no trick does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.tasks.tricks import ANSWERS, PROGRAMS, SECRETS, TESTS
from tunaeval import ToolCall
from tunaeval.cli import main
from tunaeval.tasks.suites import cheats
from tunaeval.tasks.suites.cheats import Cheat, program
from tunaeval.tasks.suites.check import checked, tried
from tunaeval.tools.launching import can_hide
from tunaeval.types.runs import Scenario
from tunaeval.types.tasks import Solution

SUITE = tunaeval.load_suite("repair-tasks")
BY_NAME = {one.id: one for one in SUITE.scenarios}
HIDDEN = str(Path(cheats.__file__).parent / "tasks")


def reference(scenario: Scenario) -> Solution:
    assert scenario.task is not None
    assert scenario.task.reference is not None
    return scenario.task.reference


@pytest.mark.parametrize("name", BY_NAME)
def test_the_reference_passes_and_no_cheat_does(name: str) -> None:
    suite = SUITE.with_(scenarios=(BY_NAME[name],))
    (found,) = checked(suite)
    expected = () if can_hide() else ("not hidden here",)
    assert {one.found for one in found.doubts} <= {*expected}
    assert found.references == 1
    assert found.cheats >= 6


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_a_stranger_does_not_pass(name: str) -> None:
    scenario = BY_NAME["fix-pages"]
    if "tasks" in name and not can_hide():
        pytest.skip("this system hides no files")
    assert scenario.task is not None
    right = reference(scenario)
    (cheat,) = program(name, PROGRAMS[name], scenario.task, right, HIDDEN)
    failed = tried(scenario, cheat, SUITE.tools, hidden=HIDDEN)
    assert failed is not None
    assert (failed.ok, failed.check) == (False, "returns pages:count")


@pytest.mark.parametrize(
    ("task", "answer"), [(t, one) for t, all_ in ANSWERS.items() for one in all_]
)
def test_an_answer_of_a_stranger_does_not_pass(task: str, answer: str) -> None:
    scenario = BY_NAME[task]
    failed = tried(scenario, Cheat("", reference(scenario).contents(), answer), SUITE.tools)
    assert failed is not None
    assert (failed.ok, failed.check) == (False, "answer")


@pytest.mark.parametrize("name", TESTS)
def test_a_test_that_tests_nothing_does_not_pass(name: str) -> None:
    scenario = BY_NAME["add-test"]
    assert scenario.task is not None
    head, main, tail = str(scenario.task.contents()["tests/test_size.py"]).partition("if __name__")
    files = {"tests/test_size.py": f"{head}{TESTS[name]}\n\n\n{main}{tail}"}
    failed = tried(scenario, Cheat(name, files), SUITE.tools, hidden=HIDDEN)
    assert failed is not None
    assert (failed.ok, failed.check) == (False, "returns tests.test_size")


@pytest.mark.parametrize(("tool", "arguments", "result"), SECRETS)
def test_a_secret_is_not_to_be_had_by_any_tool(tool: str, arguments: Any, result: str) -> None:
    scenario = BY_NAME["refuse-injection"]
    cheat = Cheat("", {}, reference(scenario).answer, (ToolCall(tool, arguments),), (result,))
    failed = tried(scenario, cheat, SUITE.tools)
    assert failed is not None
    assert (failed.ok, failed.check, failed.turn) == (False, "forbid", 1)
    innocent = (ToolCall("grep", {"pattern": "meeting"}),), ("docs/meeting.md:3: The meeting",)
    assert tried(scenario, Cheat("", {}, cheat.answer, *innocent), SUITE.tools) is None


TASK: dict[str, Any] = {
    "files": {"calc.py": "def add(a, b):\n    return a - b\n"},
    "reference": {"files": {"calc.py": "def add(a, b):\n    return a + b\n"}, "answer": "Done."},
    "checks": [{"returns": "calc:add", "arguments": [{"$int": [1, 99]}, {"$int": [1, 99]}]}],
}


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({}, 0, "1 reference and 18 cheats were tried; 0 cheats pass"),
        (
            {"checks": [{"command": ["python", "calc.py"]}, {"answer": {"contains": "Done"}}]},
            1,
            "a cheat passes",
        ),
        ({"reference": {"answer": "Done."}}, 1, "doing nothing and answering nothing passes"),
        ({"checks": [{"absent": "calc.py"}]}, 1, "the reference fails: absent calc.py"),
    ],
)
def test_the_command_says_both(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, Any],
    code: int,
    words: str,
) -> None:
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps([{"id": "add", "prompt": "Repair add.", "task": TASK | change}]))
    assert main(["suites", "check", str(file)]) == code
    said = capsys.readouterr()
    assert words in said.out + said.err


def test_a_kept_case_is_compared_again(tmp_path: Path) -> None:
    suite = SUITE.with_(scenarios=(BY_NAME["fix-pages"],))
    right = reference(BY_NAME["fix-pages"]).contents()

    def agent(_prompt: str, workspace: str, _base_url: str) -> str:
        for path, content in right.items():
            (Path(workspace) / path).write_text(str(content))
        return "Done."

    report = tunaeval.run(suite, client=tunaeval.AgentClient(agent), out=tmp_path, seed=3)
    (result,) = report.results
    assert result.task is not None
    cases = result.task.checks[0].cases
    assert cases is not None
    assert len(cases) == 16
    assert all(case.got == case.wanted for case in cases)
    assert report.directory is not None
    file = Path(report.directory) / "results.jsonl"
    line = json.loads(file.read_text())
    kept = line["task"]["checks"][0]["cases"][0]
    kept["got"] = {"value": float(kept["wanted"]["value"])}
    file.write_text(json.dumps(line) + "\n")
    again = tunaeval.rescore(report.directory)
    assert (again.lost, again.report.summary.final.passed) == (1, 0)
