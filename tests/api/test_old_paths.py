"""Import paths of version 0.1 work, give the same things, and name the path of today."""

from __future__ import annotations

import subprocess
import sys
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
    ("tunaeval.repair.reader", "read_json", "tunaeval.parsing.repair.reader"),
    ("tunaeval.selftest", "Extent", "tunaeval.testing.selftest"),
    ("tunaeval.success", "Success", "tunaeval.tools.success"),
]


@pytest.mark.parametrize(("old", "name", "new"), OLD)
def test_an_old_path_works_and_names_the_new_one(old: str, name: str, new: str) -> None:
    program = f"from {old} import {name} as old\nfrom {new} import {name}\nassert old is {name}"
    if new == "tunaeval.runs":
        program = f"from {old} import {name}"
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"<string>:1: DeprecationWarning: {old} has moved; import it from {new}" in done.stderr


@pytest.mark.parametrize("new", MOVED.values())
def test_every_new_path_is_there(new: str) -> None:
    assert import_module(new).__name__ == new


@pytest.mark.filterwarnings("ignore:tunaeval.clients has moved")
@pytest.mark.parametrize("path", ["tunaeval.nothing", "tunaeval.clients.nothing"])
def test_a_path_that_never_was_is_no_module(path: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=path):
        import_module(path)


def test_a_name_that_never_was_cannot_be_imported() -> None:
    sys.modules.pop("tunaeval.success", None)
    with pytest.warns(DeprecationWarning, match=r"tunaeval\.success has moved"):
        module = import_module("tunaeval.success")
    assert not hasattr(module, "Nothing")
