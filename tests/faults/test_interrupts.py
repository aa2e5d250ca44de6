"""A run that is asked to end, once, twice or three times, ends in time and loses nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import environment
from tests.faults import FaultServer, chat
from tests.faults.runs import suite_file, within
from tests.interrupts import heed_interrupts
from tunaeval.cli.ending import GRACE_SECONDS

SLOW = replace(chat("hello"), seconds_before=0.02)
INT, TERM = signal.SIGINT, signal.SIGTERM


def started(folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tunaeval", "run", "--concurrency", "4", "--model", "m", *options],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment(),
        preexec_fn=heed_interrupts,  # noqa: PLW1509 - nothing here that a fork could break
    )  # fmt: skip


def wait_for(server: FaultServer, requests: int) -> None:
    until = time.monotonic() + 30
    while len(server.seen) < requests:
        assert time.monotonic() < until, "the run asked nothing"
        time.sleep(0.005)


def whole_lines(folder: Path) -> list[str]:
    """The scenarios that are kept; every line has to be a whole record."""
    [kept] = (folder / "runs").iterdir()
    lines = (kept / "results.jsonl").read_bytes().splitlines(keepends=True)
    assert all(line.endswith(b"\n") for line in lines)
    return [json.loads(line)["scenario"] for line in lines]


@pytest.mark.parametrize(
    ("signals", "pause"),
    [
        ((INT, INT, INT), 0.0),
        ((TERM, INT), 0.05),
        ((TERM, TERM, TERM, TERM, TERM, TERM), 0.1),
        *(
            pytest.param(*others, marks=pytest.mark.slow)
            for others in [
                ((INT, INT, INT), 0.004),
                ((INT, INT), 0.03),
                ((TERM, TERM), 0.0),
                ((TERM, TERM, TERM), 0.01),
                ((INT, TERM), 0.002),
                ((INT, TERM, TERM, TERM, TERM, TERM, TERM, TERM), 0.07),
            ]
        ),
    ],
)
def test_signals_in_a_row_end_a_run_at_once_and_lose_nothing(
    tmp_path: Path, signals: Sequence[int], pause: float
) -> None:
    suite_file(tmp_path, 160)
    with FaultServer(then=SLOW) as server:
        options = ("--suite", "small.json", "--base-url", server.base_url)
        child = started(tmp_path, *options, "--quiet")
        wait_for(server, 24)
        with within(GRACE_SECONDS):
            for number in signals:
                child.send_signal(number)
                time.sleep(pause)
            _, err = child.communicate(timeout=30)
        assert child.returncode == 128 + signals[0]
        assert "Traceback" not in err
        kept = whole_lines(tmp_path)
        assert 15 < len(kept) < 160
        [run] = (tmp_path / "runs").iterdir()
        assert f"tunaeval run --resume runs/{run.name} goes on" in err
        child = started(tmp_path, *options, "--quiet", "--resume", f"runs/{run.name}")
        _, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    assert sorted(whole_lines(tmp_path)) == sorted(f"s{n}" for n in range(160))


STUBBORN = """
import signal, sys, time
from tunaeval.cli.ending import Ending

with Ending() as ending:
    said = False
    while True:
        try:
            if not said:
                said = True
                print("begun", flush=True)
            time.sleep(0.1)
        except KeyboardInterrupt:
            pass  # as code does that catches everything
"""


def test_what_does_not_end_is_ended_after_the_time_of_grace() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", STUBBORN],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
        preexec_fn=heed_interrupts,  # noqa: PLW1509 - nothing here that a fork could break
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "begun\n"
    with within(GRACE_SECONDS):
        child.send_signal(TERM)
        _, err = child.communicate(timeout=30)
    assert child.returncode == 143
    assert "terminated at once" in err
    assert "Traceback" not in err


def test_handlers_of_before_are_back_after_a_command() -> None:
    from tunaeval.cli import main

    before = signal.getsignal(INT), signal.getsignal(TERM)
    main(["--version"])
    assert (signal.getsignal(INT), signal.getsignal(TERM)) == before


def test_a_run_whose_stderr_is_closed_early_goes_on_to_its_end(tmp_path: Path) -> None:
    """As with `2>&1 | head`."""
    suite_file(tmp_path, 40)
    read, write = os.pipe()
    with FaultServer(then=SLOW) as server:
        child = subprocess.Popen(
            [sys.executable, "-m", "tunaeval", "run", "--model", "m", "--suite", "small.json",
             "--base-url", server.base_url],
            cwd=tmp_path, stdout=write, stderr=write, env=environment(),
        )  # fmt: skip
        os.close(write)
        os.read(read, 10)
        os.close(read)
        assert child.wait(30) == 0
    assert len(whole_lines(tmp_path)) == 40
