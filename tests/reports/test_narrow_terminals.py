"""Tables at any width: names are cut first, then columns are left out from the right, and a table
never becomes prose.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BytesIO, StringIO, TextIOWrapper

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.reports.results import report, result
from tunaeval import compare
from tunaeval.reports.compared import show_comparison
from tunaeval.reports.console import TableRow, draw_table, page_on, show
from tunaeval.reports.ranking import CellName, rank, show_ranking
from tunaeval.types.runs import Report

LONG = "a-tag-of-which-a-reader-wants-to-see-the-whole"
WIDTHS = (24, 40, 60, 79, 80, 81, 100, 120, 200)
COLUMNS = [
    "cell", "score", "passed", "of", "ties", "interval", "no answer", "outcomes", "calls from",
    "latency", "tokens in", "tokens out", "cost",
]  # fmt: skip
"""The columns of a ranking, in the order in which they survive."""


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def made(*oks: bool, lost: int = 0) -> Report:
    answered = [result(f"s{n}", ok=ok, tags=("other", LONG)) for n, ok in enumerate(oks)]
    failed = [result(f"x{n}", outcome="transport_failure", error="timeout") for n in range(lost)]
    return report(*answered, *failed)


def plain(stream: StringIO) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue())


def ranked(stream: StringIO) -> None:
    cells = {"نموذج اللغة العربية": made(*[True] * 9), "x" * 300: made(True, *[False] * 8),
             "flaky": made(True, lost=8)}  # fmt: skip
    names = [CellName(f"{n:02}", model, "terse") for n, model in enumerate(cells, 1)]
    show_ranking(rank([*cells.values()], names), stream)


def compared(stream: StringIO) -> None:
    show_comparison(compare(made(*[True] * 9, False), made(*[True] * 8, False, True)), stream)


DRAWN: dict[str, Callable[[StringIO], None]] = {
    "ranking": ranked,
    "comparison": compared,
    "summary": lambda stream: show(made(*[True] * 10, lost=3), stream),
}


def table_in(text: str) -> list[str]:
    """Return the lines of the table in a text: its heads, and its rows below the rule."""
    lines = text.splitlines()
    rule = next(n for n, line in enumerate(lines) if line and not line.strip("─-"))
    return [lines[rule - 1], *lines[rule + 1 : lines.index("", rule)]]


@pytest.fixture(params=WIDTHS)
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("COLUMNS", str(request.param))
    monkeypatch.setenv("TERM", "xterm")
    return int(request.param)


@pytest.mark.parametrize("kind", [StringIO, Terminal])
@pytest.mark.parametrize("drawn", DRAWN)
def test_a_table_is_a_table_at_every_width(drawn: str, kind: type[StringIO], width: int) -> None:
    stream = kind()
    DRAWN[drawn](stream)
    heads, *rows = table_in(plain(stream))
    assert max(map(cell_len, [heads, *rows])) <= width
    assert len(rows) == {"ranking": 3, "comparison": 4, "summary": 7}[drawn]
    assert width < 60 or sum(" %" in row for row in rows) >= 2
    ends = {row.index("%") - len(row) + cell_len(row) for row in rows if row.count("%") == 1}
    assert len(ends) <= 1, "percent signs are aligned"


@pytest.mark.parametrize("kind", [StringIO, Terminal])
def test_a_ranking_loses_its_columns_from_the_right(kind: type[StringIO], width: int) -> None:
    stream = kind()
    ranked(stream)
    heads, *rows = table_in(plain(stream))
    found = re.split(r" {2,}", heads)
    assert found == COLUMNS[: len(found)]
    wanted = {24: 2, 40: 4, 60: 6, 80: 7, 200: 13}
    assert len(found) >= max(count for least, count in wanted.items() if least <= width)
    assert [row[:2] for row in rows] == ["01", "02", "03"]
    assert "…" in rows[1]
    assert "not ranked: 1 of 9 answered" in stream.getvalue()


def test_a_pipe_is_as_wide_as_columns_says(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {}
    for columns in ("", "wide", "0", "-5", "²", "9" * 5000, "999", "120"):
        monkeypatch.setenv("COLUMNS", columns)
        ranked(stream := StringIO())
        found[columns] = max(map(cell_len, table_in(stream.getvalue())))
    assert 100 < found.pop("120") <= 120
    assert found.pop("999") > 300
    assert len({*found.values()}) == 1


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(
    st.lists(st.tuples(st.sampled_from(["", "tool"]), texts, texts, texts), min_size=1, max_size=5),
    st.integers(1, 60),
    st.sampled_from(["utf-8", "ascii", "cp1252"]),
)
def test_a_table_fits_what_it_is_drawn_on_and_cuts_only_names(
    rows: list[tuple[str, str, str, str]], width: int, encoding: str
) -> None:
    stream = TextIOWrapper(BytesIO(), encoding, newline="")
    with page_on(stream) as page:
        page.width = width
        draw_table(page, ("cell", "one", "two"), [TableRow(a, b, rest) for a, b, *rest in rows])
    stream.seek(0)
    lines = stream.read().split("\n")
    assert len(lines) == len(rows) + 4
    written = [line for line in lines if line]
    first = max(cell_len(line) for line in written)
    shown = "two" in lines[0]
    for _, _, one, two in rows:
        for text in (one, two) if shown else (one,):
            whole = "".join(c if c.isprintable() else "" for c in text)
            if whole == text and text.isascii() and "::" not in text:
                assert text.strip() in "\n".join(written)
    if shown or first <= width:
        assert first <= max(width, 1)


def test_a_stream_in_ascii_has_a_table_in_ascii() -> None:
    stream = TextIOWrapper(BytesIO(), "ascii", newline="")
    with page_on(stream) as page:
        page.width = 40
        draw_table(page, ("cell", "score"), [TableRow("", "é" * 30, ["90.0 %"])])
    stream.seek(0)
    heads, rule, row, *_ = stream.read().split("\n")
    assert rule == "-" * 40
    assert heads.startswith("cell ")
    assert re.fullmatch(r"(\\xe9)+[\\xe9]{0,3}\.{3}  90\.0 %", row)
