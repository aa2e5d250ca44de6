"""The layers: which package is on which, and that every import leads down.

Imports are read from the source: those for type checkers count, and so do those that a string
names to be made later ("tunaeval.grammar.formats:HERMES").
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

LAYERS = (
    ("limits", "showing"),
    ("errors",),
    ("registry", "workers"),
    ("types",),
    ("files", "grammar"),
    ("tools",),
    ("wire",),
    ("parsing",),
    ("clients", "matching"),
    ("reports", "rewards", "tasks"),
    ("data", "doctor", "endpoint"),
    ("runs", "scoring"),
    ("plugins",),
    ("tunaeval",),
    ("testing",),
    ("cli", "vllm", "sglang"),
)
LAYER = {package: number for number, packages in enumerate(LAYERS, 1) for package in packages}

MOST_MODULES = 8

HOMES = {
    "httpx2": ("clients", "endpoint"),
    "h11": ("endpoint",),
    "pytest": ("testing",),
    "tenacity": ("clients", "tools"),
    "hypothesis": ("testing",),
    "jinja2": ("parsing", "reports", "tasks"),
    "pyarrow": ("reports", "data"),
    "rich": ("reports",),
    "argparse": ("cli",),
    "xllamacpp": ("clients",),
    "socket": ("endpoint",),
    "urllib": ("clients",),
    "subprocess": ("tools",),
    "mcp": ("tools",),
    "multiprocessing": ("workers",),
}
"""Where a package may be imported, and nowhere else."""

NEVER = (
    ("runs", "clients"),  # it is handed its client, or names it
    ("runs", "scoring"),  # and its scorers
    ("scoring", "clients"),
    ("reports", "clients"),
    ("doctor", "runs"),
)
"""Who never imports whom, whatever the layers say. A package itself is its registry."""

PURE = {"limits", "grammar", "wire", "parsing", "matching", "rewards"}
IMPURE = frozenset({
    "asyncio", "concurrent", "ctypes", "datetime", "ftplib", "glob", "http", "httpx2", "io",
    "logging", "multiprocessing", "os", "pathlib", "platform", "random", "secrets", "select",
    "selectors", "shutil", "signal", "socket", "socketserver", "ssl", "subprocess", "sys",
    "tempfile", "time", "urllib", "uuid", "warnings",
})  # fmt: skip
"""Network, clock, disk, environment, chance, processes, logging: not in the `PURE` packages."""

HEAVY = {"httpx2", "pydantic", "tenacity", "hypothesis", "rich", "asyncio"}

_LATER = re.compile(r"(tunaeval(?:\.\w+)+):\w+")


class Import(NamedTuple):
    """One import: where it is, of what, and whether it reaches into a package."""

    file: str
    line: int
    importer: str
    module: str

    @property
    def package(self) -> str | None:
        """The package of ours that is imported; None for other packages."""
        return package_of(self.module)

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}"


def package_of(module: str) -> str | None:
    top, _, rest = module.partition(".")
    if top != "tunaeval":
        return None
    package = rest.partition(".")[0]
    return "tunaeval" if package in {"", *FACE} else package.replace("__main__", "cli")


@cache
def imports() -> tuple[Import, ...]:
    """Every import of the package."""
    return tuple(found for path in sorted(PACKAGE.rglob("*.py")) for found in imports_of(path))


def imports_of(path: Path) -> Iterator[Import]:
    parts = path.relative_to(ROOT).with_suffix("").parts
    importer = package_of(".".join(parts)) or ""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        for module in modules_of(node, parts):
            yield Import(str(path.relative_to(ROOT)), getattr(node, "lineno", 0), importer, module)


def modules_of(node: ast.AST, parts: tuple[str, ...]) -> Iterator[str]:
    match node:
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom(level=0, module=str(module)):
            # `from tunaeval import records` is the package, `from tunaeval import run` the face.
            for alias in node.names if module == "tunaeval" else ():
                inner = PACKAGE / alias.name
                is_package = inner.is_dir() or inner.with_suffix(".py").is_file()
                yield f"tunaeval.{alias.name}" if is_package else module
            if module != "tunaeval":
                yield module
        case ast.ImportFrom(level=level, module=module):
            package = parts[: len(parts) - level]
            for name in [module] if module else [alias.name for alias in node.names]:
                yield ".".join((*package, name))
        case ast.Constant(value=str(text)) if found := _LATER.fullmatch(text):
            yield found[1]


def modules() -> dict[str, Path]:
    """Every module by its name."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def module_imports() -> Iterator[tuple[str, str, bool]]:
    """Every import of ours: who imports, what, and whether it is inside a function."""
    known = modules()
    for name, path in known.items():
        own = path.relative_to(ROOT).with_suffix("").parts
        tree = ast.parse(path.read_text("utf-8"))
        functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
        bodies = (ast.walk(node) for node in ast.walk(tree) if isinstance(node, functions))
        inside = {id(node) for body in bodies for node in body}
        for node in ast.walk(tree):
            for full in full_names_of(node, own):
                parts = full.split(".")
                while parts and ".".join(parts) not in known:
                    parts.pop()
                module = ".".join(parts)
                if module and module != name:
                    yield name, module, id(node) in inside


