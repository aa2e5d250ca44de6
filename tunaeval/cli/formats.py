"""`tunaeval formats`: lists wire formats and parsers, the models that use them, and examples.

`tunaeval formats constrain NAME` prints a grammar of all replies that call some tools in a format.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from importlib.resources import files

from tunaeval.errors import UsageError
from tunaeval.files.records import json_text
from tunaeval.grammar.format import Format
from tunaeval.parsing.api import formats, render
from tunaeval.parsing.constraint import constrain
from tunaeval.parsing.reader import Reader
from tunaeval.plugins import looked_at, registries
from tunaeval.registry import Entry
from tunaeval.types.calls import JsonObject, ToolCall

from .named_tools import read_tools
from .output import Output, print_listing

COLUMNS = ("name", "aliases", "summary", "models", "source", "status", "reason")

_CONSTRAIN = "constrain"
_WIDEST = 32
"""Longer texts are cut in the list; `tunaeval formats NAME` shows them in full."""
_AUTO = "auto"
_EXAMPLE = ("get_weather", {"city": "Oslo", "days": 2})


def run(arguments: argparse.Namespace, output: Output) -> int:
    if arguments.format == _CONSTRAIN:
        return _constrain(arguments, output)
    if arguments.constrained or arguments.tools or arguments.allow_looser:
        raise UsageError(
            "a second name, --tools and --allow-looser are for a grammar: "
            "tunaeval formats constrain NAME --tools FILE"
        )
    parsers = registries()["parsers"]
    if arguments.format is not None:
        parsers.get(arguments.format)  # raises an error with similar names if there is none
        name = parsers.aliases().get(arguments.format, arguments.format)
        rows = [_entry_row(parsers.entry(name))]
    else:
        rows = [_entry_row(entry) for entry in looked_at([parsers])]
    if arguments.markdown:
        output.result(_page([row for row in rows if row["source"] == "tunaeval"]))
    elif arguments.json or arguments.format is None:
        columns = COLUMNS if arguments.json else _useful_columns(rows)
        print_listing(output, "formats", rows, columns, as_json=arguments.json, limit=_WIDEST)
    else:
        output.result("\n\n".join(map(_in_full, rows)))
    return 0


def _constrain(arguments: argparse.Namespace, output: Output) -> int:
    """Print a grammar on stdout, and on stderr what it does not enforce; return 0."""
    if arguments.constrained is None or arguments.tools is None:
        raise UsageError(
            "a grammar is of a format and of tools: tunaeval formats constrain NAME --tools FILE"
        )
    made = constrain(
        read_tools(arguments.tools),
        format=arguments.constrained,
        kind=arguments.kind,
        text=arguments.text,
        allow_looser=arguments.allow_looser,
    )
    if arguments.json:
        found = {"kind": made.kind, "text": made.text, "omitted": [*made.omitted]}
        output.result(json_text(found))
    else:
        output.result(made.text.rstrip("\n"))
        for sentence in made.omitted:
            output.note(f"tunaeval: {sentence}")
    return 0


def _useful_columns(rows: list[JsonObject]) -> tuple[str, ...]:
    """Return the columns to show: source and status only if a plug-in or a fault is listed."""
    is_plain = all((row["source"], row["status"]) == ("tunaeval", "ok") for row in rows)
    return tuple(name for name in COLUMNS if not (is_plain and name in ("source", "status")))


def _entry_row(entry: Entry) -> JsonObject:
    """Return the table row of a parser; what a plug-in's parser does not say is left empty."""
    thing: object = formats.get(entry.name) if entry.status == "ok" else None
    return {
        "name": entry.name,
        "aliases": list(entry.aliases),
        "summary": str(getattr(thing, "summary", "")),
        "models": [str(model) for model in getattr(thing, "models", ())],
        "example": _example(thing) if isinstance(thing, Format) else "",
        "reads": [one.name for one in thing.formats] if isinstance(thing, Reader) else [],
        "streams": isinstance(thing, Format | Reader),
        "source": entry.source,
        "status": entry.status,
        "reason": entry.reason,
    }


def _example(format_: Format) -> str:
    name, arguments = _EXAMPLE
    return render([ToolCall(name, arguments)], format_)


def _in_full(row: JsonObject) -> str:
    """Return one format in full: each value on a line, then the example unchanged."""
    reported = {
        key: value for key, value in row.items() if value not in ("", []) and key != "example"
    }
    width = max(map(len, reported))
    lines = [f"{key:{width}}  {_cell_words(value)}" for key, value in reported.items()]
    return "\n".join([*lines, *(["", row["example"]] if row["example"] else [])])


def _cell_words(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _page(rows: Iterable[JsonObject]) -> str:
    """Return the reference page: a table of the formats, and an example of a call in each."""
    rows = list(rows)
    of_auto = next((row["reads"] for row in rows if row["name"] == _AUTO), ())
    table = [
        f"| `{row['name']}` | {_codes(row['aliases'])} | {', '.join(row['models'])} "
        f"| {_summary(row)} | {'yes' * (row['name'] in of_auto)} |"
        for row in rows
        if row["name"] != _AUTO
    ]
    examples = [
        f"## {row['name']}\n\n~~~~ text\n{row['example']}\n~~~~" for row in rows if row["example"]
    ]
    head = files(__package__).joinpath("formats.md").read_text("utf-8")
    return "\n\n".join([head + "\n".join(table), *examples])


def _summary(row: JsonObject) -> str:
    summary = f"side by side: {_codes(row['reads'])}" if row["reads"] else row["summary"]
    # A bar would end the cell, and a tag would be taken for HTML.
    return str(summary).replace("|", "\\|").replace("<", "\\<")


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
