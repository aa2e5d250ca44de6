"""Functions on tables: parse a column of completions, or score it against golds.

    from tunaeval.data.columns import parse_table, score_table

    scored = score_table(table, text="completion", gold="gold", tools=tools)

A table is one of pyarrow (`Table`, `RecordBatch`), Polars or pandas, or a dictionary of lists, as
`datasets.map(batched=True)` passes on; the same kind is returned. Both functions are pure: they
return as many rows in the same order, change no given column, keep no state, and raise for no row.
So an engine may call them again for the same batch: Ray Data, Spark's `mapInArrow`, DuckDB.

Needs `pip install pyarrow`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from tunaeval.errors import ToolsError, UsageError
from tunaeval.parsing.api import parser_for
from tunaeval.rewards.gold import AnyTools, tools_of
from tunaeval.rewards.reading import attempts_of
from tunaeval.rewards.recipe import Parts, Recipe, recipe_of
from tunaeval.rewards.scored import Golds, Reward, reward
from tunaeval.showing import counted
from tunaeval.types.calls import Tools
from tunaeval.types.parsing import ParseResult
from tunaeval.types.wanted import refusal

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
    rows = [_scored_row(one, of, recipe) for one, of in zip(texts, every, strict=True)]
    made = {name: ([row.get(name) for row in rows], kind) for name, kind in _COLUMNS.items()}
    return with_columns(table, made)


_COLUMNS = {
    "parse_outcome": "string",
    "parse_names": "list<string>",
    "parse_arguments": "list<string>",
    "parse_repaired": "int32",
    "parse_broken": "int32",
    "parse_error": "string",
}


def _scored_row(text: object, tools: Any, recipe: Recipe) -> dict[str, Any]:
    """Return the values of the new columns for one row; those that it leaves out are null."""
    if (fault := fault_of(text)) is not None:
        return {"parse_error": fault}
    try:
        known = tools if tools is None or isinstance(tools, Tools) else tools_of(tools)
    except ToolsError as error:
        return {"parse_error": str(error)}
    found = attempts_of(text, known, recipe)
    return {
        "parse_outcome": found.outcome,
        "parse_names": [call.name for call in found.calls],
        "parse_arguments": [_ENCODER.encode(call.arguments) for call in found.calls],
        "parse_repaired": sum(bool(call.repairs) for call in found.calls),
        "parse_broken": found.broken,
    }


_ENCODER = json.JSONEncoder(ensure_ascii=False)
"""Made once, because `json.dumps` makes a new one for each call with options."""


def score_table(
    table: T,
    *,
    text: str = "completion",
    gold: str = "gold",
    tools: AnyTools = "tools",
    recipe: Recipe | str = "default",
) -> T:
    """Return the table with a reward for each row, in the same order.

    | column | type | |
    |---|---|---|
    | `reward` | double | the value |
    | `reward_format`, `_name`, `_arguments`, `_abstention` | double | its parts, from 0 to 1 |
    | `reward_outcome` | string | "calls", "no_call", "malformed", "truncated", "too_long",
    | | | "no_completion" |
    | `reward_attempts`, `reward_broken` | int32 | attempts at a call, and those that are none |
    | `reward_failure` | string | the code of the first failure; null if there is none |
    | `reward_error` | string | why there is no reward: no text, or an unreadable gold or tools |

    All but the last are null if there is an error. `text` and `gold` are columns with values that
    `tunaeval.rewards.reward` takes; a null gold expects no call. `tools` is a column (if there is
    one of that name), or the tools of all rows, which is faster.
    Raises `UsageError` if a column is missing, or if a new column's name is taken.
    """
    texts, golds = values_of(table, text), values_of(table, gold)
    found = [*_rewards(texts, golds, _tools(table, tools), recipe_of(recipe))]
    distinct, picks = _distinct(found)
    return with_columns(table, _reward_columns(distinct), picks)


def _distinct(found: Sequence[Reward | str]) -> tuple[list[Reward | str], list[int]]:
    """Return the distinct rewards, and each row's index among them; all right calls share one."""
    places: dict[int, int] = {}  # `found` keeps all of them alive, so no id is reused
    picks = [places.setdefault(id(one), len(places)) for one in found]
    return [*{id(one): one for one in found}.values()], picks