def full_names_of(node: ast.AST, own: tuple[str, ...]) -> Iterator[str]:
    """The dotted names that a node imports, each with the name that is taken from the module."""
    match node:
        case ast.ImportFrom(level=level, module=module):
            base = [*own[: len(own) - level], *([module] if module else [])] if level else [module]
            yield from (".".join((*filter(None, base), alias.name)) for alias in node.names)
        case ast.Call(args=[ast.Constant(value=str(text)), *_]) if "import_module" in ast.dump(
            node.func
        ):
            yield ".".join(own[:-1]) + text if text.startswith(".") else text
        case _:
            yield from modules_of(node, own)


def between_packages() -> Iterator[tuple[Import, str]]:
    for found in imports():
        if found.package is not None and found.package != found.importer:
            yield found, found.package


def listed(faults: list[str]) -> str:
    return "\n" + "\n".join(faults)


def test_every_package_is_on_a_layer() -> None:
    packages = {package_of(f"tunaeval.{path.stem}") for path in PACKAGE.glob("*.py")}
    packages |= {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert packages <= LAYER.keys(), f"no layer for {packages - LAYER.keys()}"


def test_there_are_few_modules_beside_the_packages() -> None:
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {*FACE, "__main__"}
    assert len(modules) <= MOST_MODULES, f"put one of {sorted(modules)} into a package"


def test_a_package_imports_only_from_layers_below_its_own() -> None:
    faults = [
        f"{found}: layer {LAYER[found.importer]} from layer {LAYER.get(package)}"
        for found, package in between_packages()
        if LAYER.get(package, len(LAYERS) + 1) >= LAYER[found.importer]
    ]
    assert not faults, listed(faults)


def test_a_value_alone_loads_nothing_that_reads_it() -> None:
    program = "import sys, tunaeval.grammar.formats, tunaeval.types; print(*sys.modules)"
    assert not {"tunaeval.parsing", "tunaeval.tools"} & set(python(program).split())


def test_no_module_is_part_of_a_circle() -> None:
    """At import, inside functions, for types, or by a name in a string."""
    imported: dict[str, set[str]] = {name: set() for name in modules()}
    for importer, module, _ in module_imports():
        imported[importer].add(module)
    while free := [name for name, others in imported.items() if not others & imported.keys()]:
        for name in free:
            del imported[name]
    faults = [f"{name}: {sorted(others & imported.keys())}" for name, others in imported.items()]
    assert not faults, listed(faults)


LATE = 12
"""How many modules of ours may be imported inside functions, because of what they load."""


def test_few_modules_are_imported_inside_functions() -> None:
    late = {module for _, module, is_late in module_imports() if is_late}
    assert len(late) <= LATE, f"{len(late)}: {sorted(late)}"


def test_an_import_inside_a_function_has_its_reason() -> None:
    """Ruff asks for the mark, at our own modules and at heavy libraries; here is its reason."""
    faults = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in modules().values()
        for line in path.read_text("utf-8").splitlines()
        if "PLC0415" in line and not re.search(r"PLC0415 - \S", line)
    ]
    assert not faults, listed(faults)


@pytest.mark.parametrize(("importer", "package"), NEVER)
def test_some_packages_never_meet(importer: str, package: str) -> None:
    faults = [
        str(found)
        for found, other in between_packages()
        if (found.importer, other) == (importer, package) and found.module != f"tunaeval.{package}"
    ]
    assert not faults, listed(faults)


