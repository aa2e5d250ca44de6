"""SGLang's own `FunctionCallParser`, with any tool parser that it knows.

    python sglang_parser.py DIRECTORY [ARGUMENT ...]

A line of the standard input has the parser's name, tools, a text, and how many characters a piece
has; the answer has what came of it whole and in pieces. The arguments are those of the process.
"""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from tests.hosts.programs import stubs

stubs.prepare(sys.argv[1], "sglang")
import sglang.srt.plugins  # noqa: E402 - the stubs come first

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))
GROUP = "sglang.srt.plugins"
POINTS = PROJECT["project"]["entry-points"][GROUP]
sglang.srt.plugins.entry_points = lambda group: [
    EntryPoint(name, value, group) for name, value in POINTS.items() if group == GROUP
]
sglang.srt.plugins.load_plugins()
LOADED = [name for name in sys.modules if name.startswith("sglang.") and "plugins" not in name]

import sglang.srt.function_call.function_call_parser as calls  # noqa: E402 - the stubs come first
from sglang.srt.entrypoints.openai.protocol import Tool  # noqa: E402 - the stubs come first

HEARD = stubs.Heard("sglang.tunaeval")


def answer(asked: dict[str, Any]) -> Any:
    known = calls.FunctionCallParser.ToolCallParserEnum
    if asked.get("about") == "start":
        return {"loaded": LOADED, "known": [name for name in known if "tunaeval" in name]}
    if asked.get("about") == "register":
        import tunaeval.sglang

        tunaeval.sglang.register()
        return [name for name in known if "tunaeval" in name]
    HEARD.lines.clear()
    tools, text = [Tool(**tool) for tool in asked["tools"]], asked["text"]
    parser = calls.FunctionCallParser(tools, asked["parser"])
    whole = parser.parse_non_stream(text) if parser.has_tool_call(text) else (text, [])
    parser = calls.FunctionCallParser(tools, asked["parser"])
    found = [parser.parse_stream_chunk(piece) for piece in stubs.pieces_of(text, asked["size"])]
    found.append(parser.parse_stream_end())
    joined: list[list[str]] = []
    for one in (one for _, sent in found for one in sent):
        if one.tool_index == len(joined):
            joined.append(["", ""])
        joined[one.tool_index][0] += one.name or ""
        joined[one.tool_index][1] += one.parameters
    return {
        "whole": [whole[0], [[one.name, one.parameters] for one in whole[1]]],
        "places": [one.tool_index for one in whole[1]],
        "streamed": ["".join(words for words, _ in found), joined],
        "forced": parser.get_structure_constraint("required")[0],
        "log": HEARD.lines,
    }


stubs.answer_all(answer)
