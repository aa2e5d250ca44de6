"""The examples print what they say they print."""

from __future__ import annotations

import ast
import doctest
import os
import re
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[2] / "examples/README.md"
EXAMPLES = sorted({*GALLERY.parent.glob("*.py")} - {GALLERY.parent / "gateway.py"})
"""Those that print and end; the gateway serves, see test_gateway.py."""
MAX_LINES = 70

WANTED = {
    "inspect_harness": "inspect_ai",
    "score_langchain": "langchain_core",
    "score_on_ray": "ray",
    "score_pydantic_ai": "pydantic_ai",
    "score_tinyagent": "tinyagent",
}
"""The package that an example is about."""


def promised(path: Path) -> str:
    """What stands below `$ python examples/NAME.py` in its first words; ... is any text."""
    words = ast.get_docstring(ast.parse(path.read_text("utf-8")), clean=False) or ""
    before, command, printed = words.partition(f"$ python examples/{path.name}\n")
    assert command, f"{path.name} does not say what it prints"
    indent = before.rpartition("\n")[2]
    return "".join(f"{line.removeprefix(indent)}\n" for line in printed.splitlines() if line)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_it_says(path: Path, tmp_path: Path) -> None:
    package = WANTED.get(path.stem)
    if package is not None and find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    done = subprocess.run(
        [sys.executable, "-W", "error", path],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ}, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    wanted = promised(path)
    same = doctest.OutputChecker().check_output(wanted, done.stdout, doctest.ELLIPSIS)
    assert same, f"it says\n{wanted}\nand it is\n{done.stdout}"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_read_in_a_minute(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    assert len(lines) - len(promised(path).splitlines()) <= MAX_LINES


def test_the_gallery_has_each_example_once() -> None:
    gallery = GALLERY.read_text("utf-8")
    there = {path.name for path in GALLERY.parent.iterdir() if path.name[0] not in "._"}
    linked = Counter(re.findall(r"\]\(([^)]+)\)", gallery))
    assert linked == Counter(there - {GALLERY.name, "__pycache__"})
