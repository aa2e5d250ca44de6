"""A run on the terminal: a line for each scenario, then a table; and a tool's run as one line.

A table is no wider than its terminal: names are cut, then columns left out from the right. Text of
a suite, a server or a model is made visible first and never read as markup.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO, TextIOWrapper
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TextIO

from tunaeval.showing import counted, visible
from tunaeval.types.messages import ToolExecution
from tunaeval.types.runs import Report, ScenarioResult
from tunaeval.types.tables import INFRASTRUCTURE, calls_words, expected_words, verdict_of

from .wording import asked_with, counts, effort, failures, reactions, remarks, rows

if TYPE_CHECKING:
    from rich.console import Console


CALL_WIDTH = 60
"""Characters of a call in the line of a scenario."""
PLAIN_WIDTH = 120
"""The width of tables that are written to a file or a pipe."""
STYLES = {"PASS": "green", "FAIL": "red", "ERROR": "yellow"}


def show(report: Report, stream: TextIO) -> None:
    """Print a run's summary: heading, rates, remarks, counts, and failures."""
    run, summary = report.run, report.summary
    rules = f"format {run.format}, level {run.level}, profile {run.profile}"
    if run.harness != "tunaeval":
        rules += f", harness {run.harness}"
    over = [f"{run.suite}, {run.model or run.client}, {rules}"]
    if run.calls != "any":
        over.append(f"counted are {run.calls} calls alone")
    if run.heading:
        over.append(run.heading)
    over += asked_with(run.system_prompt)
    below = [*remarks(report), effort(summary)]
    for name, found in counts(summary):
        below.append(f"{name}: " + ", ".join(f"{key} {count}" for key, count in found.items()))
    if report.directory:
        below.append(f"kept in {report.directory}")
    below += failures(summary)
    with page_on(stream) as page:
        print_lines(page, [*over, ""], style="bold")
        draw_table(
            page,
            ("", *_COLUMNS),
            [TableRow(one.section, one.name, one.cells) for one in rows(summary)],
        )
        if summary.reactions:
            reported = [TableRow("", row.name, row.cells[:-1]) for row in reactions(summary)]
            draw_table(page, ("", "episodes", *_COLUMNS[1:-1]), reported)
        print_lines(page, below)


def print_lines(page: Console, lines: Iterable[str], *, style: str | None = None) -> None:
    for line in lines:
        page.print(visible(line), style=style, soft_wrap=True)


_COLUMNS = ("passed", "of", "rate", "95 % interval", "first attempt")


def cells_of(result: ScenarioResult) -> list[str]:
    """Return the texts of a scenario's line: verdict, name, calls, attempts and outcome."""
    failed = result.outcome in INFRASTRUCTURE
    verdict = verdict_of(result)
    name = visible(result.scenario, CALL_WIDTH)
    if result.repeat > 1:
        name += f" #{result.repeat}"
    wanted = expected_words(result.expected, CALL_WIDTH)
    got = visible(result.error or "", CALL_WIDTH) if failed else calls_words(result.got, CALL_WIDTH)
    came, unit = f"{wanted} -> {got}", "attempt"
    if result.task is not None:
        came, unit = visible(result.reason, CALL_WIDTH), "turn"
    return [verdict, name, came, counted(len(result.attempts), unit), result.outcome]


def failed_lines(result: ScenarioResult) -> list[str]:
    """Return a failed result as lines that may be folded, so that nothing is cut off."""
    verdict, name, _, tries, outcome = cells_of(result)
    lines = [f"{verdict}  {name}  {outcome}, {tries}"]
    if result.outcome not in INFRASTRUCTURE:
        lines.append(f"      expected  {expected_words(result.expected)}")
        lines.append(f"      got       {calls_words(result.got)}")
    lines.append(f"      because   {visible(result.error or result.reason)}")
    return lines


@contextmanager
def page_on(stream: TextIO) -> Iterator[Console]:
    """Yield a console like `stream`: its width, colors and encoding. At the end all is written to
    the stream at once, so that the caller handles a broken pipe, and not rich.
    """
    encoding = getattr(stream, "encoding", None) or "utf-8"
    file = TextIOWrapper(BytesIO(), encoding, errors="backslashreplace", newline="")
    yield console_like(stream, file)
    file.seek(0)
    stream.write(file.read())


