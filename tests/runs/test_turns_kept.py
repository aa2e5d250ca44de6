"""What is kept of tasks of many turns: replayed, rescored, resumed, compared, written, refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.runs.tasks import (
    ONE,
    READ,
    REPAIR,
    TASK,
    call,
    report_of,
    scripted,
    suite_of,
)
from tunaeval.clients.replay import ReplayClient, write_recording
from tunaeval.errors import SuiteError

SCRIPTS = st.lists(
    st.sampled_from([READ, REPAIR, "<tool_call>\n{", "Done.", call("list_dir"), READ + REPAIR]),
    min_size=1,
    max_size=5,
)


@given(script=SCRIPTS)
def test_replies_of_a_run_give_the_same_result_when_replayed_and_rescored(
    tmp_path_factory: pytest.TempPathFactory, script: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("again")
    suite = suite_of(folder, {**TASK, "limits": {"turns": 4}})
    first = report_of(suite, scripted(*script), out=folder / "runs")
    write_recording(folder / "recording.jsonl", first.run, first.results)
    replayed = report_of(suite, ReplayClient(path=folder / "recording.jsonl"))
    assert replayed.results == first.results
    assert first.directory is not None
    rescored = tunaeval.rescore(first.directory, out=folder / "again")
    assert rescored.report.directory is not None
    again = Path(rescored.report.directory, "results.jsonl").read_bytes()
    assert again == Path(first.directory, "results.jsonl").read_bytes()
    assert rescored.unasked == 0


def test_rescored_by_other_rules_other_calls_have_no_verdict(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, TASK)
    script = (READ, REPAIR.replace('"}}', '",}}'), "Done.")
    first = report_of(suite, scripted(*script), out=tmp_path / "runs")
    assert first.passed == 1
    rescored = tunaeval.rescore(str(first.directory), level="strict")
    assert (rescored.unasked, rescored.report.total) == (1, 0)
    back = tunaeval.rescore(str(rescored.report.directory), level="standard")
    assert back.report.passed == 1


def test_a_run_that_was_cut_off_goes_on(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, *[TASK] * 3)
    whole = report_of(suite, scripted(READ, REPAIR, "Done."), out=tmp_path / "runs")
    results = Path(str(whole.directory), "results.jsonl")
    kept = results.read_text().splitlines(keepends=True)
    results.write_text("".join(kept[:1]))
    client = scripted(READ, REPAIR, "Done.")
    resumed = report_of(suite, client, out=tmp_path / "runs", resume=str(whole.directory))
    assert resumed.results == whole.results
    assert len(client.asked) == 6
    assert results.read_text().splitlines(keepends=True) == kept


def test_runs_of_episodes_are_compared_and_repeated(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, *[TASK] * 4)
    good = report_of(suite, scripted(READ, REPAIR, "Done."), options=replace(ONE, repeats=2))
    bad_ones = report_of(suite, scripted("Done."), options=replace(ONE, repeats=2))
    diff = tunaeval.compare(bad_ones, good)
    assert diff.overall.value == 1.0
    assert len(diff.gained) == 4
    assert good.summary.repeats is not None
    assert [at.all_pass for at in good.summary.repeats.at] == [1.0, 1.0]


def test_nothing_of_an_episode_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "here"))
    (tmp_path / "here").mkdir()
    suite = suite_of(tmp_path, *[TASK] * 3)
    report_of(suite, scripted(READ, REPAIR, "Done."), options=replace(ONE, concurrency=3))
    assert not list((tmp_path / "here").iterdir())


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ({"files": {"../a": "x"}, "checks": []}, "leads out of the workspace"),
        ({"files": {"a": "x", "a/b": "y"}}, "lies below the file 'a'"),
        ({"files": {"a": {"base64": "?"}}}, "this is no base64"),
        ({"checks": []}, "is empty, and no calls are expected"),
        ({"checks": [{"what": 1}]}, "with one of the keys file, absent"),
        ({"checks": [{"forbid": {"calls": ["basch"]}}]}, "did you mean 'bash'"),
        ({"chekcs": []}, "no field of a task is called 'chekcs'"),
        ({"done": {"tool": "dun"}, "checks": TASK["checks"]}, "no tool is called 'dun'"),
        ({"limits": {"turns": 0}}, "greater than or equal to 1"),
    ],
)
def test_a_task_that_cannot_be_run_is_refused_with_its_place(
    tmp_path: Path, task: dict[str, Any], words: str
) -> None:
    with pytest.raises(SuiteError, match="scenario 1, task") as raised:
        suite_of(tmp_path, task)
    assert words in str(raised.value)


def test_a_task_that_is_done_when_nothing_is_done_is_doubted(tmp_path: Path) -> None:
    from tunaeval.tasks.suites.check import check_suite

    assert check_suite(suite_of(tmp_path, TASK)) == ()
    (doubt,) = check_suite(suite_of(tmp_path, {**TASK, "checks": [{"unchanged": "**"}]}))
    assert doubt.reason == "doing nothing and answering nothing passes all checks"


def test_a_task_with_tools_that_nothing_runs_is_doubted(tmp_path: Path) -> None:
    from tunaeval.tasks.suites.check import check_suite

    file = tmp_path / "bare.json"
    file.write_text(json.dumps([{"id": "a", "prompt": "Do it.", "task": TASK}]))
    (doubt,) = check_suite(tunaeval.load_suite(file))
    assert doubt.scenario == "a"
    assert doubt.reason.startswith("nothing runs the tool 'research_codebase'; there are bash, ")
    assert "name some of them as the suite's `tools`" in doubt.reason


def test_a_suite_of_tasks_is_written_and_read_back(tmp_path: Path) -> None:
    from tunaeval.tasks.suites.loading import write_suite

    suite = suite_of(tmp_path, TASK)
    write_suite(suite, tmp_path / "again.jsonl")
    again = tunaeval.load_suite(tmp_path / "again.jsonl")
    assert again.scenarios[0].task == suite.scenarios[0].task
