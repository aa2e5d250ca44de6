"""A report as Parquet: the columns of the CSV with types, written in batches.

Needs the extra `arrow`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tunaeval.errors import UsageError
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.runs import Report

from .files import new_file
from .results_as_rows import LISTS, NUMBERS, TRUTHS, WHOLE_NUMBERS, columns_of, row_of

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 1024
"""Rows in a row group."""


class ParquetWriter:
    """Writes one row for each scenario and repeat, for one run or several."""

    name = "parquet"

    def available(self) -> str | None:
        """Return why it cannot write here, or None if it can."""
        try:
            import pyarrow.parquet  # noqa: F401, PLC0415 - checked before a run
        except ImportError as error:
            return f"Parquet needs pyarrow ({error}); pip install pyarrow"
        return None

    def write(self, report: Report, path: Path) -> None:
        self.write_runs([report], path)

    def write_runs(self, reports: Sequence[Report], path: Path) -> None:
        if why := self.available():
            raise UsageError(why)
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415 - as above

        names = columns_of(reports)
        schema = _schema(names)
        rows = (row_of(one.run, result) for one in reports for result in one.results)
        with new_file(path) as made, parquet.ParquetWriter(made, schema, compression="zstd") as out:
            while batch := list(islice(rows, _BATCH)):
                columns = [list(_column(batch, name)) for name in names]
                out.write_batch(pa.record_batch(columns, schema=schema))


parquet_writer = ParquetWriter()


def _schema(names: Sequence[str]) -> pa.Schema:
    import pyarrow as pa  # noqa: PLC0415 - as above

    def kind(name: str) -> Any:
        if name in LISTS:
            return pa.list_(pa.string())
        if name in NUMBERS:
            return pa.float64()
        if name in WHOLE_NUMBERS:
            return pa.int64()
        return pa.bool_() if name in TRUTHS else pa.string()

    return pa.schema([(name, kind(name)) for name in names])


def _column(rows: Sequence[JsonObject], name: str) -> Iterator[JsonValue]:
    """Yield the values of a column, with lone surrogates, which Arrow refuses, as escapes."""
    for row in rows:
        value = row[name]
        if isinstance(value, list):
            yield [_escaped(item) for item in value]
        else:
            yield _escaped(value) if isinstance(value, str) else value


def _escaped(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
