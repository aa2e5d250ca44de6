"""A report as Markdown: tables of rates, then each scenario that did not pass.

Text of a suite or a model is put into code spans, in which Markdown and HTML have no effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from tunaeval.files.new_files import write_text
from tunaeval.showing import visible
from tunaeval.types.runs import Report, ScenarioResult
from tunaeval.types.tables import expected_words, got_words

from .tables import RunsWriter
from .wording import counts, effort, reactions, remarks, rows

LIMIT = 400
"""Characters of the longest call."""

MOST_BYTES = 1_000_000
"""The largest page: GitHub refuses a step's summary of more than 1 MiB completely."""
_RESERVED = 200
"""Bytes for the line that reports what was left out."""


def _write_pages(reports: Sequence[Report], path: Path) -> None:
    """Write GitHub's Markdown: headings, tables and lists, within the limit of a job's summary.

    Several runs are written one below the other; `tunaeval compare` shows their differences.
    """
    share = MOST_BYTES // max(1, len(reports))
    write_text(path, "\n".join(_page(report, share) for report in reports))


def _page(report: Report, most: int) -> str:
    """Return a page of the lines that fit into `most` bytes, and how many are left out."""
    page, size, left_out = [], _RESERVED, 0
    for line in _page_lines(report):
        size += len(line.encode("utf-8", "backslashreplace")) + 1
        if size > most:
            left_out += 1
        else:
            page.append(line)
    if left_out:
        page += ["", f"{left_out:,} more lines are left out: the page has reached its limit."]
    return "\n".join(page) + "\n"


markdown_writer = RunsWriter("markdown", _write_pages)


def code(text: str, limit: int = LIMIT) -> str:
    """Return `text` as a Markdown code span; nothing in it ends the span or a table's cell."""
    text = visible(text, limit).replace("|", r"\x7c") or " "
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    padding = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def _page_lines(report: Report) -> Iterator[str]:
    run, summary = report.run, report.summary
    yield f"# {code(run.suite)}: {code(run.model or run.client)}"
    yield ""
    for section, group in groupby(rows(summary), key=lambda row: row.section):
        columns = f"{section} | passed | of | rate | 95 % interval | first attempt"
        yield from _table(run.heading, columns, [(code(row.name), *row.cells) for row in group])
    reacted = [(row.name, *row.cells[:-1]) for row in reactions(summary)]
    yield from _table(run.heading, "faults | episodes | of | rate | 95 % interval", reacted)
    for remark in remarks(report):
        yield f"- {remark}"
    yield f"- {effort(summary)}"
    for name, found in counts(summary):
        yield f"- {name}: " + ", ".join(f"{code(key)} {count}" for key, count in found.items())
    yield f"- run {code(run.run_id)}, level {run.level}, profile {code(run.profile)}"
    if run.calls != "any":
        yield f"- counted are {run.calls} calls alone"
    yield ""
    if summary.failures:
        yield "## Not answered"
        yield ""
        yield from (f"- {count} x {code(cause)}" for cause, count in summary.failures.items())
        yield ""
    yield "## What did not pass"
    yield ""
    missed = (result for result in report.results if not result.ok)
    first = next(missed, None)
    if first is None:
        yield "Nothing."
        return
    yield _missed(first)
    yield from map(_missed, missed)


def _table(heading: str | None, columns: str, group: list[tuple[str, ...]]) -> Iterator[str]:
    """Yield the lines of a table below the run's heading, or nothing if it would have no row."""
    if not group:
        return
    if heading:
        yield f"**{code(heading)}**"
        yield ""
    yield f"| {columns} |"
    yield f"|---|{'---:|' * columns.count('|')}"
    yield from (f"| {' | '.join(cells)} |" for cells in group)
    yield ""


def _missed(result: ScenarioResult) -> str:
    words = [f"- {code(result.scenario)}"]
    if result.repeat > 1:
        words.append(f"(repeat {result.repeat})")
    words.append(f"{result.outcome}: {code(result.error or result.reason)};")
    words.append(f"expected {code(expected_words(result.expected, LIMIT))},")
    words.append(f"got {code(got_words(result, LIMIT))}")
    return " ".join(words)
