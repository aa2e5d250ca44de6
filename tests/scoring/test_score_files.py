"""Files of scores: written line by line, and read again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.scoring.transcripts import FINE, batches, said
from tunaeval.errors import RecordError, UsageError

TASK = [*batches([("read", FINE)]), said("It says alpha.")]


def scored_to(path: Path, **settings: Any) -> None:
    with tunaeval.scoring_session("Read a.txt", messages=TASK, start=0, out=path, **settings):
        pass


def test_what_a_session_writes_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    scored_to(path, expect={"tools": ["read"]})
    scored_to(path)
    with pytest.raises(KeyError), tunaeval.scoring_session("Read b.txt", messages=42, out=path):
        raise KeyError("b.txt")
    decided, undecided, failed = tunaeval.read_scores(path)
    assert decided.schema_version == 2
    assert decided.score == tunaeval.score(TASK, "Read a.txt", expect={"tools": ["read"]})
    assert undecided.score is not None
    assert undecided.score.weighted_total is None
    assert (failed.query, failed.score) == ("Read b.txt", None)
    assert (failed.failure or "").startswith("UsageError: messages is 42")
    assert failed.ended_by == "KeyError: 'b.txt'"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"query": "q"}, "score 1: schema_version is None, this tunaeval reads 2; score again"),
        ({"schema_version": 3}, "score 1: schema_version is 3, this tunaeval reads 2"),
        ({"schema_version": "2"}, "score 1: schema_version is '2'"),
        (
            {"schema_version": 2, "query": "q"},
            "score 1: score: Field required; wanted a line that a scoring session",
        ),
    ],
)
def test_a_line_that_is_no_score_is_named(
    tmp_path: Path, line: dict[str, object], words: str
) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(RecordError, match=words):
        tunaeval.read_scores(path)


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    scored_to(path)
    whole = tunaeval.read_scores(path)
    text = path.read_text("utf-8")
    path.write_text(text + text[:40], "utf-8")
    assert tunaeval.read_scores(path) == whole


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"none\.jsonl"):
        tunaeval.read_scores(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="path is 42; wanted a path"):
        tunaeval.read_scores(42)  # type: ignore[arg-type]  # what a caller may get wrong
