"""A model that abstains by a call, asked over HTTP: suites, options, and what is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.cli.conftest import Tuna
from tests.faults import FaultServer, chat, completion
from tests.runs.bfcl_folders import write_prompts, write_results
from tunaeval.clients.scripted import ScriptedClient
from tunaeval.errors import RecordError, SuiteError, UsageError
from tunaeval.reports.replies import Replies
from tunaeval.runs.directory import load_report
from tunaeval.runs.options import RunOptions
from tunaeval.tasks.suites.loading import write_suite
from tunaeval.types.exchange import Reply
from tunaeval.types.parsing import LEVELS
from tunaeval.types.runs import Report

NO_FUNCTION = '<function_call> {"name": "no_function", "arguments": {}}'
CALL = {"id": "c", "type": "function", "function": {"name": "no_function", "arguments": "{}"}}
SERVED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
ROWS = [
    {"id": "none", "prompt": "Hello.", "expect": {"none": True}},
    {"id": "list", "prompt": "List.", "expect": {"calls": [{"name": "bash"}]}},
]


def suite_of(folder: Path, header: dict[str, Any], *rows: dict[str, Any]) -> Path:
    path = folder / "abstaining.jsonl"
    path.write_text("\n".join(map(json.dumps, [{"name": "two", **header}, *(rows or ROWS)])))
    return path


@pytest.fixture
def url() -> Iterator[str]:
    with FaultServer(then=chat(NO_FUNCTION)) as server:
        yield server.base_url


def asked(suite: Path, url: str, **more: Any) -> Report:
    more = {"out": None, "ask": "prompt", "attempts": 1, **more}
    return tunaeval.run(suite, client="openai", base_url=url, model="m", **more)


def outcomes(report: Report) -> list[tuple[str, bool]]:
    """In the order of ROWS; a kept run has its results in the order in which they ended."""
    order = [row["id"] for row in ROWS]
    results = sorted(report.results, key=lambda one: order.index(one.scenario))
    return [(one.outcome, one.ok) for one in results]


NEITHER = [("malformed", False), ("malformed", False)]
ABSTAINED = [("no_call", True), ("no_call", False)]


def test_without_the_name_it_is_malformed(tmp_path: Path, url: str) -> None:
    assert outcomes(asked(suite_of(tmp_path, {}), url)) == NEITHER


def test_a_suite_names_it(tmp_path: Path, url: str) -> None:
    report = asked(suite_of(tmp_path, {"abstain": ["no_function"]}), url)
    assert outcomes(report) == ABSTAINED
    assert report.run.abstain == ["no_function"]
    assert {report.levels[level].passed for level in LEVELS} == {1}
    assert report.summary.abstentions == {"abstained": 1}


def test_a_scenario_names_it_for_itself(tmp_path: Path, url: str) -> None:
    suite = suite_of(tmp_path, {}, {**ROWS[0], "abstain": ["no_function"]}, ROWS[1])
    assert outcomes(asked(suite, url)) == [ABSTAINED[0], NEITHER[1]]


def test_a_run_names_it(tmp_path: Path, url: str) -> None:
    suite = suite_of(tmp_path, {"abstain": ["others"]})
    report = asked(suite, url, abstain=("no_function",))
    assert outcomes(report) == ABSTAINED
    assert report.run.abstain == ["no_function", "others"]


def test_a_selection_of_a_built_in_suite_names_it(tmp_path: Path) -> None:
    path = tmp_path / "chosen.json"
    header = {"from": "smoke", "select": ["bash-pytest-quiet"], "abstain": ["no_function"]}
    path.write_text(json.dumps(header))
    assert tunaeval.load_suite(path).abstain == ("no_function",)


@pytest.mark.parametrize("names", ["no_function", [5], {"a": 1}])
def test_a_suite_names_it_in_a_list(tmp_path: Path, names: Any) -> None:
    wanted = r"abstaining.jsonl, line 1, abstain: found .*, wanted a list of names of calls"
    with pytest.raises(SuiteError, match=wanted):
        tunaeval.load_suite(suite_of(tmp_path, {"abstain": names}))
    with pytest.raises(SuiteError, match=r"abstaining.jsonl, line 2, abstain"):
        tunaeval.load_suite(suite_of(tmp_path, {}, {**ROWS[0], "abstain": names}))


def test_a_run_names_it_in_a_list() -> None:
    with pytest.raises(UsageError, match=r"abstain is 'no_function'; wanted names of calls"):
        RunOptions(abstain="no_function")  # type: ignore[arg-type]  # what is wrong


def test_a_suite_is_written_with_its_names(tmp_path: Path) -> None:
    rows = [{**ROWS[0], "abstain": ["no_function"]}]
    suite = tunaeval.load_suite(suite_of(tmp_path, {"abstain": ["others"]}, *rows))
    write_suite(suite, tmp_path / "written.jsonl")
    again = tunaeval.load_suite(tmp_path / "written.jsonl")
    assert (again.abstain, again.digest) == (("others",), suite.digest)
    assert again.scenarios[0].abstain == ("no_function",)
    assert suite.digest != tunaeval.load_suite(suite_of(tmp_path, {}, ROWS[0])).digest


def test_a_server_that_parsed_the_call_has_lost_none(tmp_path: Path) -> None:
    """The finish reason says that there are calls, and there is none but this."""
    suite = suite_of(tmp_path, {"abstain": ["no_function"]})
    with FaultServer(then=completion(SERVED, "tool_calls")) as server:
        assert outcomes(asked(suite, server.base_url, ask="api")) == ABSTAINED


def test_one_that_used_up_its_tokens_has_abstained_all_the_same(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, {"abstain": ["no_function"]})
    cut = [Reply({"role": "assistant", "content": NO_FUNCTION}, "length")] * 2
    assert outcomes(tunaeval.run(suite, client=ScriptedClient(cut), out=None, attempts=1)) == (
        ABSTAINED
    )


def test_a_kept_run_is_rescored_and_shown_by_its_own_names(tmp_path: Path, url: str) -> None:
    rows = [{**ROWS[0], "abstain": ["no_function"]}, ROWS[1]]
    report = asked(suite_of(tmp_path, {}, *rows), url, out=tmp_path / "runs")
    assert report.directory is not None
    replies = Replies(report.run, report.directory)
    assert [replies.read(one)[0].detail for one in report.results] == ["abstained", "unknown-tool"]
    same = tunaeval.rescore(report.directory)
    assert outcomes(load_report(str(same.report.directory))) == [ABSTAINED[0], NEITHER[1]]
    more = tunaeval.rescore(report.directory, abstain=["no_function"])
    assert more.report.run.abstain == ["no_function"]
    assert outcomes(load_report(str(more.report.directory))) == ABSTAINED
    again = tunaeval.rescore(str(more.report.directory))
    assert (again.gained, again.lost, again.report.run.abstain) == (0, 0, ["no_function"])


def test_a_run_goes_on_with_the_same_names_alone(tmp_path: Path, url: str) -> None:
    suite = suite_of(tmp_path, {})
    report = asked(suite, url, out=tmp_path / "runs", abstain=("no_function",))
    assert outcomes(asked(suite, url, resume=report.directory, abstain=["no_function"])) == (
        ABSTAINED
    )
    with pytest.raises(RecordError, match=r"abstain was \['no_function'\], is \[\]"):
        asked(suite, url, resume=report.directory)


# --- as it is typed ------------------------------------------------------------------------------


def test_run_rescore_and_resume_take_the_name(here: Tuna, tmp_path: Path, url: str) -> None:
    suite = suite_of(tmp_path, {})
    run = ("run", "--suite", str(suite), "--base-url", url, "--tools", "prompt", "--model", "m")
    here(*run, "--abstain", "no_function", "--abstain", "others")
    [kept] = (tmp_path / "runs").iterdir()
    document = json.loads((kept / "run.json").read_text())
    assert document["abstain"] == document["options"]["abstain"] == ["no_function", "others"]
    rows = (kept / "results.jsonl").read_bytes().splitlines(keepends=True)
    (kept / "results.jsonl").write_bytes(rows[0])
    here("run", "--resume", str(kept))
    assert outcomes(load_report(kept)) == ABSTAINED
    said = json.loads(here(*run, "--json", "--out", "others").stdout)
    assert said["summary"]["final"]["passed"] == 0
    [other] = (tmp_path / "others").iterdir()
    said = json.loads(here("rescore", str(other), "--abstain", "no_function", "--json").stdout)
    assert said["changes"]["gained"] == 1


def test_results_of_bfcl_are_rescored_with_the_name(here: Tuna, tmp_path: Path) -> None:
    write_prompts(tmp_path / "prompts", "v3", "irrelevance", 2)
    write_results(tmp_path, "v3", "irrelevance", [NO_FUNCTION, "I cannot."], "granite")
    rescore = ("rescore", "--from", "bfcl", ".", "--prompts", "prompts", "--json")
    for names, passed in (((), 1), (("--abstain", "no_function"), 2)):
        [model] = json.loads(here(*rescore, *names).stdout)["models"]
        assert model["summary"]["final"]["passed"] == passed
    [model] = tunaeval.rescore_bfcl(tmp_path, prompts=tmp_path / "prompts", abstain=["no_function"])
    assert [one.outcome for one in model.results] == ["no_call", "no_call"]


def test_texts_messages_and_streams_are_read_with_the_name(tuna: Tuna, tmp_path: Path) -> None:
    name = ("--abstain", "no_function")
    one = json.loads(tuna("parse", "--json", *name, stdin=NO_FUNCTION.encode()).stdout)
    assert (one["outcome"], one["detail"], one["calls"]) == ("no_call", "abstained", [])
    lines = [json.dumps({"text": NO_FUNCTION}), json.dumps(SERVED)] * 300
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    for workers in ("1", "2"):
        done = tuna("parse", "rows.jsonl", "--json", "--workers", workers, *name)
        details = [json.loads(line)["detail"] for line in done.stdout.splitlines()]
        assert details == ["abstained"] * 600
    streamed = tuna("stream", *name, stdin=NO_FUNCTION.encode())
    assert "abstained: a call of 'no_function' means no call" in streamed.stdout
    assert "no_call, 0 calls" in streamed.stderr
