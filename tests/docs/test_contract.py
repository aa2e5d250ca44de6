"""The contract is as the package has it, and documentation and examples use nothing else."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import tunaeval

ROOT = Path(__file__).parents[2]
_IMPORT = re.compile(r"^\s*(?:>>> )?from (tunaeval[\w.]*) import ([\w, ]+)", re.MULTILINE)
_MODULE = re.compile(r"^\s*(?:>>> )?import (tunaeval\.[\w.]+)", re.MULTILINE)
PAGES = sorted([
    *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.py"), ROOT / "README.md",
])  # fmt: skip


def _contract() -> ModuleType:
    spec = importlib.util.spec_from_file_location("contract", ROOT / "docs" / "contract.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules["contract"] = found
    spec.loader.exec_module(found)
    return found


CONTRACT = _contract()


def test_the_page_is_as_the_package_has_it() -> None:
    page = (ROOT / "docs" / "reference" / "names.md").read_text("utf-8")
    assert page == CONTRACT.drawn(), "write it again: python docs/contract.py"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_documentation_and_examples_use_public_names_alone(path: Path) -> None:
    text = path.read_text("utf-8")
    for module in _MODULE.findall(text):
        assert module in CONTRACT.MODULES, f"{module} is not in docs/contract.py"
    for module, names in _IMPORT.findall(text):
        if module == "tunaeval":
            known = {*dir(tunaeval), *(one.rpartition(".")[2] for one in CONTRACT.MODULES)}
        else:
            assert module in CONTRACT.MODULES, f"{module} is not in docs/contract.py"
            known = {*CONTRACT.public_names(module)}
        used = {name.partition(" as ")[0].strip() for name in names.split(",")} - {""}
        assert used <= known, f"{module}: {used - known}"


@pytest.mark.parametrize("checker", [("mypy", "--strict"), ("pyright",)])
def test_type_checkers_catch_an_unknown_keyword_of_run(
    checker: tuple[str, ...], tmp_path: Path
) -> None:
    pytest.importorskip(checker[0], reason=f"{checker[0]} is not installed")
    program = tmp_path / "typed.py"
    program.write_text(
        "import tunaeval\n"
        'tunaeval.run("smoke", client="openai", base_url="http://x/v1", attempts=2)\n'
        'tunaeval.run("smoke", client="openai", base_ulr="http://x/v1")\n'
    )
    where = ("--pythonpath", sys.executable) if checker[0] == "pyright" else ()
    done = subprocess.run(
        [sys.executable, "-m", *checker, *where, str(program)],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "base_ulr" in done.stdout
    assert done.stdout.count("error:") == 1, done.stdout
