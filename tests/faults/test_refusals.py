"""A refusal is the failure of what was refused; only what every request meets ends a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults import Answer, FaultServer, Seen
from tests.faults.runs import asked, prompt_of, small_suite, within
from tests.runs.whole_runs import lines
from tunaeval.errors import ClientSetupError
from tunaeval.runs.options import RunOptions

REFUSALS = {
    "a content filter": Answer(b'{"error": "blocked"}', status=403),
    "a stray 401": Answer(status=401),
    "a stray 404": Answer(status=404),
    "a stray 405": Answer(status=405),
    "a stray redirect": Answer(status=307, headers={"Location": "http://127.0.0.1:9/"}),
}
TWO = RunOptions(concurrency=2, deadline_seconds=5)


@pytest.mark.parametrize("name", REFUSALS)
@pytest.mark.parametrize("which", [0, 7])
def test_a_refusal_of_one_request_is_that_scenarios_failure(
    tmp_path: Path, name: str, which: int
) -> None:
    def choose(seen: Seen) -> Answer | None:
        return REFUSALS[name] if prompt_of(seen) == f"Say {which}." else None

    with FaultServer(choose=choose) as server, within(5):
        report = asked(small_suite(tmp_path, 8), server, TWO, out=tmp_path / "runs")
    failed = report.results[which]
    assert (report.passed, report.total) == (7, 7)
    assert failed.outcome == "transport_failure"
    assert failed.error is not None
    assert failed.error.startswith("refused: ")
    for advice in ("was sent", "check"):  # nothing is to be put right: the others passed
        assert advice not in failed.error
        assert advice not in failed.reason
    assert len(lines(report.directory)) == 8


@pytest.mark.parametrize("name", REFUSALS)
def test_what_every_first_request_meets_ends_the_run_and_is_in_no_file(
    tmp_path: Path, name: str
) -> None:
    suite, refused = small_suite(tmp_path, 100), FaultServer(then=REFUSALS[name])
    with (
        refused as server,
        within(5),
        pytest.raises(ClientSetupError, match="failed in the same way"),
    ):
        asked(suite, server, TWO, out=tmp_path / "runs", run_id="r")
    assert 5 <= len(refused.seen) <= 6
    assert lines(tmp_path / "runs" / "r") == []
    with FaultServer() as server:  # the key is right now
        report = asked(suite, server, TWO, resume=tmp_path / "runs" / "r")
    assert (report.passed, report.interrupted) == (100, False)


def test_a_blocked_prompt_that_is_all_that_is_left_stops_no_resumed_run(tmp_path: Path) -> None:
    suite, runs = small_suite(tmp_path, 4), tmp_path / "runs"
    with FaultServer() as server:
        whole = asked(suite, server, TWO, out=runs, run_id="r")
    assert whole.directory is not None
    results = Path(whole.directory, "results.jsonl")
    results.write_bytes(b"".join(results.read_bytes().splitlines(keepends=True)[:3]))
    with FaultServer(then=REFUSALS["a content filter"]) as server:
        report = asked(suite, server, TWO, resume=runs / "r")
    assert (report.passed, report.summary.infrastructure_failures) == (3, 1)
    assert not report.interrupted


def test_a_wrong_key_ends_a_resumed_run_too(tmp_path: Path) -> None:
    suite, runs = small_suite(tmp_path, 40), tmp_path / "runs"
    with FaultServer() as server:
        whole = asked(suite, server, TWO, out=runs, run_id="r")
    results = Path(str(whole.directory), "results.jsonl")
    results.write_bytes(b"".join(results.read_bytes().splitlines(keepends=True)[:3]))
    with FaultServer(then=Answer(status=401)) as server, pytest.raises(ClientSetupError):
        asked(suite, server, TWO, resume=runs / "r")
    assert len(lines(runs / "r")) == 3
