"""Score completions with a number and its parts: what trainers import.

    from tunaeval.rewards import Gold, Recipe, reward

    gold = Gold.of('[{"name": "ls", "arguments": {"path": "."}}]', tools=tools)
    found = reward(completion, gold)
    found.value, found.parts.arguments, found.broken_spans

No trainer, no pydantic and no network is loaded, nothing here has state, and nothing that a model
writes raises. `rewards.trl`, `rewards.verifiers` and `rewards.verl` are what trainers call.
"""

from __future__ import annotations

from .engines import ENGINES as ENGINES
from .gold import AnyTools as AnyTools
from .gold import Gold as Gold
from .gold import GoldMatch as GoldMatch
from .gold import tools_of as tools_of
from .reading import BrokenSpan as BrokenSpan
from .reading import attempts_of as attempts_of
from .recipe import EXACT as EXACT
from .recipe import TOOLRL as TOOLRL
from .recipe import Parts as Parts
from .recipe import Recipe as Recipe
from .recipe import recipe_of as recipe_of
from .scored import Golds as Golds
from .scored import Reward as Reward
from .scored import reward as reward
from .scored import rewards as rewards
from .spans import AttemptSpan as AttemptSpan
from .spans import attempt_spans as attempt_spans
from .spans import loss_mask as loss_mask
from .spans import token_offsets as token_offsets
from .spans import token_spans as token_spans
from .turns import reward_turns as reward_turns
