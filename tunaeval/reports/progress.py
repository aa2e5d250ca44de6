"""What is seen of a run while it goes on: a line for each result, in a terminal with bars below, or
one display in a notebook.

Results are counted for each cell of a matrix, and no rate is that of several cells.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from html import escape
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

from tunaeval.showing import counted, visible
from tunaeval.types.runs import ScenarioResult
from tunaeval.types.tables import INFRASTRUCTURE

from .console import STYLES, cells_of, console_like, failed_lines, print_lines
from .ranking import CellName
from .statistics import wilson
from .wording import interval, percent

if TYPE_CHECKING:
    from rich.progress import Progress

MOST_BARS = 8
"""How many cells have a bar; the others are counted."""
_TITLE = 40
"""The most characters of a cell's name in a line."""
_PAUSE = 0.2
"""The least seconds between two updates of a notebook's display."""


class Live:
    """Shows results on a stream as they arrive; call it with each, and with its cell in a matrix.

    Within `progress`, results are counted, and a terminal or a notebook shows how far the run is.
    """

    def __init__(self, stream: TextIO, *, in_flight: Callable[[], int] | None = None) -> None:
        self._stream, self._in_flight = stream, in_flight
        self._cells: dict[str, SoFar] = {}
        self._show: Callable[[ScenarioResult, SoFar | None], None] = self._print_line

    def __call__(self, result: ScenarioResult, cell: CellName | None = None) -> None:
        sofar = self._cells.get("" if cell is None else cell.cell)
        if sofar is not None:
            sofar.add(result)
        with suppress(OSError):  # nobody reads it any more
            self._show(result, sofar)

    @contextmanager
    def progress(
        self, planned: Mapping[CellName | None, tuple[int, int]], *, heading: str | None
    ) -> Iterator[None]:
        """Show the progress of a run, or of each cell of a matrix, under `heading`. `planned` has
        how many results there are already, and how many there will be.
        """
        self._cells = {
            "" if cell is None else cell.cell: SoFar(cell, done, total, self._in_flight)
            for cell, (done, total) in planned.items()
        }
        is_terminal = self._stream.isatty()
        if in_notebook():
            self._show = _display(heading, [*self._cells.values()])
        elif heading and not is_terminal:
            print(visible(heading), file=self._stream, flush=True)
        try:
            with self._bars(heading) if is_terminal and not in_notebook() else nullcontext():
                yield
        finally:
            self._cells, self._show = {}, self._print_line

    def _print_line(self, result: ScenarioResult, sofar: SoFar | None) -> None:
        print("  ".join(_result_texts(result, sofar)), file=self._stream, flush=True)

    @contextmanager
    def _bars(self, heading: str | None) -> Iterator[None]:
        from rich.progress import (  # noqa: PLC0415 - 60 ms that plain lines do not need
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.text import Text  # noqa: PLC0415 - rich is loaded only to draw

        more = len(self._cells) - MOST_BARS

        class Bars(Progress):
            def get_renderables(self) -> Iterator[Any]:
                yield from super().get_renderables()
                if more > 0:
                    yield Text(f"and {more} more")

        with Bars(
            TextColumn("{task.description}", markup=False),  # it contains names of errors
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console_like(self._stream, self._stream),
            transient=True,
            expand=True,
        ) as bars:
            if heading:
                print_lines(bars.console, [heading], style="bold")
            for sofar in [*self._cells.values()][:MOST_BARS]:
                sofar.bar = bars.add_task(sofar.words(), total=sofar.total, completed=sofar.done)
            self._show = _line_above(bars)
            yield


def _result_texts(result: ScenarioResult, sofar: SoFar | None) -> list[str]:
    """Return the texts of a result's line: verdict, how many of how many, the cell, the others."""
    verdict, *rest = cells_of(result)
    if sofar is None:
        return [verdict, *rest]
    return [verdict, f"{sofar.done}/{sofar.total}", *filter(None, [sofar.title]), *rest]


def _line_above(bars: Progress) -> Callable[[ScenarioResult, SoFar | None], None]:
    from rich.text import Text  # noqa: PLC0415 - rich is loaded only to draw

    def print_result(result: ScenarioResult, sofar: SoFar | None) -> None:
        verdict, *rest = _result_texts(result, sofar)
        line = Text.assemble((verdict, STYLES[verdict]), "  ", "  ".join(rest))
        if not result.ok and line.cell_len > bars.console.width:
            first, *others = failed_lines(result)
            count = rest[: len(rest) - len(cells_of(result)) + 1]
            line = Text(
                "\n".join(["  ".join([verdict, *count, first[len(verdict) :].strip()]), *others])
            )
            line.stylize(STYLES[verdict], 0, len(verdict))
            bars.console.print(line, overflow="fold")
        else:
            bars.console.print(line, no_wrap=True, overflow="ellipsis", crop=True)
        if sofar is not None and sofar.bar is not None:
            bars.update(sofar.bar, completed=sofar.done, description=sofar.words())

    return print_result


class SoFar:
    """The totals of a run, or of a cell, so far: `done` of `total` results.

    `in_flight` returns the number of open requests.
    """

    def __init__(
        self,
        cell: CellName | None = None,
        done: int = 0,
        total: int = 0,
        in_flight: Callable[[], int] | None = None,
    ) -> None:
        self.title = "" if cell is None else visible(f"{cell.cell} {cell.words}", _TITLE)
        self.done, self.total = done, total
        self.bar: Any = None
        """The task of rich's that shows it, if any."""
        self._in_flight = in_flight
        self._passed = self._judged = 0
        self._errors: Counter[str] = Counter()
        self._began = monotonic()

    def add(self, result: ScenarioResult) -> None:
        self.done += 1
        if result.outcome in INFRASTRUCTURE:
            kind, _, _ = (result.error or result.outcome).partition(":")
            self._errors[visible(kind, 20)] += 1
            return
        self._judged += 1
        self._passed += result.ok

    def words(self) -> str:
        """Return the share that passed and failures by kind. For a run alone, that with its
        interval, and the speed; for a cell, its name before it.
        """
        rate, asked = wilson(self._passed, self._judged), self._judged + self._errors.total()
        parts = [percent(rate)] if self._judged else []
        if parts and not self.title:
            parts = [f"{percent(rate)} ({interval(rate)})"]
        if self._errors:
            parts.append(", ".join(f"{count} {kind}" for kind, count in self._errors.items()))
        if self.title:
            return "  ".join(filter(None, (self.title, "; ".join(parts))))
        if not asked and self.total:
            left = counted(self.total - self.done, "reply", "replies")
            return f"waiting for the first of {left}"
        if self._in_flight is not None:
            parts.append(f"{self._in_flight()} in flight")
        parts.append(f"{asked / max(monotonic() - self._began, 1e-3):.1f}/s")
        return "; ".join(parts)


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, which shows displays and not a terminal."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


def _display(
    heading: str | None, cells: list[SoFar]
) -> Callable[[ScenarioResult, SoFar | None], None]:
    """Show the progress as one display of a notebook, and return what updates it."""
    from IPython.display import display  # noqa: PLC0415 - only a notebook has it

    def page() -> dict[str, str]:
        rows = [(f"{one.done}/{one.total}", one) for one in cells[:MOST_BARS]]
        more = [f"and {len(cells) - MOST_BARS} more"] if len(cells) > MOST_BARS else []
        text = [*filter(None, [visible(heading or "")])]
        bars = "".join(
            f"<tr><td>{escape(one.words())}</td><td><progress value='{one.done}' "
            f"max='{max(one.total, 1)}'></progress></td><td>{count}</td></tr>"
            for count, one in rows
        )
        lines = [*text, *(f"{count}  {one.words()}" for count, one in rows), *more]
        caption, below = (escape("".join(part)) for part in (text, more))
        table = f"<table><caption>{caption}</caption>{bars}</table>{below}"
        return {"text/plain": "\n".join(lines), "text/html": table}

    make: Callable[..., Any] = display
    handle, shown = make(page(), raw=True, display_id=True), monotonic()

    def update(_: ScenarioResult, __: SoFar | None) -> None:
        nonlocal shown
        is_last = all(one.done >= one.total for one in cells)
        if is_last or monotonic() - shown >= _PAUSE:
            handle.update(page(), raw=True)
            shown = monotonic()

    return update
