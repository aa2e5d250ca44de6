"""`reward_turns`: a reward for each of the model's turns in a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tunaeval.errors import UsageError
from tunaeval.types.exchange import field_of, text_of
from tunaeval.types.messages import RESULT_ROLES

from .gold import AnyTools, Gold
from .reading import is_of_model
from .recipe import Parts, Recipe, recipe_of
from .scored import Reward, golds_of, reward

VOID = "void"
"""The outcome of a turn that says nothing and calls nothing."""


def reward_turns(
    messages: Sequence[object],
    golds: Sequence[object],
    tools: AnyTools = None,
    *,
    recipe: Recipe | str = "default",
) -> list[Reward]:
    """Return a reward for each of the model's turns (messages), in order.

    `golds` are what is wanted step by step, each a `Gold` or what `Gold.of` reads; after the last
    step an answer in words is wanted. A step stays open until a turn is right, or calls something
    that runs without an error: so a call that failed, was broken, or was announced in words can be
    made in the next turn, and is then paid in full. (The classifiers of `tunaeval.tools.success`
    find errors in results, as they do for scores.) What was tried for the step before is paid
    nothing, so that a step is paid once; several guesses in a turn are paid as `reward` does, and
    a guess that ran has used up its step. A step that is tried again is compared as a whole.

    The `outcome` of a turn that says and calls nothing is "void", for a trainer that masks it;
    spans have the index of the message.

    Examples:
        >>> call = {"name": "ls", "arguments": {"path": "."}}
        >>> messages = [
        ...     {"role": "assistant", "content": "", "tool_calls": [{"function": made}]}
        ...     for made in ({**call, "arguments": {"path": "/x"}}, call)
        ... ]
        >>> messages.insert(1, {"role": "tool", "content": "Error: there is no /x"})
        >>> [turn.value for turn in reward_turns(messages, [[call]])]
        [0.0, 1.0]

    Raises as `reward` does, and `UsageError` if `messages` or `golds` are no list.
    """
    recipe = recipe_of(recipe)
    for name, value in (("messages", messages), ("golds", golds)):
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise UsageError(f"{name} is {type(value).__name__}; wanted a list")
    steps = [*golds_of(golds, [tools] * len(golds))]
    words = Gold.of(None, tools if tools is not None or not steps else steps[-1].tools)
    found: list[Reward] = []
    step, tried = 0, -1
    for index, message in enumerate(messages):
        if not is_of_model(message):
            continue
        gold = steps[step] if step < len(steps) else words
        one = reward([message], gold, recipe=recipe)
        if not one.attempts and not reward([message], words, recipe=recipe).parts.abstention:
            one = replace(one, outcome=VOID)
        spans = tuple(span._replace(message=index) for span in one.broken_spans)
        found.append(replace(one, broken_spans=spans))
        if one.attempts and tried >= 0:
            found[tried] = replace(found[tried], value=recipe.value_of(Parts()), parts=Parts())
        is_right = not (one.failures or one.broken)
        if is_right or (one.attempts > one.broken and not _has_failed(messages, index)):
            step, tried = step + 1, -1
        elif one.attempts:
            tried = len(found) - 1
    return found


def _has_failed(messages: Sequence[object], index: int) -> bool:
    """Whether a result between a turn and the next one says that a tool failed."""
    from tunaeval.tools.success import returned  # noqa: PLC0415 - its rules are in a file

    for message in messages[index + 1 :]:
        if is_of_model(message):
            return False
        if field_of(message, "role") in RESULT_ROLES:
            text = text_of(field_of(message, "content"))
            if not (returned(message).ok and returned(text).ok):
                return True
    return False
