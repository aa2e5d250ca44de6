"""The readable fixtures beside this file: a text, and what it says at every level.

`NAME.md` holds texts for the format of that name; `real-replies.md` what models really wrote, read
as "auto". A case is a heading, a block `text` and a block `json`. Keys of the latter:

    calls       [[name, arguments], ...]; none if left out
    repairs     codes of all repairs of all calls
    diagnoses   codes
    content, reasoning, truncated
    outcome     "calls" if there are any, else "no_call"
    tools       true: those of the block `tools` of the file are given
    strict, lenient   what differs there from standard, which is what the rest speaks of;
                      null where a case says nothing about that level
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tunaeval.grammar.formats import FORMATS
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import JsonObject, Tools
from tunaeval.types.parsing import LEVELS, Level, ParseResult

HERE = Path(__file__).parent

_PART = re.compile(
    r"^## (?P<title>[^\n]+)$|^~~~ (?P<kind>\w+)\n(?P<body>.*?)\n?^~~~$", re.MULTILINE | re.DOTALL
)

_KEYS = frozenset({"calls", "repairs", "diagnoses", "content", "reasoning", "truncated", "outcome"})


class Case(NamedTuple):
    """One heading of a fixture."""

    format: str
    title: str
    text: str
    expected: JsonObject
    tools: Tools | None


def cases(path: Path) -> Iterator[Case]:
    """The cases of one file, in order."""
    format_ = path.stem if path.stem in FORMATS else "auto"
    blocks: dict[str, str] = {}
    tools: Tools | None = None
    for part in _PART.finditer(path.read_text("utf-8")):
        if part["title"]:
            blocks = {"title": part["title"]}
            continue
        blocks[part["kind"]] = part["body"]
        if part["kind"] == "tools":
            tools = to_tools(json.loads(part["body"]))
        elif part["kind"] == "json":
            expected = json.loads(part["body"])
            given = tools if expected.pop("tools", False) else None
            yield Case(format_, blocks["title"], blocks.pop("text"), expected, given)


def expected_at(case: Case, level: Level) -> JsonObject:
    """What the case says of a level, with every key filled in."""
    said = {key: value for key, value in case.expected.items() if key not in LEVELS}
    said |= case.expected.get(level) or {}
    assert said.keys() <= _KEYS, f"{case.title}: unknown keys {said.keys() - _KEYS}"
    defaults = {"calls": [], "repairs": [], "diagnoses": [], "content": "", "truncated": False}
    outcome = "calls" if said.get("calls") else "no_call"
    return {**defaults, "reasoning": None, "outcome": outcome, **said}


def found_in(result: ParseResult) -> JsonObject:
    return {
        "calls": [[call.name, call.arguments] for call in result.calls],
        "repairs": [repair.code for call in result.calls for repair in call.repairs],
        "diagnoses": [diagnosis.code for diagnosis in result.diagnoses],
        "content": result.content,
        "reasoning": result.reasoning,
        "truncated": result.truncated,
        "outcome": result.outcome,
    }


ALL = [case for path in sorted(HERE.glob("*.md")) for case in cases(path)]
"""Every case of every file."""
