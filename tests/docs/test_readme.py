"""What a newcomer reads is true: every program and command on our pages is run, in their order.

A comment right above a fenced block says what it is:

    <!-- file: NAME -->            the block is a file, written for the blocks below it
    <!-- prints -->                what the block above prints ("..." is any text)
    <!-- exits: N -->              the command ends with that code
    <!-- not run here: REASON -->  what needs a model, a server or an installation

Blocks of YAML and TOML have to be such; those of other languages are only read. Each page has a
directory of its own.
"""

from __future__ import annotations

import ast
import doctest
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.testing.pytest_plugin.children import is_installed
from tunaeval import types
from tunaeval.cli import COMMANDS
from tunaeval.parsing.repair.machine import ARITHMETIC
from tunaeval.parsing.repair.schema import TYPE_REPAIRS
from tunaeval.parsing.repair.values import REPAIRS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CI_COMMANDS = ("first command", "second command")
"""What `.ci/run` takes from the README and runs in a fresh environment."""

_BLOCK = re.compile(
    r"(?:^<!-- (?P<note>[^\n]+) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)")


class Block(NamedTuple):
    """A fenced block, and what the comment above it says: a key and its value."""

    line: int
    language: str
    text: str
    key: str = ""
    value: str = ""

    @property
    def runs(self) -> bool:
        return self.language in {"python", "sh"} and self.key in {"", "exits"}


def blocks_of(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for found in _BLOCK.finditer(text):
        key, _, value = (found["note"] or "").partition(": ")
        line = text.count("\n", 0, found.start()) + 1
        yield Block(line, found["language"], found["text"], key, value)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def run(block: Block, folder: Path) -> str:
    """What the block prints; its exit code is checked."""
    program = [sys.executable, "-W", "error", "-c"] if block.language == "python" else ["sh", "-ec"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {key: value for key, value in os.environ.items() if "OPENAI" not in key}
    kept.pop("COLUMNS", None)  # pages show tables of the usual width
    if not is_installed():  # of a tree that was never installed pytest knows no plug-in
        kept["PYTEST_PLUGINS"] = "tunaeval.testing.pytest_plugin"
    # Another package's plug-in, which takes longer to load than our pages' tests to run.
    kept["PYTEST_ADDOPTS"] = "-p no:langsmith_plugin"
    done = subprocess.run(
        [*program, block.text],
        capture_output=True, text=True, cwd=folder, timeout=60, check=False,
        env={**kept, "PATH": path, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    wanted = int(block.value) if block.key == "exits" else 0
    assert done.returncode == wanted, f"line {block.line}: {done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_does_what_it_says(page: Path, tmp_path: Path) -> None:
    printed = ""
    for block in blocks_of(page):
        if block.key == "file":
            target = tmp_path / block.value
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, "utf-8")
        elif block.key == "prints":
            same = doctest.OutputChecker().check_output(block.text, printed, doctest.ELLIPSIS)
            assert same, f"line {block.line} says\n{block.text}\nand it is\n{printed}"
        elif block.runs:
            printed = run(block, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_block_that_is_not_run_says_why(page: Path) -> None:
    faults = [
        f"line {block.line}: {block.key}"
        for block in blocks_of(page)
        if block.key not in {"", "file", "prints", "exits", *CI_COMMANDS}
        and not (block.key == "not run here" and block.value)
    ]
    assert not faults


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_block_of_yaml_or_toml_can_be_read(page: Path) -> None:
    readers: dict[str, Callable[[str], object]] = {"yaml": yaml.safe_load, "toml": tomllib.loads}
    read = [readers[one.language](one.text) for one in blocks_of(page) if one.language in readers]
    assert all(read)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    links = _LINK.findall(page.read_text("utf-8"))
    assert not [link for link in links if not (page.parent / link).exists()]


def test_the_readme_has_two_commands_of_one_line() -> None:
    commands = {block.key: block.text for block in blocks_of(ROOT / "README.md")}
    assert [commands[key].count("\n") for key in CI_COMMANDS] == [1, 1]


def test_every_mend_and_every_diagnosis_is_in_the_reference() -> None:
    text = (ROOT / "docs/reference/codes.md").read_text("utf-8")
    text = text.partition("## Repairs")[2]
    rows = re.findall(r"^\| `([a-z-]+)` \|(?: (strict|standard|lenient) \|)?", text, re.MULTILINE)
    levels = {code: level for code, level in rows if level}
    assert {code: level for code, (level, _) in REPAIRS.items()}.items() <= levels.items()
    documented = {code for code, _ in rows}
    assert codes_in_the_source() <= documented
    assert documented <= strings_in_the_source()


def strings_in_the_source() -> set[str]:
    return {
        node.value
        for folder in ("parsing", "types")
        for path in (ROOT / "tunaeval" / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def codes_in_the_source() -> set[str]:
    """Codes are written where they are given: as the first argument, or in a table of them."""
    makers = re.compile(
        r"Note|Repair|Diagnosis|Unreadable(?:Error)?|Fault|_?repair|repair_(?:here|last|of)|_?diagnose|_?fault"
    )
    found = {*REPAIRS, *TYPE_REPAIRS, ARITHMETIC}
    constants = {**vars(types.calls), **vars(types.parsing)}
    for path in (ROOT / "tunaeval" / "parsing").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            # A code that other packages look for is a constant of `types`.
            constant = constants.get(getattr(node.args[0], "id", ""))
            code = getattr(node.args[0], "value", constant)
            if makers.fullmatch(called.removeprefix("_")) and isinstance(code, str):
                found.add(code)
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_in_the_reference(command: str) -> None:
    text = (ROOT / "docs/reference/command-line.md").read_text("utf-8")
    section = text.partition(f"\n### `tunaeval {command}`")[2].partition("\n### ")[0]
    section = section.partition("\n## ")[0]
    help_ = subprocess.run(
        [sys.executable, "-m", "tunaeval", command, "--help"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    ).stdout  # fmt: skip
    options = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
    everywhere = {"--help", "--show-config"}
    assert set(options.findall(section)) - everywhere == set(options.findall(help_)) - everywhere