def test_nobody_imports_a_private_module_of_another_package() -> None:
    faults = [str(found) for found, _ in between_packages() if "._" in found.module]
    assert not faults, listed(faults)


def test_an_init_only_names_what_is_public() -> None:
    """Within `tunaeval`, a name is imported from the module that makes it."""
    faults = [
        f"{path.relative_to(ROOT)}:{node.lineno} imports {name.name} from {node.module}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name != "__init__.py"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module
        for name in node.names
        if name.name in _reexported(node.module)
    ]
    assert not faults, listed(faults)


@cache
def _reexported(module: str) -> frozenset[str]:
    """The names that a package has from its own modules."""
    path = ROOT.joinpath(*module.split(".")) / "__init__.py"
    if not module.startswith("tunaeval.") or not path.is_file():
        return frozenset()
    return frozenset(
        name.name
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module
        for name in node.names
    )


def test_within_a_folder_imports_are_relative() -> None:
    faults = [
        f"{path.relative_to(ROOT)}:{node.lineno} imports {node.module}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level == 0 and path.parent != PACKAGE
        if f"{node.module}.".startswith(".".join(path.parent.relative_to(ROOT).parts) + ".")
        and path.name != "verl.py"  # which is loaded by its path
    ]
    assert not faults, listed(faults)


def test_each_package_has_its_home() -> None:
    faults = [
        f"{found}; it lives in {' and '.join(HOMES[top])}"
        for found in imports()
        if (top := found.module.partition(".")[0]) in HOMES and found.importer not in HOMES[top]
    ]
    assert not faults, listed(faults)


ONE_HOME = {
    r"object_pairs_hook|parse_constant": ("types/json_text.py", "parsing/repair/values.py"),
    r"subprocess\.|Popen|create_subprocess|os\.fork\b": (
        "tools/processes.py",
        "tools/launching.py",  # which is the supervisor's program
    ),
    r"\breprlib\b": ("showing.py",),
}  # fmt: skip
"""What only some files do: decode JSON by rules, start processes, shorten values for messages."""


@pytest.mark.parametrize("what", ONE_HOME)
def test_what_is_done_in_one_place_is_done_there_alone(what: str) -> None:
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if re.search(what, path.read_text("utf-8"))
    }
    assert found == {*ONE_HOME[what]}


def test_the_parser_touches_nothing_but_text() -> None:
    faults = [
        str(found)
        for found in imports()
        if found.importer in PURE and found.module.partition(".")[0] in IMPURE
    ]
    faults += [
        f"{path.relative_to(ROOT)}:{node.lineno} calls {node.func.id}"
        for path in PACKAGE.rglob("*.py")
        if package_of(".".join(path.relative_to(ROOT).with_suffix("").parts)) in PURE
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id in {"open", "print", "input", "breakpoint"}
    ]
    assert not faults, listed(faults)


def test_formats_are_values() -> None:
    faults = [
        f"{path.relative_to(ROOT)}:{node.lineno} has code"
        for path in (PACKAGE / "grammar").glob("*_formats.py")
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


@pytest.mark.parametrize("package", ["tunaeval", "tunaeval.testing"])
def test_type_checkers_read_the_same_names(package: str) -> None:
    place = PACKAGE.parent / package.replace(".", "/") / "__init__.pyi"
    stub = ast.parse(place.read_text("utf-8"))
    written = {
        name.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    program = f"import {package}; print({package}._HOMES)"
    assert written == ast.literal_eval(python(program))


@pytest.mark.parametrize("what", ["drawn", "roles"])
def test_the_page_of_the_design_shows_what_the_code_says(what: str) -> None:
    drawing = [sys.executable, "-c", f"import map; print(map.{what}(), end='')"]
    done = subprocess.run(
        drawing, capture_output=True, text=True, cwd=ROOT / "docs", timeout=60, check=True
    )
    again = "draw it again: python docs/map.py"
    assert done.stdout in (ROOT / "docs/explanation/design.md").read_text("utf-8"), again


def test_what_an_init_defines_is_no_module_beside_it() -> None:
    """The module would take its place when somebody imports it."""
    faults = [
        f"{path.relative_to(ROOT)}:{node.lineno} defines {node.name}"
        for path in sorted(PACKAGE.rglob("__init__.py"))
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if (path.parent / f"{node.name}.py").is_file()
    ]
    assert not faults, listed(faults)
