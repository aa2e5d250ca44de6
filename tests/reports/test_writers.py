"""Each writer says what came of a run, whatever was written in it, and nothing of it is live."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
import xmlschema
from hypothesis import given
from hypothesis import strategies as st

from tests.reports.results import HOSTILE, calls, report, result
from tests.spoiling import spoil
from tunaeval.errors import RecordError
from tunaeval.files.new_files import try_to_write, write_text
from tunaeval.reports import WRITERS
from tunaeval.reports.ci import github_writer, junit_writer
from tunaeval.reports.json import json_writer
from tunaeval.reports.markdown import MOST_BYTES, markdown_writer
from tunaeval.reports.page.html import page_writer
from tunaeval.reports.tables import cell, csv_writer, parquet_writer
from tunaeval.runs.directory import RunDirectory, load_report
from tunaeval.types.runs import Expectation, Report
from tunaeval.types.tables import COLUMNS

MANY = (csv_writer, github_writer, junit_writer, markdown_writer)
SCHEMA = xmlschema.XMLSchema(Path(__file__).parent / "junit.xsd")


def hostile() -> Report:
    failed = result(
        HOSTILE, got=calls(HOSTILE), tags=(HOSTILE,), prompt=HOSTILE, reason=HOSTILE, repeat=2
    )
    lost = result("lost", outcome="transport_failure", error=HOSTILE, latency=None)
    return report(result("fine", ok=True), failed, lost, suite=HOSTILE, model=HOSTILE)


def written(writer: object, folder: Path, *reports: Report) -> str:
    path = folder / "report"
    writer.write_runs(reports, path)  # type: ignore[attr-defined]  # each of them has it
    return path.read_text("utf-8")


@pytest.mark.parametrize("writer", MANY, ids=lambda writer: writer.name)
def test_nothing_that_moves_a_cursor_is_written(writer: object, tmp_path: Path) -> None:
    text = written(writer, tmp_path, hostile())
    assert all(character.isprintable() or character in "\r\n" for character in text)


@pytest.mark.parametrize("writer", MANY, ids=lambda writer: writer.name)
def test_results_on_disk_are_written_as_those_in_memory(writer: object, tmp_path: Path) -> None:
    made = hostile()
    run = tmp_path / "run"
    files = RunDirectory(run, made.run)
    for one in made.results:
        files.append(one)
    files.close(made.run)
    stored = load_report(run)
    assert len(stored.results) == len(list(stored.results)) == 3
    assert stored.summary == made.summary
    assert written(writer, tmp_path, stored) == written(writer, tmp_path, made)


def test_junit_is_what_the_schema_wants(tmp_path: Path) -> None:
    text = written(junit_writer, tmp_path, hostile(), report(result("one", ok=True)))
    SCHEMA.validate(text)
    assert re.search('tests="3" failures="1" errors="1" skipped="0"', text)
    assert text.count("<testcase ") == 4
    assert text.count("<failure ") == text.count("<error ") == 1


def test_junit_of_a_run_that_was_interrupted_is_not_green(tmp_path: Path) -> None:
    good = [result(str(number), ok=True) for number in range(6)]
    half = report(*good, scenarios=10).model_copy(update={"interrupted": True})
    text = written(junit_writer, tmp_path, half)
    SCHEMA.validate(text)
    assert re.search('tests="7" failures="0" errors="1" skipped="0"', text)
    assert 'message="the run was interrupted: 6 of 10 results"' in text
    assert "<error" not in written(junit_writer, tmp_path, report(*good))


def test_junit_and_json_have_the_warnings(tmp_path: Path) -> None:
    leaking = result("leaks", ok=True, leaked_calls=1)
    made = report(leaking, result("fine", ok=True))
    text = written(junit_writer, tmp_path, made)
    SCHEMA.validate(text)
    warning = "in 1 of 2 scenarios the server left calls in the text"
    assert f'<property name="warning" value="{warning}' in text
    json_writer.write(made, tmp_path / "report.json")
    (said,) = json.loads((tmp_path / "report.json").read_text())["warnings"]
    assert said.startswith(warning)
    json_writer.write(report(result("fine", ok=True)), tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["warnings"] == []


def test_what_was_not_answered_is_no_answer_and_not_no_call(tmp_path: Path) -> None:
    wanted = Expectation(none=True)
    lost = result("lost", outcome="transport_failure", expected=wanted, error="HTTP 400")
    silent = result("silent", outcome="no_call", expected=wanted, ok=True)
    made = report(lost, silent)
    assert "got: no answer" in written(junit_writer, tmp_path, made)
    rows = csv.DictReader(written(csv_writer, tmp_path, made).splitlines())
    assert [row["got"] for row in rows] == ["no answer", "no call"]
    assert "got `no answer`" in written(markdown_writer, tmp_path, made)


def test_the_page_knows_unanswered_from_unasked(tmp_path: Path) -> None:
    lost = result("lost", outcome="transport_failure", error="HTTP 400", tags=("hard",))
    good = result("lost", ok=True, tags=("hard",))
    other = result("more", ok=True, expected=Expectation(tools=("glob",)))
    text = written(page_writer, tmp_path, report(good, other), report(lost))
    assert text.count('<span class="quiet">0 of 1 answered</span>') == 2
    assert text.count('<span class="quiet">not asked</span>') == 1


def test_the_schema_refuses_what_is_not_junit(tmp_path: Path) -> None:
    text = written(junit_writer, tmp_path, hostile())
    assert not SCHEMA.is_valid(text.replace(' failures="1"', ""))
    assert not SCHEMA.is_valid(text.replace("<failure", "<fault").replace("</failure", "</fault"))


@given(text=st.text(max_size=30), model=st.text(max_size=30))
def test_junit_stays_xml_whatever_is_written(
    text: str, model: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = report(result(text, reason=model, prompt=text), model=model, suite=text)
    SCHEMA.validate(written(junit_writer, tmp_path_factory.mktemp("junit"), made))


def test_csv_has_a_row_for_each_scenario_and_repeat(tmp_path: Path) -> None:
    made = report(result("a", ok=True), result("a", repeat=2), repeats=2, scenarios=1)
    rows = list(csv.DictReader(written(csv_writer, tmp_path, made, hostile()).splitlines()))
    assert tuple(rows[0]) == COLUMNS
    assert [(row["scenario"], row["repeat"], row["verdict"]) for row in rows[:2]] == [
        ("a", "1", "PASS"),
        ("a", "2", "FAIL"),
    ]
    assert len(rows) == 5


@given(text=st.text(max_size=20) | st.text("=+-@\t\r\n＝＋－＠ A1|!", max_size=20))
def test_no_cell_is_a_formula(text: str) -> None:
    shown = cell(text)
    assert not shown.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"))
    assert "\n" not in shown


@pytest.mark.parametrize(
    "payload",
    ["=cmd|' /C calc'!A0", "@SUM(1+1)", "+1", "-2+3", "\t=1", "\r=1", "\n=1", "＝1+1"],
)
def test_a_formula_is_quoted(payload: str) -> None:
    assert cell(payload).startswith("'")


def test_markdown_ends_before_github_refuses_it(tmp_path: Path) -> None:
    words = "word " * 60
    missed = [result(f"s{number}", reason=f"é{words}") for number in range(8000)]
    text = written(markdown_writer, tmp_path, report(*missed))
    size = len(text.encode())
    assert MOST_BYTES - 2000 < size <= MOST_BYTES < 1024 * 1024
    assert re.search(r"\n[\d,]+ more lines are left out", text)
    assert text.count("- `s") + int(re.findall(r"([\d,]+) more", text)[0].replace(",", "")) == 8000


def test_an_annotation_is_one_line_and_only_ten_of_a_kind(tmp_path: Path) -> None:
    made = report(*(result(f"s{number}", reason=f"100%: a,b\n::error::{HOSTILE}")
                    for number in range(25)))  # fmt: skip
    lines = written(github_writer, tmp_path, made).splitlines()
    assert lines[0].startswith("::notice title=smoke%3A SomeModel::")
    errors = [line for line in lines if line.startswith("::error ")]
    assert len(errors) == len(lines) - 1 == 10
    assert "100%25: a,b\\n::error::" in errors[0]
    assert errors[-1].endswith("and 16 more of this kind")


def test_parquet_has_the_columns_with_their_types(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    made = hostile()
    parquet_writer.write_runs([made, made], tmp_path / "report.parquet")
    table = parquet.read_table(tmp_path / "report.parquet")
    assert tuple(table.column_names) == COLUMNS
    rows = table.to_pylist()
    assert [row["verdict"] for row in rows] == ["PASS", "FAIL", "ERROR"] * 2
    assert rows[1]["tags"] == [HOSTILE.encode("utf-8", "backslashreplace").decode()]
    assert rows[2]["latency_seconds"] is None
    assert rows[0]["latency_seconds"] == 1.0


def test_a_report_takes_its_place_whole(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "report.csv"
    csv_writer.write(report(result("one")), path)
    before = path.read_text()
    broken = report(result("two")).model_copy(update={"results": iter_and_fail()})
    with pytest.raises(ZeroDivisionError):
        csv_writer.write(broken, path)
    assert path.read_text() == before
    assert [file.name for file in path.parent.iterdir()] == ["report.csv"]


def iter_and_fail() -> object:
    return (result(str(1 // (2 - number))) for number in range(5))


@pytest.mark.parametrize("place", ["file/report.csv", "folder"])
def test_a_place_that_cannot_be_written_is_found_before(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(RecordError, match="cannot be written"):
        try_to_write(tmp_path / place)


def test_a_directory_without_a_name_is_no_place_for_a_report() -> None:
    with pytest.raises(RecordError, match=r"'\.' cannot be written: it is a directory"):
        write_text(Path(), "report")


def test_trying_leaves_a_file_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("kept")
    try_to_write(tmp_path / "old")
    try_to_write(tmp_path / "new")
    assert (tmp_path / "old").read_text() == "kept"
    assert not (tmp_path / "new").exists()


def test_every_writer_that_is_listed_can_be_had() -> None:
    from tunaeval.plugins import registries

    writers = registries()["writers"]
    assert {*WRITERS} == set(writers.names())
    assert all(writers.get(name).name == name for name in writers)


class Spoils:
    """A writer that changes what it writes."""

    name = "spoils"

    def write(self, report: Report, path: Path) -> None:
        path.write_text(repr(report.results[0]))
        spoil(report)


def test_a_writer_changes_nothing_for_the_next_one(tmp_path: Path) -> None:
    from tunaeval.cli.report import RequestedReport

    made = report(result("one", got=calls("a")))
    before = repr([made, *made.results])
    for name in ("first", "second"):
        assert RequestedReport(tmp_path / name, Spoils()).write([made]) is None
    assert (tmp_path / "first").read_text() == (tmp_path / "second").read_text()
    assert repr([made, *made.results]) == before
