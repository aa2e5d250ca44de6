"""Calls of a task run against its servers, and a server's failure is not the model's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tunaeval import Environment, RunOptions, ScriptedClient
from tunaeval.errors import SuiteError
from tunaeval.tasks.suites.loading import write_suite
from tunaeval.types.runs import ScenarioResult, Suite

Raw = Callable[..., str]


def suite_of(path: Path, *checks: dict[str, Any], **header: Any) -> Suite:
    task = {"id": "task", "prompt": "Do it.", "task": {"checks": checks}}
    file = path / "mine.json"
    file.write_text(json.dumps({**header, "scenarios": [task]}))
    return tunaeval.load_suite(file)


def do(how: str, name: str = "do") -> str:
    call = {"name": name, "arguments": {"how": how}}
    return f"<tool_call>{json.dumps(call)}</tool_call>"


DONE = {"answer": {"contains": "Done"}}


def result_of(suite: Suite, *replies: str, **options: Any) -> ScenarioResult:
    report = tunaeval.run(
        suite, client=ScriptedClient([*replies]), out=None, format="hermes", **options
    )
    return report.results[0]


def test_a_server_works_in_the_directory_of_the_task(tmp_path: Path, raw: Raw) -> None:
    place = raw("{workspace}")
    suite = suite_of(tmp_path, {"file": "note.txt", "equals": "hello"}, mcp=place)
    assert [*suite.tools] == ["do"]
    assert suite.tools_from == suite.mcp == (place,)
    result = result_of(suite, do("note"), "Done.")
    assert result.ok, result.reason
    assert result.task is not None
    assert result.task.added == ("note.txt",)


def test_each_episode_has_a_process_of_its_own(tmp_path: Path, raw: Raw) -> None:
    suite = suite_of(tmp_path, DONE, mcp=[raw()])
    client = ScriptedClient([do("pid"), do("pid"), "Done."] * 2)
    report = tunaeval.run(suite, client=client, out=None, repeats=2, concurrency=1)
    first, second = (
        [one.content for attempt in result.attempts for one in attempt.results]
        for result in report.results
    )
    assert first[0] == first[1] != second[0] == second[1]


def test_structured_results_are_stored_and_come_back(tmp_path: Path, raw: Raw) -> None:
    suite = suite_of(tmp_path, DONE, mcp=raw())
    client = ScriptedClient([do("structured"), do("failed"), "Done."])
    report = tunaeval.run(suite, client=client, out=tmp_path / "runs")
    stored = tunaeval.load_report(str(report.directory))
    assert stored.results == report.results
    (kept,), (failed,) = (one.results for one in stored.results[0].attempts[:2])
    assert (kept.ok, kept.structured) == (True, {"n": 10**30})
    assert (failed.ok, failed.content, failed.structured) == (False, "did failed", None)


@pytest.mark.parametrize("how", ["die", "garbage", "-32603", "hang"])
def test_a_server_that_fails_is_no_answer_of_the_model(tmp_path: Path, raw: Raw, how: str) -> None:
    suite = suite_of(tmp_path, DONE, mcp=raw())
    result = result_of(suite, do(how), "Done.", options=RunOptions(deadline_seconds=3))
    assert result.outcome == "transport_failure"
    assert not result.ok
    assert "the MCP server" in str(result.error)
    assert result.task is not None
    assert result.task.ended == "failure"


def test_what_is_wrong_with_a_call_is_for_the_model_to_repair(tmp_path: Path, raw: Raw) -> None:
    suite = suite_of(tmp_path, DONE, mcp=raw())
    result = result_of(suite, do("-32602"), do("", name="undo"), do("print"), "Done.")
    assert result.ok, result.reason
    assert [len(one.results) for one in result.attempts] == [1, 0, 1, 0]


def test_a_server_that_does_not_start_for_a_task_is_a_failure(tmp_path: Path, raw: Raw) -> None:
    suite = suite_of(tmp_path, DONE, mcp=raw()).with_(mcp=(raw("dies"),))
    result = result_of(suite, do("well"), "Done.")
    assert result.outcome == "transport_failure"
    assert "no licence" in str(result.error)


def test_what_the_caller_gives_runs_before_the_server(tmp_path: Path, raw: Raw) -> None:
    suite = suite_of(tmp_path, DONE, mcp=raw())
    environment = Environment(tools={"do": lambda how: f"pretended {how}"})
    result = result_of(suite, do("die"), "Done.", environment=environment)
    assert result.ok
    assert result.attempts[0].results[0].content == "pretended die"


def test_a_long_result_is_cut_for_the_model(tmp_path: Path, raw: Raw) -> None:
    result = result_of(suite_of(tmp_path, DONE, mcp=raw()), do("huge"), "Done.")
    assert result.attempts[0].results[0].content.endswith("(134464 more characters)")


def test_a_suite_names_those_tools_of_a_server_that_it_asks_with(tmp_path: Path, raw: Raw) -> None:
    suite = suite_of(tmp_path, DONE, mcp=raw("many"), tools=["do_7", "do_499"])
    assert [*suite.tools] == ["do_7", "do_499"]
    assert result_of(suite, do("well", name="do_7"), "Done.").ok


def test_a_written_suite_keeps_its_servers(tmp_path: Path, raw: Raw) -> None:
    suite = suite_of(tmp_path, DONE, mcp=raw("many"), tools=["do_7"])
    write_suite(suite, tmp_path / "written.jsonl")
    again = tunaeval.load_suite(tmp_path / "written.jsonl")
    assert (again.mcp, again.digest) == (suite.mcp, suite.digest)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"mcp": 3}, "mcp: mcp is 3"),
        ({"mcp": []}, "mcp: has no server"),
        ({"mcp": "python 'a"}, "no closing quotation"),
        ({"mcp": "no-such-program"}, "mcp: the MCP server 'no-such-program' cannot be started"),
        ({"mcp": "x", "catalogue": "tunacode-2025-12"}, "catalogue: is given beside mcp"),
    ],
)
def test_a_suite_with_a_wrong_server_says_where(
    tmp_path: Path, header: dict[str, Any], words: str
) -> None:
    with pytest.raises(SuiteError) as caught:
        suite_of(tmp_path, DONE, **header)
    assert words in str(caught.value)
