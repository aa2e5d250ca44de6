"""The house: which room stands on which floor, and that every import leads down.

Imports are read from the source: those for type checkers count, and so do those that a string
names to be made later ("tunaeval.formats:HERMES").
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "tunaeval"

FACE = frozenset({"__init__", "_version"})
"""The modules that are imported as `tunaeval` itself."""

FLOORS = (
    ("errors", "types", "window", "turns"),
    ("wanted", "plugins"),
    ("grammar", "registry", "records", "success", "busy", "workers", "repair", "matching",
     "faults"),
    ("formats", "tools", "clients", "scoring", "reports", "suites", "workspace"),
    ("parsing", "judging", "grading"),
    ("adapters", "harness"),
    ("endpoint",),
    ("api",),
    ("tunaeval",),
    ("selftest",),
    ("testing", "cli", "pytest_plugin"),
)  # fmt: skip
FLOOR = {room: number for number, rooms in enumerate(FLOORS, 1) for room in rooms}

OPEN_MODULES = frozenset({
    "tunaeval.types.roles", "tunaeval.types.runs", "tunaeval.types.tasks",
    "tunaeval.reports.statistics",
})  # fmt: skip
"""Modules that other rooms import by themselves: three so that a parse never loads pydantic; the
statistics because they are a face of their own.
"""

HOMES = {
    "httpx": ("clients", "endpoint"),
    "h11": ("endpoint",),
    "pytest": ("pytest_plugin",),
    "tenacity": ("clients", "tools"),
    "hypothesis": ("testing",),
    "rich": ("reports",),
    "argparse": ("cli",),
    "xllamacpp": ("clients",),
    "socket": ("clients",),
    "urllib": ("clients",),
    "subprocess": ("clients", "api", "workspace"),
    "multiprocessing": ("workers",),
}
"""Where a package may be imported, and nowhere else."""

NEVER = (
    ("harness", "clients"),  # it is handed its client
    ("harness", "scoring"),  # and its scorers
    ("scoring", "clients"),
    ("judging", "clients"),
    ("reports", "clients"),
    ("reports", "scoring"),
    ("reports", "harness"),
)
"""Who never imports whom, whatever the floors say."""

UPWARD = {
    ("tunaeval/grammar/format.py", "tunaeval.parsing"),
    ("tunaeval/types/calls.py", "tunaeval.tools"),
}
"""Values that know by whom they are read or made: `Format.parse` and `ToolSpec.of`.

