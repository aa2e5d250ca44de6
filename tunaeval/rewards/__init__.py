"""One completion as a number with its parts: what trainers import.

    from tunaeval.rewards import Gold, Recipe, reward

    gold = Gold.of('[{"name": "ls", "arguments": {"path": "."}}]', tools=tools)
    found = reward(completion, gold)
    found.value, found.parts.arguments, found.broken_spans

No trainer, no pydantic and no network is loaded, nothing here has state, and nothing that a model
writes raises. `rewards.trl`, `rewards.verifiers` and `rewards.verl` are what trainers call.
"""

from __future__ import annotations

from .attempts import BrokenSpan
from .gold import AnyTools, Gold, GoldMatch, tools_of
from .reading import attempts_of
from .recipe import EXACT, TOOLRL, Parts, Recipe, recipe_of
from .scored import Golds, Reward, reward, rewards

__all__ = [
    "EXACT",
    "TOOLRL",
    "AnyTools",
    "BrokenSpan",
    "Gold",
    "GoldMatch",
    "Golds",
    "Parts",
    "Recipe",
    "Reward",
    "attempts_of",
    "recipe_of",
    "reward",
    "rewards",
    "tools_of",
]
