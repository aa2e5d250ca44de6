"""Turns at a file come one after another, end in time, and end with their holder."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tunaeval.errors import RecordError
from tunaeval.files import records
from tunaeval.files.locks import turn

HOLDER = """\
import sys, time
from pathlib import Path
from tunaeval.files.locks import turn
with turn(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_turn_that_does_not_come_is_told_in_time(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with turn(path), pytest.raises(OSError), turn(path, patience_seconds=0.01):
        pass
    with turn(path, patience_seconds=0):
        pass
    with pytest.raises(RecordError, match="nowhere"):
        records.append(tmp_path / "nowhere" / "file", {})


def test_a_turn_ends_with_its_block_and_with_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pytest.raises(ZeroDivisionError), turn(path):
        raise ZeroDivisionError
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held" + os.linesep.encode()
        with pytest.raises(OSError), turn(path, patience_seconds=0.01):
            pass
        holder.kill()
    with turn(path):
        pass


def test_records_of_many_threads_are_all_whole(tmp_path: Path) -> None:
    """So long that a writer is seen in the middle of a line."""
    path = tmp_path / "file.jsonl"

    def write(number: int) -> None:
        for _ in range(20):
            records.append(path, {"number": number, "text": "x" * 200_000})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert sorted(record["number"] for record in records.read(path)) == sorted([*range(4)] * 20)
