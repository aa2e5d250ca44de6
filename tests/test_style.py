"""What every file of this tree keeps to, and the tools that hold it to the rest.

A rule without a test here or in pyproject.toml is a wish.
"""

from __future__ import annotations

import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = ("tunaeval", "tests", "benchmarks", "examples", "docs", ".ci")
TEXTS = ("*.py", "*.md", "*.toml", "*.json", "*.jsonl", "*.yaml", "*.yml", "*.txt", "run",
         "pythons")  # fmt: skip

MAX_FILE_LINES = 1100
MAX_FUNCTION_LINES = 60
MAX_SAME_NAMES = 6
"""In how many modules a private function's name may stand; a method is named with its class."""
NO_NAMES = frozenset({"base", "common", "core", "helper", "helpers", "misc", "util", "utils"})
NO_MARKS = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b")
NO_CALLS = frozenset({"eval", "exec", "compile", "__import__"})
NO_MODULES = frozenset({"pickle", "marshal", "shelve", "dill", "cloudpickle"})
SPEAKERS = ("tunaeval/cli/", "tunaeval/reports/")
"""Who may print."""

# Written in pieces, so that this file keeps to its own rule.
FOREIGN = re.compile(
    "|".join(
        (
            r"/(?:root|work|workspace)/\w",
            r"/(?:tmp|var/tmp)/\w/",
            "py" + r"pi\.(?:org|io)|python" + r"hosted\.org|registry\.npm" + r"js",
            r"(?:this|another|earlier|previous|next) sess" + r"ion\b",
            r"\bissue #?\d",
        )
    ),
    re.IGNORECASE,
)

_REASONS = re.compile(
    r"# type: ignore\[[a-z-]+(?:, ?[a-z-]+)*\] +# \S"
    r"|# noqa: [A-Z]+[0-9]+(?:, ?[A-Z]+[0-9]+)* - \S"
)
_EXEMPTION = re.compile(r"#\s*(?:type:\s*ignore|noqa|pyright:|ruff:\s*noqa|mypy:)", re.IGNORECASE)


@cache
def sources() -> tuple[Path, ...]:
    """Every Python file of ours."""
    return tuple(path for top in SOURCES for path in sorted((ROOT / top).rglob("*.py")))


@cache
def source(path: Path) -> str:
    return path.read_text("utf-8")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(source(path), str(path))


def place(path: Path, line: int = 1) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def comments(path: Path) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source(path)).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def listed(faults: list[str]) -> str:
    return "\n" + "\n".join(faults)


def test_a_file_says_first_what_it_knows() -> None:
    faults = [place(path) for path in sources() if not ast.get_docstring(tree(path))]
    assert not faults, listed(faults)


def test_no_file_is_longer_than_an_idea() -> None:
    sizes = {path: len(source(path).splitlines()) for path in sources()}
    faults = [place(path, lines) for path, lines in sizes.items() if lines > MAX_FILE_LINES]
    assert not faults, listed(faults)


def test_no_function_is_longer_than_a_page() -> None:
    faults = [
        f"{place(path, node.lineno)} {node.name}: {lines} lines"
        for path in sources()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (lines := _lines(node)) > MAX_FUNCTION_LINES
    ]
    assert not faults, listed(faults)


