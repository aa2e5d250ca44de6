"""`tunaeval tools snapshot` and `diff`: keep the tools that a model sees, and find what breaks.

A snapshot is a JSON file that `diff` and every `--tools` reads, sorted by name, so that it can be
kept under version control. A break is a difference that may make a correct call wrong.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tunaeval.errors import UsageError
from tunaeval.files.new_files import new_bytes
from tunaeval.reports.drift import Change, compare_tools
from tunaeval.showing import brief, counted
from tunaeval.tools.mcp import read_servers
from tunaeval.types.calls import JsonObject, Tools

from .named_tools import offered_tools, read_tools
from .output import Output, print_listing

_BREAK = 1


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Return 0, or 1 if `diff` finds a break."""
    servers = read_servers(arguments.mcp, "--mcp")
    files, has_source = arguments.files, bool(servers or arguments.tools_from)
    if arguments.action == "snapshot":
        if files or not has_source:
            raise UsageError(
                "snapshot needs a source of tools, --mcp or --tools-from, and no file but that of "
                "-o; write: tunaeval tools snapshot --mcp 'python server.py' -o tools.json"
            )
        return _snapshot(offered_tools(arguments.tools_from, servers), arguments.out, output)
    if len(files) != (1 if has_source else 2):
        raise UsageError(
            f"diff got {counted(len(files), 'file')}; wanted the old tools and the new ones: two "
            "files, or one file and a source, --mcp or --tools-from"
        )
    old = read_tools(files[0])
    new = offered_tools(arguments.tools_from, servers) if has_source else read_tools(files[1])
    return _diff(old, new, arguments, output)


def _snapshot(tools: Tools, file: str, output: Output) -> int:
    if not tools:
        raise UsageError("the source has no tool, so there is nothing to keep")
    rows = sorted(tools.as_openai(), key=lambda row: str(row["function"]["name"]))
    # In ASCII: what a server wrote into descriptions cannot command the terminal of a reader.
    text = json.dumps({"tools": rows}, indent=1) + "\n"
    if file == "-":
        output.result(text.rstrip())
        return 0
    with new_bytes(Path(file)) as write:
        write(text.encode())
    output.note(f"tunaeval: {counted(len(tools), 'tool')} in {file}")
    return 0


def _diff(old: Tools, new: Tools, arguments: argparse.Namespace, output: Output) -> int:
    found = [
        (drift.tool, change, _effect(change))
        for drift in compare_tools(old, new)
        for change in drift.changes
    ]
    counting = {"break", "words"} if arguments.words else {"break"}
    breaks = sum(effect in counting for _, _, effect in found)
    rows = [
        {"effect": effect, "tool": tool, "place": change.place, **_sides(change)}
        for tool, change, effect in sorted(found, key=lambda one: one[2] not in counting)
        if arguments.words or effect != "words"
    ]
    if arguments.json:
        output.result(json.dumps({"breaks": breaks, "changes": rows}))
    elif rows:
        shown = [{**row, **{side: brief(row[side]) for side in ("old", "new")}} for row in rows]
        columns = ("effect", "tool", "place", "old", "new")
        print_listing(output, "changes", shown, columns, as_json=False, limit=60)
    hidden = 0 if arguments.words else len(found) - len(rows)
    output.note(f"tunaeval: {_summary(len(rows), breaks, hidden)}")
    return _BREAK if breaks else 0


def _effect(change: Change) -> str:
    if change.breaks:
        return "break"
    if not change.misleads:
        return "words"
    return "added" if change.ours is ... else "wider"


def _sides(change: Change) -> JsonObject:
    """Return the old and the new side of a change; a side that is missing is null."""
    sides = {"old": change.ours, "new": change.theirs}
    return {name: None if side is ... else side for name, side in sides.items()}


def _summary(shown: int, breaks: int, hidden: int) -> str:
    summary = f"{counted(shown, 'difference')}, {counted(breaks, 'break')}"
    if not shown:
        summary = "no tool, argument or type differs"
    return f"{summary}; {counted(hidden, 'other wording')} (see --words)" if hidden else summary
