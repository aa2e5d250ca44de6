"""Rows of public data sets in and out: read in every usual shape, checked, written as messages.

    from tunaeval.data import as_openai, check_rows, read_rows

    report = check_rows(read_rows("train.jsonl"))
    report.rows, report.faulty, report.counts["broken-beside-good"]

A row that cannot be read is a `Fault` with its reason, in its place: nothing is dropped in silence.
"""

from __future__ import annotations

from .checking import FINDINGS, Checker, Finding, Report, check_rows
from .rows import Fault, Row
from .shapes import SHAPES, read_row, read_rows, shape_of
from .sources import Raw, Source, rows_of_lines
from .writing import as_openai

__all__ = [
    "FINDINGS",
    "SHAPES",
    "Checker",
    "Fault",
    "Finding",
    "Raw",
    "Report",
    "Row",
    "Source",
    "as_openai",
    "check_rows",
    "read_row",
    "read_rows",
    "rows_of_lines",
    "shape_of",
]
