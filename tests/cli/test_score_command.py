"""`tunaeval score`: transcripts of any shape, for people and for machines."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.data.adapters.writers import WRITERS, Answered, Asked, Called, Step

Tuna = Callable[..., subprocess.CompletedProcess[str]]

STEPS: list[Step] = [
    Asked("Read a\x1b[2J."),
    Called("I look.", (("read", {"path": "a"}, "c1"), ("read", {"path": "b"}, "c2"))),
    Answered((("c1", "no a", True),)),
]


def write(folder: Path, name: str, *transcripts: Any) -> str:
    (folder / name).write_text("\n".join(map(json.dumps, transcripts)))
    return name


@pytest.mark.parametrize("shape", [name for name in WRITERS if " " not in name])
def test_the_shape_is_found(here: Tuna, tmp_path: Path, shape: str) -> None:
    done = here("score", write(tmp_path, "t.json", WRITERS[shape](STEPS)), "--json")
    assert done.returncode == 0, done.stderr
    (told,) = json.loads(done.stdout)["transcripts"]
    assert (told["file"], told["shape"], told["query"]) == ("t.json", shape, "Read a\x1b[2J.")
    assert told["score"]["details"]["tool_calls"] == 2
    assert [one["code"] for one in told["warnings"]] == ["dangling-call"]


def test_people_see_each_category_with_its_reason_and_where(here: Tuna, tmp_path: Path) -> None:
    file = write(tmp_path, "t.json", WRITERS["tinyagent"](STEPS))
    page = here("score", file, "--preset", "evals2").stdout.splitlines()
    assert page[0] == "t.json: 3 messages, tinyagent"
    assert page[1] == r"query: Read a\x1b[2J."
    assert page[2].startswith("evals2: 0.42 = 0.40 x 0.30 goal-completion + ")
    rows = {line.split()[0]: line for line in page[3:]}
    assert rows["category"].split() == ["category", "value", "weight", "evidence", "reason"]
    assert "0.30   0.40" in rows["goal-completion"]
    assert "1 2       0 of 2 succeeded, 1 failed" in rows["success-ratio"]
    assert page[-1] == ("warning: the call 'c2' of 'read' has no result (dangling-call, message 1)")


def test_every_transcript_of_every_file_is_scored(here: Tuna, tmp_path: Path) -> None:
    chat, blocks = ({"messages": WRITERS[name](STEPS)} for name in ("openai-chat", "anthropic"))
    first = write(tmp_path, "two.jsonl", chat, {**blocks, "id": "r2", "query": "Why?"})
    second = write(tmp_path, "one.json", WRITERS["pydantic-ai"](STEPS))
    told = json.loads(here("score", first, second, "--json").stdout)["transcripts"]
    assert [(one["file"], one["name"]) for one in told] == [
        ("two.jsonl", "line 1"), ("two.jsonl", "r2"), ("one.json", ""),
    ]  # fmt: skip
    assert [one["query"] for one in told][1] == "Why?"
    page = here("score", first).stdout
    assert "two.jsonl, line 1: 3 messages" in page
    assert "two.jsonl, r2: 3 messages" in page


def test_a_task_begins_where_it_is_said_to(here: Tuna, tmp_path: Path) -> None:
    again: list[Step] = [Asked("Write b."), Called("So.", (("write", {}, "c3"),))]
    file = write(tmp_path, "t.json", WRITERS["openai-chat"]([*STEPS, *again]))
    (told,) = json.loads(here("score", file, "--start", "3", "--json").stdout)["transcripts"]
    assert (told["query"], told["score"]["details"]["tool_calls"]) == ("Write b.", 1)
    assert told["score"]["categories"]["success-ratio"]["evidence"] == [4]
    (told,) = json.loads(here("score", file, "--query", "Hm?", "--json").stdout)["transcripts"]
    assert told["query"] == "Hm?"


def test_the_shape_may_be_said(here: Tuna, tmp_path: Path) -> None:
    file = write(tmp_path, "t.json", [{"role": "assistant", "content": "hi"}])
    (told,) = json.loads(here("score", file, "--shape", "anthropic", "--json").stdout)[
        "transcripts"
    ]
    assert told["shape"] == "anthropic"


def test_a_transcript_may_come_on_stdin(tuna: Tuna) -> None:
    data = json.dumps(WRITERS["langchain"](STEPS)).encode()
    done = tuna("score", "-", "--json", stdin=data)
    assert json.loads(done.stdout)["transcripts"][0]["shape"] == "langchain"


@pytest.mark.parametrize(
    ("content", "more", "said"),
    [
        ("hi", (), "t.json: not JSON"),
        ("{}", (), "t.json: messages[0] is {} and has no role; wanted a list of messages"),
        ("", (), "t.json: it is empty; wanted JSON"),
        (
            '[{"role": "user"}]',
            ("--start", "2"),
            "t.json: start is 2, wanted the index of one of the 1",
        ),
        ('[{"role": "user"}]', ("--start", "-1"), "t.json: start is -1"),
        ('[{"role": "user"}]', ("--preset", "evals3"), "did you mean 'evals2'"),
        ('[{"role": "user"}]', ("--shape", "antropic"), "did you mean 'anthropic'"),
    ],
)
def test_what_cannot_be_scored_is_named(
    here: Tuna, tmp_path: Path, content: str, more: tuple[str, ...], said: str
) -> None:
    (tmp_path / "t.json").write_text(content)
    done = here("score", "t.json", *more)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_file_that_is_not_there_is_named(here: Tuna) -> None:
    done = here("score", "no.json")
    assert done.returncode == 2
    assert "'no.json' cannot be read: No such file" in done.stderr


def test_a_folder_has_a_line_for_each_transcript_and_a_summary(here: Tuna, tmp_path: Path) -> None:
    (tmp_path / "d/deep").mkdir(parents=True)
    write(tmp_path / "d", "a.json", WRITERS["anthropic"](STEPS))
    write(tmp_path / "d/deep", "b.jsonl", {"messages": WRITERS["openai-chat"](STEPS)})
    (tmp_path / "d/notes.txt").write_text("no transcript")
    done = here("score", "d", "--check", "exit 1")
    assert done.returncode == 1
    first, second, summary = done.stdout.splitlines()
    assert first == "0.00  d/a.json: anthropic, 2 calls, 1 warning"
    assert second.startswith("0.00  d/deep/b.jsonl, line 1: openai-chat") or "b.jsonl" in second
    assert summary.startswith("transcripts 2, with a total 2, mean total 0.0, goal missed 2")
    (tmp_path / "d/bad.json").write_text('{"a": ')
    done = here("score", "d", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, len(told["transcripts"]), told["summary"]["refused"]) == (2, 2, 1)
    assert "bad.json: not JSON" in told["refused"][0]["reason"]
    assert "refused: d/bad.json" in done.stderr
    (tmp_path / "empty").mkdir()
    assert "no file in it ends in .eval, .json" in here("score", "empty").stderr


def test_a_run_in_which_nothing_was_done_is_missed_without_an_option(
    here: Tuna, tmp_path: Path
) -> None:
    (tmp_path / "d").mkdir()
    silent = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": ""}]
    write(tmp_path / "d", "a.json", silent)
    for given in ("d/a.json", "d"):
        assert here("score", given).returncode == 1
