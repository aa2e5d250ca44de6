"""`tunaeval show` and `report` without a run take the newest; names that nothing has are answered
with the nearest.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Tuna
from tests.cli.test_matrix import Models, matrix_of, models, numbers
from tests.reports.page.made_runs import made_run

__all__ = ["models", "numbers"]


def test_the_newest_run_below_runs_is_shown_and_named(
    here: Tuna, suite: str, ended: Path, tmp_path: Path
) -> None:
    done = here("show")
    assert done.returncode == 0
    assert done.stderr == f"tunaeval: the newest run is {ended.relative_to(tmp_path)}\n"
    assert done.stdout == here("show", str(ended.relative_to(tmp_path))).stdout
    failed = here("show", "--failed")
    assert failed.stderr.startswith(f"tunaeval: the newest run is {Path('runs', ended.name)}\n")
    assert failed.stdout.startswith("FAIL  list  ")
    again = here("run", "--suite", suite, "--client", "scripted", "--recording", "replies.jsonl",
                 "--out", "runs/second", "--attempts", "1", "--quiet")  # fmt: skip
    assert again.returncode == 0, again.stderr
    (newest,) = Path("runs", "second").iterdir()
    assert f"the newest run is {newest}\n" in here("show").stderr, "below runs, in another --out"
    page = here("report", "--html", "-o", "page.html")
    assert (page.returncode, page.stderr) == (0, f"tunaeval: the newest run is {newest}\n")
    assert newest.name in Path("page.html").read_text()


def test_a_damaged_run_is_not_taken_for_the_newest(here: Tuna, ended: Path) -> None:
    for name, text in {"zzz": "{", "yyy": '{"started_at": 3}', "xxx": ""}.items():
        (ended.parent / name).mkdir()
        (ended.parent / name / "run.json").write_text(text)
    done = here("show")
    assert (done.returncode, done.stderr) == (
        0,
        f"tunaeval: the newest run is {Path('runs', ended.name)}\n",
    )


@pytest.mark.parametrize("words", [["show"], ["show", "--failed"], ["report", "--html"]])
def test_without_any_run_the_command_that_makes_one_is_named(here: Tuna, words: list[str]) -> None:
    done = here(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "tunaeval: there is no run below runs/; `tunaeval run` keeps its runs there\n"
    )


def test_the_failures_of_a_matrix_are_listed_by_cell(
    here: Tuna, models: Models, numbers: str, tmp_path: Path
) -> None:
    here("run", "--suite", numbers, "--base-url", models.url, "--model", "good", "--model", "poor")
    done = here("show", "--failed")
    assert f"the newest run is {matrix_of(tmp_path).relative_to(tmp_path)}\n" in done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["01 good:", "02 poor:"]
    assert sum(line.startswith("FAIL  ") for line in lines) == 24
    assert "tunaeval: 01: 0 of 24 results did not pass\n" in done.stderr
    assert "tunaeval: 02: 24 of 24 results did not pass\n" in done.stderr
    found = [json.loads(line) for line in here("show", "--failed", "--json").stdout.splitlines()]
    assert {one["cell"] for one in found} == {"02"}


MISSING = [
    ["run", "--suite", "for.json"],
    ["run", "--client", "scripted", "--recording", "for.json"],
    ["run", "--client", "scripted", "--system-prompt", "for.json"],
    ["run", "--client", "replay", "--recording", "for.json"],
    ["run", "--client", "llamacpp", "--model-file", "for.json"],
    ["run", "--suite", "repair-tasks", "--client", "scripted", "--faults", "for.json"],
    ["run", "--base-url", "https://127.0.0.1:9/v1", "--ca", "for.json"],
    ["run", "--base-url", "https://127.0.0.1:9/v1", "--cert", "for.json"],
    ["suites", "for.json"],
    ["suites", "from-transcript", "for.json", "--turn", "1", "-o", "x.jsonl"],
    ["parse", "for.json"],
    ["parse", "--tools", "for.json", "-"],
    ["convert", "--from", "hermes", "--to", "glm45", "for.json"],
    ["score", "for.json"],
    ["score", "four.json", "--expect", "for.json"],
    ["judge", "calibrate", "for.json"],
    ["dataset", "check", "for.json"],
]


@pytest.mark.usefixtures("suite")
@pytest.mark.parametrize("words", MISSING, ids=" ".join)
def test_a_missing_file_has_one_wording_that_names_the_nearest(
    here: Tuna, words: list[str]
) -> None:
    done = here(*words)
    assert (done.returncode, done.stdout) == (2, "")
    said = re.search(r"for\.json\S* (.*)\n\Z", done.stderr)
    assert said is not None, done.stderr
    wanted = "cannot be read: No such file or directory; did you mean 'four.json'?"
    assert said[1].removeprefix("which ") == wanted


@pytest.mark.parametrize("words", ["show", "report --html", "compare", "rescore", "run --resume"])
def test_a_missing_run_has_one_wording_that_names_the_nearest(
    here: Tuna, tmp_path: Path, words: str
) -> None:
    made = made_run(tmp_path / "runs").relative_to(tmp_path)
    for name in (f"{made}x", "runs/other", "elsewhere"):
        names = [name, str(made)] if words == "compare" else [name]
        done = here(*words.split(), *names)
        assert done.returncode == 2
        assert done.stderr == (f"tunaeval: there is no directory {name}; did you mean {made}?\n")


def test_the_nearest_of_a_missing_folder_is_a_folder(here: Tuna, tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    done = here("run", "--client", "scripted", "--system-prompt", "promts/brief.txt")
    assert "cannot be read: No such file or directory; did you mean 'prompts'?" in done.stderr


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_an_empty_system_prompt_file_is_refused(
    here: Tuna, suite: str, tmp_path: Path, text: str
) -> None:
    (tmp_path / "none.txt").write_text(text)
    words = ("run", "--suite", suite, "--client", "scripted", "--recording", suite)
    done = here(*words, "--system-prompt", "none.txt")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the system prompt 'none.txt' is empty" in done.stderr
    own = {**json.loads((tmp_path / suite).read_text()), "system_prompt_file": "none.txt"}
    (tmp_path / "own.json").write_text(json.dumps(own))
    done = here("suites", "own.json")
    assert (done.returncode, "'none.txt' is empty" in done.stderr) == (2, True)


def test_a_suite_without_tags_says_so(here: Tuna, suite: str) -> None:
    done = here("run", "--suite", suite, "--client", "scripted", "--tag", "x")
    assert done.returncode == 2
    assert "no tag is called 'x'; this suite has no tags\n" in done.stderr
