"""A path that cannot be looked up is one sentence that names it, whatever it is given for."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Tuna, environment, here

__all__ = ["here"]

RUN = "run --suite s.json --client scripted --recording a.jsonl"
COMMANDS = [
    "show PLACE",
    "show PLACE/run",
    "report PLACE --csv",
    "report MADE -o PLACE/page.html",
    "compare MADE PLACE",
    "compare PLACE MADE",
    "rescore PLACE",
    "rescore MADE --out PLACE/again",
    "rescore --from bfcl PLACE",
    "score PLACE",
    "score PLACE/a.json",
    "score --expect PLACE/a.json a.jsonl",
    "parse PLACE/a.txt",
    "parse a.jsonl --out PLACE/b.jsonl",
    "parse a.jsonl --tools PLACE/b.json",
    "convert PLACE/a.jsonl --from json --to hermes",
    "template check PLACE/t.jinja",
    "dataset check PLACE/rows.jsonl",
    "suites check PLACE/s.json",
    "judge calibrate PLACE/labels.jsonl --client scripted",
    "run --suite PLACE/s.json --client scripted --recording a.jsonl",
    "run --suite s.json --client scripted --recording PLACE/a.jsonl",
    "run --suite s.json --client replay --recording PLACE/a.jsonl",
    "run --suite s.json --model-file PLACE/a.gguf",
    "run --suite s.json --client scripted --recording a.jsonl --faults PLACE/f.json",
    "run --suite bfcl:simple_python --bfcl PLACE --client scripted --recording a.jsonl",
    f"{RUN} --system-prompt PLACE/p.md",
    f"{RUN} --report PLACE/page.html",
    f"{RUN} --record PLACE/r.jsonl",
    f"{RUN} --out PLACE/runs",
    "run --resume PLACE",
    "run --resume PLACE/run",
]
WITHOUT_RIGHTS = """
import ctypes, os, sys
import tunaeval.cli
lines = [line for line in sys.stdin]
if os.getuid() == 0:  # root without its capabilities may do what the modes of its files allow
    version, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capset(version, none) == 0
for line in lines:
    print("asked:", line, end="", file=sys.stderr)
    print("code:", tunaeval.cli.main(line.split()), file=sys.stderr, flush=True)
"""


def prepared(folder: Path, here: Tuna) -> str:
    """A suite, a script of a model, and a run of both, whose path is returned."""
    scenarios = [{"prompt": "p", "expected_tool": None}]
    (folder / "a.jsonl").write_text('"hello"\n')
    (folder / "s.json").write_text(json.dumps({"name": "s", "scenarios": scenarios}))
    assert here(*RUN.split()).returncode == 0
    (made,) = (folder / "runs").iterdir()
    return str(made.relative_to(folder))


def below_a_file(folder: Path) -> str:
    (folder / "file").touch()
    return "file/x"


def below_a_loop(folder: Path) -> str:
    (folder / "loop").symlink_to("loop")
    return "loop"


def of_a_long_name(_: Path) -> str:
    return "x" * 300


@pytest.mark.parametrize("place", [below_a_file, below_a_loop, of_a_long_name])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_fails_at_one(
    here: Tuna, tmp_path: Path, command: str, place: Callable[[Path], str]
) -> None:
    made = prepared(tmp_path, here)
    given = command.replace("PLACE", place(tmp_path)).replace("MADE", made)
    done = here(*given.split())
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()[-1]) < 1000


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may search, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    (folder / "closed").chmod(0o755)
    shutil.rmtree(folder)


def test_no_command_fails_below_a_directory_that_cannot_be_searched(
    open_folder: Path, tmp_path: Path, here: Tuna
) -> None:
    made = prepared(tmp_path, here)
    shutil.copytree(tmp_path, open_folder, dirs_exist_ok=True)
    shutil.copytree(open_folder / made, open_folder / "closed" / "run")
    (open_folder / "runs" / "list").mkdir()
    open_folder.chmod(0o777)
    (open_folder / "closed").chmod(0o600)
    for path in open_folder.rglob("*"):
        if path.name != "closed" and "closed" not in path.parts:
            path.chmod(path.stat().st_mode | 0o066)
    asked = [one.replace("PLACE", "closed").replace("MADE", made) for one in COMMANDS]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_RIGHTS],
        input="".join(f"{one}\n" for one in asked), capture_output=True, text=True, cwd=open_folder,
        env=environment(), timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for one in done.stderr.split("asked: ")[1:]:
        *_, error, code = one.splitlines()
        assert code == "code: 2", one
        assert "closed" in error, one
        assert "ermission denied" in error or "BFCL" in error, one
