"""`tunaeval score` with what decides: a check, an expectation, what is forbidden; and its codes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tuna
from tests.scoring.transcripts import FINE, batches, said

TASK = [*batches([("read", FINE)]), said("Done.")]


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "t.json").write_text(json.dumps(TASK))
    return "t.json"


def told(here: Tuna, *arguments: str) -> tuple[int, Any]:
    done = here("score", *arguments, "--json")
    return done.returncode, json.loads(done.stdout)["transcripts"][0]["score"]


def test_nothing_decides_and_there_is_no_total(here: Tuna, file: str) -> None:
    code, score = told(here, file)
    assert (code, score["weighted_total"], score["details"]["outcome"]) == (0, None, "undecided")
    assert "no total" in here("score", file).stdout


@pytest.mark.parametrize(
    ("more", "told_as"),
    [
        (("--check", "true"), (0, "good", "scored")),
        (("--check", "exit 1"), (1, "zero", "scored")),
        (("--check", "no-such-command-here"), (3, "none", "check_failure")),
        (("--check", "sleep 9", "--check-timeout", "0.2"), (3, "none", "check_failure")),
        (("--forbid", "read"), (1, "zero", "scored")),
        (("--forbid", "bash"), (0, "none", "undecided")),
        (("--check", "true", "--forbid", "read"), (1, "zero", "scored")),
        (("--expect", '{"tools": ["read"]}'), (0, "good", "scored")),
        (("--expect", '{"none": true}'), (1, "zero", "scored")),
    ],
)
def test_what_decides_makes_the_total_and_the_exit_code(
    here: Tuna, file: str, more: tuple[str, ...], told_as: tuple[int, str, str]
) -> None:
    code, score = told(here, file, *more)
    assert (code, amount(score["weighted_total"]), score["details"]["outcome"]) == told_as


def amount(total: float | None) -> str:
    if total is None:
        return "none"
    return "good" if total > 0.7 else "zero" if total == 0 else "some"


def test_a_check_has_the_transcript_on_its_standard_input(here: Tuna, file: str) -> None:
    program = (
        "import json, sys; sys.exit(json.load(sys.stdin)['messages'][-1]['content'] != 'Done.')"
    )
    assert told(here, file, "--check", f'{sys.executable} -c "{program}"')[0] == 0


def test_an_expectation_may_stand_in_a_file(here: Tuna, file: str, tmp_path: Path) -> None:
    (tmp_path / "expect.json").write_text('{"tools": ["read"]}')
    assert told(here, file, "--expect", "expect.json")[0] == 0
    (tmp_path / "expect.json").write_text("{")
    assert (
        "--expect 'expect.json': Expecting" in here("score", file, "--expect", "expect.json").stderr
    )
    (tmp_path / "expect.json").unlink()
    os.mkfifo(tmp_path / "expect.json")
    assert (
        "--expect 'expect.json': cannot be read: it is a pipe"
        in here("score", file, "--expect", "expect.json").stderr
    )


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--check", "true", "--preset", "evals2"), "the preset 'evals2' is fixed and takes no"),
        (("--forbid", "rad", "--tools", "tools.json"), "did you mean 'read'"),
        (("--expect", "{"), "expect"),
        (("--expect", '{"calls": []}'), "expect"),
        (("--check-timeout", "0", "--check", "true"), "check_timeout"),
        (("--check", ""), "check"),
    ],
)
def test_what_cannot_decide_is_refused(
    here: Tuna, file: str, tmp_path: Path, more: tuple[str, ...], words: str
) -> None:
    (tmp_path / "tools.json").write_text('[{"name": "read", "parameters": {"type": "object"}}]')
    done = here("score", file, *more)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_forbidden_name_that_no_tool_was_offered_under_is_told(here: Tuna, file: str) -> None:
    page = here("score", file, "--forbid", "delet_file").stdout
    assert "delet_file" in page


@pytest.mark.parametrize(
    "messages", [[], [[]], [{"role": "user", "content": "Do it."}], [{"role": "x", "content": "?"}]]
)
def test_a_file_without_a_message_of_an_assistant_is_refused(
    here: Tuna, tmp_path: Path, messages: list[Any]
) -> None:
    (tmp_path / "none.json").write_text(json.dumps(messages))
    for more in ((), ("--check", "true")):
        done = here("score", "none.json", *more)
        assert done.returncode == 2
        assert "none.json: it has no message of an assistant" in done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize("seconds", ["0", "-1", "nan"])
def test_a_time_that_is_none_is_refused_without_a_check_too(
    here: Tuna, file: str, seconds: str
) -> None:
    done = here("score", file, "--check-timeout", seconds)
    assert done.returncode == 2
    assert "check_timeout is" in done.stderr


def test_a_check_may_take_as_long_as_it_wants(here: Tuna, file: str) -> None:
    code, score = told(here, file, "--check", "true", "--check-timeout", "inf")
    assert (code, score["details"]["outcome"]) == (0, "scored")


@pytest.mark.parametrize(("on", "code"), [("a", 1), ("b", 0)])
def test_a_call_with_arguments_can_be_forbidden(
    here: Tuna, tmp_path: Path, on: str, code: int
) -> None:
    (tmp_path / "t.json").write_text(json.dumps(batches([("read a", FINE)])))
    forbidden = json.dumps({"name": "read", "arguments": {"on": on}})
    done = here("score", "t.json", "--forbid", forbidden, "--check", "true")
    assert done.returncode == code
    broken = here("score", "t.json", "--forbid", '{"name": ')
    assert broken.returncode == 2
    assert "--forbid: " in broken.stderr


def test_more_categories_can_be_asked(here: Tuna, file: str) -> None:
    _, score = told(here, file, "--category", "cost", "--category", "latency")
    assert {"cost", "latency"} < score["categories"].keys()
    assert here("score", file, "--category", "cots").returncode == 2
