"""A report as CSV: one row for each scenario and repeat, safe to open in a spreadsheet.

Text that a spreadsheet would read as a formula gets an apostrophe in front, as OWASP's page on CSV
injection advises. Unprintable characters are escaped, so that each row is one line.
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
"""How formulas begin; East Asian settings accept the full-width characters as well."""


class CsvWriter:
    """Writes a heading and one line for each result (RFC 4180), for one run or several."""

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
    """Return a value as the text of a cell; None is empty, and items of a list are joined."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, int | float):
        return "" if value is None else str(value)
    text = "; ".join(value) if isinstance(value, list) else str(value)
    return f"'{visible(text)}" if text.startswith(_FORMULA) else visible(text)
