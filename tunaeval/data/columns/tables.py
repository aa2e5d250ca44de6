"""The kinds of tables: how to read a column of each, and how to add columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, TypeVar

from tunaeval.errors import UsageError
from tunaeval.showing import counted
from tunaeval.types.parsing import ParseResult
from tunaeval.types.wanted import refusal

T = TypeVar("T")

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
    """Return the kind of a table, by the name of its class, so that no library is imported."""
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
            return [None if _is_missing(value) else value for value in table[name].tolist()]
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


def _is_missing(value: Any) -> bool:
    """Whether a value of pandas is missing: NaN, NaT or NA."""
    if isinstance(value, str | list | dict | tuple):
        return False
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float) and isnan(value)


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
            f"the table has a column {taken[0]!r} already; rename it, or drop it, for it would be "
            "written over"
        )
    given: Any = table
    match kind_of(table):
        case "dict":
            return {**given, **_lists(made, picks)}  # type: ignore[return-value]  # T is this kind of table
        case "arrow":
            return _with_arrow(given, _arrow(made, picks))  # type: ignore[no-any-return]  # T is this kind of table
        case "polars":
            import polars as pl  # noqa: PLC0415 - installed, because the table is one of its own

            new = pl.from_arrow(_arrow(made, picks))
            return given.hstack(new)  # type: ignore[no-any-return]  # T is this kind of table
    new = _arrow(made, picks).to_pandas()
    new.index = given.index
    return given.assign(**{name: new[name] for name in made})  # type: ignore[no-any-return]  # as above


def _lists(made: Made, picks: Sequence[int] | None) -> dict[str, list[Any]]:
    if picks is None:
        return {name: list(values) for name, (values, _) in made.items()}
    return {name: [values[at] for at in picks] for name, (values, _) in made.items()}


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
    kinds = {
        "double": pa.float64(),
        "int32": pa.int32(),
        "bool": pa.bool_(),
        "string": pa.string(),
        "list<string>": pa.list_(pa.string()),
    }
    new = pa.table({name: _array(pa, values, kinds[kind]) for name, (values, kind) in made.items()})
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
            "tables are made by pyarrow, which is missing: pip install pyarrow"
        ) from error
    return pa
