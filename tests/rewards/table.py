"""The table of exploits, with our recipes and the golds compiled."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tunaeval import to_tools
from tunaeval.rewards.gold import Gold
from tunaeval.rewards.recipe import EXACT, TOOLRL, Recipe
from tunaeval.testing.stress import exploits, table

RECIPES = {"default": Recipe(), "EXACT": EXACT, "TOOLRL": TOOLRL}
HONEST = {"default": 1.0, "EXACT": 1.0, "TOOLRL": 4.0}

TOOLS = to_tools(table()["tools"])


def call(**arguments: object) -> dict[str, object]:
    return {"name": "get_weather", "arguments": arguments}


def written(made: object) -> str:
    return f"<tool_call>{json.dumps(made)}</tool_call>"


GOLDS = {name: Gold.of(asked["gold"], TOOLS) for name, asked in table()["questions"].items()}
WORDS: dict[str, str] = table()["words"]


@dataclass(frozen=True)
class Row:
    """One row: what is wanted, what is written, and what each recipe gives if the table says it."""

    name: str
    gold: Gold
    completion: Any
    rewards: dict[str, float]
    honest: bool


def rows() -> list[Row]:
    return [
        Row(
            one.name,
            Gold.of(one.columns["gold"], TOOLS),
            one.completion,
            dict(zip(RECIPES, table()[one.group][one.name].get("reward", ()), strict=False)),
            one.group == "honest",
        )
        for one in exploits()
    ]
