"""A report as CSV: a row for each scenario and repeat, safe to open in a spreadsheet.

A text that a spreadsheet would take for a formula begins with an apostrophe, as OWASP's page on CSV
injection advises; what cannot be printed is written as an escape, so a row is a line.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from tunaeval.showing import visible
from tunaeval.types.calls import JsonValue
from tunaeval.types.runs import Report

from .files import new_text
from .results_as_rows import columns_of, row_of

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""How what a spreadsheet computes begins; the wide ones are the same in East Asian settings."""


class CsvWriter:
    """Writes a heading line and a line a result (RFC 4180), of one run or of several."""

    name = "csv"

    def write(self, report: Report, path: Path) -> None:
        self.write_runs([report], path)

    def write_runs(self, reports: Sequence[Report], path: Path) -> None:
        with new_text(path) as file:
            table = csv.writer(file)
            columns = columns_of(reports)
            table.writerow(columns)
            for report in reports:
                for result in report.results:
                    row = row_of(report.run, result)
                    table.writerow([cell(row[column]) for column in columns])


csv_writer = CsvWriter()


def cell(value: JsonValue) -> str:
    """A value as it is in a cell; unknown is empty, and a list one item beside the other."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, int | float):
        return "" if value is None else str(value)
    text = "; ".join(value) if isinstance(value, list) else str(value)
    return f"'{visible(text)}" if text.startswith(_FORMULA) else visible(text)
