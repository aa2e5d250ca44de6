"""`tunaeval judge calibrate`: figures on the console, as JSON, and in a file that a judge reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tuna
from tunaeval.clients.scripted import ScriptedClient
from tunaeval.scoring.judging.calibration import Calibration
from tunaeval.scoring.judging.judge import Judge

REPLY = json.dumps({"reason": "It looks done.", "score": 9})
ROWS = [
    {"id": str(number), "query": "Try.", "messages": [{"role": "assistant", "content": "Hm."}],
     "label": {"goal-completion": number % 2 == 0}}
    for number in range(4)
]  # fmt: skip
CALIBRATE = (
    "judge",
    "calibrate",
    "labels.jsonl",
    "--client",
    "scripted",
    "--recording",
    "replies.jsonl",
)


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "labels.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    (tmp_path / "replies.jsonl").write_text(f"{json.dumps(REPLY)}\n" * 60)


def test_a_table_tells_each_figure(here: Tuna) -> None:
    done = here(*CALIBRATE, "--category", "goal-completion")
    assert done.returncode == 0
    assert done.stderr.splitlines() == [f"judged {number}" for number in range(4)]
    assert "scripted, prompt " in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["goal-completion", "sensitivity", "1.000", "0.342", "to", "1.000", "2"] in rows
    assert ["goal-completion", "specificity", "0.000", "0.000", "to", "0.658", "2"] in rows
    assert "fewer than 200: a rough interval" in done.stdout
    assert "the judge separates good from bad no better than a coin" in done.stdout


def test_the_file_that_is_written_is_read_by_a_judge(here: Tuna, tmp_path: Path) -> None:
    done = here(*CALIBRATE, "--out", "calibration.json")
    assert "kept in calibration.json" in done.stdout
    found = Calibration.read(tmp_path / "calibration.json")
    assert found.judge == Judge(ScriptedClient()).identity
    assert here(*CALIBRATE, "--out", "calibration.json").returncode == 2


def test_json_is_what_the_file_holds(here: Tuna) -> None:
    done = here(*CALIBRATE, "--json", "--votes", "3", "--swap", "--repeats", "0")
    found = Calibration.model_validate(json.loads(done.stdout))
    assert (found.judge.votes, found.judge.swap, found.repeats) == (3, True, 0)


def test_a_judge_that_gives_no_verdict_ends_in_1_and_says_why(here: Tuna, tmp_path: Path) -> None:
    (tmp_path / "replies.jsonl").write_text('"I cannot say."\n' * 60)
    done = here(*CALIBRATE)
    assert done.returncode == 1
    assert "no verdict on goal-completion: judge failure: found 'I cannot say.'" in done.stderr


def test_bad_labels_are_wrong_use(here: Tuna, tmp_path: Path) -> None:
    (tmp_path / "labels.jsonl").write_text(json.dumps({**ROWS[0], "label": {"goal": 1}}))
    done = here(*CALIBRATE)
    assert done.returncode == 2
    assert "labels.jsonl, line 1, label.goal: found 'goal', wanted one of" in done.stderr


def test_replies_are_kept(here: Tuna, tmp_path: Path) -> None:
    once = here(*CALIBRATE, "--cache", "kept", "--json")
    (tmp_path / "replies.jsonl").write_text("")
    again = here(*CALIBRATE, "--cache", "kept", "--json")
    assert json.loads(once.stdout)["categories"] == json.loads(again.stdout)["categories"]


def test_labels_that_are_not_there_are_said_before_any_model_is_sought(here: Tuna) -> None:
    done = here("judge", "calibrate", "nope.jsonl")
    assert done.returncode == 2
    assert (
        "'nope.jsonl' cannot be read: No such file or directory; wanted JSON lines" in done.stderr
    )
    assert "embedded" not in done.stderr
