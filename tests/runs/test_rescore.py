"""Replies of a run read again: what changes by the rules, what must not, and what it is made of."""

from __future__ import annotations

import hashlib
import json
import tempfile
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.runs.conftest import TOOLS, scenario
from tests.runs.whole_runs import GOOD, ONE, Answers, MakeSuite, lines, run
from tunaeval.errors import RecordError, SuiteError, TransportFailure, UnknownNameError
from tunaeval.files.results import RESULTS_FILE
from tunaeval.runs.directory import RUN_FILE, load_report, run_source
from tunaeval.runs.rescore import Rescored, rescore
from tunaeval.types.calls import Tools
from tunaeval.types.exchange import Request
from tunaeval.types.parsing import LEVELS, Level
from tunaeval.types.roles import Parser
from tunaeval.types.runs import Expectation, ExpectedCall, Report, Scenario, Suite

FENCED = f"```{GOOD}```"
REPLIES = (
    GOOD,
    FENCED,
    GOOD[:-3],
    GOOD.replace("a.py", "b.py"),
    GOOD.replace("read_file", "nothing"),
    "Done.",
    TransportFailure("HTTP 500: busy", kind="status", status=500),
)


def asked(suite: Suite, out: Path, parser: Parser, *replies: object, **options: Any) -> Report:
    """A run that is kept; the replies are given in turn, by scenario and attempt."""

    def answer(request: Request) -> object:
        number = int(request.scenario.rpartition("-")[2]) - 1
        return replies[(number + request.attempt - 1) % len(replies)]

    return run(suite, Answers(answer), parser, replace(ONE, **options), out=out)


def again(report: Report, parser: Parser, **rules: Any) -> Rescored:
    assert report.directory is not None
    return rescore(report.directory, format=parser, **rules)


def results(directory: str | None) -> list[dict[str, Any]]:
    return lines(directory)


@given(
    replies=st.lists(st.sampled_from(REPLIES), min_size=1, max_size=5),
    expect=st.sampled_from(["call", "none", "limits"]),
    level=st.sampled_from(LEVELS),
    attempts=st.integers(1, 3),
)
def test_the_same_rules_give_the_same_results(
    make_suite: MakeSuite,
    parser: Parser,
    *,
    replies: list[object],
    expect: str,
    level: Level,
    attempts: int,
) -> None:
    with tempfile.TemporaryDirectory() as out:
        suite = make_suite(4, expect)
        old = asked(suite, Path(out), parser, *replies, level=level, attempts=attempts)
        done = again(old, parser)
        assert results(done.report.directory) == results(old.directory)
        assert done.report.summary == old.summary
        assert (done.gained, done.lost, done.unasked) == (0, 0, 0)


@given(
    replies=st.lists(st.sampled_from(REPLIES[:-1]), min_size=1, max_size=5),
    expect=st.sampled_from(["call", "none", "limits"]),
    level=st.sampled_from(LEVELS),
)
def test_another_level_is_what_the_run_said_of_it(
    make_suite: MakeSuite, parser: Parser, replies: list[object], expect: str, level: Level
) -> None:
    with tempfile.TemporaryDirectory() as out:
        old = asked(make_suite(5, expect), Path(out), parser, *replies, attempts=1)
        done = again(old, parser, level=level)
        told = [result.levels[level].ok for result in old.results]
        assert [result["ok"] for result in results(done.report.directory)] == told
        assert old.passed + done.gained - done.lost == done.report.passed


