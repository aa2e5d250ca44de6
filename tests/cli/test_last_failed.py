"""`--lf` asks what did not pass last time, and `-x` nothing after the first failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import ANSWERS, Tuna
from tests.cli.test_matrix import Models, matrix_of, models, numbers
from tunaeval.runs.directory import load_report, runs_below

__all__ = ["models", "numbers"]


def asked(here: Tuna, suite: str, *more: str) -> tuple[int, str, list[str]]:
    """Run the suite again; return the exit code, stderr, and the scenarios of the newest run."""
    done = here("run", "--suite", suite, "--client", "scripted", "--recording", "replies.jsonl",
                "--attempts", "1", "--concurrency", "1", *more)  # fmt: skip
    found = load_report(runs_below(Path("runs"))[-1])
    return done.returncode, done.stderr, [one.scenario for one in found.results]


@pytest.mark.usefixtures("ended")
def test_the_scenarios_without_pass_are_asked_again(here: Tuna, suite: str, tmp_path: Path) -> None:
    first = runs_below(Path("runs"))[-1]
    replies = [json.dumps(ANSWERS["List src."]), json.dumps(ANSWERS["Run ls."])]
    (tmp_path / "replies.jsonl").write_text("\n".join(replies))
    code, said, scenarios = asked(here, suite, "--lf")
    assert (code, scenarios) == (0, ["list", "run"])
    assert f"tunaeval: 2 of 4 did not pass in {first}\n" in said
    again = asked(here, suite, "--last-failed", "--id", "run")
    assert (again[0], again[2]) == (0, ["run"])


def test_without_a_run_or_a_failure_all_are_asked(here: Tuna, suite: str, tmp_path: Path) -> None:
    right = ['<tools>{"name": "read_file", "arguments": {"filepath": "a.txt"}}</tools>'] * 4
    (tmp_path / "replies.jsonl").write_text("\n".join(map(json.dumps, right)))
    code, said, scenarios = asked(here, suite, "--lf", "--id", "read")
    assert (code, scenarios) == (0, ["read"])
    assert "tunaeval: there is no run of 'four' below runs, so all are asked\n" in said
    _, said, scenarios = asked(here, suite, "--lf", "--id", "read")
    assert scenarios == ["read"]
    assert ", so all are asked\n" in said


def test_what_failed_in_any_cell_of_a_matrix_is_asked(
    here: Tuna, models: Models, numbers: str, tmp_path: Path
) -> None:
    both = ("--base-url", models.url, "--model", "good", "--model", "poor", "--suite", numbers)
    here("run", *both, "--limit", "3")
    first = matrix_of(tmp_path).relative_to(tmp_path)
    models.asked.clear()
    done = here("run", *both, "--lf")
    assert f"tunaeval: 3 of 24 did not pass in {first}\n" in done.stderr
    assert {prompt for _, _, prompt in models.asked} == {"Add 0.", "Add 1.", "Add 2."}


def test_lf_and_resume_contradict_each_other(here: Tuna, suite: str, ended: Path) -> None:
    done = here("run", "--suite", suite, "--lf", "--resume", str(ended))
    assert done.returncode == 2
    assert "--lf begins a new run" in done.stderr


@pytest.mark.usefixtures("ended")
def test_x_asks_nothing_after_the_first_failure(here: Tuna, suite: str, tmp_path: Path) -> None:
    (tmp_path / "replies.jsonl").write_text("\n".join(map(json.dumps, ANSWERS.values())))
    done = here("run", "--suite", suite, "--client", "scripted", "--recording", "replies.jsonl",
                "--attempts", "1", "--concurrency", "1", "-x", "--out", "stopped")  # fmt: skip
    assert done.returncode == 1
    assert "FAIL  list" in done.stdout
    assert "%" not in done.stdout
    assert "the run ended at its first failed scenario (-x): 2 of 4 results" in done.stderr
    (kept,) = Path("stopped").iterdir()
    report = load_report(kept)
    assert [one.scenario for one in report.results] == ["read", "list"]
    assert report.interrupted
    again = here("run", "--suite", suite, "--client", "scripted", "--recording", "replies.jsonl",
                 "--attempts", "1", "--out", "stopped", "--lf", "--quiet")  # fmt: skip
    assert "3 of 4 did not pass" in again.stderr, "what was not asked has no PASS"


def test_x_of_a_last_scenario_exits_with_1_and_has_a_score(
    here: Tuna, suite: str, tmp_path: Path
) -> None:
    (tmp_path / "replies.jsonl").write_text(json.dumps("I cannot."))
    code, _, scenarios = asked(here, suite, "-x", "--id", "list")
    assert (code, scenarios) == (1, ["list"])


def test_x_ends_all_cells_of_a_matrix(here: Tuna, models: Models, numbers: str) -> None:
    models.pause_seconds = 0.05
    done = here("run", "--suite", numbers, "--base-url", models.url, "--model", "good",
                "--model", "poor", "-x", "--concurrency", "2")  # fmt: skip
    assert done.returncode == 1
    assert len(models.asked) < 12
    assert "FAIL" in done.stdout
    assert "%" not in done.stdout
