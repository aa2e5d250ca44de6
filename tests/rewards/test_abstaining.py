"""A call of a name that means no call earns what an answer in words does, and nothing by itself."""

from __future__ import annotations

from typing import Any

import pytest

from tunaeval.errors import UsageError
from tunaeval.rewards.gold import Gold
from tunaeval.rewards.recipe import Recipe
from tunaeval.rewards.scored import reward
from tunaeval.types.calls import ToolCall

TOOLS = [{"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}}}]
NONE, ONE = Gold.of([], TOOLS), Gold.of([{"name": "f", "arguments": {"n": 1}}], TOOLS)
RECIPE = Recipe(abstain=("no_function",))
ABSTAINS = '<tool_call>{"name": "no_function", "arguments": {}}</tool_call>'
CALLS = '<tool_call>{"name": "f", "arguments": {"n": 1}}</tool_call>'
BROKEN = '<tool_call>{"name": 5}</tool_call>'


def message(*names: str, content: str = "") -> list[dict[str, Any]]:
    items = [{"function": {"name": name, "arguments": '{"n": 1}'}} for name in names]
    return [{"role": "assistant", "content": content, "tool_calls": items}]


@pytest.mark.parametrize(
    "completion",
    [
        ABSTAINS,
        f"I cannot.\n{ABSTAINS}",
        [{"role": "assistant", "content": ABSTAINS}],
        message("no_function"),
        message("no_function", content="I cannot."),
        message("no_function", content=ABSTAINS),
    ],
)
def test_it_is_an_abstention(completion: Any) -> None:
    found = reward(completion, NONE, recipe=RECIPE)
    assert (found.value, found.outcome, found.broken) == (1.0, "no_call", 0)
    assert reward(completion, NONE).value == 0
    assert reward(completion, ONE, recipe=RECIPE).value == 0


@pytest.mark.parametrize("completion", [ABSTAINS + CALLS, message("no_function", "f")])
def test_a_call_beside_it_counts(completion: Any) -> None:
    assert reward(completion, NONE, recipe=RECIPE).value == 0
    found = reward(completion, ONE, recipe=RECIPE)
    assert (found.value, found.outcome, found.broken) == (1.0, "calls", 0)


@pytest.mark.parametrize(
    "completion",
    [ABSTAINS + BROKEN, message("no_function", "g"), message("no_function", content=BROKEN)],
)
def test_an_attempt_beside_it_is_no_abstention(completion: Any) -> None:
    found = reward(completion, NONE, recipe=RECIPE)
    assert (found.value, found.broken) == (0, 1)


def test_the_call_that_is_wanted_may_not_be_one() -> None:
    gold = Gold.of([ToolCall("no_function", {})])
    assert reward(ABSTAINS, gold).value == 1
    assert reward(ABSTAINS, gold, recipe=RECIPE).value == 0


def test_names_tell_recipes_apart_whatever_their_order() -> None:
    names = ("b", "a", "b")
    assert Recipe(abstain=names) == Recipe(abstain=("a", "b"))
    assert Recipe(abstain=names).digest == Recipe(abstain=("a", "b")).digest != Recipe().digest


def test_names_come_in_a_list() -> None:
    with pytest.raises(UsageError, match=r"abstain is 'no_function'; wanted names of calls"):
        Recipe(abstain="no_function")  # type: ignore[arg-type]  # what is wrong
