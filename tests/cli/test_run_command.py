"""`tunaeval run` against a real server on loopback, a script and a recording, as a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from tests.interrupts import heed_interrupts

Tuna = Callable[..., subprocess.CompletedProcess[str]]


class Asked(Protocol):
    """The server of the fixture."""

    url: str
    status: int
    body: bytes
    keys: list[str | None]
    patience: int
    stuck: threading.Event


def one_run(directory: Path) -> Path:
    (only,) = (directory / "runs").iterdir()
    return only


def test_a_run_is_told_on_both_streams_and_kept(
    tuna: Tuna, server: Asked, suite: str, tmp_path: Path
) -> None:
    done = tuna("run", "--suite", suite, "--base-url", server.url)
    assert done.returncode == 0
    assert sorted(line.split()[0] for line in done.stderr.splitlines()) == [
        "FAIL", "FAIL", "PASS", "PASS",
    ]  # fmt: skip
    assert "four, tiny, format auto, level standard" in done.stdout
    assert "50.0 %" in done.stdout
    kept = one_run(tmp_path)
    assert json.loads((kept / "run.json").read_text())["model"] == "tiny"
    assert len((kept / "results.jsonl").read_text().splitlines()) == 4
    assert f"kept in runs/{kept.name}" in done.stdout


def test_nothing_of_a_reply_acts_upon_the_terminal(here: Tuna, server: Asked, suite: str) -> None:
    done = here("run", "--suite", suite, "--base-url", server.url, "--report", "page.md")
    assert "\x1b" not in done.stdout + done.stderr
    assert "\u202e" not in done.stdout + done.stderr


def test_json_is_one_object_and_quiet_is_quiet(here: Tuna, server: Asked, suite: str) -> None:
    done = here("run", "--suite", suite, "--base-url", server.url, "--json", "--quiet")
    summary = json.loads(done.stdout)["summary"]
    assert (summary["final"]["passed"], summary["final"]["total"]) == (2, 4)
    assert set(summary["levels"]) == {"strict", "standard", "lenient"}
    assert done.stderr == ""


@pytest.mark.parametrize(("bar", "code"), [("50", 0), ("50.1", 1), ("0", 0), ("100", 1)])
def test_a_score_below_the_bar_is_exit_code_1(
    here: Tuna, server: Asked, suite: str, bar: str, code: int
) -> None:
    done = here("run", "--suite", suite, "--base-url", server.url, "--quiet", "--fail-under", bar)
    assert done.returncode == code
    assert ("below the" in done.stderr) == (code == 1)


def test_reports_are_written_by_their_suffix(
    here: Tuna, server: Asked, suite: str, tmp_path: Path
) -> None:
    common = ("run", "--suite", suite, "--base-url", server.url, "--quiet", "--report")
    assert here(*common, "deep/page.md").returncode == 0
    assert here(*common, "page.txt", "--writer", "json").returncode == 0
    assert "## What did not pass" in (tmp_path / "deep" / "page.md").read_text()
    assert len(json.loads((tmp_path / "page.txt").read_text())["results"]) == 4


def test_a_recording_replays_to_the_same_score_under_its_heading(
    here: Tuna, server: Asked, suite: str
) -> None:
    common = ("run", "--suite", suite, "--json")
    live = here(*common, "--base-url", server.url, "--record", "tape.jsonl")
    replayed = here(*common, "--recording", "tape.jsonl")
    assert replayed.returncode == 0
    first, second = json.loads(live.stdout), json.loads(replayed.stdout)
    assert second["summary"]["levels"] == first["summary"]["levels"]
    assert second["summary"]["outcomes"] == first["summary"]["outcomes"]
    assert second["heading"].startswith("recorded outputs of tiny, ")
    assert second["heading"].count("no model was run") == 1
    shown = here("run", "--suite", suite, "--recording", "tape.jsonl").stdout.splitlines()
    assert shown[1] == second["heading"]
    again = here(*common, "--base-url", server.url, "--record", "tape.jsonl")
    assert (again.returncode, again.stdout) == (2, "")
    assert "exists already" in again.stderr


def test_a_replay_is_not_recorded_and_that_is_said_before_anything_is_asked(
    here: Tuna, server: Asked, suite: str, tmp_path: Path
) -> None:
    here("run", "--suite", suite, "--base-url", server.url, "--record", "tape.jsonl")
    kept = one_run(tmp_path)
    for recording in ("tape.jsonl", f"runs/{kept.name}"):
        done = here("run", "--suite", suite, "--recording", recording, "--record", "copy.jsonl")
        assert (done.returncode, done.stdout) == (2, "")
        (said,) = done.stderr.splitlines()
        assert said.startswith("tunaeval: --record 'copy.jsonl' would record a replay")
        assert repr(recording) in said
    assert not (tmp_path / "copy.jsonl").exists()
    assert one_run(tmp_path) == kept


def test_a_replay_is_headed_once_by_what_headed_the_recorded_run(
    here: Tuna, server: Asked, suite: str, tmp_path: Path
) -> None:
    here("run", "--suite", suite, "--base-url", server.url, "--record", "tape.jsonl")
    header, *replies = (tmp_path / "tape.jsonl").read_text().splitlines()
    document = json.loads(header)
    document["run"] |= {"ask": "schema", "heading": "constrained decoding"}
    (tmp_path / "tape.jsonl").write_text("\n".join([json.dumps(document), *replies, ""]))
    replayed = here("run", "--suite", suite, "--recording", "tape.jsonl", "--json")
    read = json.loads(replayed.stdout)
    assert read["run"]["ask"] == "schema"
    assert read["heading"].endswith("no model was run; constrained decoding")
    assert read["heading"].count("constrained decoding") == 1


def test_scenarios_are_left_out_by_id(here: Tuna, server: Asked, suite: str) -> None:
    asked = ("run", "--suite", suite, "--base-url", server.url, "--json")
    read = json.loads(here(*asked, "--exclude", "list", "--exclude", "run").stdout)
    assert (read["run"]["scenarios"], read["summary"]["final"]["passed"]) == (2, 2)
    done = here(*asked, "--exclude", "lisst")
    assert done.returncode == 2
    assert "did you mean 'list'" in done.stderr


def test_a_script_answers_in_turn(here: Tuna, suite: str, tmp_path: Path) -> None:
    call = '{"name": "read_file", "arguments": {"filepath": "a.txt"}}'
    (tmp_path / "script.jsonl").write_text(json.dumps(f"<tool_call>{call}</tool_call>"))
    done = here(
        "run", "--suite", suite, "--client", "scripted", "--recording", "script.jsonl",
        "--limit", "1", "--json",
    )  # fmt: skip
    read = json.loads(done.stdout)
    assert read["summary"]["final"]["passed"] == read["run"]["scenarios"] == 1


def test_without_a_model_there_is_a_recording_or_a_way_to_get_one(here: Tuna) -> None:
    done = here("run", "--suite", "smoke", "--limit", "1", "--model-file", "no-such.gguf")
    assert done.returncode == 2
    assert done.stderr.startswith("tunaeval: ")


def test_an_unreachable_server_is_one_clear_line(here: Tuna, suite: str) -> None:
    done = here("run", "--suite", suite, "--base-url", "http://127.0.0.1:9/v1", "--timeout", "5")
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith("tunaeval: ")
    assert "127.0.0.1:9" in last


def test_a_wrong_key_ends_the_run_with_one_clear_line(
    here: Tuna, server: Asked, suite: str
) -> None:
    server.status, server.body = 401, b'{"error": {"message": "bad key"}}'
    done = here("run", "--suite", suite, "--base-url", server.url)
    assert done.returncode == 2
    assert "401" in done.stderr.splitlines()[-1]
    assert len(server.keys) <= 4


@pytest.mark.parametrize("body", [b"<html>no</html>", b"null", b'{"choices": []}'])
def test_a_server_that_talks_nonsense_leaves_no_score(
    here: Tuna, server: Asked, suite: str, body: bytes
) -> None:
    server.body = body
    done = here(
        "run", "--suite", suite, "--base-url", server.url, "--model", "tiny", "--timeout", "4"
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("tunaeval: ")


@pytest.mark.parametrize(
    ("scenarios", "said"),
    [
        ([], "has no scenario"),
        ([{"id": "a", "prompt": "x", "expected_tool": "no_tool"}], "no_tool"),
        ([{"id": "a", "prompt": "x", "expected_tool": None}] * 2, "is taken by"),
    ],
)
def test_a_bad_suite_is_one_clear_line(
    here: Tuna, tmp_path: Path, scenarios: list[object], said: str
) -> None:
    (tmp_path / "bad.json").write_text(json.dumps(scenarios))
    done = here("run", "--suite", "bad.json", "--base-url", "http://127.0.0.1:9/v1")
    assert done.returncode == 2
    assert done.stderr.startswith("tunaeval: bad.json")
    assert said in done.stderr


def test_a_place_that_cannot_be_written_is_said_before_anything_is_asked(
    here: Tuna, server: Asked, suite: str, tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("a file")
    common = ("run", "--suite", suite, "--base-url", server.url)
    for option in ("--out", "--report", "--record"):
        done = here(*common, option, "taken/x.json")
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1].startswith("tunaeval: ")
        assert "taken" in done.stderr
    assert server.keys == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_directory_is_one_clear_line(
    here: Tuna, server: Asked, suite: str, tmp_path: Path
) -> None:
    (tmp_path / "closed").mkdir(mode=0o555)
    done = here("run", "--suite", suite, "--base-url", server.url, "--out", "closed/runs")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("tunaeval: ")
    assert server.keys == []


@pytest.mark.parametrize(
    "end", [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_run_that_is_ended_keeps_what_was_finished_and_goes_on_when_asked(
    server: Asked, here: Tuna, suite: str, tmp_path: Path, end: tuple[int, int, str]
) -> None:
    number, code, word = end
    server.patience = 2
    child = subprocess.Popen(
        [sys.executable, "-m", "tunaeval", "run", "--suite", suite, "--base-url", server.url,
         "--concurrency", "1"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=heed_interrupts,  # noqa: PLW1509 - nothing here that a fork could break
    )  # fmt: skip
    assert server.stuck.wait(20)
    child.send_signal(number)
    out, err = child.communicate(timeout=20)
    kept = one_run(tmp_path)
    finished = len((kept / "results.jsonl").read_text().splitlines())
    assert child.returncode == code
    assert finished == 2
    assert f"tunaeval: {word}; {finished} finished scenarios are kept in runs/{kept.name}" in err
    assert f"; tunaeval run --resume runs/{kept.name} goes on" in err
    assert f"the run was interrupted: {finished} of 4 results" in out
    assert "Traceback" not in err

    server.patience = 1_000
    options = ("run", "--suite", suite, "--base-url", server.url, "--resume", f"runs/{kept.name}")
    done = here(*options)
    assert done.returncode == 0, done.stderr
    assert f"run {kept.name} goes on, with 2 results to come" in done.stderr
    assert len((kept / "results.jsonl").read_text().splitlines()) == 4
    refused = here(*options, "--level", "strict")
    assert refused.returncode == 2
    assert "level was 'standard', is 'strict'" in refused.stderr
