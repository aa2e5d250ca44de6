"""Reports on a run: its replies read again, statistics, comparisons, and the files written of it.

rich is loaded only when something is drawn.
"""

from __future__ import annotations

from tunaeval.registry import Registry
from tunaeval.types.roles import Writer
from tunaeval.types.shapes import instance_of

WRITERS = {
    "csv": "tunaeval.reports.tables:csv_writer",
    "every-eval-ever": "tunaeval.reports.every_eval_ever:every_eval_ever_writer",
    "github": "tunaeval.reports.ci:github_writer",
    "html": "tunaeval.reports.page.html:page_writer",
    "json": "tunaeval.reports.json:json_writer",
    "junit": "tunaeval.reports.ci:junit_writer",
    "markdown": "tunaeval.reports.markdown:markdown_writer",
    "otel": "tunaeval.reports.otel:otel_writer",
    "parquet": "tunaeval.reports.tables:parquet_writer",
}

writers: Registry[Writer] = Registry(
    "tunaeval.writers", "report writer", builtins=WRITERS, check=instance_of(Writer)
)
