"""What a run comes to and how it is told. rich is loaded only when something is drawn."""

from .console import Live, show
from .json import json_text, summary_object
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
    "Live",
    "call_words",
    "expected_tools",
    "expected_words",
    "json_text",
    "show",
    "summarise",
    "summary_object",
    "visible",
    "wilson",
]
