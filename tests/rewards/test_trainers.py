"""Our rewards and rows in real trainers: GRPO and SFT by TRL on this CPU, and traces scored by
verifiers.

Each wants an environment of its own; CONTRIBUTING has the commands.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from tunaeval import parse
from tunaeval.cli import main

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def printed_by(program: str, package: str, *arguments: str) -> Any:
    """The JSON that a program prints last, run where its package is installed; else skips."""
    named = os.environ.get(f"TUNAEVAL_{package.upper()}_PYTHON")
    there = ROOT / ".host-envs" / package / "bin" / "python"
    if named is None and find_spec(package):
        named = sys.executable
    if named is None and not there.exists():
        pytest.skip(f"{package} is not installed; CONTRIBUTING says how to make {there.parents[1]}")
    done = subprocess.run(
        [named or str(there), str(HERE / "programs" / program), *arguments],
        capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.trainers
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_tiny_model_learns_by_our_reward_and_its_parts_are_in_the_log(seed: int) -> None:
    *steps, _ = printed_by("grpo.py", "trl", "24", str(seed))
    earned = [row["rewards/tunaeval/mean"] for row in steps]
    print(seed, *(f"{value:.3f}" for value in earned))
    names = {name for row in steps for name in row}
    for part in ("format", "name", "arguments", "parse_rate", "broken_rate", "unreadable_rows"):
        assert f"tool_calls/{part}" in names
    assert {"rewards/tunaeval/mean", "rewards/tunaeval_format/mean"} <= names
    assert all(0.0 <= value <= 1.0 for value in earned)
    assert fmean(earned[-6:]) > 1.5 * fmean(earned[:6]), "it has learned"


@pytest.mark.trainers
def test_the_text_that_trl_trains_has_the_calls_as_each_template_writes_them() -> None:
    found = printed_by("sft.py", "trl")
    trained = {name: texts for name, texts in found.items() if isinstance(texts, list)}
    assert len(trained) >= 46
    assert all("refused: the template" in said for said in found.values() if isinstance(said, str))
    for name, texts in trained.items():
        calls = [parse(text, tools=WEATHER).calls for text in texts]
        assert [one.arguments for (one,) in calls] == [{"city": 'the "Isle"'}, {"days": 2}], name


WEATHER = [{"name": "get_weather", "parameters": {"type": "object", "properties": {
    "city": {"type": "string"}, "days": {"type": "integer"}}}}]  # fmt: skip


@pytest.mark.trainers
def test_traces_are_scored_by_a_method_and_by_a_name() -> None:
    found = printed_by("verifiers_task.py", "verifiers")
    earned = [row["rewards"]["calls"] for row in found]
    assert earned == pytest.approx([0.5, 0.5, 0.2375, 0.0, 1.0, 1.0, 0.475, 0.0])
    assert [row["metrics"].get("parsed") for row in found[:4]] == [1.0, 1.0, 1.0, 0.0]


@pytest.mark.trainers
def test_a_suite_is_the_environment_and_the_reward_of_grpo(tmp_path: Path) -> None:
    kept = tmp_path / "trained.jsonl"
    found = printed_by("grpo_environment.py", "trl", str(kept))
    for name, one in found.items():
        print(name, *(f"{value:.3f}" for value in one["rewards"]))
        assert len(one["rewards"]) == 3
        assert all(0.0 <= value <= 1.0 for value in one["rewards"])
        assert one["results"], "calls were run"
        assert not [text for text in one["results"] if text.startswith("{'error'")]
    assert max(found["rooms"]["rewards"]) > 0
    trained = [json.loads(line)["suite"] for line in kept.read_text().splitlines()]
    assert {*trained} == {"repair-tasks", "rooms"}
    words = ["run", "--suite", "repair-tasks", "--trained-on", str(kept), "--client", "scripted"]
    assert main(words) == 2
