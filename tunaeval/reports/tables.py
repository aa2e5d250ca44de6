"""Reports as tables of results, a row for each scenario and repeat: CSV and Parquet.

In CSV, text that a spreadsheet would read as a formula gets an apostrophe in front, as OWASP's page
on CSV injection advises, and unprintable characters are escaped, so that each row is one line.
Parquet has the same columns with types, is written in batches, and needs the extra `arrow`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tunaeval.errors import UsageError
from tunaeval.files.new_files import new_file, new_text
from tunaeval.showing import visible
from tunaeval.types.calls import JsonValue
from tunaeval.types.runs import Report, columns_of
from tunaeval.types.tables import REACTIONS, column, row_of

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class RunsWriter:
    """A `Writer` of a file on one or more runs, or with `writes_folder` of files in a directory,
    which may exist; `available` says why it cannot write, or None.
    """

    name: str
    write_runs: Callable[[Sequence[Report], Path], None]
    available: Callable[[], str | None] = lambda: None
    writes_folder: bool = False

    def write(self, report: Report, path: Path) -> None:
        self.write_runs([report], path)


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""How formulas begin; East Asian settings accept the full-width characters as well."""


def _write_csv(reports: Sequence[Report], path: Path) -> None:
    """Write a heading and one line for each result (RFC 4180), for one run or several."""
    with new_text(path) as file:
        table = csv.writer(file)
        columns = columns_of(reports)
        table.writerow(columns)
        for report in reports:
            for result in report.results:
                row = row_of(report.run, result)
                table.writerow([cell(row[column]) for column in columns])


csv_writer = RunsWriter("csv", _write_csv)


def cell(value: JsonValue) -> str:
    """Return a value as the text of a cell; None is empty, and items of a list are joined."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, int | float):
        return "" if value is None else str(value)
    text = "; ".join(value) if isinstance(value, list) else str(value)
    return f"'{visible(text)}" if text.startswith(_FORMULA) else visible(text)


_BATCH = 1024
"""Rows in a row group."""


def _no_parquet() -> str | None:
    try:
        import pyarrow.parquet  # noqa: F401, PLC0415 - checked before a run
    except ImportError as error:
        return f"Parquet needs pyarrow ({error}); pip install pyarrow"
    return None


def _write_parquet(reports: Sequence[Report], path: Path) -> None:
    """Write one row for each scenario and repeat. Raises UsageError without pyarrow."""
    if why := _no_parquet():
        raise UsageError(why)
    import pyarrow as pa  # noqa: PLC0415 - an extra
    from pyarrow import parquet  # noqa: PLC0415 - as above

    names = columns_of(reports)
    schema = _schema(names)
    rows = (row_of(one.run, result) for one in reports for result in one.results)
    with new_file(path) as made, parquet.ParquetWriter(made, schema, compression="zstd") as out:
        while batch := list(islice(rows, _BATCH)):
            columns = [list(column(batch, name)) for name in names]
            out.write_batch(pa.record_batch(columns, schema=schema))


parquet_writer = RunsWriter("parquet", _write_parquet, _no_parquet)


LISTS = frozenset({"repairs", "tags", "tools"})
NUMBERS = frozenset({"latency_seconds", "weight"})
WHOLE_NUMBERS = frozenset({
    "repeat", "leaked_calls", "attempts", "prompt_tokens", "completion_tokens",
})  # fmt: skip
TRUTHS = frozenset({
    "ok", "first_attempt_ok", "ok_strict", "ok_standard", "ok_lenient", *REACTIONS,
})  # fmt: skip


def _schema(names: Sequence[str]) -> pa.Schema:
    import pyarrow as pa  # noqa: PLC0415 - as above

    kinds = {
        **dict.fromkeys(LISTS, pa.list_(pa.string())),
        **dict.fromkeys(NUMBERS, pa.float64()),
        **dict.fromkeys(WHOLE_NUMBERS, pa.int64()),
        **dict.fromkeys(TRUTHS, pa.bool_()),
    }
    return pa.schema([(name, kinds.get(name, pa.string())) for name in names])
