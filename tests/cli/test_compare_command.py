"""`tunaeval compare`: two runs in directories, their difference, and a gate for a pull request."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import tunaeval
from tests.cli.conftest import Tuna
from tunaeval.errors import RecordError
from tunaeval.runs.directory import RUN_FILE, load_report

FREE_TEXT = ("--recording", "smollm2-135m-free-text", "--suite", "smoke", "--quiet")


@pytest.fixture
def runs(here: Tuna, tmp_path: Path) -> list[str]:
    """The packaged replies of a small model, read by two profiles of attempts."""
    for attempts in ("2", "1"):
        out = f"runs-{attempts}"
        done = here("run", *FREE_TEXT, "--repeats", "4", "--attempts", attempts, "--out", out)
        assert done.returncode == 0
    return [
        str(next((tmp_path / f"runs-{attempts}").iterdir()).relative_to(tmp_path))
        for attempts in ("2", "1")
    ]


def test_a_comparison_says_what_differs_and_by_how_much(here: Tuna, runs: list[str]) -> None:
    done = here("compare", *runs)
    assert done.returncode == 0
    assert "attempts: 2 in A, 1 in B" in done.stdout
    assert "12 scenarios paired at level standard" in done.stdout
    assert "no model was run" in done.stdout.splitlines()[0]


def test_directories_compare_as_their_reports_do(
    here: Tuna, runs: list[str], tmp_path: Path
) -> None:
    told = json.loads(here("compare", *runs, "--json").stdout)["comparisons"][0]
    paths = [tmp_path / run for run in runs]
    found = tunaeval.compare(load_report(paths[0]), paths[1])
    assert told["overall"]["p"] == found.overall.p
    assert told["overall"]["scenarios"] == found.overall.scenarios == 12
    assert told["left_out"] == found.left_out == {}


def test_the_gate_is_shut_while_the_interval_reaches_below_the_margin(
    here: Tuna, runs: list[str]
) -> None:
    done = here("compare", *runs, "--fail-if-worse", "2%", "--markdown")
    assert done.returncode == 1
    assert "may be worse by 2 points or more" in done.stderr
    assert done.stdout.startswith("## Comparison")
    assert here("compare", *runs, "--fail-if-worse", "50%").returncode == 0


def test_three_runs_are_two_comparisons(here: Tuna, runs: list[str]) -> None:
    done = here("compare", *runs, runs[0], "--json")
    assert len(json.loads(done.stdout)["comparisons"]) == 2
    plain = here("compare", *runs, runs[0], "--fail-if-worse", "50%").stdout
    assert plain.count("\nB: ") == plain.count("\nC: ") == 1
    assert "C - A" in plain
    assert "C is surely not worse than A" in plain


def test_a_folder_of_one_run_is_that_run_and_of_several_only_the_latest_if_asked(
    here: Tuna, runs: list[str], tmp_path: Path
) -> None:
    done = here("compare", "runs-2", "runs-1")
    assert done.returncode == 0
    assert "attempts: 2 in A, 1 in B" in done.stdout
    assert f"in runs-1: run {Path(runs[1]).name}" in done.stderr
    assert here("show", "runs-1").stdout == here("show", runs[1]).stdout
    shutil.copytree(tmp_path / runs[0], tmp_path / "runs-1" / "0-stale")
    refused = here("compare", "runs-2", "runs-1")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert (
        f"runs-1 contains 2 runs, and one is wanted; name it, or give --latest for {runs[1]}"
        in (refused.stderr)
    )
    assert here("compare", "runs-2", "runs-1", "--latest").stdout == done.stdout


def test_runs_of_other_suites_are_refused(here: Tuna, runs: list[str], tmp_path: Path) -> None:
    whole_suite = ("--suite", "tunacode", "--recording", "smollm2-135m-constrained")
    here("run", *whole_suite, "--quiet", "--out", "whole")
    whole = str(next((tmp_path / "whole").iterdir()))
    done = here("compare", runs[0], whole)
    assert done.returncode == 2
    assert "another suite" in done.stderr
    met = here("compare", runs[0], whole, "--intersect", "--different-prompts")
    assert met.returncode == 0
    assert "mind: another suite" in met.stdout
    assert "144 only in the second run" in met.stdout


@pytest.mark.parametrize("arguments", [(), ("nowhere", "nowhere"), ("--flips", "-1", "a", "b")])
def test_wrong_use_is_told(here: Tuna, arguments: tuple[str, ...]) -> None:
    done = here("compare", *arguments)
    assert (done.returncode, done.stdout) == (2, "")


def test_one_run_alone_is_not_compared(here: Tuna, runs: list[str]) -> None:
    done = here("compare", runs[0])
    assert done.returncode == 2
    assert "wanted two or more" in done.stderr


def test_records_of_another_schema_are_refused(runs: list[str], tmp_path: Path) -> None:
    file = tmp_path / runs[0] / RUN_FILE
    file.write_text(file.read_text().replace('"schema_version": 2', '"schema_version": 0'))
    with pytest.raises(RecordError, match="schema_version is 0, this tunaeval reads 2; "):
        tunaeval.compare(tmp_path / runs[0], tmp_path / runs[1])
