"""Reports on a run: summary, statistics, comparisons, and the files that they are written to.

rich is loaded only when something is drawn.
"""

WRITERS = {
    "csv": "tunaeval.reports.tables:csv_writer",
    "every-eval-ever": "tunaeval.reports.every_eval_ever:every_eval_ever_writer",
    "github": "tunaeval.reports.ci:github_writer",
    "json": "tunaeval.reports.json:json_writer",
    "junit": "tunaeval.reports.ci:junit_writer",
    "markdown": "tunaeval.reports.markdown:markdown_writer",
    "otel": "tunaeval.reports.otel:otel_writer",
    "parquet": "tunaeval.reports.tables:parquet_writer",
}
"""The built-in writers of the group `tunaeval.writers`."""
