"""What is seen while a run goes on, and of a report at a prompt or in a notebook."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reports.results import HOSTILE, calls, report, result
from tests.reports.test_narrow_terminals import Terminal, plain
from tunaeval.cli.output import fitting
from tunaeval.reports.progress import Live, SoFar
from tunaeval.reports.ranking import CellName
from tunaeval.tasks.suites.loading import load_suite
from tunaeval.types.runs import CallRecord

LONG = CallRecord(name="bash", arguments={"command": f"grep {'x' * 20} src", "timeout": 77})


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_call_that_came_is_seen_whole_at_any_width(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    tell = Live(stream)
    with tell.progress({None: (0, 2)}, heading=None):
        tell(result("one-scenario-with-a-name", got=(LONG,)))
    page = re.sub(r"\s+", "", plain(stream))
    assert "timeout=77)" in page


def test_the_first_seconds_say_what_is_waited_for() -> None:
    stream = Terminal()
    with Live(stream).progress({None: (0, 12)}, heading=None):
        pass
    assert "waiting for the first of 12 replies" in plain(stream)


def test_the_share_so_far_has_its_interval_and_errors_their_kind() -> None:
    sofar = SoFar()
    for one in (result(ok=True), result(ok=True), result()):
        sofar.add(one)
    sofar.add(result(outcome="transport_failure", error="timeout: took over 30 s"))
    assert re.fullmatch(r"66\.7 % \(20\.8 to 93\.9\); 1 timeout; [\d.]+/s", sofar.words())


def test_no_error_is_markup_in_the_progress() -> None:
    stream = Terminal()
    tell = Live(stream)
    with tell.progress({None: (0, 2)}, heading=None):
        tell(result(outcome="transport_failure", error="[red]x[/red]: \x1b[31m"))
    assert "1 [red]x[/red]" in plain(stream)


def test_a_report_is_a_line_at_a_prompt() -> None:
    made = report(*(result(str(number), got=calls(HOSTILE)) for number in range(50)))
    assert repr(made) == str(made)
    assert "0 of 50 passed, 0.0 % (0.0 to 7.1)" in repr(made)
    assert len(repr(made)) < 200
    assert len(repr(load_suite("tunacode"))) < 100


def test_a_notebook_shows_a_table_with_every_text_escaped() -> None:
    made: Any = report(result("<b>"), suite="<script>alert(1)</script>")
    assert "<script" not in made._repr_html_()
    assert "<b>" not in made._repr_html_()
    assert "<tr>" in made._repr_html_()
    suite: Any = load_suite("tunacode")
    page = suite._repr_html_()
    assert page.count("<tr>") == 11
    assert "and 146 more" in page


@given(st.lists(st.integers(1, 300), min_size=1, max_size=8), st.integers(80, 300))
def test_a_listing_fits_where_its_columns_may_be_narrow(widths: list[int], room: int) -> None:
    found = fitting(widths, room)
    assert sum(found) + 2 * (len(found) - 1) <= room or max(found) <= 8
    assert all(new <= old for new, old in zip(found, widths, strict=True))


# --- a matrix ------------------------------------------------------------------------------------

CELLS = [CellName(f"{number:02}", f"m{number}", "terse") for number in range(1, 11)]


def test_results_are_counted_for_each_cell() -> None:
    stream = StringIO()
    tell = Live(stream)
    with tell.progress({CELLS[0]: (0, 40), CELLS[1]: (30, 40)}, heading=None):
        tell(result("s0", ok=True), CELLS[0])
        tell(result("s0"), CELLS[1])
        tell(result("s1", outcome="transport_failure", error="timeout: 3 s"), CELLS[0])
    starts = [line.partition("  bash()")[0] for line in stream.getvalue().splitlines()]
    assert starts == [
        "PASS  1/40  01 m1, terse  s0",
        "FAIL  31/40  02 m2, terse  s0",
        "ERROR  2/40  01 m1, terse  s1",
    ]


@pytest.mark.parametrize("cells", [2, 8, 10])
def test_a_terminal_has_a_bar_for_each_of_the_first_cells(
    cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    tell = Live(stream)
    with tell.progress(dict.fromkeys(CELLS[:cells], (0, 4)), heading="cells"):
        for cell in CELLS[:cells]:
            tell(result("a", ok=True), cell)
            tell(result("b"), cell)
    page = plain(stream)
    drawn = re.findall(r"^(\d\d) (m\d+), terse .*━.* \d/4", page, re.MULTILINE)
    assert {number for number, _ in drawn} == {one.cell for one in CELLS[: min(cells, 8)]}
    assert ("and 2 more" in page) is (cells == 10)
    assert "/s" not in page
    assert re.search(r"01 m1, terse  50\.0 % ━", page), "the share is that of the cell"


def test_a_long_name_leaves_room_for_its_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    cell = CellName("01", "نموذج" * 60, "x" * 300)
    with (tell := Live(stream)).progress({cell: (0, 4)}, heading=None):
        tell(result("a", ok=True), cell)
    bars = [line for line in plain(stream).splitlines() if "/4 " in line and "━" in line]
    assert bars
    assert all("01 " in line and "…" in line for line in bars)
