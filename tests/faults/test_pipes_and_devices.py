"""Where a file is read, a pipe or a device is refused at once: one is waited for, the other has no
end.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.cli.conftest import Tuna, here
from tests.faults.runs import within
from tunaeval import records
from tunaeval.clients import read_recording
from tunaeval.data import read_rows
from tunaeval.errors import TunaevalError
from tunaeval.judging import read_labels
from tunaeval.tools import read_tool_prompt

__all__ = ["here"]

KINDS = {"pipe": "a pipe", "link": "a pipe", "device": "a device"}


def put(kind: str, path: Path) -> Path:
    """Something that is no file, at this path."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(target := path.with_name(f"{path.name}.target"))
        path.symlink_to(target)
    return path


COMMANDS = [
    ["parse", "FILE"],
    ["parse", "FILE.jsonl", "--jsonl"],
    ["parse", "--tools", "FILE", "-"],
    ["convert", "--from", "json", "--to", "hermes", "FILE"],
    ["score", "FILE.json"],
    ["score", "--expect", "FILE", "-"],
    ["dataset", "check", "FILE.jsonl"],
    ["dataset", "check", "FILE.json"],
    ["dataset", "check", "FILE.parquet"],
    ["suites", "check", "FILE.json"],
    ["run", "--suite", "FILE.yaml"],
    ["run", "--client", "replay", "--recording", "FILE"],
    ["run", "--client", "scripted", "--recording", "FILE"],
    ["run", "--faults", "FILE.json", "--client", "scripted"],
    ["run", "--model-file", "FILE"],
    ["judge", "calibrate", "FILE", "--client", "scripted"],
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("kind", KINDS)
def test_no_command_reads_one(here: Tuna, tmp_path: Path, command: list[str], kind: str) -> None:
    put(kind, tmp_path / next(one for one in command if one.startswith("FILE")))
    with within(20):
        done = here(*command)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert KINDS[kind] in done.stderr


READERS: dict[str, Callable[[Path], Any]] = {
    "records": lambda path: list(records.read(path)),
    "document": records.read_document,
    "recording": read_recording,
    "labels": lambda path: read_labels(path, lambda _: ()),
    "tool prompt": read_tool_prompt,
    "cassette": lambda path: tunaeval.model_endpoint(cassette=path).__enter__(),
    "suite": tunaeval.load_suite,
    "rows": lambda path: list(read_rows(path)),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_reader_reads_one(tmp_path: Path, reader: str, kind: str) -> None:
    path = put(kind, tmp_path / "file.jsonl")
    with within(5), pytest.raises(TunaevalError, match=KINDS[kind]):
        READERS[reader](path)


@pytest.mark.parametrize("file", ["run.json", "results.jsonl"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", ["show", "report", "compare", "rescore", "run --resume"])
def test_no_run_is_read_from_one(
    here: Tuna, tmp_path: Path, file: str, kind: str, command: str
) -> None:
    with within(60):
        (tmp_path / "a.jsonl").write_text('"hello"\n')
        (tmp_path / "s.json").write_text(
            '{"name": "s", "scenarios": [{"prompt": "p", "expected_tool": null}]}'
        )
        done = here("run", "--suite", "s.json", "--client", "scripted", "--recording", "a.jsonl")
        assert done.returncode == 0, done.stderr
        (run,) = (tmp_path / "runs").iterdir()
        (run / file).unlink()
        put(kind, run / file)
        others = ["--csv"] if command == "report" else [str(run)] if command == "compare" else []
        done = here(*command.split(), str(run), *others)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert KINDS[kind] in done.stderr
