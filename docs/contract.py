"""The contract: every public name and module, which keep their names and meanings.

    python docs/contract.py    # writes docs/reference/names.md

What a name is comes from the first sentence of its docstring. Everything else in the package may
change without notice. A test asks that documentation and examples use nothing else.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_origin

import tunaeval

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reference" / "names.md"

MODULES = {
    "tunaeval.types": "",
    "tunaeval.types.history": "History HistoryCall",
    "tunaeval.types.roles": (
        "Adapter Agent AnyTool Client Harness Parser Recorder Scorer ToolWrapper Writer"
    ),
    "tunaeval.types.runs": (
        "AttemptRecord CallRecord CategoryScore Expectation ExpectedCall LevelResult Report "
        "RunInfo Scenario ScenarioResult ScoreResult Suite Summary Task"
    ),
    "tunaeval.types.faults": "Cut Delay Fail Fault Garbage Inject RepeatId",
    "tunaeval.errors": "*",
    "tunaeval.grammar": "",
    "tunaeval.grammar.formats": "AUTO FORMATS",
    "tunaeval.matching.expectations": "read_expectation",
    "tunaeval.matching.profiles": "PROFILES",
    "tunaeval.tools.success": "Classifier Result Success",
    "tunaeval.rewards": "",
    "tunaeval.rewards.trl": "*",
    "tunaeval.rewards.verifiers": "*",
    "tunaeval.rewards.verl": "*",
    "tunaeval.scoring.judging": "",
    "tunaeval.runs": "with_faults",
    "tunaeval.runs.trl": "TrainingEnvironment environment",
    "tunaeval.tasks": "",
    "tunaeval.data": "",
    "tunaeval.data.adapters": "",
    "tunaeval.data.columns": "parse_table score_table",
    "tunaeval.data.convert": (
        "Route TEXT_KEYS Unconvertible convert_row convert_text route_between"
    ),
    "tunaeval.doctor": "",
    "tunaeval.testing": "",
    "tunaeval.testing.selftest": "Extent accuracy linear null stream subject_of",
    "tunaeval.testing.pytest_plugin.expectations": "ExpectedInFile",
    "tunaeval.testing.pytest_plugin.workspace": "Workspace",
    "tunaeval.vllm": "register",
    "tunaeval.sglang": "register",
}
"""Public modules, and which of their names are public: those listed, "*" for all that a module
makes, or "" for all that its `__init__` names."""


def public_names(module: str) -> list[str]:
    """Return the public names of a public module, in order."""
    stated = MODULES[module]
    if stated == "*":
        tree = ast.parse(inspect.getsource(importlib.import_module(module)))
        kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        made = (node.name for node in tree.body if isinstance(node, kinds))
        return sorted(name for name in made if not name.startswith("_"))
    if stated:
        return stated.split()
    found = importlib.import_module(module)
    stub = Path(inspect.getfile(found)).with_suffix(".pyi")
    tree = ast.parse(stub.read_text("utf-8") if stub.exists() else inspect.getsource(found))
    starred = any(
        isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in tree.body
    )
    if starred:
        return sorted(
            name for name, value in vars(found).items()
            if not name.startswith("_") and getattr(value, "__module__", "").startswith(module)
        )  # fmt: skip
    return sorted(
        name.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level
        for name in node.names
        if name.asname == name.name
    )


def drawn() -> str:
    """Return the page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Names that are kept"
    yield ""
    yield "These names and modules keep their names and meanings; [changes](../../CHANGELOG.md)"
    yield "says otherwise where they must, and an old name works for one release with a warning."
    yield "Everything else may change without notice. [The public API](api.md) has the signatures."
    yield "This page is written by `python docs/contract.py`."
    yield ""
    yield "## `tunaeval`"
    yield ""
    names = [name for name in dir(tunaeval) if name != "__version__"]
    yield from _table((name, getattr(tunaeval, name)) for name in names)
    for module in MODULES:
        found = importlib.import_module(module)
        yield ""
        yield f"## `{module}`"
        yield ""
        yield _sentence(found) + "."
        yield ""
        yield from _table((name, getattr(found, name)) for name in public_names(module))


def _table(things: Iterator[tuple[str, object]]) -> Iterator[str]:
    yield "| name | what it is |"
    yield "|---|---|"
    for name, thing in things:
        yield f"| `{name}` | {_sentence(thing)} |"


def _sentence(thing: object) -> str:
    """Return the first sentence of a docstring that is the thing's own."""
    if thing is Any or get_origin(thing) is not None:
        written = re.sub(r"\b(?:\w+\.)+", "", str(thing)).replace("|", "\\|")
        return f"the type `{written}`"
    if not (inspect.ismodule(thing) or inspect.isclass(thing) or inspect.isroutine(thing)):
        kind = next(kind for kind in type(thing).__mro__ if not kind.__name__.startswith("_"))
        return f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} `{kind.__name__}`"
    text = inspect.getdoc(thing) or ""
    first = re.split(r"(?<=[.?:])\s|\n\n", text)[0].replace("\n", " ").rstrip(".:")
    return first.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(drawn(), "utf-8")
