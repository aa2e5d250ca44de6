"""A reward function for TRL's trainers (GRPO, RLOO): a plain callable, TRL is not imported.

    from tunaeval.rewards.trl import trl_reward

    trainer = GRPOTrainer(model=..., reward_funcs=trl_reward(), train_dataset=dataset)

TRL calls it once for each local batch, with keywords only: `completions` (texts, or lists of
messages), every other column of the data set as a list, and `log_metric` (name, number). It expects
a list of numbers, None for a row without a reward. (TRL 1.16, `GRPOTrainer._calculate_rewards`)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Any

from tunaeval.errors import UsageError
from tunaeval.registry import warn_once
from tunaeval.showing import counted
from tunaeval.types.wanted import refusal

from .recipe import Parts, Recipe, recipe_of
from .scored import Reward, gold_of, reward

__all__ = ["TrlReward", "trl_reward"]

Log = Callable[[str, float], object]


@dataclass(frozen=True)
class TrlReward:
    """A reward function for TRL, as `trl_reward` makes it; it can be sent to other processes."""

    recipe: Recipe
    gold: str
    tools: str
    part: str
    __name__: str = field(default="tunaeval", compare=False)
    """The name of TRL's metrics: `rewards/tunaeval/mean`."""

    def __call__(
        self, completions: Sequence[object], log_metric: Log | None = None, **columns: Any
    ) -> list[float | None]:
        """Return a number for each completion, or None if a row's gold or tools are unreadable."""
        if isinstance(completions, str):
            raise refusal("completions", completions, "a list, with one for each prompt")
        rows = len(completions)
        golds = _column(columns, "gold", self.gold, rows)
        tools: Sequence[Any] = [None] * rows
        if self.tools != "tools" or columns.get("tools"):
            tools = _column(columns, "tools", self.tools, rows)
        found: list[Reward | None] = []
        faults: list[str] = []
        for completion, gold, known in zip(completions, golds, tools, strict=True):
            try:
                compiled = gold_of(gold, known)
            except UsageError as error:  # the fault is in the data; counted below
                faults.append(f"{len(found)}: {error}")
                found.append(None)
                continue
            found.append(reward(completion, compiled, recipe=self.recipe))
        if faults:
            warn_once(self, "reward", f"cannot read {len(faults)} of {rows} rows; row {faults[0]}")
        if log_metric is not None and self.part == "value":
            for name, number in metrics(found):
                log_metric(name, number)
        return [None if one is None else getattr(one.parts, self.part, one.value) for one in found]


def trl_reward(
    recipe: Recipe | str | None = None,
    *,
    gold: str = "gold",
    tools: str = "tools",
    part: str = "value",
) -> TrlReward:
    """Return the reward function for a data set; `gold` and `tools` are names of its columns.

    The gold column has what `Gold.of` reads, preferably as JSON text (Arrow fills objects with
    nulls); the column of tools may be missing. `part` is "value", or one of the parts ("format",
    "name", "arguments", "abstention"), for trainers that weight several rewards (`reward_weights`).

    Each batch logs `tool_calls/parse_rate`, `/exact_rate`, `/broken_rate`, `/truncated_rate`, the
    means of the parts, and `/unreadable_rows`, the rows whose gold or tools cannot be read: these
    get None, which TRL leaves out, and the reason for the first of them is logged, once. Raises
    `UsageError` for an unknown part or column.
    """
    if part not in ("value", *Parts._fields):
        raise refusal("part", part, f"'value', or one of {', '.join(Parts._fields)}")
    columns: dict[str, object] = {"gold": gold, "tools": tools}
    for option, column in columns.items():
        if not isinstance(column, str) or not column:
            raise refusal(option, column, f"the name of the column with the {_CONTENT[option]}")
    name = "tunaeval" if part == "value" else f"tunaeval_{part}"
    return TrlReward(recipe_of("default" if recipe is None else recipe), gold, tools, part, name)


def metrics(found: Sequence[Reward | None]) -> list[tuple[str, float]]:
    """Return the metrics of a batch by name: rates from 0 to 1, and last a number of rows."""
    read = [one for one in found if one is not None]
    rows = len(read) or 1
    counts = {
        "parse_rate": sum(one.outcome == "calls" for one in read) / rows,
        "exact_rate": sum(not (one.failures or one.broken) for one in read) / rows,
        "broken_rate": sum(one.broken > 0 for one in read) / rows,
        "truncated_rate": sum(one.outcome == "truncated" for one in read) / rows,
    }
    counts |= {
        part: fsum(getattr(one.parts, part) for one in read) / rows for part in Parts._fields
    }
    counts["unreadable_rows"] = float(len(found) - len(read))
    return [(f"tool_calls/{name}", number) for name, number in counts.items()]


_CONTENT = {"gold": "calls that are wanted", "tools": "tools"}


def _column(columns: dict[str, Any], option: str, name: str, rows: int) -> Sequence[Any]:
    column = columns.get(name)
    if column is None:
        known = ", ".join(key for key, value in columns.items() if isinstance(value, list))
        raise UsageError(
            f"the data set has no column {name!r}; it has {known or 'none'}. "
            f"Name the one with the {_CONTENT[option]}: trl_reward({option}=...)"
        )
    if isinstance(column, str):
        raise refusal(f"column {name!r}", column, "a list, with a value for each completion")
    if len(column) != rows:
        raise UsageError(
            f"column {name!r} has {counted(len(column), 'value')} for {counted(rows, 'completion')}"
        )
    found: Sequence[Any] = column
    return found
