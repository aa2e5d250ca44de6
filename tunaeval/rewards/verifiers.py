"""A reward for verifiers: an `async` function of a rollout, which verifiers 0.4 finds by its name.

    class Weather(vf.Task):
        @vf.reward(weight=1.0)
        async def calls(self, task, trace):
            return tool_reward(trace, task.info["gold"], task.info["tools"])

or without a class, in a task's configuration:

    rewards = {"calls": {"fn": "tunaeval.rewards.verifiers:call_reward"}}

verifiers is not imported. In older versions a reward that raised counted as 0, so that an
unreadable gold looked like a bad model: here it is an error with its reason.
"""

from __future__ import annotations

from typing import Any

from tunaeval.types.exchange import field_of

from .gold import AnyTools
from .recipe import Recipe
from .scored import Reward, gold_of, reward

__all__ = ["call_reward", "completion_of", "tool_reward", "tool_rewards"]

_DEFAULT = Recipe()


def tool_reward(
    completion: object, gold: object, tools: AnyTools = None, *, recipe: Recipe = _DEFAULT
) -> float:
    """Return the reward's value for a trace, messages or a text; see `rewards.reward`."""
    return scored(completion, gold, tools, recipe=recipe).value


def tool_rewards(
    completion: object, gold: object, tools: AnyTools = None, *, recipe: Recipe = _DEFAULT
) -> dict[str, float]:
    """Return the reward's parts, "parsed" (0 or 1), and "broken" (a count), for a `@vf.metric`."""
    found = scored(completion, gold, tools, recipe=recipe)
    return {
        **found.parts._asdict(),
        "parsed": float(found.outcome == "calls"),
        "broken": float(found.broken),
    }


async def call_reward(task: Any, trace: Any) -> float:
    """Return a trace's reward; the task, or its `info`, has `gold` and perhaps `tools`."""
    return tool_reward(trace, _field(task, "gold"), _field(task, "tools"))


def scored(
    completion: object, gold: object, tools: AnyTools, *, recipe: Recipe = _DEFAULT
) -> Reward:
    """Return the `Reward` of a trace, of messages or of a text, with parts and failures."""
    return reward(completion_of(completion), gold_of(gold, tools), recipe=recipe)


def completion_of(trace: object) -> object:
    """Return what the model wrote in a rollout; anything but a rollout is returned unchanged.

    A trace's `assistant_messages` leave out examples that a prompt supplied.
    """
    for name in ("assistant_messages", "completion", "messages"):
        found = getattr(trace, name, None)
        if isinstance(found, list | tuple):
            return found
    return trace


def _field(task: Any, name: str) -> Any:
    found = field_of(task, name)
    return field_of(field_of(task, "info"), name) if found is None else found
