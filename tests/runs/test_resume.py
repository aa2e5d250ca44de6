"""A run that was cut off goes on, and nothing tells it from one that was not but when."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.runs.whole_runs import GOOD, ONE, Answers, MakeSuite, good, lines, run
from tunaeval.errors import RecordError
from tunaeval.files.records import recover
from tunaeval.files.results import RESULTS_FILE
from tunaeval.runs.directory import load_report
from tunaeval.runs.options import RunOptions
from tunaeval.runs.rescore import rescore
from tunaeval.runs.runner import SuiteRun
from tunaeval.types.exchange import Request
from tunaeval.types.roles import Parser
from tunaeval.types.runs import Report, ScenarioResult, Suite

TWICE = replace(ONE, repeats=2)


def answer(request: Request) -> Any:
    """Some right, some wrong, some lost, whoever asks and however often."""
    number = int(request.scenario.rpartition("-")[2]) + request.repeat
    return (GOOD, "no", OSError("the wire is cut"))[number % 3]


def go_on(
    suite: Suite, client: Answers, parser: Parser, path: Path, *options: RunOptions
) -> Report:
    return asyncio.run(SuiteRun(suite, client, parser, *options, resume=path).run())


@pytest.fixture
def cut(make_suite: MakeSuite, parser: Parser, tmp_path: Path) -> Path:
    """The directory of a run of three that ended after one."""
    report = run(make_suite(3), Answers(good), parser, ONE, out=tmp_path)
    assert report.directory is not None
    results = Path(report.directory) / RESULTS_FILE
    results.write_bytes(results.read_bytes().splitlines(keepends=True)[0])
    return results.parent


@given(share=st.floats(0, 1), at_once=st.integers(1, 4))
def test_wherever_it_was_cut_it_comes_to_the_same(
    make_suite: MakeSuite, parser: Parser, share: float, at_once: int
) -> None:
    suite = make_suite(4)
    with TemporaryDirectory() as folder:
        whole = run(suite, Answers(answer), parser, TWICE, out=folder, run_id="whole")
        part = Path(folder) / "part"
        shutil.copytree(Path(folder) / "whole", part)
        kept = part / RESULTS_FILE
        kept.write_bytes(kept.read_bytes()[: round(share * kept.stat().st_size)])
        client = Answers(answer)
        resumed = go_on(suite, client, parser, part, replace(TWICE, concurrency=at_once))
        assert resumed.results == whole.results
        assert (resumed.summary, resumed.interrupted) == (whole.summary, False)
        again = load_report(part)
        assert sorted(again.results, key=str) == sorted(whole.results, key=str)
        assert again.run.resumed_at != whole.run.resumed_at == []
        assert again.run.model_copy(update={"resumed_at": []}) == whole.run


def test_what_is_finished_is_not_asked_again(
    make_suite: MakeSuite, parser: Parser, cut: Path
) -> None:
    client, told = Answers(good), list[ScenarioResult]()
    work = SuiteRun(make_suite(3), client, parser, ONE, resume=cut, on_result=told.append)
    assert work.left == 2
    asyncio.run(work.run())
    assert client.asked == [result.scenario for result in told] == ["call-2", "call-3"]


def test_a_run_that_is_whole_asks_nothing(make_suite: MakeSuite, parser: Parser, cut: Path) -> None:
    go_on(make_suite(3), Answers(good), parser, cut, ONE)
    client = Answers(good)
    report = go_on(make_suite(3), client, parser, cut, ONE)
    assert client.asked == []
    assert (report.passed, report.run.model, len(report.run.resumed_at)) == (3, "tuna-1", 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": "strict"}, "level was 'standard', is 'strict'"),
        ({"profile": "tunacode"}, "profile was 'strict', is 'tunacode'"),
        ({"seed": 7, "repeats": 2}, "repeats was 1, is 2; seed was None, is 7"),
        ({"ask": "prompt"}, "ask was 'api', is 'prompt'; give"),
    ],
)
def test_another_way_of_asking_is_refused_and_named(
    make_suite: MakeSuite, parser: Parser, cut: Path, options: dict[str, Any], words: str
) -> None:
    client = Answers(good)
    with pytest.raises(RecordError, match="cannot be continued") as refused:
        go_on(make_suite(3), client, parser, cut, replace(ONE, **options))
    assert words in str(refused.value)
    assert (client.asked, len(lines(cut))) == ([], 1)


def test_another_suite_is_refused(make_suite: MakeSuite, parser: Parser, cut: Path) -> None:
    other = make_suite(3).with_(system_prompt="Another.")
    with pytest.raises(RecordError, match="other scenarios, tools or system prompt now") as refused:
        go_on(other, Answers(good), parser, cut, ONE)
    assert len(str(refused.value)) < 250


def test_a_suite_of_another_name_is_all_that_is_said(
    make_suite: MakeSuite, parser: Parser, cut: Path
) -> None:
    other = make_suite(3).with_(name="other", profile="tunacode", system_prompt="Hm.")
    with pytest.raises(RecordError) as refused:
        go_on(other, Answers(good), parser, cut, ONE)
    said = str(refused.value)
    assert "suite was 'made', is 'other'; give" in said or "is 'other'; give" in said
    assert len(said) < 200


def test_results_of_another_model_are_not_kept_beside(
    make_suite: MakeSuite, parser: Parser, cut: Path
) -> None:
    """A server's model is known by its first reply; that is soon enough."""

    class Other(Answers):
        async def complete(self, request: Request) -> Any:
            reply = await super().complete(request)
            self.model = "tuna-2"
            return reply

    with pytest.raises(RecordError, match="model was 'tuna-1' and is 'tuna-2' now"):
        go_on(make_suite(3), Other(good), parser, cut, ONE)
    assert len(lines(cut)) == 1


def test_a_run_that_asked_nobody_has_nothing_to_go_on_with(
    make_suite: MakeSuite, parser: Parser, cut: Path
) -> None:
    again = rescore(cut, format=parser)
    assert again.report.directory is not None
    with pytest.raises(RecordError, match="asked no model"):
        go_on(make_suite(3), Answers(good), parser, Path(again.report.directory), ONE)


def test_a_directory_without_a_run_is_no_run(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    with pytest.raises(RecordError, match=r"run\.json"):
        go_on(make_suite(3), Answers(good), parser, tmp_path, ONE)


def test_tools_that_were_torn_are_whole_again(
    make_suite: MakeSuite, parser: Parser, cut: Path
) -> None:
    tools = cut / "tools.jsonl"
    whole = json.loads(tools.read_bytes())
    tools.write_bytes(tools.read_bytes()[:40])
    go_on(make_suite(3), Answers(good), parser, cut, ONE)
    assert recover(tools) == 0
    assert json.loads(tools.read_bytes()) == whole


def test_the_face_has_it(make_suite: MakeSuite, parser: Parser, cut: Path) -> None:
    report = tunaeval.run(
        make_suite(3), client=Answers(good), format=parser, options=ONE, resume=cut
    )
    assert (report.passed, report.directory) == (3, str(cut))