def _reward_columns(rows: Sequence[Reward | str]) -> dict[str, tuple[Sequence[Any], str]]:
    """Return the new columns, from each row's reward or the reason why there is none."""
    found = [one if isinstance(one, Reward) else None for one in rows]
    columns: dict[str, tuple[Sequence[Any], str]] = {
        "reward": ([None if one is None else one.value for one in found], "double")
    }
    for index, name in enumerate(Parts._fields):
        values = [None if one is None else one.parts[index] for one in found]
        columns[f"reward_{name}"] = (values, "double")
    columns["reward_outcome"] = ([one and one.outcome for one in found], "string")
    columns["reward_attempts"] = ([one and one.attempts for one in found], "int32")
    columns["reward_broken"] = ([one and one.broken for one in found], "int32")
    failures = [one.failures[0].code if one and one.failures else None for one in found]
    columns["reward_failure"] = (failures, "string")
    columns["reward_error"] = ([one if isinstance(one, str) else None for one in rows], "string")
    return columns


def _tools(table: object, tools: AnyTools) -> Sequence[AnyTools]:
    """Return the tools of each row: of the column that `tools` names, or `tools` for all rows."""
    if isinstance(tools, str) and tools.lstrip()[:1] not in {"[", "{"}:
        if tools in names_of(table):
            return values_of(table, tools)
        if tools != "tools":
            values_of(table, tools)  # raises, and lists the columns that exist
        return [None] * rows_of(table)
    return [tools_of(tools)] * rows_of(table)


def _rewards(
    texts: Sequence[object], golds: Sequence[object], tools: Sequence[AnyTools], recipe: Recipe
) -> Iterator[Reward | str]:
    """Yield the reward of each row, or the reason why there is none."""
    compiled = Golds()
    for text, gold, known in zip(texts, golds, tools, strict=True):
        if type(text) is not str and (fault := fault_of(text)) is not None:
            yield fault
            continue
        try:
            wanted = compiled(gold, known)
        except UsageError as error:
            yield str(error)
        else:
            yield reward(text, wanted, recipe=recipe)


Made = Mapping[str, tuple[Sequence[Any], str]]
"""New columns: their values, and the name of their type in Arrow."""


def names_of(table: object) -> list[str]:
    """Return the names of a table's columns. Raises `UsageError` for what is no table."""
    match kind_of(table):
        case "arrow":
            return list(table.schema.names)  # type: ignore[attr-defined]  # `kind_of` has checked
        case "dict":
            return list(table)  # type: ignore[call-overload,no-any-return]  # as above
    return list(table.columns)  # type: ignore[attr-defined]  # as above


def kind_of(table: object) -> str:
    """Return "arrow", "polars", "pandas" or "dict", judged by class names: nothing is imported."""
    if isinstance(table, dict) or type(table).__name__ == "LazyBatch":
        return "dict"
    module = type(table).__module__.partition(".")[0]
    name = type(table).__name__
    if module == "pyarrow" and name in {"Table", "RecordBatch"}:
        return "arrow"
    if module in {"polars", "pandas"} and name == "DataFrame":
        return module
    raise refusal(
        "table", f"{module}.{name}", "a pyarrow, Polars or pandas table, or a dict of lists"
    )


