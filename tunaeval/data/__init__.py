"""Reading and writing the messages, data set rows and tables of other projects.

    from tunaeval.data import as_openai, check_rows, read_rows

    report = check_rows(read_rows("train.jsonl"))
    report.rows, report.faulty, report.counts["broken-beside-good"]

A row that cannot be read becomes a `Fault` with its reason; no row is dropped silently.
"""

from __future__ import annotations

from .atif import as_atif as as_atif
from .checking import FINDINGS as FINDINGS
from .checking import Checker as Checker
from .checking import Finding as Finding
from .checking import Report as Report
from .checking import check_rows as check_rows
from .rows import Fault as Fault
from .rows import Raw as Raw
from .rows import Row as Row
from .rows import Source as Source
from .rows import as_openai as as_openai
from .rows import rows_of_lines as rows_of_lines
from .shapes import SHAPES as SHAPES
from .shapes import read_row as read_row
from .shapes import read_rows as read_rows
from .shapes import shape_of as shape_of
