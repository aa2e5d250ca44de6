"""What a run comes to and how it is told. rich is loaded only when something is drawn."""

from .budget import ErrorBudget, over_budget
from .compare import Comparison, Difference, compare_runs
from .compared import comparison_markdown, comparison_object, show_comparison
from .console import Live, show
from .executions import print_execution
from .flips import Answer, Flip
from .json import json_text, summary_object
from .markdown import code
from .sides import RunFigures, RunSource, source_of
from .statistics import wilson
from .summary import INFRASTRUCTURE, expected_tools, summarise
from .visible import visible
from .wording import call_words, expected_words

WRITERS = {
    "json": "tunaeval.reports.json:json_writer",
    "markdown": "tunaeval.reports.markdown:markdown_writer",
}
"""The built-ins of the group `tunaeval.writers`."""

__all__ = [
    "INFRASTRUCTURE",
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
    "code",
    "compare_runs",
    "comparison_markdown",
    "comparison_object",
    "expected_tools",
    "expected_words",
    "json_text",
    "over_budget",
    "print_execution",
    "show",
    "show_comparison",
    "source_of",
    "summarise",
    "summary_object",
    "visible",
    "wilson",
]
