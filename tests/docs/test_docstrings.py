"""What docstrings show is true, and every public name has an example.

The examples of a module run in their order in an empty directory; `tunaeval` is imported in all.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import tunaeval

ROOT = Path(tunaeval.__file__).parent
MODULES = sorted(
    ".".join(("tunaeval", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for path in ROOT.rglob("*.py")
    if ">>> " in path.read_text("utf-8")
)
INSTANCES = {"classifiers", "compiled", "formats", "qwen25"}
"""Public names that are values; their class says what they do."""


@pytest.mark.parametrize("name", MODULES)
def test_what_a_docstring_shows_is_true(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    for example in finder.find(module, globs={**vars(module), "tunaeval": tunaeval}):
        runner.run(example, out=said.append)
    assert not runner.failures, "".join(said)
    assert runner.tries


@pytest.mark.parametrize("name", sorted({*dir(tunaeval)} - INSTANCES - {"__version__"}))
def test_a_public_name_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(getattr(tunaeval, name)) or "")


def test_the_reference_has_every_public_name_once() -> None:
    page = (ROOT.parent / "docs" / "reference" / "api.md").read_text("utf-8")
    shown = re.findall(r"^::: tunaeval\.(\w+)$", page, re.MULTILINE)
    modules = {name for name in shown if (ROOT / name).is_dir() or (ROOT / f"{name}.py").exists()}
    assert sorted({*shown} - modules | ({"formats"} & {*shown})) == sorted(
        {*dir(tunaeval)} - {"__version__"}
    )
    assert len(shown) == len({*shown})
