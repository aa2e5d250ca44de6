"""`score_table` adds columns with rewards and their parts for completions and golds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from tunaeval.errors import UsageError
from tunaeval.rewards.gold import AnyTools, tools_of
from tunaeval.rewards.recipe import Parts, Recipe, recipe_of
from tunaeval.rewards.scored import Golds, Reward, reward

from .tables import fault_of, names_of, rows_of, values_of, with_columns

T = TypeVar("T")


def score_table(
    table: T,
    *,
    text: str = "completion",
    gold: str = "gold",
    tools: AnyTools = "tools",
    recipe: Recipe | str = "default",
) -> T:
    """Return the table with a reward for each row, in the same order.

    | column | type | |
    |---|---|---|
    | `reward` | double | the value |
    | `reward_format`, `_name`, `_arguments`, `_abstention` | double | its parts, from 0 to 1 |
    | `reward_outcome` | string | "calls", "no_call", "malformed", "truncated", "too_long",
    | | | "no_completion" |
    | `reward_attempts`, `reward_broken` | int32 | attempts at a call, and those that are none |
    | `reward_failure` | string | the code of the first failure; null if there is none |
    | `reward_error` | string | why there is no reward: no text, or an unreadable gold or tools |

    All but the last are null if there is an error. `text` and `gold` are columns with values that
    `tunaeval.rewards.reward` takes; a null gold expects no call. `tools` is a column (if there is
    one of that name), or the tools of all rows, which is faster.
    Raises `UsageError` if a column is missing, or if a new column's name is taken.
    """
    texts, golds = values_of(table, text), values_of(table, gold)
    found = [*_rewards(texts, golds, _tools(table, tools), recipe_of(recipe))]
    distinct, picks = _distinct(found)
    return with_columns(table, _columns(distinct), picks)


def _distinct(found: Sequence[Reward | str]) -> tuple[list[Reward | str], list[int]]:
    """Return the distinct rewards, and the index of each row's: all right calls share one value."""
    places: dict[int, int] = {}
    distinct: list[Reward | str] = []
    picks: list[int] = []
    for one in found:  # `found` keeps all of them alive, so no id is reused
        at = places.get(id(one))
        if at is None:
            at = places[id(one)] = len(distinct)
            distinct.append(one)
        picks.append(at)
    return distinct, picks


def _columns(rows: Sequence[Reward | str]) -> dict[str, tuple[Sequence[Any], str]]:
    """Return the new columns, from each row's reward or the reason why there is none."""
    found = [one if isinstance(one, Reward) else None for one in rows]
    columns: dict[str, tuple[Sequence[Any], str]] = {
        "reward": ([None if one is None else one.value for one in found], "double"),
    }
    for index, name in enumerate(Parts._fields):
        values = [None if one is None else one.parts[index] for one in found]
        columns[f"reward_{name}"] = (values, "double")
    columns["reward_outcome"] = ([one and one.outcome for one in found], "string")
    columns["reward_attempts"] = ([one and one.attempts for one in found], "int32")
    columns["reward_broken"] = ([one and one.broken for one in found], "int32")
    failures = [one.failures[0].code if one and one.failures else None for one in found]
    columns["reward_failure"] = (failures, "string")
    columns["reward_error"] = ([one if isinstance(one, str) else None for one in rows], "string")
    return columns


def _tools(table: object, tools: AnyTools) -> Sequence[AnyTools]:
    """Return the tools of each row."""
    if isinstance(tools, str) and tools.lstrip()[:1] not in {"[", "{"}:
        if tools in names_of(table):
            return values_of(table, tools)
        if tools != "tools":
            values_of(table, tools)  # raises, and lists the columns that exist
        return [None] * rows_of(table)
    return [tools_of(tools)] * rows_of(table)


def _rewards(
    texts: Sequence[object], golds: Sequence[object], tools: Sequence[AnyTools], recipe: Recipe
) -> Iterator[Reward | str]:
    """Yield the reward of each row, or the reason why there is none."""
    compiled = Golds()
    for text, gold, known in zip(texts, golds, tools, strict=True):
        if type(text) is not str and (fault := fault_of(text)) is not None:
            yield fault
            continue
        try:
            wanted = compiled(gold, known)
        except UsageError as error:
            yield str(error)
        else:
            yield reward(text, wanted, recipe=recipe)
