"""Reports as tables of results, a row for each scenario and repeat: CSV and Parquet.

In CSV, text that a spreadsheet would read as a formula gets an apostrophe in front, as OWASP's page
on CSV injection advises, and unprintable characters are escaped, so that each row is one line.
Parquet has the same columns with types, is written in batches, and needs the extra `arrow`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tunaeval.errors import UsageError
from tunaeval.files.new_files import new_file, new_text
from tunaeval.showing import visible
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.exchange import text_of
from tunaeval.types.runs import Report, RunInfo, ScenarioResult

from .summary import INFRASTRUCTURE, REACTIONS, expected_tools, source_of_format
from .wording import expected_words, got_words

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


def rows_of(reports: Sequence[Report]) -> list[JsonObject]:
    """Return a row for each result of the runs, with the columns of their table."""
    names = columns_of(reports)
    every = (row_of(one.run, result) for one in reports for result in one.results)
    return [{name: row[name] for name in names} for row in every]


def frame_of(rows: Sequence[JsonObject], library: str) -> Any:
    """Return the rows as a DataFrame of a library, "pandas" or "polars". Raises UsageError."""
    try:
        frames = import_module(library)
    except ImportError as error:
        raise UsageError(f"this needs {library} ({error}); pip install {library}") from error
    return frames.DataFrame(
        {name: [*_column(rows, name)] for name in (rows[0] if rows else COLUMNS)}
    )


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
            columns = [list(_column(batch, name)) for name in names]
            out.write_batch(pa.record_batch(columns, schema=schema))


parquet_writer = RunsWriter("parquet", _write_parquet, _no_parquet)


def _schema(names: Sequence[str]) -> pa.Schema:
    import pyarrow as pa  # noqa: PLC0415 - as above

    kinds = {
        **dict.fromkeys(LISTS, pa.list_(pa.string())),
        **dict.fromkeys(NUMBERS, pa.float64()),
        **dict.fromkeys(WHOLE_NUMBERS, pa.int64()),
        **dict.fromkeys(TRUTHS, pa.bool_()),
    }
    return pa.schema([(name, kinds.get(name, pa.string())) for name in names])


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


COLUMNS = (
    "run_id", "suite", "model", "scenario", "repeat", "verdict", "ok", "first_attempt_ok",
    "ok_strict", "ok_standard", "ok_lenient", "outcome", "reason", "error", "format", "source",
    "repairs", "leaked_calls", "attempts", "latency_seconds", "prompt_tokens",
    "completion_tokens", "weight", "group", "tags", "tools", "prompt", "expected", "got", "reply",
)  # fmt: skip
"""The columns, in their order."""

REACTION_COLUMNS = tuple(REACTIONS)
"""Further columns, in tables of runs that have any of these reactions."""

LISTS = frozenset({"repairs", "tags", "tools"})
NUMBERS = frozenset({"latency_seconds", "weight"})
WHOLE_NUMBERS = frozenset({
    "repeat", "leaked_calls", "attempts", "prompt_tokens", "completion_tokens",
})  # fmt: skip
TRUTHS = frozenset({
    "ok", "first_attempt_ok", "ok_strict", "ok_standard", "ok_lenient", *REACTION_COLUMNS,
})  # fmt: skip


def columns_of(reports: Iterable[Report]) -> tuple[str, ...]:
    """Return the columns of a table of these runs, with the reactions to faults that any has."""
    decided = {name for report in reports for name in report.summary.reactions}
    return (*COLUMNS, *(name for name in REACTION_COLUMNS if name in decided))


def verdict_of(result: ScenarioResult) -> str:
    """Return "PASS", "FAIL", or "ERROR" if there was no answer or judgement to score."""
    if result.outcome in INFRASTRUCTURE:
        return "ERROR"
    return "PASS" if result.ok else "FAIL"


def row_of(run: RunInfo, result: ScenarioResult) -> JsonObject:
    """Return a result's values by column; unknown values are None."""
    values = (
        run.run_id, run.suite, run.model or run.client, result.scenario, result.repeat,
        verdict_of(result), result.ok, result.first_attempt_ok,
        result.levels["strict"].ok, result.levels["standard"].ok, result.levels["lenient"].ok,
        result.outcome, result.reason, result.error, result.format,
        None if result.format is None else source_of_format(result.format),
        list(result.repairs), result.leaked_calls, len(result.attempts), result.latency_seconds,
        result.prompt_tokens, result.completion_tokens, result.weight, result.group,
        list(result.tags), list(expected_tools(result.expected)), result.prompt,
        expected_words(result.expected), got_words(result), _reply(result),
    )  # fmt: skip
    reported = {name: getattr(result.task, name, None) for name in REACTION_COLUMNS}
    return dict(zip(COLUMNS, values, strict=True)) | reported


def _reply(result: ScenarioResult) -> str | None:
    """Return the text of the last reply, or None if there is none."""
    return text_of(result.attempts[-1].message.get("content")) if result.attempts else None
