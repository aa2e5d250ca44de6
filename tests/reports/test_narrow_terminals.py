"""Tables on terminals narrower than they are: names give way last, and no number is ever cut."""

from __future__ import annotations

import re
from io import StringIO

import pytest

from tests.reports.results import report, result
from tunaeval import compare
from tunaeval.reports.compared import show_comparison
from tunaeval.reports.console import show
from tunaeval.reports.wording import interval, percent, rows
from tunaeval.types.runs import Report

LONG = "a-tag-of-which-a-reader-wants-to-see-the-whole"
WIDTHS = (24, 30, 40, 50, 60, 70, 78, 79, 80, 81, 90, 99, 100, 101, 110, 120, 160)


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def made(*oks: bool) -> Report:
    return report(*(result(f"s{n}", ok=ok, tags=("other", LONG)) for n, ok in enumerate(oks)))


def plain(stream: StringIO) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue())


@pytest.fixture(params=WIDTHS)
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("COLUMNS", str(request.param))
    monkeypatch.setenv("TERM", "xterm")
    return int(request.param)


@pytest.mark.usefixtures("width")
def test_every_rate_of_a_run_is_read_at_every_width() -> None:
    shown, stream = made(*[True] * 10), Terminal()
    show(shown, stream)
    page = plain(stream)
    words = " ".join(page.split())
    for row in rows(shown.summary):
        assert row.name[:16] in page, row.name
        assert f" {percent(row.rate)}" in words
        assert f" {interval(row.rate)}" in words
    assert words.count("100.0 %") >= len([*rows(shown.summary)])
    assert "…" not in page


@pytest.mark.usefixtures("width")
def test_every_difference_of_a_comparison_is_read_at_every_width() -> None:
    found, stream = compare(made(*[True] * 9, False), made(*[True] * 8, False, True)), Terminal()
    show_comparison(found, stream)
    page = plain(stream)
    words = " ".join(page.split())
    for part in found.parts:
        assert part.name[:16] in page
    for head in ("A", "B", "B - A", "95 % interval", "p, Holm"):
        assert f"{head} " in words
    assert words.count("90.0 %") >= 2 * (1 + len(found.parts))
    assert "…" not in page


def test_a_table_fits_its_terminal_or_is_lines_that_do(width: int) -> None:
    stream = Terminal()
    show(made(True, False), stream)
    _, table, _ = re.split(r"no model was run\n|\n2 attempts", plain(stream))
    assert max(map(len, table.splitlines())) <= width
    is_table = "passed   of" in table
    assert is_table == (width >= 84)
