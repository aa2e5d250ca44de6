"""The table of exploits, read."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tunaeval import to_tools
from tunaeval.rewards.gold import Gold
from tunaeval.rewards.recipe import EXACT, TOOLRL, Recipe

TABLE = Path(__file__).with_name("exploits.toml")
RECIPES = {"default": Recipe(), "EXACT": EXACT, "TOOLRL": TOOLRL}
HONEST = {"default": 1.0, "EXACT": 1.0, "TOOLRL": 4.0}

TOOLS = to_tools([
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather in a city.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"],
            },
        },
    }
])  # fmt: skip


def call(**arguments: object) -> dict[str, object]:
    return {"name": "get_weather", "arguments": arguments}


def written(made: object) -> str:
    return f"<tool_call>{json.dumps(made)}</tool_call>"


GOLDS = {
    "one": Gold.of([call(city="Paris")], TOOLS),
    "two": Gold.of([call(city="Paris"), call(city="Oslo")], TOOLS),
    "two-days": Gold.of([call(city="Paris", days=2)], TOOLS),
    "one-day": Gold.of([call(city="Paris", days=1)], TOOLS),
    "none": Gold.of([], TOOLS),
}
WORDS = {
    "GOOD": written(call(city="Paris")),
    "OSLO": written(call(city="Oslo")),
    "WRONG": written(call(city="Rome")),
    "BROKEN": '<tool_call>{"name": "get_weather", "arguments": {"city": </tool_call>',
    "PAD": "Nothing more. " * 75_000,
}


@dataclass(frozen=True)
class Row:
    """One row: what is wanted, what is written, and what each recipe gives."""

    name: str
    gold: Gold
    completion: Any
    rewards: dict[str, float]
    honest: bool
    why: str


def spelled(text: str) -> str:
    if text.endswith("*100"):
        return spelled(text.removesuffix("*100")) * 100
    for word, meant in WORDS.items():
        text = text.replace(word, meant)
    return text


def message(role: str, content: str, *calls: str) -> dict[str, object]:
    made = [json.loads(spelled(one)[11:-12]) for one in calls]
    items = [{"type": "function", "function": one} for one in made]
    return {"role": role, "content": spelled(content), **({"tool_calls": items} if items else {})}


def rows() -> list[Row]:
    table = tomllib.loads(TABLE.read_text("utf-8"))
    return [
        Row(
            name,
            GOLDS[row["gold"]],
            spelled(row["writes"])
            if "writes" in row
            else [message(*one) for one in row["messages"]],
            dict(zip(RECIPES, row.get("reward", ()), strict=False)),
            row.get("honest", False),
            row["why"],
        )
        for name, row in table.items()
    ]
