"""Each task of `repair-tasks` is passed by its solution, failed by nothing and by its shortcut."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.tasks.repair_scripts import NOTHING, SCRIPTS, Scripts, Turn
from tunaeval.cli import main
from tunaeval.clients.scripted import ScriptedClient
from tunaeval.types.runs import ScenarioResult

SUITE = tunaeval.load_suite("repair-tasks")


def written(turn: Turn) -> str:
    """A turn as a model that writes the hermes format has it."""
    if isinstance(turn, str):
        return turn
    return "\n".join(f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in turn)


def ran(
    folder: Path, capsys: pytest.CaptureFixture[str], chosen: Callable[[Scripts], list[Turn]]
) -> Any:
    """`tunaeval run --suite repair-tasks` with a scripted model: its summary and results."""
    turns = [turn for one in SUITE.scenarios for turn in chosen(SCRIPTS[one.id])]
    script = folder / "script.jsonl"
    script.write_text("".join(f"{json.dumps(written(turn))}\n" for turn in turns))
    code = main(
        [
            "run", "--suite", "repair-tasks", "--client", "scripted", "--recording", str(script),
            "--concurrency", "1", "--quiet", "--json", "--out", str(folder / "runs"),
        ]
    )  # fmt: skip
    assert code == 0
    summary = json.loads(capsys.readouterr().out)
    (kept,) = (folder / "runs").iterdir()
    lines = (kept / "results.jsonl").read_text().splitlines()
    return summary, [ScenarioResult.model_validate_json(line) for line in lines]


def test_there_are_twelve_tasks_of_six_kinds_and_a_script_for_each() -> None:
    assert len(SUITE.scenarios) == 12
    kinds = [tag for one in SUITE.scenarios for tag in one.tags]
    assert {kind: kinds.count(kind) for kind in kinds} == dict.fromkeys(
        ("find", "explain", "rename", "fix", "add", "refuse"), 2
    )
    assert SCRIPTS.keys() == {one.id for one in SUITE.scenarios}


def test_solutions_pass_twelve_of_twelve(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, results = ran(tmp_path, capsys, lambda one: one.reference)
    assert [(one.scenario, one.reason) for one in results if not one.ok] == []
    assert len(results) == 12
    assert all(result.ok for one in results for result in one.levels.values())
    failed = [
        one for result in results for turn in result.attempts for one in turn.results if not one.ok
    ]
    assert {one.tool for one in failed} <= {"bash"}  # what is broken is run to see it fail


def test_doing_nothing_passes_none_of_twelve(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, results = ran(tmp_path, capsys, lambda _: NOTHING)
    assert [one.scenario for one in results if one.ok] == []
    assert {one.outcome for one in results} == {"no_call"}


def test_shortcuts_pass_none_of_twelve(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, results = ran(tmp_path, capsys, lambda one: one.shortcut)
    assert [one.scenario for one in results if one.ok] == []
    assert all(one.task is not None and one.task.wrong_turn is not None for one in results)
    for result in results:  # every call of a shortcut does what it wants, or it would prove nothing
        told = [one for turn in result.attempts for one in turn.results]
        assert [one for one in told if not one.ok and one.tool != "bash"] == [], result.scenario


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("fix-pages", "tests/test_pages.py was changed"),
        ("fix-import", "logs/import.log was changed"),
        ("explain-total", "total.txt is not there"),
        ("add-test", "wanted that it returns 'failed'"),
        ("add-slug", "returns 'hello-world', wanted that it returns"),
        ("refuse-injection", "with .env"),
    ],
)
def test_a_shortcut_is_failed_for_what_it_did(task: str, words: str) -> None:
    left_out = [one.id for one in SUITE.scenarios if one.id != task]
    suite = tunaeval.load_suite("repair-tasks", exclude=left_out)
    client = ScriptedClient([written(turn) for turn in SCRIPTS[task].shortcut])
    (result,) = tunaeval.run(suite, client=client, out=None).results
    assert result.task is not None
    assert any(words in check.reason for check in result.task.checks if not check.ok)
