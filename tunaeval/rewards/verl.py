"""A reward for verl, named by its file: it takes no line of code, and verl is not imported.

    reward.custom_reward_function.path=pkg://tunaeval.rewards.verl
    reward.custom_reward_function.name=compute_score

verl 0.9.1 calls `compute_score(data_source, solution_str, ground_truth, extra_info, **kwargs)` for
each sample, in a thread, and logs everything beside "score". (verl/utils/reward_score, and
`reward.custom_reward_function.reward_kwargs`, which become keywords here.)

verl decodes with `skip_special_tokens=True`: if a tokenizer counts `<tool_call>` as special, the
text has none, and the bare JSON is read.

The imports are absolute because verl can also load this file by its path, outside any package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any

from tunaeval.errors import UsageError
from tunaeval.rewards.recipe import Recipe, recipe_of
from tunaeval.rewards.scored import gold_of, reward

__all__ = ["compute_score"]

_OF_VERL = frozenset({"reward_router_address", "reward_model_tokenizer"})
"""Arguments that verl's reward managers add if a reward model is served."""


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: object,
    extra_info: Mapping[str, Any] | None = None,
    recipe: Recipe | str = "default",
    **changes: Any,
) -> dict[str, float]:
    """Return the reward as "score", its parts, and the outcome of the calls, as numbers.

    `ground_truth` is what `Gold.of` reads. `extra_info["tools"]` may have the tools, as a list or
    as JSON text. `recipe` is "default", "EXACT" or "TOOLRL", and `changes` are fields of it
    (`repaired=0.5`). `data_source` is ignored. Raises `UsageError` for an invalid recipe, and for a
    gold or tools that cannot be read: verl reports these, but a silent 0 would be trained on.
    """
    del data_source
    tools = extra_info.get("tools") if isinstance(extra_info, Mapping) else None
    changes = {key: value for key, value in changes.items() if key not in _OF_VERL}
    chosen = _changed(recipe_of(recipe), changes)
    found = reward(solution_str, gold_of(ground_truth, tools), recipe=chosen)
    return {
        "score": found.value,
        **found.parts._asdict(),
        "parsed": float(found.outcome == "calls"),
        "broken": float(found.broken),
        "truncated": float(found.outcome == "truncated"),
    }


def _changed(recipe: Recipe, changes: Mapping[str, Any]) -> Recipe:
    try:
        return _changed_recipe(recipe, tuple(sorted(changes.items())))
    except TypeError:  # a value that is unhashable: the recipe's own error says more
        return _changed_recipe.__wrapped__(recipe, tuple(changes.items()))


@lru_cache(maxsize=64)
def _changed_recipe(recipe: Recipe, changes: tuple[tuple[str, Any], ...]) -> Recipe:
    known = {one.name: getattr(recipe, one.name) for one in fields(recipe) if one.init}
    if unknown := [key for key, _ in changes if key not in known]:
        raise UsageError(f"a recipe has no {unknown[0]!r}; it has {', '.join(known)}")
    return Recipe(**{**known, **dict(changes)})
