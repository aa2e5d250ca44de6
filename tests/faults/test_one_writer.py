"""A run's directory has one writer at a time, and a lock that was left behind stops nobody."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults import FaultServer
from tests.faults.runs import asked, made, small_suite
from tests.runs.whole_runs import lines
from tunaeval.errors import RecordError
from tunaeval.files.locks import LOCK_FILE, DirectoryLock
from tunaeval.runs.options import RunOptions

ONE = RunOptions(concurrency=1, deadline_seconds=5)

HOLDER = """
import sys, time
from pathlib import Path
from tunaeval.files.locks import DirectoryLock
lock = DirectoryLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


@contextmanager
def holder(directory: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the directory."""
    command = [sys.executable, "-c", HOLDER, str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """The directory of a run of four that ended after one."""
    with FaultServer() as server:
        asked(small_suite(tmp_path, 4), server, ONE, out=tmp_path / "runs", run_id="r")
    results = tmp_path / "runs" / "r" / "results.jsonl"
    results.write_bytes(results.read_bytes().splitlines(keepends=True)[0])
    return results.parent


def test_a_second_writer_is_refused_with_the_first_ones_name(tmp_path: Path, cut: Path) -> None:
    with holder(cut) as other, FaultServer() as server:
        with pytest.raises(RecordError, match=f"written by process {other.pid} on ") as refused:
            asked(small_suite(tmp_path, 4), server, ONE, resume=cut)
        assert server.seen == []
    assert "wait for it to end" in str(refused.value)
    assert len(lines(cut)) == 1


def test_the_lock_of_a_process_that_was_killed_is_taken_over_with_a_note(
    tmp_path: Path, cut: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with holder(cut) as other:
        other.send_signal(signal.SIGKILL)
        other.wait(10)
    assert (cut / LOCK_FILE).exists()
    with FaultServer() as server:
        report = asked(small_suite(tmp_path, 4), server, ONE, resume=cut)
    assert (report.passed, len(lines(cut))) == (4, 4)
    assert f"process {other.pid} on " in caplog.text
    assert "ended without letting go" in caplog.text
    assert not (cut / LOCK_FILE).exists()


def test_another_machines_lock_is_taken_over_only_when_asked(
    tmp_path: Path, cut: Path, caplog: pytest.LogCaptureFixture
) -> None:
    words = {"process": 7, "host": "elsewhere", "since": "2026-01-01T00:00:00+00:00"}
    (cut / LOCK_FILE).write_text(json.dumps(words))
    suite = small_suite(tmp_path, 4)
    with FaultServer() as server:
        with pytest.raises(RecordError, match=r"process 7 on 'elsewhere'.*--take-over"):
            asked(suite, server, ONE, resume=cut)
        assert json.loads((cut / LOCK_FILE).read_text()) == words
        assert asked(suite, server, ONE, resume=cut, take_over=True).passed == 4
    assert "as asked" in caplog.text


@pytest.mark.parametrize("text", ["", "no JSON", "[1]", "{}", '{"host": 5}'])
def test_a_lock_file_that_nobody_here_wrote_is_no_crash(tmp_path: Path, text: str) -> None:
    (tmp_path / LOCK_FILE).write_text(text)
    DirectoryLock(tmp_path, take_over=True).release()
    assert not (tmp_path / LOCK_FILE).exists()


def test_two_runs_in_one_process_do_not_share_a_directory(tmp_path: Path) -> None:
    first = DirectoryLock(tmp_path)
    with pytest.raises(RecordError, match=f"process {os.getpid()} on "):
        DirectoryLock(tmp_path)
    first.release()
    first.release()
    DirectoryLock(tmp_path).release()


def test_what_another_process_wrote_meanwhile_is_noticed(tmp_path: Path, cut: Path) -> None:
    """Between the look at the results and the lock there may have been another writer."""
    with FaultServer() as server:
        import asyncio

        run, client = made(small_suite(tmp_path, 4), server, ONE, resume=cut)
        assert asked(small_suite(tmp_path, 4), server, ONE, resume=cut).passed == 4
        with pytest.raises(RecordError, match="by another process meanwhile"):
            asyncio.run(run.run())
        asyncio.run(client.close())
    assert len(lines(cut)) == 4
    assert not (cut / LOCK_FILE).exists()
