"""Tables of numbers on a console: complete, with long names folded, or as lines if it is narrow.

Every number is written in full, at any width.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tunaeval.showing import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

NAME_WIDTH = 16
"""The widest part of a name that is not folded, in cells."""
_AROUND = 3
"""Cells around the text of a column: a blank on each side, and a line or a blank in between."""
_INDENT = 2


class TableRow(NamedTuple):
    """A row: its section of the table, its name, and the texts of its columns."""

    section: str
    name: str
    cells: Sequence[str]


def draw_table(
    console: Console, columns: Sequence[str], rows: Sequence[TableRow], *, plain: bool
) -> None:
    """Draw the rows under the names of their columns, in ASCII if `plain`."""
    from rich.cells import cell_len  # noqa: PLC0415 - rich is loaded only to draw
    from rich.padding import Padding  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    rows = [TableRow(section, visible(name), cells) for section, name, cells in rows]
    texts = [("", "", *columns), *((row.section, row.name, *row.cells) for row in rows)]
    widths = [max(map(cell_len, column)) for column in zip(*texts, strict=True)]
    widths[1] = min(widths[1], NAME_WIDTH)
    if sum(widths) + _AROUND * len(widths) + 1 <= console.width:
        console.print(_table(columns, rows, widths, plain=plain))
        return
    console.print()
    for row in rows:
        pairs = (f"{name} {cell}" for name, cell in zip(columns, row.cells, strict=True) if cell)
        console.print(Text(f"{row.section} {row.name}", overflow="fold"))
        console.print(Padding(Text("; ".join(pairs)), (0, 0, 0, _INDENT), expand=False))
    console.print()


def _table(
    columns: Sequence[str], rows: Sequence[TableRow], widths: Sequence[int], *, plain: bool
) -> Table:
    from rich.box import ASCII2, SIMPLE_HEAD  # noqa: PLC0415 - rich is loaded only to draw
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    table = Table(box=ASCII2 if plain else SIMPLE_HEAD)
    table.add_column("", min_width=widths[0], no_wrap=True)
    table.add_column("", min_width=widths[1], overflow="fold")
    for column, width in zip(columns, widths[2:], strict=True):
        table.add_column(column, justify="right", min_width=width, no_wrap=True)
    section = ""
    for row in rows:
        again = row.section == section
        if not again:
            table.add_section()
        table.add_row("" if again else row.section, Text(row.name), *row.cells)
        section = row.section
    return table
