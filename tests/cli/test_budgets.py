"""Budgets end a run before it costs too much, and `--resume` goes on with the rest."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.test_matrix import BOTH, COUNT, Models, matrix_of, models, numbers

__all__ = ["models", "numbers"]

Tuna = Callable[..., subprocess.CompletedProcess[str]]


def asking(models: Models, suite: str, *more: str) -> tuple[str, ...]:
    return ("run", "--suite", suite, "--base-url", models.url, "--model", "good", *more)


@pytest.mark.parametrize(
    "limit",
    [
        ("--max-requests", "10"),
        ("--max-total-tokens", "1100"),
        ("--max-cost", "0.002", "--price-in", "2"),
    ],
)
def test_a_budget_leaves_the_rest_unasked(
    here: Tuna, models: Models, numbers: str, limit: tuple[str, ...], tmp_path: Path
) -> None:
    done = here(*asking(models, numbers, *limit, "--concurrency", "2", "--json"))
    assert done.returncode == 3, done.stderr
    found = json.loads(done.stdout)
    assert 10 <= len(models.asked) <= 12
    assert found["summary"]["outcomes"]["not_asked"] == COUNT - len(models.asked)
    assert found["summary"]["final"]["total"] == len(models.asked)
    assert "--resume" in done.stderr
    again = here("run", "--resume", str(matrix_of(tmp_path)), "--json")
    assert again.returncode == 0, again.stderr
    assert len(models.asked) == COUNT
    assert "not_asked" not in json.loads(again.stdout)["summary"]["outcomes"]


def test_a_budget_is_that_of_the_whole_matrix(
    here: Tuna, models: Models, numbers: str, tmp_path: Path
) -> None:
    done = here(*asking(models, numbers, *BOTH, "--model", "poor", "--max-requests", "30"))
    assert done.returncode == 3
    assert 30 <= len(models.asked) <= 38
    assert f"--resume {matrix_of(tmp_path).relative_to(tmp_path)} goes on" in done.stderr
    assert "cells/" not in done.stderr


def test_a_cost_needs_prices(here: Tuna, models: Models, numbers: str, tmp_path: Path) -> None:
    done = here(*asking(models, numbers, "--max-cost", "1"))
    assert (done.returncode, models.asked) == (2, [])
    assert "[prices.MODEL]" in done.stderr
    (tmp_path / "tunaeval.toml").write_text("[prices.good]\nin = 2\nout = 10\n")
    done = here(*asking(models, numbers, "--max-cost", "1"))
    assert done.returncode == 0
    assert f"cost {COUNT * (100 * 2 + 10 * 10) / 1e6:.4f}" in done.stderr


def test_a_dry_run_asks_nothing(here: Tuna, models: Models, numbers: str, tmp_path: Path) -> None:
    asked = asking(models, numbers, *BOTH, "--price-in", "1", "--price-out", "1", "--dry-run")
    done = here(*asked, "--json")
    found = json.loads(done.stdout)["dry_run"]
    assert (found["requests"], found["most_requests"]) == (2 * COUNT, 4 * COUNT)
    assert found["completion_tokens"] == 2 * COUNT * 300
    assert found["cost"] > 0
    assert "nothing was asked" in here(*asked).stdout
    assert models.asked == []
    assert not (tmp_path / "runs").exists()
