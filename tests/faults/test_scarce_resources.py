"""No descriptor left, no space on the disk, a clock that jumps: each in a process of its own."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import environment
from tests.faults import Answer, FaultServer, chat
from tests.faults.runs import SPARE_SECONDS, suite_file, within
from tests.runs.whole_runs import lines

LIMITED = """
import resource, sys
sys.dont_write_bytecode = True  # half a file of byte code would break all that come later
kind, most = getattr(resource, sys.argv[1]), int(sys.argv[2])
resource.setrlimit(kind, (most, most))
from tunaeval.cli import main
sys.exit(main(sys.argv[3:]))
"""


def program(code: str, *words: object, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment(), cwd=folder, check=False,
        timeout=60,
    )  # fmt: skip


def limited(
    kind: str, most: int, server: FaultServer, suite: Path, *words: object
) -> subprocess.CompletedProcess[str]:
    given = ["run", "--suite", suite, "--base-url", server.base_url, "--model", "m", "--quiet"]
    return program(LIMITED, kind, most, *given, *words, folder=suite.parent)


def test_with_few_descriptors_fewer_are_asked_at_once_and_none_fails(tmp_path: Path) -> None:
    suite = suite_file(tmp_path, 400)
    with FaultServer() as server:
        done = limited("RLIMIT_NOFILE", 64, server, suite, "--concurrency", 1000, "--out", "runs")
    assert done.returncode == 0, done.stderr
    assert len(server.seen) == 400
    assert 8 < server.most_open < 64
    assert "and not 1000, as this process may open 64 files (ulimit -n)" in done.stderr
    assert len(lines(next((tmp_path / "runs").iterdir()))) == 400


SHORTAGE = """
import asyncio, os, resource, sys
from pathlib import Path
from tests.faults.runs import suite_file
from tunaeval import OpenAIClient
from tunaeval import RunOptions, load_suite
from tunaeval.runs.runner import SuiteRun
from tunaeval.parsing.api import parser_for

resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
client = OpenAIClient(base_url=sys.argv[1], model="m", connections=100)
taken = []
for _ in range(200):  # somebody else takes all but twenty
    try:
        taken.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        break
for one in taken[-20:]:
    os.close(one)
run = SuiteRun(load_suite(suite_file(Path("."), 200)), client, parser_for("auto"),
               RunOptions(concurrency=100, deadline_seconds=20), out="runs")

async def whole():
    try:
        return await run.run()
    finally:
        await client.close()

report = asyncio.run(whole())
print(report.passed, report.total, report.summary.infrastructure_failures)
"""


def test_descriptors_that_others_take_meanwhile_cost_no_result(tmp_path: Path) -> None:
    with FaultServer() as server, within(20):
        done = program(SHORTAGE, server.base_url, folder=tmp_path)
    assert done.stdout.split() == ["200", "200", "0"], done.stderr
    assert server.most_open <= 20


def test_a_full_disk_ends_the_run_with_whole_records_and_no_more_requests(tmp_path: Path) -> None:
    suite = suite_file(tmp_path, 200)
    with FaultServer() as server, within(15):
        done = limited("RLIMIT_FSIZE", 20_000, server, suite, "--out", "runs", "--concurrency", 4)
        asked = len(server.seen)
        run = next((tmp_path / "runs").iterdir())
        kept = lines(run)
        assert done.returncode == 2
        assert "File too large; raise the file size limit" in done.stderr
        assert 4 < len(kept) < asked <= len(kept) + 4
        assert (run / "results.jsonl").read_bytes().endswith(b"\n")
        again = program(LIMITED, "RLIMIT_FSIZE", resource.RLIM_INFINITY, "run", "--resume", run,
                        folder=tmp_path)  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert len(server.seen) == asked + 200 - len(kept)
    assert len({one["scenario"] for one in lines(run)}) == len(lines(run)) == 200


@pytest.mark.parametrize("most", [0, 300])
def test_a_disk_that_is_full_before_the_run_costs_no_request(tmp_path: Path, most: int) -> None:
    suite = suite_file(tmp_path, 3)
    with FaultServer() as server:
        done = limited("RLIMIT_FSIZE", most, server, suite, "--out", "runs")
    assert done.returncode == 2
    assert "File too large" in done.stderr
    assert server.seen == []
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path != suite]


JUMPS = """
import datetime, itertools, sys, time
jump = itertools.cycle([3600.0, -3600.0, 0.0])
real_time, real = time.time, datetime.datetime
time.time = lambda: real_time() + next(jump)

class Jumping(real):
    @classmethod
    def now(cls, tz=None):
        return real.now(tz) + datetime.timedelta(seconds=next(jump))

datetime.datetime = Jumping
from tunaeval.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_clock_that_jumps_by_hours_changes_no_wait_and_no_result(tmp_path: Path) -> None:
    soon = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 2))
    faults = [
        Answer(b"{}", status=429, headers={"Retry-After": "1"}),
        Answer(b"{}", status=503),
        Answer(b"{}", status=503, headers={"Retry-After": soon}),
    ]
    suite = suite_file(tmp_path, 6)
    given = ["run", "--suite", suite, "--model", "m", "--timeout", 8, "--out", "runs", "--quiet"]
    for _ in range(2):
        with FaultServer(*faults, then=chat("hello")) as server, within(8):
            done = program(JUMPS, *given, "--base-url", server.base_url, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert len(server.seen) == 6 + len(faults)
    runs = list((tmp_path / "runs").iterdir())
    assert len(runs) == 2
    for run in runs:
        found: list[Any] = lines(run)
        assert len(found) == 6
        assert all(0 <= one["latency_seconds"] < 8 + SPARE_SECONDS for one in found)


def test_the_jumps_are_seen(tmp_path: Path) -> None:
    """Else the test above would pass whatever the clock did."""
    code = JUMPS.replace("from tunaeval.cli import main\nsys.exit(main(sys.argv[1:]))", "") + (
        "print(abs(time.time() - time.time()) > 1800,"
        " abs(datetime.datetime.now() - datetime.datetime.now()).total_seconds() > 1800)"
    )
    assert program(code, folder=tmp_path).stdout.split() == ["True", "True"]
