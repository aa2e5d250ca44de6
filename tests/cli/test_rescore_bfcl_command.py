"""`tunaeval rescore --from bfcl`, and suites of BFCL without its data, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tuna
from tests.runs.bfcl_folders import (
    write_package,
    write_prompts,
    write_results,
    write_scores,
)

REPAIRED = "[{'name': 'area.of', 'arguments': {'base': 0}}]"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two models: one that passes both here and one of them there, one that says nothing."""
    write_prompts(tmp_path / "prompts", "v3", "simple", 2)
    results = write_results(tmp_path, "v3", "simple", [REPAIRED, "[area.of(base=1)]"], "good")
    write_scores(results, ["simple_0"], 2)
    write_results(tmp_path, "v3", "simple", ["Well."] * 2, "mute")
    write_results(tmp_path, "v3", "java", ["Well."], "mute")
    return tmp_path


RESCORE = ("rescore", "--from", "bfcl", ".", "--prompts", "prompts")


def test_models_are_listed_with_bfcls_verdict(here: Tuna, folder: Path) -> None:
    done = here(*RESCORE)
    assert (done.returncode, folder.is_dir()) == (0, True)
    good, mute = (line.split() for line in done.stdout.splitlines()[1:3])
    assert good[:8] == ["good", "2", "50.0", "100.0", "100.0", "50.0", "1", "0"]
    assert mute[:8] == ["mute", "2", "0.0", "0.0", "0.0", "-", "-", "-"]
    assert "single-quotes 1" in done.stdout
    assert done.stderr.splitlines() == [
        "tunaeval: not judged here, because it is no single turn in Python: java"
    ]


def test_machines_are_told_all_of_it(here: Tuna, folder: Path) -> None:
    assert folder.is_dir()
    good, mute = json.loads(here(*RESCORE, "--json").stdout)["models"]
    assert good["summary"]["levels"]["strict"]["passed"] == 1
    assert good["bfcl"] == {
        "passed": 1, "total": 2, "passed_here_alone": 1, "passed_there_alone": 0,
    }  # fmt: skip
    assert (mute["categories"], mute["left_out"]) == ({"simple": 2}, ["java"])


def test_what_does_not_fit_makes_the_exit_code_2(here: Tuna, folder: Path) -> None:
    write_results(folder, "v3", "simple", ["Well."] * 3, "mute")
    done = here(*RESCORE)
    assert done.returncode == 2
    assert "line 3: there is no prompt '2' of simple" in done.stderr
    assert len(done.stdout.splitlines()) == 7, "what was read is counted all the same"


def test_a_level_and_a_format_are_given(here: Tuna, folder: Path) -> None:
    assert folder.is_dir()
    done = here(*RESCORE, "--level", "strict", "--format", "hermes", "--json")
    assert json.loads(done.stdout)["models"][0]["summary"]["final"]["passed"] == 0
    assert here(*RESCORE, "--format", "hermess").returncode == 2


@pytest.mark.parametrize("option", ["--suite", "--out", "--profile", "--bfcl", "--calls"])
def test_options_for_runs_are_refused(option: str, here: Tuna, folder: Path) -> None:
    assert folder.is_dir()
    done = here(*RESCORE, option, "any")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{option} is for runs of tunaeval" in done.stderr


def test_prompts_are_for_results_of_bfcl(here: Tuna) -> None:
    done = here("rescore", "runs/x", "--prompts", "prompts")
    assert done.returncode == 2
    assert "--prompts is for results of BFCL" in done.stderr


def test_a_folder_without_results_is_said(here: Tuna, tmp_path: Path) -> None:
    write_prompts(tmp_path / "prompts", "v3", "simple", 1)
    done = here(*RESCORE)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there are no results of BFCL below this path" in done.stderr


def test_without_the_data_of_many_turns_a_run_names_both_commands(
    tuna: Tuna, tmp_path: Path
) -> None:
    site = write_package(tmp_path / "site")
    for category in ("base", "miss_func"):
        done = tuna("run", "--suite", f"bfcl:multi_turn_{category}", path=site)
        assert done.returncode == 2
        assert "pip install --no-deps bfcl-eval" in done.stderr
        assert "pip install 'tunaeval[bfcl]'" in done.stderr
        assert done.stdout == ""
