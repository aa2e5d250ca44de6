"""A result that is there twice counts once for everybody who reads a run, and that is said."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import Tuna, ended, here, suite
from tunaeval.clients.replay import read_recording
from tunaeval.files.results import RESULTS_FILE, counted_results
from tunaeval.types.tables import INFRASTRUCTURE

__all__ = ["ended", "here", "suite"]

WORDS = "2 lines of results.jsonl repeated a result, beside 4 "


@pytest.fixture
def run(ended: Path) -> Path:
    """A run of four, two of which passed; the line of one that did is there three times."""
    lines = (ended / RESULTS_FILE).read_text().splitlines(keepends=True)
    assert [json.loads(line)["ok"] for line in lines] == [True, False, True, False]
    (ended / RESULTS_FILE).write_text("".join([*lines, lines[0], lines[0]]))
    return ended


def test_show_counts_it_once_and_says_so(here: Tuna, run: Path) -> None:
    summary = json.loads(here("show", str(run), "--json").stdout)["summary"]
    assert (summary["final"]["passed"], summary["final"]["total"]) == (2, 4)
    assert (summary["scenarios"], summary["doubled_results"]) == (4, 2)
    assert WORDS in " ".join(here("show", str(run)).stdout.split())
    assert len(here("show", str(run), "--failed").stdout.splitlines()) >= 2


@pytest.mark.parametrize("shape", ["markdown", "csv", "junit", "html"])
def test_reports_count_it_once(here: Tuna, run: Path, shape: str) -> None:
    done = here("report", str(run), f"--{shape}", "-o", "out")
    assert done.returncode == 0, done.stderr
    text = (run.parents[1] / "out").read_text()
    if shape == "csv":
        assert len(text.splitlines()) == 5
    elif shape == "junit":
        assert 'tests="4"' in text
    else:
        assert WORDS in " ".join(text.split())


def test_a_comparison_counts_it_once_and_says_so(here: Tuna, run: Path) -> None:
    (found,) = json.loads(here("compare", str(run), str(run), "--json").stdout)["comparisons"]
    assert found["a"]["answers"] == found["b"]["answers"] == 4
    assert (
        "2 lines of results.jsonl repeated a result" in here("compare", str(run), str(run)).stdout
    )


def test_rescoring_counts_it_once_and_says_so(here: Tuna, run: Path) -> None:
    done = here("rescore", str(run), "--out", "again")
    assert WORDS in " ".join(done.stdout.split()), done.stderr
    (again,) = run.parents[1].glob("again*/**/results.jsonl")
    assert len(again.read_text().splitlines()) == 4


def test_a_run_that_goes_on_counts_it_once_and_says_so(here: Tuna, run: Path) -> None:
    lines = (run / RESULTS_FILE).read_text().splitlines(keepends=True)
    (run / RESULTS_FILE).write_text("".join([*lines[:3], *lines[4:]]))
    replies = run.parents[1] / "replies.jsonl"
    replies.write_text(replies.read_text().splitlines(keepends=True)[3])
    done = here("run", "--resume", str(run))
    assert WORDS in " ".join((done.stdout + done.stderr).split())


def test_a_replay_takes_the_last(run: Path) -> None:
    line = json.loads((run / RESULTS_FILE).read_text().splitlines()[0])
    line["attempts"][0]["message"]["content"] = "the last"
    with (run / RESULTS_FILE).open("a") as file:
        file.write(json.dumps(line) + "\n")
    replies = read_recording(run).replies
    assert len(replies) == 4
    assert replies["read", 1, 1].message["content"] == "the last"


ROWS: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.builds(
        dict,
        scenario=st.sampled_from(["a", "b", "c"]),
        repeat=st.sampled_from([1, 2]),
        outcome=st.sampled_from(["calls", "transport_failure"]),
    )
)


def counted(rows: Iterable[dict[str, Any]], *, retried: bool) -> tuple[list[int], int]:
    with TemporaryDirectory() as folder:
        text = "".join(json.dumps({**row, "n": n}) + "\n" for n, row in enumerate(rows))
        (Path(folder) / RESULTS_FILE).write_text(text)
        found = counted_results(Path(folder), retried=retried)
        return [row["n"] for row in found.rows()], found.doubled


@given(rows=ROWS, retried=st.booleans())
def test_the_last_of_each_counts(rows: list[dict[str, Any]], retried: bool) -> None:
    last = {(row["scenario"], row["repeat"]): n for n, row in enumerate(rows)}
    kept, doubled = counted(rows, retried=retried)
    assert kept == sorted(last.values())
    failed = [n for n, row in enumerate(rows) if row["outcome"] in INFRASTRUCTURE and retried]
    assert doubled == len(set(range(len(rows))) - {*kept, *failed})


@given(rows=st.lists(st.dictionaries(
    st.sampled_from(["scenario", "repeat", "outcome"]),
    st.recursive(st.none() | st.booleans() | st.text(max_size=1), st.lists, max_leaves=2),
), max_size=4))  # fmt: skip
def test_what_is_no_result_is_left_to_whoever_reads_it(rows: list[dict[str, Any]]) -> None:
    counted(rows, retried=True)
