"""What the page on rewards says for trainers that are not run here: it compiles, and gives rewards.

The trainer's own classes are stood in for by plain ones; what is tested is our side of the call.
"""

from __future__ import annotations

import asyncio
import json
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.rewards.table import TOOLS, WORDS, call
from tunaeval.rewards.scored import reward

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "use-as-a-reward.md"
GOLD = json.dumps([call(city="Paris")])
GOOD, BROKEN = WORDS["GOOD"], WORDS["BROKEN"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The functions of the page, with what they find in their trainer's file."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (block,) = (one for one in blocks if "def reward_func" in one)
    file = tmp_path_factory.mktemp("trainers") / "rewarding.py"
    file.write_text(block, "utf-8")
    spec = spec_from_file_location("rewarding", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    there = vars(module)
    there |= {
        "reward": reward,
        "torch": SimpleNamespace(tensor=list),
        "BaseVerifyResponse": SimpleNamespace,
        "RewardOutput": SimpleNamespace,
    }
    spec.loader.exec_module(module)
    return there


def test_openrlhf_gets_a_reward_for_each_query(shown: dict[str, Any]) -> None:
    queries = ["Weather?" + GOOD, "Weather?" + GOOD + BROKEN]
    found = shown["reward_func"](queries, ["Weather?"] * 2, [GOLD] * 2)
    assert found["rewards"] == found["scores"] == pytest.approx([1.0, 0.475])


def test_skyrl_gets_a_step_with_its_reward(shown: dict[str, Any]) -> None:
    environment = SimpleNamespace(gold=GOLD)
    assert shown["step"](environment, GOOD)["reward"] == 1.0
    assert shown["step"](environment, BROKEN)["reward"] == 0.0


@pytest.mark.parametrize(("words", "value"), [("I look.", 1.0), (BROKEN, 0.475)])
def test_nemo_gym_gets_a_reward_of_items(shown: dict[str, Any], words: str, value: float) -> None:
    made = SimpleNamespace(
        type="function_call", name="get_weather", arguments='{"city": "Paris"}', call_id="c1"
    )
    said = SimpleNamespace(type="message", content=[SimpleNamespace(text=words)])
    response = SimpleNamespace(output=[SimpleNamespace(type="reasoning"), said, made])
    body = SimpleNamespace(gold=GOLD, response=response, model_dump=dict)
    assert asyncio.run(shown["verify"](None, body)).reward == pytest.approx(value)


def test_rllm_gets_parts_beside_the_reward(shown: dict[str, Any]) -> None:
    task = {"gold": GOLD, "tools": json.dumps(TOOLS.as_openai())}
    found = shown["tool_reward_fn"](task, GOOD)
    assert (found.reward, found.is_correct, found.metadata["arguments"]) == (1.0, True, 1.0)
    assert not shown["tool_reward_fn"](task, GOOD + BROKEN).is_correct
