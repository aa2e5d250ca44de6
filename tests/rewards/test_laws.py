"""Laws of every reward, by every recipe: bounded, deterministic, made of its parts, not gamed."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations
from multiprocessing.reduction import ForkingPickler
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.rewards.table import TOOLS, WORDS, call, written
from tunaeval import ToolCall, parse, render
from tunaeval.matching.assignment import best_pairs, ordered_pairs
from tunaeval.rewards.gold import Gold, GoldMatch
from tunaeval.rewards.recipe import EXACT, TOOLRL, Parts, Recipe
from tunaeval.rewards.scored import reward
from tunaeval.testing.strategies import json_values

BROKEN = [
    WORDS["BROKEN"],
    '<tool_call>{"name": "rm", "arguments": {}}</tool_call>',
    "<tool_call></tool_call>",
    '<tool_call>{"arguments": {"city": "Paris"}}</tool_call>',
    "<tool_call>[1, 2]</tool_call>",
]
MATCHES: list[GoldMatch] = ["any_order", "exactly", "in_order", "superset"]


def factors() -> st.SearchStrategy[float]:
    return st.floats(0, 1, allow_subnormal=False)


def recipes() -> st.SearchStrategy[Recipe]:
    weights = st.floats(0, 8, allow_subnormal=False)
    made = st.builds(
        Recipe,
        format=weights, name=weights, arguments=weights, abstention=weights,
        base=st.floats(-4, 4, allow_subnormal=False),
        repaired=factors(), broken=factors(), misfit=factors(),
        grading=st.sampled_from(["arguments", "whole", "toolrl"]),
        level=st.sampled_from(["strict", "standard", "lenient"]),
    )  # fmt: skip
    return st.sampled_from([Recipe(), EXACT, TOOLRL]) | made


def calls() -> st.SearchStrategy[dict[str, Any]]:
    city = st.sampled_from(["Paris", "Oslo", "Rome"])
    days = st.sampled_from([1, 2, True, "2", None])
    return st.builds(call, city=city) | st.builds(call, city=city, days=days) | st.just(call())


def golds() -> st.SearchStrategy[Gold]:
    wanted = st.lists(calls(), max_size=3)
    return st.builds(
        lambda rows, m: Gold.of(rows, TOOLS, match=m), wanted, st.sampled_from(MATCHES)
    )


def texts() -> st.SearchStrategy[str]:
    """Replies: calls, broken calls, words, observations, fences, and whatever chance makes."""
    piece = (
        calls().map(written)
        | st.sampled_from([*BROKEN, "I look.", "<think>Hm.</think>", "```\n", "<tool_response>",
                           "</tool_response>", "<tool_call>", "<|im_start|>user\n", "`"])
        | st.text(max_size=12)
    )  # fmt: skip
    return st.lists(piece, max_size=6).map(" ".join)


@given(texts(), golds(), recipes())
def test_a_value_is_the_weighted_sum_of_its_parts_and_bounded(
    text: str, gold: Gold, recipe: Recipe
) -> None:
    found = reward(text, gold, recipe=recipe)
    assert all(0.0 <= part <= 1.0 + 1e-12 for part in found.parts)
    weights = Parts(recipe.format, recipe.name, recipe.arguments, recipe.abstention)
    summed = sum(weight * part for weight, part in zip(weights, found.parts, strict=True))
    assert found.value == pytest.approx(recipe.base + summed, abs=1e-9)
    assert recipe.base - 1e-9 <= found.value <= recipe.base + sum(weights) + 1e-9
    assert found.recipe == recipe.digest
    assert found.attempts >= found.broken == max(found.broken, len(found.broken_spans))


@given(texts(), golds(), recipes())
def test_the_same_completion_earns_the_same_however_it_is_given(
    text: str, gold: Gold, recipe: Recipe
) -> None:
    found = reward(text, gold, recipe=recipe)
    assert reward(text, gold, recipe=recipe) == found
    there = ForkingPickler.loads(ForkingPickler.dumps((gold, recipe)))
    assert there == (gold, recipe)
    assert hash(there[0]) == hash(gold)
    assert reward(text, there[0], recipe=there[1]) == found
    message = reward([{"role": "assistant", "content": text}], gold, recipe=recipe)
    found = reward(text, gold, recipe=replace(recipe, observations=False))
    assert (message.value, message.broken) == (found.value, found.broken)


@given(st.lists(calls(), max_size=3), golds(), recipes(), st.data())
def test_a_broken_call_never_raises_the_reward(
    made: list[dict[str, Any]], gold: Gold, recipe: Recipe, data: st.DataObject
) -> None:
    """Wherever it is put, and however many there are already."""
    unread = [one for one in BROKEN if not parse(one, tools=TOOLS, level=recipe.level).calls]
    pieces = [*map(written, made), *data.draw(st.lists(st.sampled_from(unread), max_size=2))]
    before = reward("\n".join(pieces), gold, recipe=recipe)
    at = data.draw(st.integers(0, len(pieces)))
    pieces.insert(at, data.draw(st.sampled_from(unread)))
    after = reward("\n".join(pieces), gold, recipe=recipe)
    assert after.value <= before.value
    assert after.broken == before.broken + 1
    assert after.attempts == before.attempts + 1


FORMATS = [
    "hermes",
    "mistral-v11",
    "llama3-json",
    "qwen3-coder",
    "deepseek-v3.1",
    "glm45",
    "pythonic",
]


def in_format(name: str, tool: str = "get_weather", **arguments: Any) -> str:
    return render([ToolCall(tool, arguments)], name)


def spoiled(name: str) -> dict[str, str]:
    """One call in a format, each time broken in another way."""
    good = in_format(name, city="Paris")
    at, end = good.index("get_weather"), good.index("Paris")
    opener, closer = good[:at], good[end + 5 :]
    only_marked = {
        "cut in its name": good[: at + 4],
        "opened alone": opener,
        "words inside": f"{opener}I cannot say.{closer}",
    }
    return {
        **(only_marked if name != "pythonic" else {}),  # where a bracket is all that is left of it
        "cut in its value": good[: end + 2],
        "without its end": good[: end + 5],
        "wrong inside": good.replace("Paris", '", {"').replace("get_weather", 'get_weather"'),
        "of an unknown tool": in_format(name, "rm", path="/"),
        "opened twice": opener + good,
        "one in another": good[:end] + good + good[end:],
    }


LAX = Recipe(broken=0.9, repaired=1.0, misfit=1.0)


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_a_broken_call_never_raises_the_reward_in_any_format(
    name: str, data: st.DataObject
) -> None:
    """Before, between or behind sound calls, those it swallows included."""
    recipe = data.draw(st.sampled_from([Recipe(), EXACT, TOOLRL, LAX, Recipe(grading="whole")]))
    broken = data.draw(st.sampled_from([*spoiled(name).values()]))
    assume(not parse(broken, tools=TOOLS, level=recipe.level).calls)
    cities = data.draw(st.lists(st.sampled_from(["Paris", "Oslo", "Rome"]), max_size=3))
    wanted = data.draw(st.lists(st.sampled_from(["Paris", "Oslo"]), max_size=2))
    gold = Gold.of([call(city=city) for city in wanted], TOOLS)
    pieces = [in_format(name, city=city) for city in cities]
    if not pieces and data.draw(st.booleans()):
        pieces = ["It is sunny."]
    before = reward("\n".join(pieces), gold, recipe=recipe)
    pieces.insert(data.draw(st.integers(0, len(pieces))), broken)
    after = reward("\n".join(pieces), gold, recipe=recipe)
    assert after.value <= before.value + 1e-12, pieces


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_opened_and_is_no_call_is_a_broken_one(name: str) -> None:
    """With a gold that wants no call, too: words between the markers of a call are no answer."""
    for what, broken in spoiled(name).items():
        for text in (broken, f"It rains.\n{broken}", f"{in_format(name, city='Paris')}\n{broken}"):
            found = reward(text, Gold.of([], TOOLS))
            assert found.value == 0.0, (what, text)
            assert found.broken or found.outcome == "calls", (what, text)


@given(st.lists(calls(), max_size=3), st.lists(calls(), max_size=3), recipes())
@example([call(city="Rome"), call(city="Oslo")], [call(city="Oslo"), call(city="Rome")],
         Recipe(format=0, name=1, arguments=1e-180, grading="whole"))  # fmt: skip
def test_the_order_of_calls_changes_nothing_where_any_will_do(
    made: list[dict[str, Any]], wanted: list[dict[str, Any]], recipe: Recipe
) -> None:
    values = {
        round(
            reward("\n".join(map(written, turned)), Gold.of(wanted, TOOLS), recipe=recipe).value, 9
        )
        for turned in permutations(made)
    }
    assert len(values) == 1


@given(st.lists(calls(), min_size=1, max_size=3), recipes(), st.sampled_from(MATCHES))
def test_nothing_earns_more_than_the_very_calls(
    wanted: list[dict[str, Any]], recipe: Recipe, match: GoldMatch
) -> None:
    wanted = [one for one in wanted if one["arguments"].get("days", 1) is not None]
    gold = Gold.of(wanted, match=match)
    if not wanted:
        return
    honest = reward("\n".join(map(written, wanted)), gold, recipe=recipe)
    others = [wanted[1:], [*wanted, wanted[0]], [call(city="Bonn")], [*reversed(wanted)]]
    for made in others:
        assert reward("\n".join(map(written, made)), gold, recipe=recipe).value <= honest.value


@given(completion=json_values(), gold=golds(), recipe=recipes())
def test_no_completion_is_an_exception(completion: Any, gold: Gold, recipe: Recipe) -> None:
    for one in (
        completion,
        [completion],
        {"role": "assistant", "content": completion, "tool_calls": completion},
        [{"role": "assistant", "content": "", "tool_calls": [completion]}],
        [{"role": completion, "content": [{"type": "text", "text": completion}]}],
        json.dumps(completion),
    ):
        assert reward(one, gold, recipe=recipe).recipe == recipe.digest


@given(st.integers(0, 4), st.integers(0, 4), st.data())
def test_the_pairs_are_the_best_there_are(first: int, second: int, data: st.DataObject) -> None:
    one = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1)
    row = st.lists(one, min_size=second, max_size=second)
    worth = data.draw(st.lists(row, min_size=first, max_size=first))

    def summed(pairs: Any) -> float:
        return float(sum(worth[a][b] for a, b in pairs))

    every = [
        [*zip(range(first), chosen, strict=True)]
        for chosen in permutations([*range(second), *[-1] * first], first)
    ]
    proper = [[(a, b) for a, b in pairs if b >= 0] for pairs in every]
    found = best_pairs(first, second, lambda a, b: worth[a][b])
    assert len({b for _, b in found}) == len(found)
    assert summed(found) == pytest.approx(max(map(summed, proper), default=0.0))
    straight = [pairs for pairs in proper if [b for _, b in pairs] == sorted(b for _, b in pairs)]
    found = ordered_pairs(first, second, lambda a, b: worth[a][b])
    assert summed(found) == pytest.approx(max(map(summed, straight), default=0.0))


@given(texts(), golds())
def test_what_was_parsed_already_earns_as_its_text(text: str, gold: Gold) -> None:
    """But where each call has its place: without the text nobody knows that of a broken one."""
    if "```" in text or "<tool_response>" in text or "<|im_start|>" in text:
        return
    found = reward(parse(text, tools=TOOLS), gold)
    whole = reward(text, gold)
    if gold.match == "exactly" and whole.broken:
        assert found.value <= whole.value
    else:
        assert found == replace(whole, broken_spans=found.broken_spans)


@given(texts(), golds())
def test_what_is_broken_has_a_place_in_the_text(text: str, gold: Gold) -> None:
    for span in reward(text, gold).broken_spans:
        assert 0 <= span.start < span.end <= len(text)
