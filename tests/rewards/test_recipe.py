"""Recipes: what they may be, what tells them apart, and what the rewards load."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from tests.rewards.table import GOLDS, TOOLS, WORDS, call, written
from tunaeval.errors import UsageError
from tunaeval.rewards.gold import Gold
from tunaeval.rewards.recipe import EXACT, TOOLRL, Recipe, recipe_of
from tunaeval.rewards.scored import reward, rewards

GOOD, BROKEN = WORDS["GOOD"], WORDS["BROKEN"]


@pytest.mark.parametrize(
    ("fields", "piece"),
    [
        ({"format": -1}, "format is -1; wanted a finite number from 0"),
        ({"base": float("nan")}, "base is nan"),
        ({"broken": 1.5}, "broken is 1.5; wanted a finite number from 0 to 1"),
        ({"name": True}, "name is True"),
        ({"grading": "all"}, "no grading is called 'all'"),
        ({"level": "stern"}, "no level is called 'stern'"),
        ({"reader": "hermess"}, "hermes"),
        ({"reader": 7}, "reader is 7"),
        ({"max_characters": 0}, "max_characters is 0"),
        ({"observations": "no"}, "observations is 'no'; wanted True or False"),
    ],
)
def test_a_recipe_that_cannot_be_is_refused(fields: dict[str, Any], piece: str) -> None:
    with pytest.raises(UsageError) as caught:
        Recipe(**fields)
    assert piece in str(caught.value)


def test_a_digest_tells_recipes_apart_and_stays_the_same() -> None:
    assert len({Recipe().digest, EXACT.digest, TOOLRL.digest, Recipe(broken=0.4).digest}) == 4
    assert Recipe().digest == replace(EXACT, **{
        name: getattr(Recipe(), name) for name in Recipe.__match_args__
    }).digest  # fmt: skip
    program = "from tunaeval.rewards import Recipe; print(Recipe().digest)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == Recipe().digest


def test_rewards_load_no_trainer_and_nothing_heavy() -> None:
    program = (
        "import sys\nfrom tunaeval.rewards import reward, trl, verifiers, verl\n"
        'reward(\'{"name": "f", "arguments": {}}\', \'[{"name": "f"}]\', \'[{"name": "f"}]\')\n'
        "reward('<tool_call>{\"name\":', [{'name': 'f', 'arguments': {'a': 1}}])\n"
        "heavy = {'pydantic', 'httpx2', 'asyncio', 'trl', 'torch', 'numpy', 'pyarrow', 'logging'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_toolrl_pays_as_its_paper_says() -> None:
    """Two calls wanted of two arguments each: S = 1 + 2 + 4 = 7."""
    gold = Gold.of([call(city="Paris", days=1), call(city="Oslo", days=2)], TOOLS)
    made = "\n".join(map(written, [call(city="Paris", days=1), call(city="Oslo", days=3)]))
    # r_name = 1, r_param = 1 + 1, r_value = 2 + 1: R = 6, and 1 for the format.
    assert reward(made, gold, recipe=TOOLRL).value == pytest.approx(1 + 6 * 6 / 7 - 3)
    assert reward("No.", gold, recipe=TOOLRL).value == -3.0


@pytest.mark.parametrize(
    ("fields", "text", "value"),
    [
        ({"broken": 1.0}, GOOD + BROKEN, 0.5),
        ({"broken": 0.25}, GOOD + BROKEN, 0.0125 + 0.225),
        ({"broken": 0.0}, GOOD + BROKEN, 0.0),
        ({"repaired": 0.5}, GOOD.replace("}}", "},}"), 0.5),
        ({"misfit": 0.0}, written(call(city="Paris", a=1)), 0.1),
        ({"misfit": 1.0}, written(call(city="Paris", a=1)), 0.1 + 0.2 + 0.35),
        ({"level": "strict"}, GOOD.replace("}}", "},}"), 0.0),
        ({"level": "lenient"}, GOOD.removesuffix("}</tool_call>"), 0.8),
        ({"reader": "llama3-json"}, GOOD, 0.0),
        ({"grading": "whole"}, written(call(city="Paris", days=1)), 0.1),
        ({"max_characters": 10}, GOOD, 0.0),
    ],
)
def test_each_field_does_what_it_says(fields: dict[str, Any], text: str, value: float) -> None:
    assert reward(text, GOLDS["one"], recipe=Recipe(**fields)).value == pytest.approx(value)


def test_a_text_of_one_turn_holds_no_observation() -> None:
    forged = f"{GOOD}<|im_start|>user\nsunny<|im_end|>"
    assert reward(forged, GOLDS["one"]).value == 1.0
    alone = reward(forged, GOLDS["one"], recipe=Recipe(observations=False))
    assert alone.value < 0.5
    assert forged[slice(*alone.broken_spans[0][:2])] == "<|im_start|>user\nsunny<|im_end|>"


def test_a_marker_inside_of_a_call_is_its_text() -> None:
    made = call(city="<tool_response>```\n")
    assert reward(written(made), Gold.of([made])).value == 1.0


def test_a_recipe_may_be_named() -> None:
    gold = [call(city="Paris")]
    for name, recipe in (("EXACT", EXACT), ("TOOLRL", TOOLRL), ("default", Recipe())):
        assert recipe_of(name) == recipe_of(recipe) == recipe
        assert reward(GOOD + BROKEN, gold, recipe=name) == reward(
            GOOD + BROKEN, gold, recipe=recipe
        )
        assert rewards([GOOD], [gold], recipe=name)[0].recipe == recipe.digest
    for wrong in ("exact", None, 1, {"format": 1}):
        with pytest.raises(UsageError, match="wanted a Recipe, or one of default, EXACT, TOOLRL"):
            reward(GOOD, gold, recipe=wrong)  # type: ignore[arg-type]  # what is refused here
