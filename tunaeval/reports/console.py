"""A run on the terminal: a line for each scenario, then a table; and a tool's run as one line.

A table is no wider than its terminal: names are cut, then columns left out from the right. Text of
a suite, a server or a model is made visible first and never read as markup.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO, TextIOWrapper
from itertools import accumulate
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, TextIO

from tunaeval.showing import counted, visible
from tunaeval.types.messages import ToolExecution
from tunaeval.types.runs import Report, ScenarioResult

from .statistics import wilson
from .summary import INFRASTRUCTURE
from .tables import verdict_of
from .wording import (
    asked_with,
    calls_words,
    counts,
    effort,
    expected_words,
    failures,
    interval,
    percent,
    reactions,
    remarks,
    rows,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


CALL_WIDTH = 60
"""Characters of a call in the line of a scenario."""
PLAIN_WIDTH = 120
"""The width of tables that are written to a file or a pipe."""
_STYLES = {"PASS": "green", "FAIL": "red", "ERROR": "yellow"}


class Live:
    """Prints results on a stream as they arrive, one line each; call it with each result.

    Within `progress`, a terminal shows a progress bar below the lines.
    """

    def __init__(self, stream: TextIO, *, in_flight: Callable[[], int] | None = None) -> None:
        self._stream = stream
        self._in_flight = in_flight
        self._show: Callable[[ScenarioResult], None] = self._print_line

    def __call__(self, result: ScenarioResult) -> None:
        self._show(result)

    @contextmanager
    def progress(self, total: int, *, heading: str | None) -> Iterator[None]:
        """Show the progress of `total` results, under `heading`."""
        if not self._stream.isatty():
            if heading:
                print(visible(heading), file=self._stream, flush=True)
            yield
            return
        from rich.progress import (  # noqa: PLC0415 - 60 ms that plain lines do not need
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        with Progress(
            TextColumn("{task.description}", markup=False),  # it contains names of errors
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console_like(self._stream, self._stream),
            transient=True,
            expand=True,
        ) as bar:
            if heading:
                print_lines(bar.console, [heading], style="bold")
            self._show = _line_above(bar, total, SoFar(self._in_flight))
            try:
                yield
            finally:
                self._show = self._print_line

    def _print_line(self, result: ScenarioResult) -> None:
        print("  ".join(_cells(result)), file=self._stream, flush=True)


def _line_above(bar: Progress, total: int, sofar: SoFar) -> Callable[[ScenarioResult], None]:
    from rich.text import Text  # noqa: PLC0415 - rich is loaded only to draw

    task = bar.add_task(
        f"waiting for the first of {counted(total, 'reply', 'replies')}", total=total
    )

    def print_result(result: ScenarioResult) -> None:
        verdict, *rest = _cells(result)
        line = Text.assemble((verdict, _STYLES[verdict]), "  ", "  ".join(rest))
        if not result.ok and line.cell_len > bar.console.width:
            line = Text("\n".join(failed_lines(result)))
            line.stylize(_STYLES[verdict], 0, len(verdict))
            bar.console.print(line, overflow="fold")
        else:
            bar.console.print(line, no_wrap=True, overflow="ellipsis", crop=True)
        sofar.add(result)
        bar.update(task, advance=1, description=sofar.words())

    return print_result


class SoFar:
    """The totals of a run so far; `in_flight` returns the number of open requests."""

    def __init__(self, in_flight: Callable[[], int] | None = None) -> None:
        self._in_flight = in_flight
        self._passed = self._judged = 0
        self._errors: Counter[str] = Counter()
        self._began = monotonic()

    def add(self, result: ScenarioResult) -> None:
        if result.outcome in INFRASTRUCTURE:
            kind, _, _ = (result.error or result.outcome).partition(":")
            self._errors[visible(kind, 20)] += 1
            return
        self._judged += 1
        self._passed += result.ok

    def words(self) -> str:
        """Return the share that passed with its interval, failures by kind, and the speed."""
        rate = wilson(self._passed, self._judged)
        parts = [f"{percent(rate)} ({interval(rate)})"] if self._judged else []
        if self._errors:
            parts.append(", ".join(f"{count} {kind}" for kind, count in self._errors.items()))
        if self._in_flight is not None:
            parts.append(f"{self._in_flight()} in flight")
        seconds = max(monotonic() - self._began, 1e-3)
        parts.append(f"{(self._judged + self._errors.total()) / seconds:.1f}/s")
        return "; ".join(parts)


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


def _cells(result: ScenarioResult) -> list[str]:
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
    verdict, name, _, tries, outcome = _cells(result)
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
