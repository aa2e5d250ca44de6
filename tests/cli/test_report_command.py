"""`show` and `report`: what is kept of a run, looked at; and reports of a run that is made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tuna
from tests.reports.page.made_runs import ANSWERS, made_run

SMOKE = ("--suite", "smoke", "--recording", "smollm2-135m-constrained")


@pytest.fixture
def run(tmp_path: Path) -> str:
    return str(made_run(tmp_path / "runs"))


def test_show_prints_the_summary(tuna: Tuna, run: str) -> None:
    shown = tuna("show", run)
    assert shown.returncode == 0
    assert "25.0 %" in shown.stdout
    assert f"kept in {run}" in shown.stdout
    as_json = json.loads(tuna("show", run, "--json").stdout)
    assert as_json["summary"]["final"]["passed"] == 2


def test_show_lists_what_failed_in_full(tuna: Tuna, run: str) -> None:
    shown = tuna("show", run, "--failed")
    assert shown.stdout.count("FAIL") == len(ANSWERS) - 2
    assert "got       read_file(filepath='b.txt')" in shown.stdout
    assert "6 of 8 results did not pass" in shown.stderr
    lines = tuna("show", run, "--failed", "--json").stdout.splitlines()
    assert {json.loads(line)["scenario"] for line in lines} == {*ANSWERS} - {"right", "repaired"}


def test_show_tells_one_conversation(tuna: Tuna, run: str) -> None:
    shown = tuna("show", run, "--scenario", "repaired").stdout
    assert shown.startswith("PASS  repaired")
    assert "strict fail; standard pass" in shown
    assert "<tool_call>{'[2]name': '[3]read_file'" in shown
    assert "[7] repair trailing-comma" in shown
    shown = tuna("show", run, "--scenario", "wrong-value").stdout
    assert '! filepath: expected "a.txt"' in shown
    shown = tuna("show", run, "--scenario", "malformed").stdout
    assert shown.count("\nreply ") == 2


def test_show_has_a_call_that_the_server_parsed(tuna: Tuna, tmp_path: Path) -> None:
    call = {"name": "read_file", "arguments": '{"filepath": "a.txt"}'}
    parsed = {
        "role": "assistant",
        "tool_calls": [{"id": "1", "type": "function", "function": call}],
    }
    run = made_run(tmp_path, {"right": parsed})
    shown = tuna("show", str(run), "--scenario", "right").stdout
    assert "call that the server parsed" in shown
    assert '= filepath = "a.txt"' in shown


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--scenario", "repared"], "did you mean 'repaired'"),
        (["--scenario", "right", "--repeat", "3"], "no repeat 3; there are 1"),
        (["--repeat", "2"], "give --scenario ID"),
        (["--failed", "--scenario", "right"], "not allowed with"),
    ],
)
def test_show_refuses_what_is_not_there(
    tuna: Tuna, run: str, options: list[str], said: str
) -> None:
    shown = tuna("show", run, *options)
    assert shown.returncode == 2
    assert said in shown.stderr


@pytest.mark.parametrize(
    ("shape", "begins"),
    [
        ("html", b"<!DOCTYPE html>"),
        ("junit", b"<?xml"),
        ("csv", b"run_id,suite,"),
        ("markdown", b"# `made`"),
        ("github", b"::notice "),
        ("json", b"{"),
        ("parquet", b"PAR1"),
    ],
)
def test_report_writes_to_stdout_or_to_a_file(
    tuna: Tuna, run: str, tmp_path: Path, shape: str, begins: bytes
) -> None:
    if shape == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    file = tmp_path / "new" / "report"
    assert tuna("report", run, f"--{shape}", "-o", str(file)).returncode == 0
    assert file.read_bytes().startswith(begins)
    if shape != "parquet":  # whose bytes are no text
        said = tuna("report", run, f"--{shape}")
        assert said.returncode == 0
        assert said.stdout.splitlines() == file.read_text("utf-8").splitlines()


def test_a_report_of_several_runs(tuna: Tuna, run: str, tmp_path: Path) -> None:
    other = str(made_run(tmp_path / "other", {"right": "No."}))
    assert len(tuna("report", run, other, "--csv").stdout.splitlines()) == 1 + 8 + 1
    refused = tuna("report", run, other, "--json")
    assert refused.returncode == 2
    assert "writes a single run" in refused.stderr


def test_a_report_needs_its_shape_and_a_place(tuna: Tuna, run: str, tmp_path: Path) -> None:
    refused = tuna("report", run)
    assert refused.returncode == 2
    assert "say what to write: --html, --junit, " in refused.stderr
    assert "has no suffix that names a writer" in tuna("report", run, "-o", "page").stderr
    assert "cannot be written" in tuna("report", run, "--csv", "-o", str(tmp_path)).stderr


def test_the_suffix_of_a_file_names_its_shape(tuna: Tuna, run: str, tmp_path: Path) -> None:
    for name, begins in (("a.html", "<!doctype html>"), ("a.xml", "<?xml"), ("a.csv", "run_id,")):
        assert tuna("report", run, "-o", str(tmp_path / name)).returncode == 0
        assert (tmp_path / name).read_text("utf-8").lower().startswith(begins)


def test_a_run_writes_several_reports(tuna: Tuna, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.html", "b.xml", "c.csv", "d.md")]
    options = [word for file in files for word in ("--report", str(file))]
    done = tuna("run", *SMOKE, *options, "--quiet")
    assert done.returncode == 0, done.stderr
    assert all(file.stat().st_size > 1000 for file in files)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--report", "a.csv", "--report", "./a.csv"], "names a file twice"),
        (["--report", "a.x", "--report", "b.x", "--writer", "csv"], "for a single --report"),
        (["--report", "noend"], "no suffix that names a writer"),
        (["--report", "."], "no suffix that names a writer"),
        (["--report", "a.cvs"], "did you mean 'csv'"),
        (["--report", "/proc/nowhere/a.csv"], "cannot be written"),
        (["--record", "/proc/nowhere/a.jsonl"], "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_said_before_anything_is_asked(
    tuna: Tuna, tmp_path: Path, options: list[str], said: str
) -> None:
    done = tuna("run", "--suite", "smoke", "--base-url", "http://127.0.0.1:9/v1", *options)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "runs").exists()
