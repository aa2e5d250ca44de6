"""The console and the pages made of a report: headed, whole, and safe to look at."""

from __future__ import annotations

import json
import re
import unicodedata
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reports.results import HEADING, HOSTILE, calls, report, result, shown
from tunaeval.errors import RecordError
from tunaeval.files.records import json_text
from tunaeval.registry import Registry
from tunaeval.reports import WRITERS
from tunaeval.reports.json import summary_object
from tunaeval.reports.markdown import code
from tunaeval.reports.progress import Live
from tunaeval.showing import visible
from tunaeval.types.roles import Writer
from tunaeval.types.runs import CallRecord, Report
from tunaeval.types.shapes import instance_of

writers = Registry[Writer](
    "tunaeval.writers", "writer", builtins=WRITERS, check=instance_of(Writer)
)


def written(name: str, made: Report, directory: Path) -> str:
    path = directory / "deep" / f"report.{name}"
    writers.get(name).write(made, path)
    return path.read_text(encoding="utf-8")


def test_the_heading_stands_directly_over_the_score_on_the_console() -> None:
    lines = [line.strip() for line in shown(report(result(ok=True))).splitlines() if line.strip()]
    under = lines[lines.index(HEADING) + 1 :]
    assert under[0].startswith("passed")
    assert under[2].startswith("score")
    assert "%" not in "".join(lines[: lines.index(HEADING)])


def test_the_heading_stands_directly_over_every_table_in_markdown(tmp_path: Path) -> None:
    lines = written("markdown", report(result(ok=True, tags=("x",))), tmp_path).splitlines()
    tables = [i for i, line in enumerate(lines) if "| passed |" in line]
    assert len(tables) == 4
    assert all(HEADING in lines[i - 2] for i in tables)


def test_the_heading_comes_before_the_score_in_json(tmp_path: Path) -> None:
    assert list(summary_object(report(result())))[:2] == ["heading", "summary"]
    assert list(json.loads(written("json", report(result()), tmp_path)))[:2] == [
        "heading",
        "summary",
    ]


def test_the_json_report_holds_every_result(tmp_path: Path) -> None:
    made = report(result(HOSTILE, got=calls(HOSTILE)), result(ok=True))
    read = json.loads(written("json", made, tmp_path))
    assert read["summary"]["final"] == made.summary.final.model_dump()
    assert read["results"][0]["scenario"] == HOSTILE
    assert read["results"][0]["attempts"][0]["message"]["content"] == HOSTILE


def test_markdown_lists_what_did_not_pass(tmp_path: Path) -> None:
    page = written(
        "markdown", report(result("bad", got=calls("ls")), result("good", ok=True)), tmp_path
    )
    missed = page.split("## What did not pass")[1]
    assert "`bad` calls: `as it is`; expected `bash()`, got `ls(ls='ls')`" in missed
    assert "good" not in missed


def test_a_page_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "deep").write_text("a file")
    with pytest.raises(RecordError, match=r"report\.json' cannot be written"):
        written("json", report(result()), tmp_path)


def test_all_built_in_writers_work() -> None:
    assert [entry.status for entry in writers.entries()] == ["ok"] * len(WRITERS)


def harmless(text: str) -> bool:
    """No character but newlines that a terminal acts upon or that turns text around."""
    return all(
        character == "\n" or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        for character in text
    )


anything = st.text(st.characters(), max_size=40) | st.just(HOSTILE)


@settings(max_examples=40)
@given(text=anything)
def test_no_control_character_of_a_model_reaches_the_terminal(text: str) -> None:
    lost = result(text, outcome="transport_failure", error=text)
    made = report(result(text, got=calls(text), tags=(text,), repairs=(text,)), lost, heading=text)
    stream = StringIO()
    tell = Live(stream)
    with tell.progress({None: (0, 2)}, heading=text):
        for one in made.results:
            tell(one)
    assert harmless(stream.getvalue())
    assert len(stream.getvalue().splitlines()) == 2 + bool(text)
    assert harmless(shown(made))
    assert harmless(json_text(summary_object(made)))


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_model_text_is_escaped_too() -> None:
    stream = Terminal()
    tell = Live(stream)
    with tell.progress({None: (0, 1)}, heading=HEADING):
        tell(result(HOSTILE, got=calls(HOSTILE)))
    page = stream.getvalue()
    assert HEADING in page
    assert r"\x1b[31mred" in page
    assert "\x1b]8" not in page
    assert "\u202e" not in page


def test_numbers_and_nests_that_python_cannot_show_are_shown() -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    wild = CallRecord(name="bash", arguments={"n": 10**5000, "nan": float("nan"), "deep": deep})
    stream = StringIO()
    tell = Live(stream)
    with tell.progress({None: (0, 1)}, heading=None):
        tell(result(got=(wild,)))
    assert "bash(n='0x" in stream.getvalue()


def test_markup_of_a_model_is_not_obeyed() -> None:
    page = shown(report(result(tags=("[bold]x[/bold] :smile:",))))
    assert "[bold]x[/bold] :smile:" in page


def test_a_line_says_what_was_wanted_and_what_came() -> None:
    stream = StringIO()
    tell = Live(stream)
    with tell.progress({None: (37, 40)}, heading=None):
        tell(result("a", ok=True, first=False, got=calls("bash")))
        tell(result("b", outcome="no_call"))
        tell(result("c", outcome="transport_failure", error="refused"))
    assert stream.getvalue().splitlines() == [
        "PASS  38/40  a  bash() -> bash(bash='bash')  2 attempts  calls",
        "FAIL  39/40  b  bash() -> no call  1 attempt  no_call",
        "ERROR  40/40  c  bash() -> refused  1 attempt  transport_failure",
    ]


@given(anything, st.none() | st.integers(1, 20))
def test_visible_text_is_one_printable_line_within_its_limit(text: str, limit: int | None) -> None:
    seen = visible(text, limit)
    assert seen.isprintable()
    assert limit is None or len(seen) <= limit
    assert text.isprintable() is False or limit is not None or seen == text


@given(anything)
def test_nothing_ends_a_code_span_or_a_cell(text: str) -> None:
    span = code(text)
    fence = re.match("`+", span)
    assert fence
    inner = span[len(fence[0]) : -len(fence[0])]
    assert fence[0] not in re.findall("`+", inner)
    assert "|" not in span
    assert not inner.startswith("`")
    assert not inner.endswith("`")