def test_the_new_run_names_the_old_and_its_digest(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    old = asked(make_suite(2), tmp_path / "runs", parser, FENCED)
    new = load_report(again(old, parser, level="strict").report.directory or "")
    source = Path(old.directory or "")
    assert new.run.rescored is not None
    assert new.run.rescored.run_id == old.run.run_id
    assert (
        new.run.rescored.digest == hashlib.sha256((source / RESULTS_FILE).read_bytes()).hexdigest()
    )
    assert (new.run.rescored.level, new.run.level) == ("standard", "strict")
    assert new.run.heading == (
        f"not a model; replies of run {old.run.run_id} read again; no model was asked"
    )
    assert (old.passed, new.passed) == (2, 0)
    assert Path(new.directory or "").parent == source / "rescored"
    assert load_report(source.parent).run.run_id == old.run.run_id, "the folder contains two runs"
    assert not new.interrupted


def test_a_run_may_be_kept_elsewhere_and_read_a_third_time(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    old = asked(make_suite(2), tmp_path / "runs", parser, FENCED)
    second = again(old, parser, level="strict", out=tmp_path / "other").report
    third = again(second, parser, level="standard").report
    assert Path(third.directory or "").parent == Path(second.directory or "") / "rescored"
    assert third.passed == 2


def test_another_format_reads_what_the_first_could_not(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    old = asked(make_suite(1), tmp_path, parser, f"<tool_call>{GOOD}</tool_call>")
    done = rescore(old.directory or "", format="hermes")
    assert (old.passed, done.gained, done.report.passed) == (0, 1, 1)
    assert done.report.run.format == "hermes"


def test_replies_after_the_one_that_settles_are_left_out(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    old = asked(make_suite(1), tmp_path, parser, FENCED, GOOD, level="strict")
    done = again(old, parser, level="standard")
    assert [len(result["attempts"]) for result in results(old.directory)] == [2]
    assert [len(result["attempts"]) for result in results(done.report.directory)] == [1]
    assert done.report.summary.first_attempt.passed == 1


def test_a_question_that_nobody_asked_is_told(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    old = asked(make_suite(3), tmp_path, parser, FENCED)
    assert again(old, parser, level="strict").unasked == 3


def test_paths_and_a_scenario_s_own_tools_are_kept(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    """`a.py/` is `a.py` for an argument that is a path, and `nothing` is a tool of the second."""
    nothing = Tools([replace(TOOLS["list_dir"], name="nothing")])
    own = Scenario(
        id="own-2",
        prompt="?",
        expect=Expectation(calls=(ExpectedCall(name="nothing"),)),
        tools=nothing,
    )
    changed = {"scenarios": (scenario(), own), "profile": "tunacode"}
    suite = make_suite(1).model_copy(update=changed)
    replies = (GOOD.replace("a.py", "a.py/"), '{"name": "nothing", "arguments": {}}')
    old = asked(suite, tmp_path, parser, *replies)
    assert old.passed == again(old, parser).report.passed == 2


def test_an_expectation_that_was_wrong_can_be_replaced(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    suite = make_suite(2)
    old = asked(suite, tmp_path, parser, GOOD.replace("a.py", "b.py"))
    right = Expectation(calls=(ExpectedCall(name="read_file", arguments={"filepath": "b.py"}),))
    corrected = tuple(one.model_copy(update={"expect": right}) for one in suite.scenarios)
    gold = suite.with_(scenarios=corrected)
    done = again(old, parser, suite=gold)
    assert (old.passed, done.report.passed, done.gained) == (0, 2, 2)
    assert done.report.run.suite_digest == gold.digest != suite.digest


def test_a_suite_that_asked_something_else_is_refused(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    old = asked(make_suite(2), tmp_path, parser, GOOD)
    with pytest.raises(SuiteError, match="has no scenario 'call-2', which a run of 'small' asked"):
        again(old, parser, suite=make_suite(1))
    other = make_suite(2)
    first = other.scenarios[0].model_copy(update={"prompt": "Something else"})
    other = other.model_copy(update={"scenarios": (first, other.scenarios[1])})
    with pytest.raises(SuiteError, match="the reply answers another question"):
        again(old, parser, suite=other)


def test_a_run_without_tools_wants_its_suite(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    old = asked(make_suite(2), tmp_path, parser, GOOD)
    (Path(old.directory or "") / "tools.jsonl").unlink()
    with pytest.raises(
        RecordError, match=r"did not keep its tools, .* give the suite that was asked"
    ):
        again(old, parser)
    assert again(old, parser, suite=make_suite(2)).report.passed == 2


def test_names_that_are_unknown_make_no_directory(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    old = asked(make_suite(1), tmp_path, parser, GOOD)
    with pytest.raises(UnknownNameError, match="match profile"):
        again(old, parser, profile="strct")
    with pytest.raises(UnknownNameError, match="one-object"):  # of the run, but not registered
        rescore(old.directory or "")
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("version", [1, 0, 3, None, "2"])
def test_a_run_of_another_version_is_refused(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path, version: object
) -> None:
    old = asked(make_suite(1), tmp_path, parser, GOOD)
    path = Path(old.directory or "") / RUN_FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema_version": version}))
    words = f"run.json: schema_version is {version!r}, this tunaeval reads 2; make the run again"
    for read in (load_report, rescore, run_source):
        with pytest.raises(RecordError, match=words):
            read(path.parent)
    with pytest.raises(RecordError, match=r"'schema_version' is .*; make it again"):
        tunaeval.ReplayClient(path=path.parent)


def test_a_broken_record_is_named_and_what_was_read_is_kept(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    old = asked(make_suite(3), tmp_path / "old", parser, GOOD)
    path = Path(old.directory or "") / RESULTS_FILE
    one, _, three = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(one + b'{"scenario": "call-2"}\n' + three)
    with pytest.raises(RecordError, match=r"result 2 of results\.jsonl"):
        again(old, parser, out=tmp_path / "new")
    (new,) = (tmp_path / "new").iterdir()
    assert load_report(new).interrupted
    assert len(results(str(new))) == 1


def test_memory_does_not_grow_with_the_run(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path
) -> None:
    """Eight times the records; what may grow is a number for each latency."""
    old = asked(make_suite(2), tmp_path, parser, GOOD, repeats=50)
    peaks = []
    for times in (1, 8):
        again(old, parser)  # what is kept once and for all is kept now
        path = Path(old.directory or "") / RESULTS_FILE
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        with path.open("w") as file:
            for at in range(times):
                for row in rows:
                    json.dump({**row, "repeat": row["repeat"] + 50 * at}, file)
                    file.write("\n")
        del rows
        tracemalloc.start()
        again(old, parser)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0], peaks


def test_the_face_has_it(make_suite: MakeSuite, parser: Parser, tmp_path: Path) -> None:
    old = asked(make_suite(1), tmp_path, parser, GOOD)
    assert tunaeval.rescore(old.directory or "", format="json").report.passed == 1