The import is in the method, so importing the value loads nothing above it; the method works
whatever else was imported, and needs no global that somebody else has to fill.
"""

PURE = frozenset({"window", "grammar", "formats", "parsing", "repair", "matching"})
IMPURE = frozenset({
    "asyncio", "concurrent", "ctypes", "datetime", "ftplib", "glob", "http", "httpx", "io",
    "logging", "multiprocessing", "os", "pathlib", "platform", "random", "secrets", "select",
    "selectors", "shutil", "signal", "socket", "socketserver", "ssl", "subprocess", "sys",
    "tempfile", "threading", "time", "urllib", "uuid", "warnings",
})  # fmt: skip
"""Network, clock, disk, environment, chance, processes, logging: not in the `PURE` rooms."""

HEAVY = {"httpx", "pydantic", "tenacity", "hypothesis", "rich", "asyncio"}

_LATER = re.compile(r"(tunaeval(?:\.\w+)+):\w+")


class Import(NamedTuple):
    """One import: where it stands, of what, and whether it reaches into a room."""

    file: str
    line: int
    importer: str
    module: str

    @property
    def room(self) -> str | None:
        """The room of ours that is imported; None for other packages."""
        return room_of(self.module)

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}"


def room_of(module: str) -> str | None:
    top, _, rest = module.partition(".")
    if top != "tunaeval":
        return None
    room = rest.partition(".")[0]
    return "tunaeval" if room in {"", *FACE} else room.replace("__main__", "cli")


@cache
def imports() -> tuple[Import, ...]:
    """Every import of the package."""
    return tuple(found for path in sorted(PACKAGE.rglob("*.py")) for found in imports_of(path))


def imports_of(path: Path) -> Iterator[Import]:
    parts = path.relative_to(ROOT).with_suffix("").parts
    importer = room_of(".".join(parts)) or ""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        for module in modules_of(node, parts):
            yield Import(str(path.relative_to(ROOT)), getattr(node, "lineno", 0), importer, module)


def modules_of(node: ast.AST, parts: tuple[str, ...]) -> Iterator[str]:
    match node:
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom(level=0, module=str(module)):
            # `from tunaeval import records` is the room, `from tunaeval import run` the face.
            for alias in node.names if module == "tunaeval" else ():
                inner = PACKAGE / alias.name
                is_room = inner.is_dir() or inner.with_suffix(".py").is_file()
                yield f"tunaeval.{alias.name}" if is_room else module
            if module != "tunaeval":
                yield module
        case ast.ImportFrom(level=level, module=module):
            package = parts[: len(parts) - level]
            for name in [module] if module else [alias.name for alias in node.names]:
                yield ".".join((*package, name))
        case ast.Constant(value=str(text)) if found := _LATER.fullmatch(text):
            yield found[1]


def between_rooms() -> Iterator[tuple[Import, str]]:
    for found in imports():
        if found.room is not None and found.room != found.importer:
            yield found, found.room


def listed(faults: list[str]) -> str:
    return "\n" + "\n".join(faults)


def test_every_room_stands_on_a_floor() -> None:
    rooms = {room_of(f"tunaeval.{path.stem}") for path in PACKAGE.glob("*.py")}
    rooms |= {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert rooms <= FLOOR.keys(), f"no floor for {rooms - FLOOR.keys()}"


def test_a_room_imports_only_from_floors_below_its_own() -> None:
    faults = [
        f"{found}: floor {FLOOR[found.importer]} from floor {FLOOR.get(room)}"
        for found, room in between_rooms()
        if FLOOR.get(room, len(FLOORS) + 1) >= FLOOR[found.importer]
        and (found.file, found.module) not in UPWARD
    ]
    assert not faults, listed(faults)


def test_a_value_alone_can_be_read_and_made() -> None:
    program = "from tunaeval.formats import HERMES; print(HERMES.parse('x').outcome)"
    assert python(program) == "no_call\n"
    program = "from tunaeval.types import ToolSpec\ndef f(): ...\nprint(ToolSpec.of(f).name)"
    assert python(program) == "f\n"


def test_a_value_alone_loads_nothing_that_reads_it() -> None:
    program = "import sys, tunaeval.formats, tunaeval.types; print(*sys.modules)"
    assert not {"tunaeval.parsing", "tunaeval.tools"} & set(python(program).split())


@pytest.mark.parametrize(("importer", "room"), NEVER)
def test_some_rooms_never_meet(importer: str, room: str) -> None:
    faults = [str(f) for f, other in between_rooms() if (f.importer, other) == (importer, room)]
    assert not faults, listed(faults)


def test_between_rooms_one_goes_through_the_face() -> None:
    faults = [
        f"{found}; wanted tunaeval.{room}"
        for found, room in between_rooms()
        if found.module.count(".") > 1 and found.module not in OPEN_MODULES
    ]
    assert not faults, listed(faults)


def test_within_a_room_imports_are_relative() -> None:
    faults = [
        str(found)
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level == 0
        for found in [Import(str(path.relative_to(ROOT)), node.lineno, "", node.module or "")]
        if found.room not in {None, "tunaeval"}
        and found.room == room_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
        and path.name != "__main__.py"
    ]
    assert not faults, listed(faults)


def test_each_package_has_its_home() -> None:
    faults = [
        f"{found}; it lives in {' and '.join(HOMES[top])}"
        for found in imports()
        if (top := found.module.partition(".")[0]) in HOMES and found.importer not in HOMES[top]
    ]
    assert not faults, listed(faults)


def test_the_parser_touches_nothing_but_text() -> None:
    faults = [
        str(found)
        for found in imports()
        if found.importer in PURE and found.module.partition(".")[0] in IMPURE
    ]
    faults += [
        f"{path.relative_to(ROOT)}:{node.lineno} calls {node.func.id}"
        for path in PACKAGE.rglob("*.py")
        if room_of(".".join(path.relative_to(ROOT).with_suffix("").parts)) in PURE
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id in {"open", "print", "input", "breakpoint"}
    ]
    assert not faults, listed(faults)


def test_formats_are_values() -> None:
    faults = [
        f"{path.relative_to(ROOT)}:{node.lineno} has code"
        for path in (PACKAGE / "formats").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda)
    ]
    assert not faults, listed(faults)


def python(program: str, *arguments: str) -> str:
    """What a program prints in a new interpreter that has been told of no environment."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True, text=True, cwd=ROOT, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_parse_loads_nothing_heavy() -> None:
    loaded = python(
        f"import tunaeval, sys; tunaeval.parse('x'); print({HEAVY!r} & set(sys.modules))"
    )
    assert loaded == "set()\n"


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    said = python(
        "import sys, json\nfrom tunaeval.cli import main\n"
        "code = main(sys.argv[1:])\n"
        f"print(json.dumps([code, sorted({HEAVY!r} & set(sys.modules))]))",
        *arguments,
    )
    assert json.loads(said.splitlines()[-1]) == [0, []]


def test_importing_reads_no_file_no_environment_and_no_entry_point() -> None:
    program = """\
import os, sys
heard = []
def listen(event, arguments):
    path = str(arguments[0]) if event == "open" else "x.py"
    if not path.endswith((".py", ".so", ".zip")) and ".pyc" not in path:
        heard.append(f"opens {path}")
class Watched(type(os.environ)):
    def __getitem__(self, key):
        heard.append(f"reads ${key}")
        return super().__getitem__(key)
sys.addaudithook(listen)
os.environ.__class__ = Watched
import tunaeval
tunaeval.parse("x")
print(heard, [name for name in sys.modules if name == "importlib.metadata"])
"""
    assert python(program) == "[] []\n"


def test_every_public_name_can_be_had() -> None:
    program = """\
import tunaeval
missing = [name for name in tunaeval.__all__ if not hasattr(tunaeval, name)]
print(missing, list(tunaeval.__all__) == sorted(tunaeval.__all__))
"""
    assert python(program) == "[] True\n"


def test_the_readme_shows_the_same_house() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", text, re.MULTILINE)
    assert {room: int(floor) for floor, room in rows} == FLOOR