def _lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Those of a function, but for the lines that its docstring shows under `Examples:`."""
    lines = (node.end_lineno or 0) - node.lineno + 1
    _, title, rest = (ast.get_docstring(node, clean=False) or "").partition("Examples:\n")
    return lines - (len(rest.partition("\n\n")[0].strip().splitlines()) + 2 if title else 0)


def test_no_file_is_a_drawer_for_everything() -> None:
    faults = [
        place(path)
        for path in sources()
        if {path.stem.strip("_"), path.parent.name.strip("_")} & NO_NAMES
    ]
    assert not faults, listed(faults)


def test_nothing_is_left_for_later() -> None:
    faults = [
        f"{place(path, line)} {comment}"
        for path in sources()
        for line, comment in comments(path)
        if NO_MARKS.search(comment)
    ]
    faults += [
        place(path, node.lineno)
        for path in sources()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Name) and node.id.startswith("NotImplemented")
    ]
    assert not faults, listed(faults)


def test_names_say_what_a_thing_is() -> None:
    """And not that somebody has said or was told it."""
    faults = [
        f"{place(path, getattr(node, 'lineno', 0))} {name}"
        for path in sources()
        if place(path, 0).startswith("tunaeval/")
        for node in ast.walk(tree(path))
        for name in (getattr(node, key, None) for key in ("id", "arg", "attr", "name"))
        if isinstance(name, str) and name.strip("_") in {"said", "told", "tell"}
    ]
    assert not faults, listed(faults)


def test_a_private_functions_name_says_more_than_what_many_do() -> None:
    """Or a search for it finds them all: `_read` says nothing, `_read_holder` what is read."""
    found: dict[str, list[str]] = {}
    for path in sources():
        for node in tree(path).body if place(path, 0).startswith("tunaeval/") else ():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name[0] == "_":
                found.setdefault(node.name, []).append(place(path, node.lineno))
    faults = [
        f"{name}: {', '.join(places)}"
        for name, places in found.items()
        if len(places) > MAX_SAME_NAMES and not name.startswith("__")
    ]
    assert not faults, listed(faults)


def test_only_the_command_line_and_reports_print() -> None:
    faults = [
        place(path, node.lineno)
        for path in sources()
        if place(path).startswith("tunaeval/") and not place(path).startswith(SPEAKERS)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id == "print"
    ]
    assert not faults, listed(faults)


def test_an_exemption_names_its_rule_and_its_reason() -> None:
    faults = [
        f"{place(path, line)} {comment}"
        for path in sources()
        for line, comment in comments(path)
        if _EXEMPTION.match(comment) and not _REASONS.match(comment)
    ]
    assert not faults, listed(faults)


def test_every_lint_rule_that_is_off_has_a_reason() -> None:
    lines = (ROOT / "pyproject.toml").read_text("utf-8").splitlines()
    faults = [
        f"pyproject.toml:{number} {line.strip()}"
        for number, line in enumerate(lines, 1)
        if re.fullmatch(r'"[A-Z]+[0-9]*",?', line.partition("#")[0].strip())
        and not re.search(r"# \S", line)
    ]
    assert not faults, listed(faults)


_OF_MUTANTS = {"mutants_drawn.py", "mutants_loaded.py"}
"""They may compile, and nothing else of it: our own code with one change in it."""


def test_text_is_never_run() -> None:
    faults = [
        f"{place(path, getattr(node, 'lineno', 1))} {ast.unparse(node)[:60]}"
        for path in sources()
        for node in ast.walk(tree(path))
        if _runs_text(node) or _loads_any_yaml(node)
        if not (path.name in _OF_MUTANTS and ast.unparse(node).startswith("compile("))
    ]
    assert not faults, listed(faults)


def _runs_text(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name in NO_CALLS
        case ast.Call(func=ast.Attribute(value=ast.Name(id="os"), attr="system" | "popen")):
            return True
        case ast.keyword(arg="shell", value=ast.Constant(value=value)):
            return bool(value)
        case ast.Import(names=names):
            return not NO_MODULES.isdisjoint(name.name for name in names)
        case ast.ImportFrom(module=module):
            return module in NO_MODULES
    return False


def _loads_any_yaml(node: ast.AST) -> bool:
    """`yaml.load` without a loader of its own: plain YAML makes any object."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="yaml"), attr=name)):
            told = {keyword.arg for keyword in node.keywords}
            return name in {"load", "load_all", "unsafe_load", "full_load"} and "Loader" not in told
    return False


