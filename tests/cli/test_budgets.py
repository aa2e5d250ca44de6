"""Budgets end a run before it costs too much, and `--resume` goes on with the rest."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.test_matrix import BOTH, COUNT, Models, matrix_of, models, numbers
from tests.faults import Answer, FaultServer, chat
from tests.faults.runs import suite_file

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


@pytest.mark.parametrize("limit", [("--max-total-tokens", "9"), ("--max-cost", "9")])
def test_what_cannot_be_counted_is_not_asked_without_end(
    here: Tuna, limit: tuple[str, ...], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    suite = str(suite_file(tmp_path, 40))
    message = {"role": "assistant", "content": "Hi."}
    bare = {"choices": [{"message": message, "finish_reason": "stop"}]}  # it has no usage
    with FaultServer(then=Answer(json.dumps(bare).encode())) as server:
        done = here(
            "run", "--suite", suite, "--base-url", server.base_url, "--model", "m", *limit,
            "--price-in", "1", "--price-out", "1", "--concurrency", "2",
        )  # fmt: skip
    assert done.returncode == 3
    assert len(server.seen) <= 4
    assert "no limit of tokens or cost can be kept" in caplog.text


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
    assert found["completion_tokens"] == 4 * COUNT * 300
    assert found["cost"] == (found["prompt_tokens"] + found["completion_tokens"]) / 1e6
    said = here(*asked, "--cache", "kept").stdout
    assert f"{2 * COUNT} requests with one attempt each; at most {4 * COUNT} with all" in said
    assert "as if they were asked for; nothing was asked" in said
    assert models.asked == []
    assert not (tmp_path / "runs").exists()


def test_a_dry_run_counts_the_tokens_of_all_attempts(here: Tuna, tmp_path: Path) -> None:
    """Every attempt fails with a reply as long as allowed, which the next attempt repeats."""
    suite = str(suite_file(tmp_path, 1))
    reply = '<tool_call>{"name": "none", "arguments": {}}</tool_call>'.ljust(1200, ".")
    with FaultServer(then=chat(reply)) as server:
        asked = ("run", "--suite", suite, "--base-url", server.base_url, "--model", "m",
                 "--attempts", "3")  # fmt: skip
        found = json.loads(here(*asked, "--dry-run", "--json").stdout)["dry_run"]
        here(*asked)
    assert found["most_requests"] == len(server.seen) == 3
    sent = sum(len(json.dumps(one.json)) for one in server.seen)
    assert found["prompt_tokens"] == pytest.approx(sent / 4, rel=0.01)


def test_a_dry_run_of_what_is_left_is_refused(here: Tuna) -> None:
    done = here("run", "--resume", "runs/none", "--dry-run")
    assert done.returncode == 2
    assert "--dry-run counts a whole run" in done.stderr


@pytest.mark.parametrize("more", [(), ("--model", "poor")])
@pytest.mark.parametrize(
    "line",
    ["max-cost = 1", "max_requests = 2", "max-total-tokens = 9", "dry-run = true", "repeats = 2"],
)
def test_an_option_of_the_whole_command_is_refused_in_a_column(
    here: Tuna, models: Models, numbers: str, line: str, more: tuple[str, ...]
) -> None:
    Path("tunaeval.toml").write_text(f'[columns.good]\nmodel = "good"\n{line}\n')
    done = here(*asking(models, numbers, *more))
    assert (done.returncode, models.asked) == (2, [])
    name = line.partition(" ")[0]
    assert f"tunaeval.toml, [columns.good]: {name} is an option of the whole" in done.stderr


@pytest.mark.parametrize(("has", "lacks"), [("in", "out"), ("out", "in")])
def test_half_a_price_is_refused(
    here: Tuna, models: Models, numbers: str, has: str, lacks: str
) -> None:
    Path("tunaeval.toml").write_text(f"[prices.good]\n{has} = 2\n")
    done = here(*asking(models, numbers))
    assert (done.returncode, models.asked) == (2, [])
    assert f"[prices.good]: {lacks} is missing; wanted in and out" in done.stderr
