"""A broken call never raises the reward, in any format and place: not by what it swallows."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.rewards.table import TOOLS, call
from tunaeval import ToolCall, formats, parse, render
from tunaeval.errors import UsageError
from tunaeval.grammar.formats import FORMATS
from tunaeval.rewards.gold import Gold, GoldMatch
from tunaeval.rewards.reading import OF_A_FENCE, WITH_MARKS
from tunaeval.rewards.recipe import Recipe
from tunaeval.rewards.scored import reward

MATCHES: list[GoldMatch] = ["any_order", "exactly", "in_order", "superset"]


def in_format(name: str, tool: str = "get_weather", **arguments: Any) -> str:
    return render([ToolCall(tool, arguments)], name)


@cache
def written() -> tuple[str, ...]:
    """The names of formats that calls are written in."""

    def can_write(name: str) -> bool:
        try:
            return bool(in_format(name))
        except UsageError:  # a reader of several
            return False

    return tuple(filter(can_write, formats.names()))


@cache
def least_cut(name: str) -> int:
    """How many characters of a call are more than prose in every format.

    Where only a whole text is a call, any prose beside it makes prose of both; so what a cut has
    left must show that it was to be a call.
    """
    good = in_format(name, city="Paris")
    alone = not parse(f"It is {good}", name, TOOLS, "standard").calls
    return good.index("get_weather") + len("get_weather(") if alone else 1


def damages(name: str) -> st.SearchStrategy[str]:
    """A call of a format, broken or cut, and code fences that hold one, left open or not."""
    good = in_format(name, city="Paris")
    at, end = good.index("get_weather"), good.index("Paris")
    cut = st.integers(least_cut(name), end + 5).map(lambda size: good[:size])
    changed = [
        good.replace("Paris", '", {"').replace("get_weather", 'get_weather"'),
        good[: end + 5] + good[end + 5 :].replace("}", "", 1),
        good[: end + 5] + good[end + 5 :].replace('"', "", 1),
        good.replace('",', '"', 1),
        good.replace('":', '"', 1),
        good.replace("{", "{,", 1),
        in_format(name, "rm", path="/"),
        good[:at] + good,
        good[:end] + good + good[end:],
        "```json\n" + good[: end + 2],
        "```json\n" + good[:-1],
        "```json" + good,
        '```json\n{"name": "get_weather", "arguments": {"city": "Pa',
        '```json\n{"name": "get_weather", "arguments": {"city": }}',
        '```json\n{"name": "get_weather", "arguments": {"city": }}\n```',
    ]
    return cut | st.sampled_from(changed)


def recipes(reader: str) -> st.SearchStrategy[Recipe]:
    factor = st.floats(0, 1, allow_subnormal=False)
    return st.builds(
        Recipe,
        repaired=factor | st.just(1.0),
        broken=factor | st.just(0.9),
        misfit=factor,
        grading=st.sampled_from(["arguments", "whole", "toolrl"]),
        level=st.sampled_from(["strict", "standard", "lenient"]),
        reader=st.just(reader),
    )


@given(st.data())
def test_a_broken_call_never_raises_the_reward_wherever_it_is_and_whatever_is_around_it(
    data: st.DataObject,
) -> None:
    name = data.draw(st.sampled_from(written()))
    reader = data.draw(st.sampled_from(["auto", name]))
    others = st.sampled_from(written()) if reader == "auto" else st.just(name)
    recipe = data.draw(recipes(reader))
    broken = data.draw(others.flatmap(damages))
    assume(not parse(broken, reader, TOOLS, recipe.level).calls)

    cities = data.draw(st.lists(st.sampled_from(["Paris", "Oslo", "Rome"]), max_size=3))
    pieces = [in_format(data.draw(st.just(name) | others), city=city) for city in cities]
    if data.draw(st.booleans()) or not pieces:
        pieces.insert(data.draw(st.integers(0, len(pieces))), "It is sunny.")
    joint = data.draw(st.sampled_from(["\n", "\n\n", " ", ""]))
    assume(len(parse(joint.join(pieces), reader, TOOLS, recipe.level).calls) == len(cities))

    wanted = data.draw(st.lists(st.sampled_from(["Paris", "Oslo"]), max_size=2))
    gold = Gold.of(
        [call(city=city) for city in wanted], TOOLS, match=data.draw(st.sampled_from(MATCHES))
    )
    before = reward(joint.join(pieces), gold, recipe=recipe)
    pieces.insert(data.draw(st.integers(0, len(pieces))), broken)
    text = joint.join(pieces)
    assert reward(text, gold, recipe=recipe).value <= before.value + 1e-9, (text, before)


PARIS = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
ROME = PARIS.replace("Paris", "Rome")
SWALLOWED = {
    "an open fence": f'```json\n{{"name": "get_weather", "arguments": {{"city": "Pa\n{ROME}',
    "a fence mark behind another": f"```json```json\n{ROME}\n```",
    "an object that is cut in its name": f'{{"na\n{ROME}',
    "an action without a name": 'Action: \nAction: get_weather\nAction Input: {"city": "Rome"}',
    "a list of Python's, open": "[get_weather(city='Pa [get_weather(city='Rome')]",
    "a fence of code, open": "```json\n[get_weather(city='Pa [get_weather(city='Rome')]",
    "a recipient": '<|recipient|>get_weather\n<|content|>{"city": "Pa\n<|recipient|>get_weather\n',
    "a fence of tool code": '```tool_code\nget_weather"(\n```\n```tool_code\nget_weather()',
}


@pytest.mark.parametrize("text", SWALLOWED.values(), ids=SWALLOWED.keys())
def test_a_call_that_a_broken_one_swallows_is_no_abstention(text: str) -> None:
    found = reward(f"It is sunny.\n{text}", Gold.of([], TOOLS))
    assert (found.value, found.outcome == "no_call") == (0.0, False), found


def test_behind_a_broken_call_no_other_is_in_its_place() -> None:
    rome, paris = in_format("hermes", city="Rome"), in_format("hermes", city="Paris")
    broken = '<tool_call>\n{"name": "get_weather", "arguments": {"city": \n'
    gold = Gold.of([call(city="Paris")], TOOLS, match="exactly")
    before = reward(rome + paris, gold)
    assert reward(broken + rome + paris, gold).value < before.value
    assert reward(paris + broken, gold).parts.name > reward(broken + paris, gold).parts.name == 0.0


def test_a_worse_call_that_is_swallowed_makes_no_other_one_better() -> None:
    """Where ToolRL counts names, each pair counts with its own factor."""
    repaired = in_format("hermes", city="Rome").replace('"', "'")
    text = in_format("hermes", city="Paris") + repaired
    gold = Gold.of([call(city="Paris"), call(city="Rome")], TOOLS)
    recipe = Recipe(grading="toolrl", repaired=0.5, broken=1.0)
    parts = reward(text, gold, recipe=recipe).parts
    assert parts.name == pytest.approx(0.75 / gold.size)


def all_unsound(text: str, gold: Gold) -> bool:
    """Whether each call that is read counts as repaired."""
    found = reward(text, gold, recipe=Recipe(repaired=0.0, broken=1.0))
    return found.parts.format == 0.0 and found.attempts > found.broken


def test_a_broken_fence_takes_no_call_out_of_another_fence() -> None:
    recipe = Recipe(repaired=0.5, broken=1.0)
    gold = Gold.of([call(city="Paris")], TOOLS, match="superset")
    fenced = f"```\n{in_format('hermes', city='Paris')}\n```"
    broken = '```json\n{"name": "get_weather", "arguments": {"ci\n'
    assert reward(fenced, gold, recipe=recipe).value == 0.5
    assert reward(broken + fenced, gold, recipe=recipe).value <= 0.5
    three = "\n\n".join([in_format("fence", city="Paris")] * 3)
    assert all_unsound(three, gold)
    assert all_unsound('```json\n{"name": "\n\n' + three, gold)


def test_calls_that_an_argument_swallows_are_tried_too() -> None:
    lost = "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Pa\n"
    whole = in_format("glm45", city="Rome")
    gold = Gold.of([call(city="Paris")], TOOLS)
    assert reward(whole, gold).broken == 0
    assert reward(lost + whole, gold).value < reward(whole, gold).value
    held = ToolCall("get_weather", {"city": "<tool_call>get_weather</tool_call>"})
    text = render([held], "hermes")
    assert reward(text, Gold.of([held], TOOLS)).value == 1.0, "where that is what is wanted"


EXAMPLES = {
    "inline code": "Write `<tool_call>` and `get_weather(city='Paris')`.",
    "its name": "I could call get_weather, or get_weather(city).",
}


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_an_answer_that_speaks_of_a_tool_is_an_abstention(text: str) -> None:
    assert reward(f"So:\n{text}\nThat is how.", Gold.of([], TOOLS)).value == 1.0


@pytest.mark.parametrize("name", sorted(WITH_MARKS - OF_A_FENCE))
def test_the_marks_of_a_format_put_no_other_call_into_a_fence(name: str) -> None:
    text = "\n".join([in_format(name, city="Paris"), in_format(name, city="Oslo")])
    gold = Gold.of([call(city="Paris"), call(city="Oslo")], TOOLS)
    assert reward(text, gold, recipe=Recipe(reader=name)).value == 1.0


def test_formats_with_marks_of_a_fence_are_known() -> None:
    marked = {name for name in written() if "```" in in_format(name)}
    assert marked == WITH_MARKS <= FORMATS.keys()


def test_a_structured_call_with_two_keys_for_its_arguments_is_no_sound_one() -> None:
    gold = Gold.of([call(city="Paris")], TOOLS)
    one = {"name": "get_weather", "parameters": {"city": "Rome"}, "arguments": {"city": "Paris"}}
    same = {**one, "parameters": one["arguments"]}
    for item in (one, {"type": "function", "function": one}):
        message = {"role": "assistant", "content": "", "tool_calls": [item]}
        assert reward([message], gold).value == reward(message, gold).value == 0.8
    message = {"role": "assistant", "content": "", "tool_calls": [{"function": same}]}
    assert reward([message], gold).value == 1.0, "one thing said twice is no guess"


def test_a_call_of_a_tool_whose_name_has_spaces_is_no_abstention() -> None:
    tools = [{"name": "Get Weather", "parameters": {"type": "object", "properties": {}}}]
    text = '[Get Weather(city="Paris")]'
    assert not parse(text, tools=tools).calls, "no format can say it"
    assert reward(text, Gold.of([], tools)).value == 0.0
    assert reward(text, Gold.of([{"name": "Get Weather"}], tools)).broken == 1
