"""What trainers call, in the shape that each of them calls it: TRL, verifiers, verl."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from multiprocessing.reduction import ForkingPickler
from types import SimpleNamespace
from typing import Any

import pytest

from tests.rewards.table import TOOLS, WORDS, call
from tunaeval.errors import UsageError
from tunaeval.rewards.recipe import TOOLRL
from tunaeval.rewards.trl import trl_reward
from tunaeval.rewards.verifiers import call_reward, tool_reward, tool_rewards
from tunaeval.rewards.verl import compute_score

GOLD = json.dumps([call(city="Paris")])
KNOWN = json.dumps(TOOLS.as_openai())
GOOD, BROKEN, WRONG = WORDS["GOOD"], WORDS["BROKEN"], WORDS["WRONG"]


def in_message(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]


def as_trl(function: Any, completions: list[Any], **columns: Any) -> tuple[Any, dict[str, float]]:
    """As `GRPOTrainer._calculate_rewards` of TRL 1.16 does: keywords, columns as lists."""
    logged: dict[str, float] = {}
    found = function(
        prompts=[in_message("?")] * len(completions),
        completions=completions,
        completion_ids=[[1, 2]] * len(completions),
        trainer_state=SimpleNamespace(global_step=1),
        log_extra=lambda *_: None,
        log_metric=logged.__setitem__,
        **columns,
    )
    return found, logged


def test_trl_gets_a_number_for_each_and_its_metrics() -> None:
    completions = [GOOD, in_message(GOOD), in_message(GOOD + BROKEN), in_message("No."), GOOD]
    found, logged = as_trl(
        trl_reward(), completions, gold=[GOLD] * 4 + ["[]"], tools=[KNOWN] * 4 + [None]
    )
    assert found == pytest.approx([1.0, 1.0, 0.475, 0.0, 0.0])
    assert logged["tool_calls/parse_rate"] == pytest.approx(0.8)
    assert logged["tool_calls/exact_rate"] == pytest.approx(0.4)
    assert logged["tool_calls/broken_rate"] == pytest.approx(0.2)
    assert logged["tool_calls/unreadable_rows"] == 0.0
    assert {name for name in logged if not name.startswith("tool_calls/")} == set()


def test_a_row_whose_gold_cannot_be_read_is_left_out_and_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    function = trl_reward()
    for _ in range(2):
        found, logged = as_trl(function, [GOOD] * 2, gold=["{", GOLD], tools=[None, "none"])
    assert found == [None, None]
    (said,) = caplog.messages
    start = "reward 'tunaeval' cannot read 2 of 2 rows; row 0: gold is '{', which is no sound JSON"
    assert said.startswith(start)
    assert logged["tool_calls/unreadable_rows"] == 2.0


def test_columns_parts_and_recipes_may_be_named() -> None:
    function = trl_reward(TOOLRL, gold="answers", tools="functions")
    assert as_trl(function, [GOOD], answers=[GOLD], functions=[KNOWN])[0] == [4.0]
    part = trl_reward(part="name")
    assert as_trl(part, [WRONG], gold=[GOLD]) == ([1.0], {})
    assert (trl_reward().__name__, part.__name__) == ("tunaeval", "tunaeval_name")
    with pytest.raises(UsageError, match=r"no column 'gold'; it has .*answers"):
        as_trl(trl_reward(), [GOOD], answers=[GOLD])
    with pytest.raises(UsageError, match="part is 'speed'; wanted 'value', or one of format"):
        trl_reward(part="speed")


@pytest.mark.parametrize("wrong", [3, None, "", [call(city="Paris")]])
@pytest.mark.parametrize("option", ["gold", "tools"])
def test_what_names_no_column_is_refused_at_once(option: str, wrong: Any) -> None:
    with pytest.raises(UsageError, match=rf"{option} is .*; wanted the name of the column with"):
        trl_reward(**{option: wrong})
    with pytest.raises(UsageError, match=r"part is \[\]; wanted"):
        trl_reward(part=[])  # type: ignore[arg-type]  # what is wrong


def test_what_trl_calls_goes_to_other_processes() -> None:
    there = ForkingPickler.loads(ForkingPickler.dumps(trl_reward(TOOLRL, part="format")))
    assert there == trl_reward(TOOLRL, part="format")
    assert as_trl(there, [GOOD], gold=[GOLD])[0] == [1.0]


def test_verifiers_gets_a_number_for_a_trace() -> None:
    message = SimpleNamespace(role="assistant", content=GOOD, tool_calls=None)
    trace = SimpleNamespace(
        assistant_messages=[message],
        messages=[SimpleNamespace(role="assistant", content=WRONG), message],
    )
    assert tool_reward(trace, GOLD, KNOWN) == 1.0
    assert tool_rewards(trace, GOLD, KNOWN)["parsed"] == 1.0
    for task in (
        SimpleNamespace(gold=GOLD, tools=KNOWN),
        SimpleNamespace(info={"gold": GOLD}),
        {"gold": GOLD, "tools": None},
    ):
        assert asyncio.run(call_reward(task, trace)) == 1.0
    item = SimpleNamespace(id="1", name="get_weather", arguments='{"city": "Paris"}')
    parsed = SimpleNamespace(role="assistant", content=None, tool_calls=[item])
    assert tool_reward(SimpleNamespace(assistant_messages=[parsed]), GOLD, KNOWN) == 1.0


def test_verl_gets_a_score_beside_its_parts() -> None:
    """As `NaiveRewardManager` of verl 0.9.1 calls it, by keywords."""
    info = {"index": 0, "tools": KNOWN}
    found = compute_score(data_source="x", solution_str=GOOD, ground_truth=GOLD, extra_info=info)
    assert (found["score"], found["arguments"], found["broken"]) == (1.0, 1.0, 0.0)
    bare = GOOD.removeprefix("<tool_call>").removesuffix("</tool_call>")
    assert compute_score("x", bare, GOLD, info)["score"] == 1.0, "without its special tokens"
    assert compute_score("x", GOOD, GOLD, None, recipe="TOOLRL")["score"] == 4.0
    repaired = GOOD.replace("}}", "},}")
    paid = compute_score("x", repaired, GOLD, info, repaired=0.5)["score"]
    assert paid == pytest.approx(0.5)
    with pytest.raises(UsageError, match="recipe is 'x'"):
        compute_score("x", GOOD, GOLD, recipe="x")
    with pytest.raises(UsageError, match="no 'reparied'"):
        compute_score("x", GOOD, GOLD, reparied=0.5)


def test_verl_finds_it_by_its_package_and_by_its_file() -> None:
    """As `verl.utils.import_utils.load_module` of 0.9.1 does: `pkg://` a name, or a path."""
    by_name = import_module("tunaeval.rewards.verl")
    spec = spec_from_file_location("custom_module_1", str(by_name.__file__))
    assert spec is not None
    assert spec.loader is not None
    by_path = module_from_spec(spec)
    spec.loader.exec_module(by_path)
    routed = {"reward_router_address": "127.0.0.1:1", "reward_model_tokenizer": None}
    for module in (by_name, by_path):
        found = module.compute_score(
            data_source="x", solution_str=GOOD, ground_truth=GOLD, extra_info={}, **routed
        )
        assert found["score"] == 1.0


def test_a_column_that_is_named_has_to_be_there() -> None:
    columns = {"gold": [GOLD]}
    assert as_trl(trl_reward(), [GOOD], **columns)[0] == [1.0]
    for option, named in (("gold", trl_reward(gold="a")), ("tools", trl_reward(tools="a"))):
        with pytest.raises(UsageError, match=rf"no column 'a'.*trl_reward\({option}=\.\.\.\)"):
            as_trl(named, [GOOD], **columns)
    with pytest.raises(UsageError, match="column 'gold' has 1 value for 2 completions"):
        as_trl(trl_reward(), [GOOD, GOOD], **columns)
    with pytest.raises(UsageError, match=r"column 'gold' is '\[\]'; wanted a list"):
        trl_reward()(completions=[GOOD], gold="[]")
    with pytest.raises(UsageError, match=r"completions is '<tool_call>.*; wanted a list"):
        trl_reward()(completions=GOOD, gold=[GOLD])


def test_verl_refuses_a_recipe_in_a_sentence() -> None:
    for wrong in ({"format": 1}, ["EXACT"], "exact"):
        with pytest.raises(UsageError, match="wanted a Recipe, or one of"):
            compute_score("x", GOOD, GOLD, recipe=wrong)  # type: ignore[arg-type]  # refused
    for changes in ({"reader": ["hermes"]}, {"format": {"a": 1}}):
        with pytest.raises(UsageError, match="wanted"):
            compute_score("x", GOOD, GOLD, **changes)