def values_of(table: Any, name: str) -> list[Any]:
    """Return a column as Python values, with None for null."""
    if name not in names_of(table):
        raise UsageError(
            f"the table has no column {name!r}; it has {', '.join(names_of(table)) or 'none'}"
        )
    match kind_of(table):
        case "arrow":
            return table.column(name).to_pylist()  # type: ignore[no-any-return]  # pyarrow has no types
        case "polars":
            return table[name].to_list()  # type: ignore[no-any-return]  # nor is Polars typed here
        case "pandas":
            rows = zip(table[name].tolist(), table[name].isna(), strict=True)
            return [None if missing else value for value, missing in rows]  # NaN, NaT or NA
    values = list(table[name])
    if isinstance(table, dict) and len(values) != rows_of(table):
        raise UsageError(
            f"column {name!r} has {counted(len(values), 'value')}, and {next(iter(table))!r} has "
            f"{rows_of(table)}; wanted as many in each"
        )
    return values


def fault_of(completion: object) -> str | None:
    """Return why a row's value is no completion; None if it is text or may be messages."""
    if completion is None:
        return "the text is null"
    readable = isinstance(completion, str | Mapping | ParseResult | Sequence)
    if readable and not isinstance(completion, bytes | bytearray):
        return None
    if hasattr(completion, "content") or hasattr(completion, "tool_calls"):
        return None
    return f"the text is {type(completion).__name__}; wanted a text, or messages"


def rows_of(table: Any) -> int:
    """Return the number of rows of a table."""
    match kind_of(table):
        case "arrow":
            return int(table.num_rows)
        case "dict":
            return len(next(iter(table.values()), ())) if isinstance(table, dict) else len(table)
    return len(table)


def with_columns(table: T, made: Made, picks: Sequence[int] | None = None) -> T:
    """Return the table with new columns after its own.

    `picks` has the index of each row's value; without it, each row has its own value. Raises
    `UsageError` if a column's name is taken.
    """
    if taken := [name for name in made if name in names_of(table)]:
        raise UsageError(
            f"the table has a column {taken[0]!r} already, which would be overwritten; rename it, "
            "or drop it"
        )
    given: Any = table
    match kind_of(table):
        case "dict":
            rows = range(rows_of(given)) if picks is None else picks
            new = {name: [values[at] for at in rows] for name, (values, _) in made.items()}
            return {**given, **new}  # type: ignore[return-value]  # T is this kind of table
        case "arrow":
            return _with_arrow(given, _arrow(made, picks))  # type: ignore[no-any-return]  # T is this kind of table
        case "polars":
            import polars as pl  # noqa: PLC0415 - installed, because the table is one of its own

            new = pl.from_arrow(_arrow(made, picks))
            return given.hstack(new)  # type: ignore[no-any-return]  # T is this kind of table
    new = _arrow(made, picks).to_pandas()
    new.index = given.index
    return given.assign(**{name: new[name] for name in made})  # type: ignore[no-any-return]  # as above


def _with_arrow(table: Any, new: Any) -> Any:
    pa = _pyarrow()
    arrays = [*table.columns, *new.columns]
    fields = [*table.schema, *new.schema]
    schema = pa.schema(fields, metadata=table.schema.metadata)
    if isinstance(table, pa.Table):
        return pa.Table.from_arrays(arrays, schema=schema)
    flat = [one.combine_chunks() if hasattr(one, "combine_chunks") else one for one in arrays]
    return pa.RecordBatch.from_arrays(flat, schema=schema)


def _arrow(made: Made, picks: Sequence[int] | None) -> Any:
    pa = _pyarrow()
    texts = pa.list_(pa.string())
    columns = {
        name: _array(pa, values, texts if kind == "list<string>" else pa.type_for_alias(kind))
        for name, (values, kind) in made.items()
    }
    new = pa.table(columns)
    return new if picks is None else new.take(pa.array(picks, pa.int64()))


def _array(pa: Any, values: Sequence[Any], kind: Any) -> Any:
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:  # a lone surrogate, which Arrow cannot store
        return pa.array([_sound(value) for value in values], kind)


def _sound(value: Any) -> Any:
    if isinstance(value, list):
        return [_sound(one) for one in value]
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _pyarrow() -> Any:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(
            "tables need pyarrow, which is not installed; run pip install pyarrow"
        ) from error
    return pa
