"""What version 0.1 wrote is read, shown, read again, compared, replayed and gone on with.

`version_1/` was written by it: a run of a script, one of a server that left a call in the text and
refused another request, a recording of the latter, and a file of scores.
"""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest

import tunaeval
from tunaeval.cli import main
from tunaeval.files.results import RESULTS_FILE
from tunaeval.models.clients.scripted import ScriptedClient
from tunaeval.reports.console import show
from tunaeval.runs.directory import RUN_FILE, load_report
from tunaeval.types.runs import SCHEMA_VERSION

OLD = Path(__file__).parent / "version_1"
SUITE = OLD / "suite.jsonl"
THEN = tunaeval.load_suite(SUITE).with_(system_prompt=tunaeval.load_suite("tunacode").system_prompt)
"""The suite as it was asked then: with the system prompt that all suites without one had."""


@pytest.mark.parametrize(("name", "passed", "of"), [("scripted", 5, 5), ("served", 4, 4)])
def test_a_run_is_read_and_shown_as_it_was(name: str, passed: int, of: int) -> None:
    report = load_report(OLD / name)
    assert report.run.schema_version == 1
    assert (report.passed, report.total) == (passed, of)
    shown = io.StringIO()
    show(report, shown)
    assert "profile tunacode" in shown.getvalue()
    if name == "served":
        assert "not answered: 1 of 5" in shown.getvalue()
        assert "no room" in shown.getvalue()


def test_a_run_is_read_again_by_the_rules_of_then_and_of_now(tmp_path: Path) -> None:
    then = tunaeval.rescore(OLD / "scripted", out=tmp_path).report
    assert (then.passed, then.total) == (5, 5)
    assert then.run.schema_version == SCHEMA_VERSION
    assert then.run.profile == "tunacode"
    now = tunaeval.rescore(OLD / "scripted", out=tmp_path, profile="strict").report
    assert (now.passed, now.total) == (4, 5)


def test_a_run_is_compared_with_one_of_now(tmp_path: Path) -> None:
    lines = (OLD / "scripted" / RESULTS_FILE).read_text("utf-8").splitlines()
    replies = [json.loads(line)["attempts"][0]["message"] for line in lines]
    new = tunaeval.run(
        THEN, client=ScriptedClient(replies), out=tmp_path, profile="tunacode", attempts=1,
        concurrency=1,
    )  # fmt: skip
    found = tunaeval.compare(OLD / "scripted", new)
    assert (found.overall.value, found.overall.scenarios) == (0, 5)
    assert tunaeval.compare(OLD / "scripted", OLD / "served").overall.scenarios == 4


def test_a_recording_is_replayed() -> None:
    report = tunaeval.run(
        SUITE, client="replay", path=OLD / "recording.jsonl", out=None, profile="tunacode",
        attempts=1,
    )  # fmt: skip
    assert (report.passed, report.total) == (4, 4)


def test_a_run_that_was_cut_off_is_gone_on_with(tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(OLD / "scripted", run)
    lines = (run / RESULTS_FILE).read_text("utf-8").splitlines(keepends=True)
    (run / RESULTS_FILE).write_text("".join(lines[:3]), "utf-8")
    rest = ["You are welcome.", '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}']
    report = tunaeval.run(
        THEN, client=ScriptedClient(rest), resume=run, profile="tunacode", attempts=1,
        concurrency=1,
    )  # fmt: skip
    assert report.total == 5
    assert report.results[0].scenario == "tests"
    assert json.loads((run / RUN_FILE).read_text("utf-8"))["schema_version"] == SCHEMA_VERSION


def test_a_run_that_does_not_say_where_its_suite_is_asks_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(OLD / "scripted", run)
    assert main(["run", "--resume", str(run)]) == 2
    assert "give the file with --suite" in capsys.readouterr().err
