"""Where a file is read or written, a pipe or a device is refused at once: one is waited for, the
other has no end.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.cli.conftest import Tuna, here
from tests.cli.test_broken_pipes import bash
from tests.faults.runs import eventually, within
from tunaeval.clients.replay import read_recording
from tunaeval.data.shapes import read_rows
from tunaeval.errors import TunaevalError
from tunaeval.files import records
from tunaeval.files.locks import DirectoryLock
from tunaeval.files.new_files import write_text
from tunaeval.files.plain_files import is_output
from tunaeval.scoring.judging.calibrating import read_labels
from tunaeval.tools.tool_prompts import read_tool_prompt

__all__ = ["here"]

KINDS = {"pipe": "a pipe", "link": "a pipe", "device": "a device"}


def each_with_a_kind(*commands: object) -> list[tuple[object, str]]:
    """Each command with one kind of file, in turn; readers and writers in Python take all."""
    return list(zip(commands, cycle(KINDS), strict=False))


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


@pytest.mark.parametrize(("command", "kind"), each_with_a_kind(*COMMANDS))
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


RUN_READERS = ["show", "report", "compare", "rescore", "run --resume"]


@pytest.mark.parametrize(
    ("read", "kind"), each_with_a_kind(*product(RUN_READERS, ["run.json", "results.jsonl"]))
)
def test_no_run_is_read_from_one(
    here: Tuna, tmp_path: Path, read: tuple[str, str], kind: str
) -> None:
    command, file = read
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


@pytest.fixture
def run(tmp_path: Path, here: Tuna) -> str:
    """A run, and the files that commands read."""
    (tmp_path / "a.jsonl").write_text('"hello"\n')
    (tmp_path / "rows.jsonl").write_text('{"text": "hello"}\n')
    (tmp_path / "bad.jsonl").write_text("{\n")
    scenarios = {"name": "s", "scenarios": [{"prompt": "p", "expected_tool": None}]}
    (tmp_path / "s.json").write_text(json.dumps(scenarios))
    assert here(*RUN.split()).returncode == 0
    (made,) = (tmp_path / "runs").iterdir()
    return str(made)


RUN = "run --suite s.json --client scripted --recording a.jsonl"
WRITING = {
    "report MADE --csv -o FILE": "FILE",
    "report MADE --github -o FILE": "FILE",
    "report MADE -o FILE.html": "FILE.html",
    "report MADE -o FILE.md": "FILE.md",
    "report MADE -o FILE.xml": "FILE.xml",
    "report MADE -o FILE.json": "FILE.json",
    "report MADE -o FILE.parquet": "FILE.parquet",
    f"{RUN} --report FILE.csv": "FILE.csv",
    "run --resume MADE": "MADE/run.lock",
    "parse rows.jsonl --jsonl --out FILE.jsonl": "FILE.jsonl",
    "parse bad.jsonl --jsonl --out FILE.jsonl": "FILE.jsonl.bad.jsonl",
    "convert rows.jsonl --from hermes --to glm45 -o FILE.jsonl": "FILE.jsonl",
    "dataset filter rows.jsonl --kept FILE.jsonl --rejected other.jsonl": "FILE.jsonl",
    "dataset filter rows.jsonl --kept other.jsonl --rejected FILE.jsonl": "FILE.jsonl",
}
"""What is written, and where."""


@pytest.mark.parametrize(("command", "kind"), each_with_a_kind(*WRITING))
def test_no_command_writes_to_one(
    here: Tuna, run: str, tmp_path: Path, command: str, kind: str
) -> None:
    path = put(kind, tmp_path / WRITING[command].replace("MADE", run))
    was = path.lstat().st_ino
    done = here(*command.replace("MADE", run).split())
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert KINDS[kind] in done.stderr
    assert path.name in done.stderr
    assert path.lstat().st_ino == was, "it is what it was"


WRITERS: dict[str, Callable[[Path], Any]] = {
    "records": records.RecordWriter,
    "records, one at a time": lambda path: records.append(path, {}),
    "a report": lambda path: write_text(path, "words"),
    "a lock": lambda path: DirectoryLock(path.rename(path.with_name("run.lock")).parent),
    "a cassette": lambda path: tunaeval.model_endpoint(
        upstream="http://127.0.0.1:9/v1", cassette=path, record=True
    ),
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_writer_writes_to_one(tmp_path: Path, writer: str, kind: str) -> None:
    path = put(kind, tmp_path / "file.jsonl")
    with within(5), pytest.raises(TunaevalError, match=f"{KINDS[kind]}|no file"):
        WRITERS[writer](path)


OUTPUTS = {
    "/dev/fd/1 > file": "file",
    "/dev/fd/1 | cat > file": "file",
    "/proc/self/fd/1 > file": "file",
    "/dev/fd/3 3> file": "file",
    "/dev/stdout | cat > file": "file",
    "/dev/stderr 2>&1 > other | cat > file": "file",
    ">(cat > file)": "file",
    "/dev/null": "",
}


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors of Linux")
@pytest.mark.parametrize(
    ("command", "out"),
    [
        *(("report MADE --csv -o", out) for out in OUTPUTS),
        ("parse rows.jsonl --jsonl --out", "/dev/fd/1 > file"),
        ("convert rows.jsonl --from hermes --to glm45 -o", "/dev/fd/1 > file"),
    ],
)
def test_what_a_shell_has_opened_is_written_to(
    run: str, tmp_path: Path, command: str, out: str
) -> None:
    done = bash(f"tunaeval {command.replace('MADE', run)} {out}", tmp_path)
    assert done.returncode == 0, done.stderr
    if OUTPUTS[out]:  # what the shell has put behind a pipe may still write
        file = tmp_path / OUTPUTS[out]
        assert eventually(lambda: file.exists() and "hello" in file.read_text())


def test_what_is_the_processs_own_is_known_by_its_name() -> None:
    for name in ("/dev/stdout", "/dev/stderr", "/dev/null", "/dev/fd/63", "/dev/../dev/stdout"):
        assert is_output(name), name
    for name in ("/dev/zero", "/dev/fd", "/dev/stdout/x", "/dev/sda", "dev/stdout", "-"):
        assert not is_output(name), name
