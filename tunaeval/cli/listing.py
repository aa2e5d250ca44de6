"""How a command lists things: aligned columns for people, one JSON object for machines."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from tunaeval.types import JsonObject, JsonValue

from .output import Output


def add_json(parser: argparse._ActionsContainer) -> None:
    """The option that every command has."""
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
    """Print `rows` under `name`; a column that is empty everywhere is left out.

    A text of more than `limit` characters is cut, but not in the last column, nor for machines.
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
    for row in table:
        output.result("  ".join(map(str.ljust, row, widths)).rstrip())


def _cell(value: JsonValue, limit: int | None) -> str:
    from tunaeval.reports import visible  # noqa: PLC0415 - pydantic, not for --help

    return visible(", ".join(value) if isinstance(value, list) else str(value), limit)
