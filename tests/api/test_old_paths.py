"""Import paths of version 0.1 work, give the same things, and name the path of today."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module

import pytest

from tunaeval.api.old_paths import MOVED

OLD = [
    ("tunaeval.adapters", "to_messages", "tunaeval.data.adapters"),
    ("tunaeval.clients.openai", "OpenAIClient", "tunaeval.models.clients.openai"),
    ("tunaeval.clients.scripted", "ScriptedClient", "tunaeval.models.clients.scripted"),
    ("tunaeval.columns", "score_table", "tunaeval.data.columns"),
    ("tunaeval.faults", "Inject", "tunaeval.types.faults"),
    ("tunaeval.formats", "HERMES", "tunaeval.grammar.formats"),
    ("tunaeval.grading", "checks", "tunaeval.runs.grading"),
    ("tunaeval.harness", "check_suite", "tunaeval.runs"),
    ("tunaeval.judging", "frames", "tunaeval.scoring.judging"),
    ("tunaeval.pytest_plugin.workspace", "Workspace", "tunaeval.testing.pytest_plugin.workspace"),
    ("tunaeval.repair.machine", "read_json", "tunaeval.parsing.repair.machine"),
    ("tunaeval.selftest", "Extent", "tunaeval.testing.selftest"),
    ("tunaeval.success", "Success", "tunaeval.tools.success"),
]


@pytest.fixture(autouse=True)
def _not_yet_imported() -> Iterator[None]:
    """Old paths are imported anew by each test, and gone after it."""
    yield
    for name in [
        name for name in sys.modules if any(f"{name}.".startswith(f"{o}.") for o in MOVED)
    ]:
        del sys.modules[name]


@pytest.mark.parametrize(("old", "name", "new"), OLD)
def test_an_old_path_works_and_names_the_new_one(old: str, name: str, new: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module = import_module(old)
    assert f"{old} has moved; import it from {new}" in [str(one.message) for one in caught]
    found = getattr(module, name)
    if new != "tunaeval.runs":  # whose names are in modules within it now
        assert found is getattr(import_module(new), name)


def test_the_warning_is_where_the_import_is() -> None:
    program = "import tunaeval\n\nfrom tunaeval.success import Result"
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr.startswith("<string>:3: DeprecationWarning: tunaeval.success has moved")


@pytest.mark.parametrize("new", MOVED.values())
def test_every_new_path_is_there(new: str) -> None:
    assert import_module(new).__name__ == new


@pytest.mark.filterwarnings("ignore:tunaeval.clients has moved")
@pytest.mark.parametrize("path", ["tunaeval.nothing", "tunaeval.clients.nothing"])
def test_a_path_that_never_was_is_no_module(path: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=path):
        import_module(path)


def test_a_name_that_never_was_cannot_be_imported() -> None:
    with pytest.warns(DeprecationWarning, match=r"tunaeval\.success has moved"):
        module = import_module("tunaeval.success")
    assert not hasattr(module, "Nothing")
