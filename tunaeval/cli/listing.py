"""How commands print lists: aligned columns for people, one JSON object for programs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from shutil import get_terminal_size

from tunaeval.showing import visible
from tunaeval.types.calls import JsonObject, JsonValue

from .output import Output


def add_json(parser: argparse._ActionsContainer) -> None:
    """Add `--json`, which every command has."""
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")


def add_bfcl(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--bfcl", metavar="DIR", help="where BFCL's data are (the installed bfcl-eval)"
    )


def print_listing(
    output: Output,
    name: str,
    rows: Sequence[JsonObject],
    columns: Sequence[str],
    *,
    as_json: bool,
    limit: int | None = None,
) -> None:
    """Print `rows` under `name`, without columns that are empty in all rows. Texts longer than
    `limit` characters are cut, except in the last column and in JSON.
    """
    if as_json:
        output.result(json.dumps({name: list(rows)}))
        return
    cells = [
        [_cell(row[column], None if column == columns[-1] else limit) for column in columns]
        for row in rows
    ]
    used = [i for i in range(len(columns)) if any(row[i] for row in cells)]
    table = [[columns[i] for i in used], *([row[i] for i in used] for row in cells)]
    widths = [max(len(row[i]) for row in table) for i in range(len(used))]
    if output.out.isatty():
        widths = fitting(widths, get_terminal_size().columns)
        table = [[_cell(text, width) for text, width in zip(row, widths, strict=True)]
                 for row in table]  # fmt: skip
    for row in table:
        output.result("  ".join(map(str.ljust, row, widths)).rstrip())


def fitting(widths: Sequence[int], room: int) -> list[int]:
    """Return widths that fit into `room` with two blanks between columns, narrowing the widest
    first. None is less than `_NARROWEST`: on so narrow a screen the lines wrap.
    """
    found = list(widths)
    excess = sum(found) + 2 * (len(found) - 1) - room
    while excess > 0 and max(found) > _NARROWEST:
        widest = max(range(len(found)), key=found.__getitem__)
        found[widest] -= 1
        excess -= 1
    return found


_NARROWEST = 8


def _cell(value: JsonValue, limit: int | None) -> str:
    return visible(", ".join(value) if isinstance(value, list) else str(value), limit)
