"""Streams that nobody reads or that cannot be written: never the exit code of a gate."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import environment

RUN = "run --suite smoke --limit 2 --recording smollm2-135m-free-text --attempts 1"
TUNA = f"{sys.executable} -m tunaeval"
posix = pytest.mark.skipif(sys.platform == "win32", reason="shells and /dev of Unix")


def bash(line: str, where: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", line.replace("tunaeval", TUNA)],
        cwd=where, env=environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@posix
@pytest.mark.parametrize("err", ["2> >(true)", "2> >(head -1 > /dev/null)", "2>&-", "2> /dev/full"])
def test_progress_that_nobody_reads_ends_no_run(tmp_path: Path, err: str) -> None:
    done = bash(f"(tunaeval {RUN} > out.txt; echo rc=$?) {err}", tmp_path)
    assert done.stdout == "rc=0\n"
    out = (tmp_path / "out.txt").read_text()
    assert "score" in out
    assert "FAIL  1/2" not in out  # progress, which belongs to stderr


@posix
@pytest.mark.parametrize("err", ["2>&1 | true", "2>&-", "2> /dev/full"])
def test_an_error_that_nobody_reads_is_wrong_use_all_the_same(tmp_path: Path, err: str) -> None:
    bash(f"(tunaeval nope; echo $? > code) {err}", tmp_path)
    assert (tmp_path / "code").read_text() == "2\n"


@posix
@pytest.mark.parametrize("command", ["formats", "--help", "--version", RUN + " --quiet", "nope"])
@pytest.mark.parametrize("out", ["> /dev/full", ">&-"])
def test_results_that_cannot_be_written_are_said_on_a_line(
    tmp_path: Path, command: str, out: str
) -> None:
    if out == "> /dev/full" and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    done = bash(f"tunaeval {command} {out}", tmp_path)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    if command != "nope":
        assert last.startswith("tunaeval: stdout cannot be written: ")


@posix
def test_a_reader_of_results_may_go_away(tmp_path: Path) -> None:
    done = bash("tunaeval formats | head -1; echo ${PIPESTATUS[0]}", tmp_path)
    assert done.stdout.splitlines()[-1] == "0"
    assert done.stderr == ""
