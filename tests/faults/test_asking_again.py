"""What failed in transport is asked again on request: both are kept, the last counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults import Answer, FaultServer, Seen
from tests.faults.runs import asked, prompt_of, small_suite
from tests.runs.whole_runs import lines
from tunaeval.clients.replay import ReplayClient
from tunaeval.errors import UsageError
from tunaeval.reports.sides import source_of
from tunaeval.runs.directory import load_report, run_source
from tunaeval.runs.options import RunOptions
from tunaeval.runs.rescore import rescore
from tunaeval.types.runs import Report

ONE = RunOptions(concurrency=1, deadline_seconds=5)


def outage(seen: Seen) -> Answer | None:
    """Two of six questions are answered by a fault that no second try changes."""
    return Answer(b"no", status=400) if prompt_of(seen) in ("Say 1.", "Say 4.") else None


@pytest.fixture
def failed(tmp_path: Path) -> Path:
    """The directory of a run of six, two of which failed."""
    with FaultServer(choose=outage) as server:
        report = asked(small_suite(tmp_path, 6), server, ONE, out=tmp_path / "runs", run_id="r")
    assert report.summary.infrastructure_failures == 2
    return tmp_path / "runs" / "r"


def again(folder: Path, run: Path, server: FaultServer) -> Report:
    return asked(small_suite(folder, 6), server, ONE, resume=run, retry_failures=True)


def test_without_the_word_nothing_is_asked_again(tmp_path: Path, failed: Path) -> None:
    with FaultServer() as server:
        report = asked(small_suite(tmp_path, 6), server, ONE, resume=failed)
    assert server.seen == []
    assert report.summary.infrastructure_failures == 2


def test_only_what_failed_is_asked_again_and_the_last_result_counts(
    tmp_path: Path, failed: Path
) -> None:
    with FaultServer() as server:
        report = again(tmp_path, failed, server)
    assert [prompt_of(seen) for seen in server.seen] == ["Say 1.", "Say 4."]
    assert (report.passed, report.total, report.interrupted) == (6, 6, False)
    kept = [(line["scenario"], line["outcome"]) for line in lines(failed)]
    assert kept.count(("s1", "transport_failure")) == kept.count(("s1", "no_call")) == 1
    assert len(kept) == 8


def test_everything_that_reads_a_run_counts_the_last(tmp_path: Path, failed: Path) -> None:
    with FaultServer() as server:
        report = again(tmp_path, failed, server)
    read = load_report(failed)
    assert (read.summary, len(read.results)) == (report.summary, 6)
    assert rescore(failed).report.summary.final == report.summary.final
    rows = list(run_source(failed).rows(None))
    assert sorted(row["scenario"] for row in rows) == [f"s{n}" for n in range(6)]
    assert {row["outcome"] for row in rows} == {"no_call"}
    third = list(run_source(failed).rows({3}))
    assert third == [rows[2]]
    assert len(list(source_of(read).rows(None))) == 6
    assert len(ReplayClient(path=failed).details["replies"] * [0]) == 6


def test_what_fails_again_can_be_asked_a_third_time(tmp_path: Path, failed: Path) -> None:
    with FaultServer(then=Answer(b"still", status=400)) as server:
        report = again(tmp_path, failed, server)
    assert report.summary.infrastructure_failures == 2
    with FaultServer() as server:
        report = again(tmp_path, failed, server)
    assert (report.passed, len(lines(failed))) == (6, 10)
    assert len(report.run.retried_at) == 2


def test_an_interrupted_second_asking_leaves_the_first_failure(
    tmp_path: Path, failed: Path
) -> None:
    with FaultServer() as server:
        again(tmp_path, failed, server)
    results = failed / "results.jsonl"
    results.write_bytes(b"".join(results.read_bytes().splitlines(keepends=True)[:7]))
    report = load_report(failed)
    assert (report.passed, report.summary.infrastructure_failures) == (5, 1)
    with FaultServer() as server:
        assert again(tmp_path, failed, server).passed == 6
    assert len(server.seen) == 1


def test_there_has_to_be_a_run_to_ask_again(tmp_path: Path) -> None:
    with FaultServer() as server, pytest.raises(UsageError, match="name it with resume"):
        asked(small_suite(tmp_path, 1), server, ONE, retry_failures=True)
