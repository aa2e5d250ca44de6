"""Files of scores: written line by line, and read again in this version and later ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.scoring.transcripts import FINE, batches, said
from tunaeval.errors import RecordError, UsageError

VERSION_1 = Path(__file__).parent.parent / "harness" / "version_1" / "scores.jsonl"
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


def test_the_scores_of_version_1_are_as_they_were_given() -> None:
    default, fixed, failed = tunaeval.read_scores(str(VERSION_1))
    assert default.schema_version == fixed.schema_version == 1
    assert default.score is not None
    assert (default.score.preset, default.score.weighted_total) == ("default", 0.65)
    assert default.score.details.outcome == "scored"
    assert fixed.score is not None
    assert fixed.score.weighted_total == 0.57
    assert failed.score is None
    assert failed.ended_by == "ValueError: the agent broke"


def test_the_fixed_preset_scores_as_it_did() -> None:
    """All but a reason's words, which then were "1 calls"."""
    old = tunaeval.read_scores(VERSION_1)[1].score
    assert old is not None
    plan = old.categories["plan-correctness"]
    now = plan.model_copy(update={"reason": "1 call and no planner"})
    old = old.model_copy(update={"categories": {**old.categories, "plan-correctness": now}})
    messages = [
        {"role": "user", "content": "Read a.txt"},
        *batches([("read", "text")])[1:],
        said("It says text."),
    ]
    messages[1]["tool_calls"][0]["function"]["arguments"] = '{"path": "a.txt"}'
    assert tunaeval.score(messages, "Read a.txt", preset="evals2") == old


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"schema_version": 3}, "score 1: schema_version is 3, this tunaeval reads 1 to 2"),
        ({"schema_version": "2"}, "score 1: schema_version is '2'"),
        ({"query": "q"}, "score 1: score: Field required; wanted a line that a scoring session"),
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
    whole = VERSION_1.read_text("utf-8")
    path.write_text(whole + whole[:40], "utf-8")
    assert tunaeval.read_scores(path) == tunaeval.read_scores(VERSION_1)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"none\.jsonl"):
        tunaeval.read_scores(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="path is 42; wanted a path"):
        tunaeval.read_scores(42)  # type: ignore[arg-type]  # what a caller may get wrong