_LISTENING = """\
import json, re, sys
import re._parser as parser
used = {}
compile_ = re._compile
def listening(pattern, flags):
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__") == "re":
        frame = frame.f_back
    module = frame.f_globals.get("__name__", "")
    if module.startswith(("tunaeval.parsing", "tunaeval.parsing.repair", "tunaeval.matching")):
        used.setdefault(getattr(pattern, "pattern", pattern), module)
    return compile_(pattern, flags)
re._compile = listening
import importlib, pkgutil, tunaeval, tunaeval.parsing, tunaeval.parsing.repair, tunaeval.matching
for room in (tunaeval.parsing, tunaeval.parsing.repair, tunaeval.matching):
    for module in pkgutil.walk_packages(room.__path__, room.__name__ + "."):
        importlib.import_module(module.name)
texts = ['<tool_call>{"name": "a", "arguments": {"b": 1}}</tool_call>',
         "{'name': 'a', 'args': {b: 1,}}",
         '```json\\n[{"name": "a", "arguments": "{}"}]\\n```', '<tools>{"name": "a"', "<think>x"]
for name in tunaeval.formats.names():
    for text in texts:
        for level in ("strict", "standard", "lenient"):
            tunaeval.parse(text, format=name, level=level)
def greedy(parsed, atomic=False):
    for code, value in parsed:
        code = str(code)
        if code in ("MAX_REPEAT", "MIN_REPEAT") and value[1] == parser.MAXREPEAT and not atomic:
            return True
        held = atomic or code in ("ATOMIC_GROUP", "POSSESSIVE_REPEAT")
        for part in value if isinstance(value, (tuple, list)) else (value,):
            inner = part if isinstance(part, list) else [part]
            for each in inner:
                if isinstance(each, parser.SubPattern) and greedy(each, held):
                    return True
    return False
faults = [f"{m}: {p}" for p, m in used.items() if isinstance(p, str) and greedy(parser.parse(p))]
print(json.dumps([len(used), faults]))
"""
"""Uses the parser while it listens to what `re` is asked for, then looks at every pattern."""


def test_regexes_over_model_text_never_backtrack() -> None:
    """Every pattern that the parser has in use, however it was made, has a bound or gives nothing
    back: `x*+`, `x{0,24}`, `(?>...)`.
    """
    done = subprocess.run(
        [sys.executable, "-c", _LISTENING], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    count, faults = json.loads(done.stdout)
    assert count > 5, "no patterns were seen; does this test still listen at the right place?"
    assert not faults, listed(faults)


def test_the_project_speaks_of_itself_alone() -> None:
    # What a model wrote stands in a recording as it was written.
    hidden = {
        "recordings",
        ".git",
        ".host-envs",
        ".hypothesis",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        "__pycache__",
    }
    faults = [
        f"{place(path, number)} {found[0]!r}"
        for pattern in TEXTS
        for path in sorted(ROOT.rglob(pattern))
        if path.is_file() and not hidden & set(path.relative_to(ROOT).parts)
        if not path.relative_to(ROOT).parts[0].startswith(("runs", "build", "dist", ".venv"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if (found := FOREIGN.search(line))
    ]
    assert not faults, listed(faults)


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "format", "--check", "."),
        ("ruff", "check", "."),
        ("mypy",),
        ("mypy", "--platform=win32", "--cache-dir=.mypy_cache/win32", "tunaeval"),
        ("mypy", "--platform=darwin", "--cache-dir=.mypy_cache/darwin", "tunaeval"),
        ("pyright", "--pythonpath", sys.executable),  # of the examples, strict
    ],
    ids=["format", "lint", "types", "types of Windows", "types of macOS", "examples"],
)
def test_the_tools_are_content(command: tuple[str, ...]) -> None:
    if command[0] == "pyright":
        pytest.importorskip(
            "pyright", reason="pyright is not installed: pip install pyright[nodejs]"
        )
    done = subprocess.run(
        [sys.executable, "-m", *command],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-6000:]}{done.stderr[-2000:]}"
