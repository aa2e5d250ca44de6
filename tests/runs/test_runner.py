"""Whole runs: files, order, repeats, options. The clients are real, none is a mock."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.runs.whole_runs import GOOD, ONE, Answers, MakeSuite, good, lines, run
from tunaeval.clients.scripted import ScriptedClient
from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.runs.directory import RUN_FILE, load_report
from tunaeval.runs.options import RunOptions
from tunaeval.runs.runner import AsyncHarness, SuiteRun
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.roles import Harness, Parser
from tunaeval.types.runs import ScenarioResult


def test_a_suite_is_run_and_reported(make_suite: MakeSuite, parser: Parser, tmp_path: Path) -> None:
    client = ScriptedClient([GOOD, "Well...", GOOD, '{"name": "list_dir", "arguments": {}}'])
    report = run(make_suite(3), client, parser, ONE, out=tmp_path)
    assert (report.passed, report.total, report.interrupted) == (2, 3, False)
    assert report.summary.first_attempt.passed == 1
    assert [result.scenario for result in report.results] == ["call-1", "call-2", "call-3"]
    assert [record["ok"] for record in lines(report.directory)] == [True, True, False]


def test_a_run_is_read_back_from_its_directory(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    report = run(make_suite(3), ScriptedClient([GOOD] * 3), parser, ONE, out=tmp_path)
    assert report.directory is not None
    assert load_report(report.directory) == report


def test_a_kept_run_has_its_results_in_the_order_of_the_suite(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    """However they arrived: the file has them in that order."""
    suite = make_suite(3)
    begun = SuiteRun(suite, Answers(good), parser, RunOptions(repeats=2), out=tmp_path)

    async def backwards() -> None:
        for index in (2, 0, 1):
            await begun.run_one(index, 2)
            await begun.run_one(index, 1)

    asyncio.run(backwards())
    report = run(suite, Answers(good), parser, RunOptions(repeats=2), out=tmp_path, run_id="kept")
    file = Path(report.directory or "") / "results.jsonl"
    file.write_bytes(b"".join(reversed(file.read_bytes().splitlines(keepends=True))))
    kept = load_report(report.directory or "").results
    expected = [(f"call-{number}", repeat) for number in (1, 2, 3) for repeat in (1, 2)]
    for results in (begun.report().results, kept):
        assert [(one.scenario, one.repeat) for one in results] == expected
        assert [one.index for one in results] == [0, 0, 1, 1, 2, 2]


def test_run_json_tells_how_the_run_was_made(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    options = RunOptions(ask="schema", seed=3, level="strict", repeats=2)
    suite = make_suite(2)
    report = run(suite, Answers(good), parser, options, out=tmp_path, run_id="mine")
    told = json.loads((tmp_path / "mine" / RUN_FILE).read_text())
    assert told["heading"] == "constrained decoding; not a model"
    assert (told["suite"], told["suite_digest"], told["seed"]) == ("small", suite.digest, 3)
    assert (told["client"], told["model"]) == ("answers", "tuna-1")  # known after the first reply
    assert (told["format"], told["level"], told["ask"]) == ("one-object", "strict", "schema")
    assert {"python", "tunaeval", "pydantic", "orjson"} <= set(told["versions"])
    assert told == report.run.model_dump()


def test_without_a_directory_nothing_is_kept(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(make_suite(1), Answers(good), parser).directory is None
    assert list(tmp_path.iterdir()) == []


def test_the_report_has_the_order_of_the_suite_and_the_file_that_of_completion(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    class FirstIsSlow(Answers):
        async def complete(self, request: Request) -> Reply:
            while request.scenario == "call-1" and len(finished) < 3:  # noqa: ASYNC110 - others end
                await asyncio.sleep(0.01)
            return await super().complete(request)

    finished: list[ScenarioResult] = []
    report = run(
        make_suite(4), FirstIsSlow(good), parser, RunOptions(concurrency=4), out=tmp_path,
        on_result=finished.append,
    )  # fmt: skip
    assert [result.scenario for result in report.results] == [f"call-{n}" for n in (1, 2, 3, 4)]
    assert lines(report.directory)[-1]["scenario"] == "call-1"


def test_no_more_than_asked_for_are_in_flight(make_suite: MakeSuite, parser: Parser) -> None:
    client = Answers(good, 0.01)
    report = run(make_suite(20), client, parser, RunOptions(concurrency=3))
    assert (report.passed, client.most_at_once) == (20, 3)


def test_repeats_are_asked_and_counted(make_suite: MakeSuite, parser: Parser) -> None:
    report = run(make_suite(2), Answers(good), parser, RunOptions(repeats=3))
    assert report.total == 6
    assert [(result.scenario, result.repeat) for result in report.results] == [
        (f"call-{number}", repeat) for number in (1, 2) for repeat in (1, 2, 3)
    ]


def test_two_runs_never_share_an_id(make_suite: MakeSuite, parser: Parser) -> None:
    suite = make_suite(1)
    ids = {SuiteRun(suite, Answers(good), parser).info.run_id for _ in range(20)}
    assert len(ids) == 20


@pytest.mark.parametrize("run_id", ["", "../up", "a/b", "/"])
def test_a_run_id_is_no_path(make_suite: MakeSuite, parser: Parser, run_id: str) -> None:
    with pytest.raises(UsageError, match="without a path"):
        SuiteRun(make_suite(1), Answers(good), parser, run_id=run_id)


@pytest.mark.parametrize(
    "options",
    [{"attempts": 0}, {"repeats": 0}, {"concurrency": 0}, {"max_tokens": 0},
     {"deadline_seconds": 0}, {"deadline_seconds": float("nan")}],
)  # fmt: skip
def test_options_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="wanted"):
        RunOptions(**options)


def test_unknown_words_in_options_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="lenient"):
        RunOptions(level="lenien")  # type: ignore[arg-type] # the mistake that is tested
    with pytest.raises(UnknownNameError, match="strict"):
        RunOptions(profile="strct")


def test_progress_is_told_after_it_is_kept(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    seen: list[int] = []

    def told(result: ScenarioResult) -> None:
        assert result.ok
        seen.append(len(lines(tmp_path / "mine")))

    run(make_suite(3), Answers(good), parser, ONE, out=tmp_path, run_id="mine", on_result=told)
    assert seen == [1, 2, 3]


def test_lone_surrogates_from_a_model_are_kept(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    report = run(make_suite(1), Answers(lambda _: "odd \ud800"), parser, out=tmp_path)
    assert report.directory is not None
    kept = load_report(report.directory).results[0].attempts[0].message["content"]
    assert kept == "odd \ud800"


def test_it_is_a_harness(make_suite: MakeSuite, parser: Parser) -> None:
    harness = AsyncHarness(ONE)
    assert isinstance(harness, Harness)
    assert asyncio.run(harness.run(make_suite(2), Answers(good), parser)).passed == 2


def test_four_times_the_scenarios_take_about_four_times_the_time(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    def seconds(scenarios: int) -> float:
        suite, start = make_suite(scenarios), time.process_time()
        run(suite, Answers(good), parser, out=tmp_path)
        return time.process_time() - start

    assert any(seconds(400) < 8 * seconds(100) for _ in range(3))  # a square would be 16 times
