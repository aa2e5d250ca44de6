"""`--cache`: what was asked before is not asked again, and says so."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import tunaeval
from tests.cli.conftest import environment
from tests.cli.test_matrix import BOTH, COUNT, Models, matrix_of, models, numbers
from tunaeval.errors import RecordError
from tunaeval.files.reply_store import ReplyStore, digest_of
from tunaeval.types.exchange import Reply

__all__ = ["models", "numbers"]

Tuna = Callable[..., subprocess.CompletedProcess[str]]


def asking(models: Models, suite: str, *more: str) -> tuple[str, ...]:
    return ("run", "--suite", suite, "--base-url", models.url, "--cache", "kept", "--json", *more)


def test_a_second_run_asks_nothing_and_says_what_is_old(
    here: Tuna, models: Models, numbers: str
) -> None:
    asked = asking(models, numbers, "--model", "good", "--price-in", "1")
    first = json.loads(here(*asked).stdout)["summary"]
    done = here(*asked)
    again = json.loads(done.stdout)["summary"]
    assert len(models.asked) == COUNT
    assert again["final"] == first["final"]
    assert (first["cached_replies"], again["cached_replies"]) == (0, COUNT)
    assert again["latency_seconds_median"] is None
    assert "cost 0.0000" in done.stderr
    shown = here(*(word for word in asked if word != "--json")).stdout
    assert f"{COUNT} of {COUNT} replies are from the cache, the oldest of 2" in shown


def test_only_what_is_new_is_asked(
    here: Tuna, models: Models, numbers: str, tmp_path: Path
) -> None:
    asked = asking(models, numbers, "--model", "good", "--model", "poor", *BOTH)
    here(*asked)
    suite = json.loads((tmp_path / numbers).read_text())
    suite["scenarios"].append(
        {"id": "new", "prompt": "Add 99.", "expected_tool": "add", "expected_args": {"x": 99}}
    )
    (tmp_path / numbers).write_text(json.dumps(suite))
    models.asked.clear()
    here(*asked)
    assert sorted(prompt for _, _, prompt in models.asked) == ["Add 99."] * 4
    models.asked.clear()
    here(*asked, "--level", "lenient", "--profile", "tunacode")
    assert models.asked == []
    here(*asked, "--temperature", "0.5")
    assert len(models.asked) == 4 * (COUNT + 1)


def test_a_scenario_more_with_three_models_and_two_prompts_is_six_requests(
    here: Tuna, models: Models, numbers: str, tmp_path: Path
) -> None:
    third = ("--model", "good", "--model", "poor", "--model", "third", "--attempts", "1")
    asked = asking(models, numbers, *third, *BOTH)
    here(*asked)
    assert len(models.asked) == 6 * COUNT
    models.asked.clear()
    here(*asked)
    assert models.asked == []
    suite = json.loads((tmp_path / numbers).read_text())
    suite["scenarios"].append(
        {"id": "new", "prompt": "Add 99.", "expected_tool": "add", "expected_args": {"x": 99}}
    )
    (tmp_path / numbers).write_text(json.dumps(suite))
    here(*asked)
    systems = ("Be terse.", "Be kind, please.")
    assert sorted(models.asked) == sorted(
        (model, system, "Add 99.") for model in ("good", "poor", "third") for system in systems
    )


@pytest.mark.parametrize("again", ["anew", "resumed"])
def test_a_killed_matrix_with_a_cache_asks_again_at_most_what_was_in_flight(
    here: Tuna, models: Models, numbers: str, tmp_path: Path, again: str
) -> None:
    asked = asking(models, numbers, "--model", "good", "--model", "poor", *BOTH,
                   "--concurrency", "4", "--attempts", "1")  # fmt: skip
    command = [sys.executable, "-m", "tunaeval", *asked]
    models.pause_seconds = 0.02
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        while child.poll() is None and len(models.asked) < COUNT:
            time.sleep(0.005)
        child.kill()
        child.communicate()
    assert COUNT <= len(models.asked) < 4 * COUNT
    resumed = ("run", "--resume", str(matrix_of(tmp_path)), "--json")
    done = here(*(resumed if again == "resumed" else asked))
    assert done.returncode == 0, done.stderr
    assert len(models.asked) <= 4 * COUNT + 4
    assert [cell["summary"]["scenarios"] for cell in json.loads(done.stdout)["cells"]] == [24] * 4


def test_repeats_are_different_questions(here: Tuna, models: Models, numbers: str) -> None:
    here(*asking(models, numbers, "--model", "good", "--repeats", "2"))
    assert len(models.asked) == 2 * COUNT


def test_failures_are_asked_again(here: Tuna, models: Models, numbers: str) -> None:
    asked = asking(models, numbers, "--model", "gone")
    assert here(*asked).returncode == 2
    first = len(models.asked)
    here(*asked)
    assert len(models.asked) > first


@pytest.mark.parametrize(
    "more", [("--stream", "--model", "good"), ("--client", "replay", "--recording", "r.jsonl")]
)
def test_what_is_never_taken_from_a_cache_is_refused(
    here: Tuna, models: Models, numbers: str, more: tuple[str, ...]
) -> None:
    here("run", "--suite", numbers, "--base-url", models.url, "--model", "good",
         "--record", "r.jsonl")  # fmt: skip
    asked = [word for word in asking(models, numbers, *more) if "--client" not in more or (
        word not in {"--base-url", models.url})]  # fmt: skip
    done = here(*asked)
    assert done.returncode == 2
    assert "--cache" in done.stderr


def test_the_key_and_the_question_are_not_in_the_file(
    here: Tuna, models: Models, numbers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUNAEVAL_API_KEY", "sk-never-0123456789abcdef")
    here(*asking(models, numbers, "--model", "good"))
    kept = b"".join(path.read_bytes() for path in (tmp_path / "kept").iterdir())
    assert b"sk-never" not in kept
    assert b"Add 3" not in kept


def test_a_cache_that_cannot_be_used_is_said_once_and_costs_nothing(
    here: Tuna, models: Models, numbers: str, tmp_path: Path
) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "replies.sqlite").write_text("no database, but long enough to be one" * 9)
    done = here(*asking(models, numbers, "--model", "good", "--model", "third"))
    assert done.returncode == 0
    assert done.stderr.count("cannot be opened") == 1
    assert len(models.asked) == 2 * COUNT


def test_a_damaged_reply_is_asked_again(
    here: Tuna, models: Models, numbers: str, tmp_path: Path
) -> None:
    asked = asking(models, numbers, "--model", "good")
    here(*asked)
    with closing(sqlite3.connect(tmp_path / "kept" / "replies.sqlite")) as base:
        base.execute(
            "UPDATE replies SET reply = 'no JSON' "
            "WHERE asked IN (SELECT asked FROM replies LIMIT 1)"
        )
        base.commit()
    assert here(*asked).returncode == 0
    assert len(models.asked) == COUNT + 1


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "replies.sqlite")) as base:
        base.execute("CREATE TABLE theirs (x)")
        base.commit()
    before = (tmp_path / "replies.sqlite").read_bytes()
    with pytest.raises(RecordError, match="of another program"):
        ReplyStore(tmp_path)
    assert (tmp_path / "replies.sqlite").read_bytes() == before


def test_two_processes_share_a_store(tmp_path: Path) -> None:
    with ReplyStore(tmp_path) as one, ReplyStore(tmp_path) as other:
        one.put(digest_of({"a": 1}), Reply({"role": "assistant", "content": "\ud800"}))
        found = other.get(digest_of({"a": 1}))
    assert found is not None
    assert found.message["content"] == "\ud800"
    assert found.cached_at is not None
    with closing(sqlite3.connect(tmp_path / "replies.sqlite")) as base:
        assert base.execute("SELECT COUNT(*) FROM replies").fetchone() == (1,)


def test_in_python_a_run_has_a_cache_too(models: Models, numbers: str, tmp_path: Path) -> None:
    for _ in range(2):
        report = tunaeval.run(
            tmp_path / numbers, client="openai", base_url=models.url, model="good", out=None,
            cache=tmp_path / "kept",
        )  # fmt: skip
    assert report.summary.cached_replies == len(models.asked) == COUNT
