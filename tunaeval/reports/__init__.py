"""What a run comes to and how it is told. rich is loaded only when something is drawn."""

from .budget import ErrorBudget, over_budget
from .compare import Comparison, compare_runs
from .compared import comparison_markdown, comparison_object, show_comparison
from .console import Live, console_like, failed_lines, show
from .differences import Difference
from .executions import print_execution
from .files import new_file, new_text, try_to_write
from .flips import Answer, Flip
from .json import json_text, summary_object
from .markdown import code
from .results_as_rows import COLUMNS, row_of, verdict_of
from .sides import RunFigures, RunSource, source_of
from .statistics import wilson
from .summary import INFRASTRUCTURE, REACTIONS, expected_tools, source_of_format, summarise
from .wording import call_words, calls_words, expected_words, got_words, reactions, remarks, share

WRITERS = {
    "csv": "tunaeval.reports.csv:csv_writer",
    "github": "tunaeval.reports.github:github_writer",
    "json": "tunaeval.reports.json:json_writer",
    "junit": "tunaeval.reports.junit:junit_writer",
    "markdown": "tunaeval.reports.markdown:markdown_writer",
    "parquet": "tunaeval.reports.parquet:parquet_writer",
}
"""The built-ins of the group `tunaeval.writers`."""

__all__ = [
    "COLUMNS",
    "INFRASTRUCTURE",
    "REACTIONS",
    "WRITERS",
    "Answer",
    "Comparison",
    "Difference",
    "ErrorBudget",
    "Flip",
    "Live",
    "RunFigures",
    "RunSource",
    "call_words",
    "calls_words",
    "code",
    "compare_runs",
    "comparison_markdown",
    "comparison_object",
    "console_like",
    "expected_tools",
    "expected_words",
    "failed_lines",
    "got_words",
    "json_text",
    "new_file",
    "new_text",
    "over_budget",
    "print_execution",
    "reactions",
    "remarks",
    "row_of",
    "share",
    "show",
    "show_comparison",
    "source_of",
    "source_of_format",
    "summarise",
    "summary_object",
    "try_to_write",
    "verdict_of",
    "wilson",
]
