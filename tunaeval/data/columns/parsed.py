"""`parse_table` adds columns with what was parsed from a column of texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeVar

from tunaeval.errors import ToolsError
from tunaeval.parsing.api import parser_for
from tunaeval.rewards.gold import AnyTools, tools_of
from tunaeval.rewards.reading import attempts_of
from tunaeval.rewards.recipe import Recipe
from tunaeval.types.calls import JsonValue, Tools

from .tables import fault_of, rows_of, values_of, with_columns

T = TypeVar("T")


def parse_table(
    table: T,
    *,
    text: str = "completion",
    tools: AnyTools = None,
    tools_column: str | None = None,
    reader: str = "auto",
    level: Any = "standard",
) -> T:
    """Return the table with the results of parsing its column `text`, in the same order.

    | column | type | |
    |---|---|---|
    | `parse_outcome` | string | "calls", "no_call", "malformed", "truncated", "no_completion" |
    | `parse_names` | list of string | the names of the called tools |
    | `parse_arguments` | list of string | their arguments, each as JSON text |
    | `parse_repaired` | int32 | the number of calls that had to be repaired |
    | `parse_broken` | int32 | the number of attempts that are no call |
    | `parse_error` | string | why nothing was parsed: no text, or tools that cannot be read |

    All but the last are null if there is an error. `tools` are for all rows, or `tools_column`
    names a column with the tools of each row. A text may also be a list of messages.
    Raises `UsageError` if a column is missing, or if a new column's name is taken.
    """
    parser_for(reader)
    recipe = Recipe(reader=reader, level=level)
    texts = values_of(table, text)
    known = [tools_of(tools)] * rows_of(table)
    every = values_of(table, tools_column) if tools_column is not None else known
    rows = [_row(one, of, recipe) for one, of in zip(texts, every, strict=True)]
    return with_columns(table, _columns(rows))


_COLUMNS = {
    "parse_outcome": "string",
    "parse_names": "list<string>",
    "parse_arguments": "list<string>",
    "parse_repaired": "int32",
    "parse_broken": "int32",
    "parse_error": "string",
}

_Row = tuple[str | None, list[str] | None, list[str] | None, int | None, int | None, str | None]


def _columns(rows: Sequence[_Row]) -> dict[str, tuple[Sequence[Any], str]]:
    columns = zip(*rows, strict=True) if rows else ((),) * len(_COLUMNS)
    made = zip(_COLUMNS.items(), columns, strict=True)
    return {name: (values, kind) for (name, kind), values in made}


def _row(text: object, tools: Any, recipe: Recipe) -> _Row:
    if (fault := fault_of(text)) is not None:
        return None, None, None, None, None, fault
    try:
        known = tools if tools is None or isinstance(tools, Tools) else tools_of(tools)
    except ToolsError as error:
        return None, None, None, None, None, str(error)
    found = attempts_of(text, known, recipe)
    names = [call.name for call in found.calls]
    arguments = [_json(call.arguments) for call in found.calls]
    repaired = sum(bool(call.repairs) for call in found.calls)
    return found.outcome, names, arguments, repaired, found.broken, None


def _json(value: JsonValue) -> str:
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False)
"""Made once, because `json.dumps` makes a new one for each call with options."""
