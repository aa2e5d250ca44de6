"""The examples print what they say they print."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
MAX_LINES = 40


def promised(path: Path) -> str:
    """What stands below `$ python examples/NAME.py` in the program's first words."""
    words = ast.get_docstring(ast.parse(path.read_text("utf-8")), clean=False) or ""
    before, command, printed = words.partition(f"$ python examples/{path.name}\n")
    assert command, f"{path.name} does not say what it prints"
    indent = before.rpartition("\n")[2]
    return "".join(f"{line.removeprefix(indent)}\n" for line in printed.splitlines() if line)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_it_says(path: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", path],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ}, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == promised(path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_read_in_a_minute(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= MAX_LINES


def test_there_are_examples() -> None:
    assert {"parse_a_text", "stream", "run_a_suite", "reward"} <= {path.stem for path in EXAMPLES}
