"""The recordings that the package carries: real replies, of these suites, whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tunaeval import load_suite
from tunaeval.models.clients.replay import read_recording

Tuna = Callable[..., CompletedProcess[str]]

FOLDER = Path(str(files("tunaeval.runs.suites").joinpath("recordings")))
RECORDINGS = sorted(FOLDER.glob("*.jsonl"))
CONSTRAINED, FREE_TEXT = "smollm2-135m-constrained", "smollm2-135m-free-text"


def test_they_hold_a_few_hundred_replies() -> None:
    assert [path.stem for path in RECORDINGS] == [CONSTRAINED, FREE_TEXT]
    lines = sum(path.read_text("utf-8").count("\n") for path in RECORDINGS)
    assert 200 <= lines - len(RECORDINGS) <= 300


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_they_are_of_the_suites_that_are_shipped(path: Path) -> None:
    run = read_recording(path).run
    assert run.suite_digest == load_suite(run.suite).digest
    assert run.client == "llamacpp"


@pytest.mark.parametrize(
    ("name", "options", "scenarios"),
    [(CONSTRAINED, (), 156), (FREE_TEXT, ("--suite", "smoke", "--repeats", "4"), 48)],
)
def test_they_replay_whole(here: Tuna, name: str, options: tuple[str, ...], scenarios: int) -> None:
    done = here("run", "--recording", name, *options, "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["summary"]["infrastructure_failures"] == 0
    assert told["summary"]["scenarios"] == scenarios
    assert "no model was run" in told["heading"]
    assert ("constrained decoding" in told["heading"]) == (name == CONSTRAINED)
