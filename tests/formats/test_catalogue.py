"""The catalogue beside this file: what models write, by every name that servers have for it.

A line of `catalogue.jsonl` is one text: the row it belongs to, the names that vLLM and SGLang take
for it (`--tool-call-parser`), and the calls, content and reasoning that are in it. `auto_content`
is what "auto" takes for content where the tags around it are markup in this one format only.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from tunaeval import formats, parse, stream
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import JsonValue, Tools, ToolSpec
from tunaeval.types.parsing import ParseResult


class Entry(NamedTuple):
    """One line, read by one of its names."""

    name: str
    case: str
    text: str
    calls: list[list[JsonValue]]
    content: str
    reasoning: str | None
    auto_content: str


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
            line.get("auto_content", line.get("content", "")),
        )
        for line in map(json.loads, lines)
        for name in dict.fromkeys((*line["vllm"], *line["sglang"])) or (line["row"],)
    ]


ENTRIES = entries()
TEXTS = {entry.text: entry for entry in ENTRIES}

TWINS = {
    "anthropic": "minimax-m2",
    "dots-invoke": "minimax-m2",
    "ernie45": "hermes",
    "glm47": "glm45",
    "hunyuan-a13b": "jamba",
    "hunyuan-v3": "glm45",
    "mimo": "qwen3-coder",
    "pythonic": "llama4-pythonic",
}
"""By which name "auto" may call a format whose text, or some of it, is also that of another."""


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
    result = read(entry.text, entry.name, tools)
    assert found(result) == (entry.calls, entry.content, entry.reasoning)
    assert not result.truncated
    assert not result.diagnoses


@pytest.mark.parametrize("tools", [TOOLS, None], ids=["tools", "no tools"])
@pytest.mark.parametrize(
    "entry", TEXTS.values(), ids=[f"{e.name}: {e.case}" for e in TEXTS.values()]
)
def test_auto_finds_out_whose_text_it_is(entry: Entry, tools: Tools | None) -> None:
    result = read(entry.text, "auto", tools)
    assert found(result) == (entry.calls, entry.auto_content, entry.reasoning)
    assert not result.truncated
    assert not result.diagnoses
    named = parse(entry.text, entry.name, tools=tools)
    for call, own in zip(result.calls, named.calls, strict=True):
        assert call.format in (own.format, TWINS.get(own.format))
        assert call.repairs == own.repairs


def read(text: str, format_: str, tools: Tools | None) -> ParseResult:
    """The result of the whole text, which is that of any stream."""
    result = parse(text, format_, tools=tools)
    for size in (1, 4, 7, len(text)):
        reading = stream(format_, tools=tools)
        for start in range(0, len(text), size):
            reading.feed(text[start : start + size])
        assert reading.finish() == result, f"in chunks of {size}"
    return result


def test_every_name_leads_to_a_parser() -> None:
    for entry in ENTRIES:
        assert formats.get(entry.name) is not None