def console_like(like: TextIO, file: TextIO) -> Console:
    """Return a console that writes to `file`, with the colors of `like`. It is as wide as $COLUMNS,
    or as `like` if that is a terminal.
    """
    from rich.console import Console  # noqa: PLC0415 - as above

    terminal, known = like.isatty(), dict(os.environ)
    columns = known.pop("COLUMNS", "")  # rich would raise for some values
    usual = None if terminal else PLAIN_WIDTH
    return Console(
        file=file, width=int(columns) if _COLUMNS_SET.fullmatch(columns) else usual, _environ=known,
        force_terminal=terminal, highlight=False, markup=False, emoji=False,
    )  # fmt: skip


_COLUMNS_SET = re.compile("[1-9][0-9]{0,5}")

NAME_WIDTH, _NAME_PART = 12, 5
"""To this width in cells, or to a fifth of the page, names are cut before a column is left out."""
_GAP, _NUMBERS = "  ", "0123456789+-<"


class TableRow(NamedTuple):
    """A row: its section of the table, its name, and the texts of its columns."""

    section: str
    name: str
    cells: Sequence[str]


def draw_table(page: Console, heads: Sequence[str], rows: Sequence[TableRow]) -> None:
    """Draw the rows as a table that is no wider than the page: names are cut, and columns left out
    from the right, except the first. `heads` are those of the names and of the columns.
    """
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415 - rich is loaded only to draw

    def written(text: str) -> str:
        """Escape what the page's encoding lacks, before it is measured."""
        return visible(text).encode(page.encoding, "backslashreplace").decode(page.encoding)

    def fitted(text: str, room: int) -> str:
        if cell_len(text) > room:
            text = set_cell_size(text, max(room - len(dots), 0)) + dots
        return set_cell_size(text, room)

    def placed(text: str, room: int, like: str) -> str:
        blank = " " * (room - cell_len(text))
        return blank + text if like[:1] in _NUMBERS else text + blank

    dots, line = ("…", "─") if written("…─") == "…─" else ("...", "-")
    texts = [("", *heads), *((row.section, row.name, *row.cells) for row in rows)]
    table = [[*map(written, row)] for row in texts]
    section, name, *widths = (max(map(cell_len, column)) for column in zip(*table, strict=True))
    indent = section + len(_GAP) if section else 0
    kept, room = _kept(page.width - indent, name, widths)
    # A head is placed like the first text below it.
    likes = [next(filter(None, column), "") for column in zip(*table[1:], strict=True)] or table[0]
    before = ""
    for number, (part, title, *cells) in enumerate(table):
        columns = zip(cells[:kept], widths, cells if number else likes[2:], strict=False)
        words = [fitted("" if part == before else part, section)] if section else []
        words += [fitted(title, room), *(placed(*column) for column in columns)]
        shown, before = _GAP.join(words), part
        page.print(shown.rstrip(), style=None if number else "bold", soft_wrap=True)
        if not number:
            page.print(line * cell_len(shown), soft_wrap=True)
    page.print()


def _kept(width: int, name: int, columns: Sequence[int]) -> tuple[int, int]:
    """Return how many columns of these widths are drawn, and how wide the names are."""
    ends = [*accumulate(len(_GAP) + column for column in columns)]
    least = min(name, max(NAME_WIDTH, width // _NAME_PART))
    kept = max(1, sum(end + least <= width for end in ends))
    return kept, max(1, min(name, width - ends[kept - 1]))


_WORDS = 120
"""Characters of the longest error text."""


def print_execution(execution: ToolExecution) -> None:
    """Print a line about an execution to stderr: `Recorder(listener=tunaeval.print_execution)`.

    Examples:
        >>> recorder = tunaeval.Recorder(listener=tunaeval.print_execution)
        >>> tunaeval.wrap_tool(len, recorder)("abc")
        3
    """
    print(execution_line(execution), file=sys.stderr, flush=True)


def execution_line(execution: ToolExecution) -> str:
    """Return a line about an execution: tool, call's id, success and why, duration, any error."""
    seconds = execution.duration_seconds
    parts = [
        execution.tool,
        execution.call_id or "",
        "ok" if execution.ok else "failed",
        f"({execution.ok_reason})",
        "unknown time" if seconds is None else f"{seconds * 1e3:.3f} ms",
    ]
    line = " ".join(filter(None, parts))
    if execution.error:
        line += f": {execution.error[:_WORDS]}"
    return visible(line.replace("\n", " "))
