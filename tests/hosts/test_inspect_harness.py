"""Inspect AI schedules and logs suites by the harness in `examples/`; tunaeval asks and judges."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.environments import ROOT
from tests.hosts.test_hosts import report

MAX_LINES = 30
CASES = {"questions": 36, "tasks": 6, "agent": 6}
"""Suites, and how many results they have; some of them pass, and some do not."""


def case(name: str) -> Any:
    return report("inspect")[name]


@pytest.mark.hosts
@pytest.mark.parametrize("name", CASES)
def test_the_results_by_inspect_are_ours(name: str) -> None:
    found = case(name)
    assert found["inspect"] == found["ours"]
    assert len(found["ours"]) == CASES[name]
    assert {one["ok"] for one in found["ours"]} == {True, False}


@pytest.mark.hosts
@pytest.mark.parametrize("name", CASES)
def test_inspect_logs_the_verdict_on_each_scenario_and_repeat(name: str) -> None:
    ours = [[one["scenario"], one["repeat"], one["ok"]] for one in case(name)["ours"]]
    assert case(name)["log"]["scores"] == sorted(ours)
    assert case(name)["log"]["status"] == "success"


@pytest.mark.hosts
def test_an_error_that_ends_a_run_ends_it_by_inspect_too() -> None:
    found = case("refused")
    assert found["inspect"] == found["ours"] == "ClientSetupError('no key')"


def test_the_harness_has_at_most_thirty_lines() -> None:
    """Of code; its first words and blank lines are none."""
    text = Path(ROOT, "examples", "inspect_harness.py").read_text("utf-8")
    words = ast.get_docstring(ast.parse(text), clean=False) or ""
    lines = [line for line in text.replace(f'"""{words}"""', "").splitlines() if line.strip()]
    assert len(lines) <= MAX_LINES
