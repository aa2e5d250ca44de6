"""The catalogue beside this file: what models write, by every name that servers have for it.

A line of `catalogue.jsonl` is one text: the row it belongs to, the names that vLLM and SGLang take
for it (`--tool-call-parser`), and the calls, content and reasoning that are in it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from tunaeval import formats, parse, stream
from tunaeval.tools import to_tools
from tunaeval.types import JsonValue, ParseResult, Tools, ToolSpec


class Entry(NamedTuple):
    """One line, read by one of its names."""

    name: str
    case: str
    text: str
    calls: list[list[JsonValue]]
    content: str
    reasoning: str | None


def entries() -> list[Entry]:
    lines = Path(__file__).with_name("catalogue.jsonl").read_text("utf-8").splitlines()
    return [
        Entry(
            name,
            f"{line['row']}, {line['case']}",
            line["text"],
            line["calls"],
            line.get("content", ""),
            line.get("reasoning"),
        )
        for line in map(json.loads, lines)
        for name in dict.fromkeys((*line["vllm"], *line["sglang"])) or (line["row"],)
    ]


ENTRIES = entries()


def _properties(**types: str) -> dict[str, JsonValue]:
    properties: dict[str, JsonValue] = {name: {"type": kind} for name, kind in types.items()}
    return {"type": "object", "properties": properties}


TOOLS = to_tools(
    [
        ToolSpec("find_files", "", _properties(folder="string", depth="integer")),
        ToolSpec("sum_up", "", _properties(a="integer", b="number")),
        ToolSpec("save_file", "", _properties(path="string", opts="object")),
        ToolSpec("ping", "", _properties()),
    ]
)


def found(result: ParseResult) -> tuple[list[list[JsonValue]], str, str | None]:
    calls: list[list[JsonValue]] = [[call.name, call.arguments] for call in result.calls]
    return calls, result.content.strip(), result.reasoning


@pytest.mark.parametrize("tools", [TOOLS, None], ids=["tools", "no tools"])
@pytest.mark.parametrize("entry", ENTRIES, ids=[f"{e.name}: {e.case}" for e in ENTRIES])
def test_a_text_is_read_by_every_name_that_servers_have_for_it(
    entry: Entry, tools: Tools | None
) -> None:
    result = parse(entry.text, entry.name, tools=tools)
    assert found(result) == (entry.calls, entry.content, entry.reasoning)
    assert not result.truncated
    assert not result.diagnoses
    for size in (1, 4, 7):
        reading = stream(entry.name, tools=tools)
        for start in range(0, len(entry.text), size):
            reading.feed(entry.text[start : start + size])
        assert reading.finish() == result


def test_every_name_leads_to_a_parser() -> None:
    for entry in ENTRIES:
        assert formats.get(entry.name) is not None
