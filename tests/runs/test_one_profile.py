"""Who says by which rules calls are compared: the caller, else the suite, else `strict`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tunaeval.clients.scripted import ScriptedClient
from tunaeval.errors import SuiteError
from tunaeval.tasks.suites.check import check_suite
from tunaeval.tasks.suites.loading import write_suite

LS = {"name": "bash", "arguments": {"command": "ls"}}
MORE = '<tool_call>{"name": "bash", "arguments": {"command": "ls", "timeout": 9}}</tool_call>'


def suite_file(path: Path, **header: Any) -> Path:
    """One scenario, which an answer with one more argument passes under `tunacode` alone."""
    row = {"id": "ls", "prompt": "Run ls.", "expect": {"calls": [LS]}}
    path.write_text("\n".join(map(json.dumps, [{"name": "one", **header}, row])))
    return path


@pytest.mark.parametrize(
    ("in_suite", "asked", "judges"),
    [
        (None, None, "strict"),
        ("tunacode", None, "tunacode"),
        ("strict", "tunacode", "tunacode"),
        ("tunacode", "strict", "strict"),
    ],
)
def test_the_caller_goes_before_the_suite_and_both_before_the_default(
    tmp_path: Path, in_suite: str | None, asked: str | None, judges: str
) -> None:
    path = suite_file(tmp_path / "one.jsonl", **({"profile": in_suite} if in_suite else {}))
    report = tunaeval.run(path, client=ScriptedClient([MORE]), out=None, profile=asked)
    assert report.run.profile == judges
    assert report.passed == (judges == "tunacode")


def test_match_and_run_judge_alike(tmp_path: Path) -> None:
    path = suite_file(tmp_path / "one.jsonl")
    report = tunaeval.run(path, client=ScriptedClient([MORE]), out=None)
    verdict = tunaeval.match({"calls": [LS]}, tunaeval.parse(MORE))
    assert (report.run.profile, bool(report.passed)) == (verdict.profile, verdict.ok)
    assert report.results[0].reason == verdict.reason


def test_the_built_in_suites_name_theirs() -> None:
    assert tunaeval.load_suite("tunacode").profile == "tunacode"
    assert tunaeval.load_suite("smoke").profile == "tunacode"


def test_a_suite_keeps_its_profile_when_it_is_written(tmp_path: Path) -> None:
    path = suite_file(tmp_path / "one.jsonl", profile="tunacode")
    suite = tunaeval.load_suite(path)
    write_suite(suite, tmp_path / "again.jsonl")
    assert tunaeval.load_suite(tmp_path / "again.jsonl") == suite
    assert check_suite(suite) == ()


@pytest.mark.parametrize(
    ("profile", "words"),
    [("stric", "profile: no match profile is called 'stric'; did you mean 'strict'?"), (3, "3")],
)
def test_a_profile_that_is_none_is_named_with_its_place(
    tmp_path: Path, profile: object, words: str
) -> None:
    with pytest.raises(SuiteError) as caught:
        tunaeval.load_suite(suite_file(tmp_path / "one.jsonl", profile=profile))
    assert words in str(caught.value)
    assert "profile" in str(caught.value)


def test_every_report_says_which_profile_judged(tmp_path: Path) -> None:
    report = tunaeval.run("smoke", client=ScriptedClient(["No."] * 99), out=tmp_path)
    for writer in ("json", "markdown"):
        tunaeval.registries()["writers"].get(writer).write(report, tmp_path / writer)
        assert "profile" in (tmp_path / writer).read_text("utf-8")
