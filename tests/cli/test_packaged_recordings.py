"""The recordings that the package carries: real replies, of these suites, whole."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tunaeval import load_suite
from tunaeval.clients.replay import read_recording

Tuna = Callable[..., CompletedProcess[str]]

FOLDER = Path(str(files("tunaeval.tasks.suites").joinpath("recordings")))
RECORDINGS = sorted(FOLDER.glob("*.jsonl"))
CONSTRAINED, EVERYDAY = "smollm2-135m-constrained", "smollm2-135m-everyday"
FREE_TEXT = "smollm2-135m-free-text"


def test_they_hold_a_few_hundred_replies() -> None:
    assert [path.stem for path in RECORDINGS] == [CONSTRAINED, EVERYDAY, FREE_TEXT]
    lines = sum(path.read_text("utf-8").count("\n") for path in RECORDINGS)
    assert 400 <= lines - len(RECORDINGS) <= 500


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_they_are_of_the_suites_that_are_shipped(path: Path) -> None:
    run = read_recording(path).run
    assert run.suite_digest == load_suite(run.suite).digest
    assert run.client == "llamacpp"


@pytest.mark.parametrize(
    ("name", "options", "scenarios"),
    [
        (CONSTRAINED, ("--suite", "tunacode"), 156),
        (EVERYDAY, (), 120),
        (FREE_TEXT, ("--suite", "smoke", "--repeats", "4"), 48),
    ],
)
def test_they_replay_whole(here: Tuna, name: str, options: tuple[str, ...], scenarios: int) -> None:
    done = here("run", "--recording", name, *options, "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["summary"]["infrastructure_failures"] == 0
    assert told["summary"]["scenarios"] == scenarios
    assert "no model was run" in told["heading"]
    assert ("constrained decoding" in told["heading"]) == (name != FREE_TEXT)


@pytest.fixture
def without_model(here: Tuna, monkeypatch: pytest.MonkeyPatch) -> Tuna:
    """Runs `tunaeval` where the server of the embedded model is not installed."""
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    return here


@pytest.mark.parametrize(
    ("options", "suite", "recording", "scenarios"),
    [
        ((), "everyday", EVERYDAY, 120),
        (("--id", "none-farewell"), "everyday", EVERYDAY, 1),
        (("--suite", "tunacode"), "tunacode", CONSTRAINED, 156),
        (("--suite", "smoke"), "smoke", CONSTRAINED, 12),
    ],
)
def test_without_a_model_the_recording_of_the_suite_is_replayed(
    without_model: Tuna, options: tuple[str, ...], suite: str, recording: str, scenarios: int
) -> None:
    done = without_model("run", *options, "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "a recording is replayed; the embedded model needs its server" in done.stderr
    read = json.loads(done.stdout)
    assert (read["run"]["suite"], read["run"]["ask"]) == (suite, "schema")
    assert read["run"]["model_details"]["recording"] == f"{recording}.jsonl"
    assert read["summary"]["scenarios"] == scenarios
    assert read["summary"]["infrastructure_failures"] == 0


def test_without_a_model_a_suite_that_was_not_recorded_needs_a_server(
    without_model: Tuna, tmp_path: Path
) -> None:
    """One of its ids is in a recording, whose reply would be to another question."""
    ids = ("none-farewell", "mine")
    rows = [{"id": one, "prompt": "Hello.", "expected_tool": None} for one in ids]
    (tmp_path / "mine.json").write_text(json.dumps(rows))
    done = without_model("run", "--suite", "mine.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install xllamacpp; or ask a server with --base-url" in done.stderr
    assert "no recorded replies to the suite 'mine'" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_recording_of_another_suite_says_which_one_it_is_of(without_model: Tuna) -> None:
    done = without_model("run", "--recording", CONSTRAINED, "--quiet")
    assert done.returncode == 2
    assert "'none-farewell', repeat 1, attempt 1; the replies are to the suite 'tunacode'" in (
        done.stderr
    )
