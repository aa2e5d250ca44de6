"""The parts of a suite that are trained on and tested, and runs that were trained on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.runs.tasks import TASK, report_of, scripted, suite_of
from tests.runs.whole_runs import Answers
from tunaeval.cli import main
from tunaeval.errors import SuiteError, UnknownNameError
from tunaeval.runs.trl import environment
from tunaeval.types.runs import Expectation, Scenario, Suite

NAMES = st.lists(st.text("abc-19", min_size=1, max_size=6), min_size=1, max_size=30, unique=True)


def suite(*scenarios: Scenario) -> Suite:
    return Suite(name="own", scenarios=scenarios, tools=tunaeval.Tools(), system_prompt="")


def asked(name: str, group: str | None = None) -> Scenario:
    return Scenario(id=name, prompt="?", expect=Expectation(none=True), group=group)


def ids(found: Suite, part: str) -> set[str]:
    try:
        return {one.id for one in found.split(part).scenarios}  # type: ignore[arg-type] # to be refused
    except SuiteError:
        return set()


@given(names=NAMES, others=NAMES)
def test_a_part_does_not_depend_on_what_else_is_in_the_suite(
    names: Sequence[str], others: Sequence[str]
) -> None:
    alone = suite(*map(asked, names))
    both = suite(*map(asked, dict.fromkeys([*others, *names])))
    train, test = ids(alone, "train"), ids(alone, "test")
    assert train | test == set(names)
    assert not train & test
    assert train == ids(both, "train") & set(names)


def test_a_group_is_in_one_part() -> None:
    found = suite(*(asked(f"s{n}", f"g{n % 7}") for n in range(70)))
    groups = [{one.group for one in found.split(part).scenarios} for part in ("train", "test")]
    assert not groups[0] & groups[1]


def test_four_fifths_are_trained_on() -> None:
    found = suite(*(asked(f"s{n}") for n in range(5000)))
    assert 3900 < len(found.split("train").scenarios) < 4100


def test_another_part_and_an_empty_one_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="part of a suite"):
        suite(asked("a")).split("dev")  # type: ignore[arg-type] # to be refused
    (empty,) = {"train", "test"} - {one for one in ("train", "test") if ids(suite(asked("a")), one)}
    with pytest.raises(SuiteError, match=f"none of 1 scenario is in the part '{empty}'"):
        suite(asked("a")).split(empty)  # type: ignore[arg-type] # to be refused


def test_a_run_says_which_part_it_asked(tmp_path: Path) -> None:
    found = tunaeval.load_suite("smoke")
    report = tunaeval.run(found, client=Answers(lambda _: "No."), split="test", out=tmp_path)
    assert report.run.split == "test"
    assert {one.scenario for one in report.results} == ids(found, "test")
    kept = json.loads(next(tmp_path.glob("*/run.json")).read_text())
    assert kept["split"] == "test"
    assert report_of(found, scripted("No.")).run.split is None


def replies(path: Path) -> list[str]:
    script = path / "script.jsonl"
    script.write_text('"No."\n' * 40)
    return ["--client", "scripted", "--recording", str(script), "--out", str(path / "runs")]


def test_a_shell_asks_one_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--suite", "smoke", "--split", "test", "--json", *replies(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["run"]["split"] == "test"
    assert found["summary"]["scenarios"] == len(ids(tunaeval.load_suite("smoke"), "test"))


def trained_on(suite: Suite, path: Path) -> Path:
    found = environment(suite, trained_on=path / "trained.jsonl")
    for row in found.rows[:3]:
        found.factory().reset(**row)
    return path / "trained.jsonl"


def test_what_was_trained_on_is_not_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = trained_on(tunaeval.load_suite("smoke"), tmp_path)
    words = ["run", "--suite", "smoke", "--trained-on", str(file), *replies(tmp_path)]
    assert main(words) == 2
    assert "3 of 12 scenarios" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()
    assert main([*words, "--split", "test"]) == 0


def test_a_question_is_known_under_another_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = suite_of(tmp_path, {**TASK}, prompt="Repair add, and nothing else")
    file = trained_on(first.with_(name="first"), tmp_path) if ids(first, "train") else None
    assert file is not None
    renamed = json.loads((tmp_path / "tasks.json").read_text())
    renamed["scenarios"][0]["id"] = "other"
    (tmp_path / "other.json").write_text(json.dumps(renamed))
    words = ["run", "--suite", str(tmp_path / "other.json"), "--trained-on", str(file)]
    assert main([*words, *replies(tmp_path)]) == 2
    assert "1 of 1 scenario" in capsys.readouterr().err


@pytest.mark.parametrize("content", [None, "no json\n", "[]\n", '{"scenario": 3}\n'])
def test_a_file_that_says_nothing_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None
) -> None:
    file = tmp_path / "trained.jsonl"
    if content is not None:
        file.write_text(content)
    words = ["run", "--suite", "smoke", "--trained-on", str(file), *replies(tmp_path)]
    assert main(words) == 2
    assert "trained.jsonl" in capsys.readouterr().err
