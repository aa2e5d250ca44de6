"""What programs and notebooks make of values: rows, DataFrames, tables, calls for APIs, names."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic.warnings import PydanticDeprecatedSince20

import tunaeval
from tunaeval.plugins import registries
from tunaeval.reports.tables import csv_writer
from tunaeval.types.calls import JsonObject, ToolCall
from tunaeval.types.runs import Report
from tunaeval.wire import gemini, messages
from tunaeval.wire.values import chat_call

CALL = '<tool_call>{"name": "weather", "arguments": {"city": "%s"}}</tool_call>'
CITIES = ["Lisbon", "Porto", "<b>Évora</b>", "\ud800"]


def asked(replies: list[str] | None = None) -> Report:
    tool = {"name": "weather", "parameters": {"properties": {"city": {"type": "string"}}}}
    scenarios = [
        {"id": city.replace("\ud800", "x"), "prompt": "?", "tags": ["t"],
         "expect": {"calls": [{"name": "weather", "arguments": {"city": "Lisbon"}}]}}
        for city in CITIES
    ]  # fmt: skip
    client = tunaeval.ScriptedClient(replies or [CALL % json.dumps(city)[1:-1] for city in CITIES])
    suite = {"name": "s", "tools": [tool], "scenarios": scenarios}
    return tunaeval.run(suite, client=client, out=None, attempts=1, concurrency=1, repeats=1)


def columns(report: Report, folder: Path) -> list[str]:
    path = folder / "report.csv"
    csv_writer.write(report, path)
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file))


def test_rows_have_the_columns_of_the_csv(tmp_path: Path) -> None:
    report = asked()
    rows = report.rows()
    assert [list(row) for row in rows] == [columns(report, tmp_path)] * 4
    assert [row["verdict"] for row in rows] == ["PASS", "FAIL", "FAIL", "FAIL"]
    assert rows[0]["tags"] == ["t"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_results_become_a_data_frame(library: str) -> None:
    report = asked()
    frame = getattr(report, f"to_{library}")()
    rows = report.rows()
    assert type(frame).__module__.startswith(library)
    assert list(frame.columns) == list(rows[0])
    assert len(frame) == 4
    assert [bool(one) for one in frame["ok"]] == [row["ok"] for row in rows]
    assert [list(one) for one in frame["tags"]] == [["t"]] * 4
    assert "\\ud800" in frame["got"].to_list()[3]
    none = report.model_copy(update={"results": ()})
    assert list(getattr(none, f"to_{library}")().columns) == list(rows[0])


def test_a_matrix_adds_cell_and_system_prompt() -> None:
    prompts, client = (
        {"terse": "Be brief.", "kind": "Be kind."},
        tunaeval.ScriptedClient(["No."] * 24),
    )
    matrix = tunaeval.run_matrix(
        "smoke", models=[client], system_prompts=prompts, out=None, attempts=1
    )
    rows = matrix.rows()
    assert len(rows) == 24
    assert {(row["cell"], row["system_prompt"]) for row in rows} == {
        ("01", "terse"),
        ("02", "kind"),
    }
    assert rows[0].keys() == {"cell", "system_prompt", *matrix.cells[0].rows()[0]}
    assert len(matrix.to_polars()) == len(matrix.to_pandas()) == 24
    assert matrix.to_pandas()["cell"].to_list() == [row["cell"] for row in rows]


def test_a_library_that_is_missing_is_named() -> None:
    program = """
import sys
sys.modules["polars"] = None
import tunaeval, tunaeval.errors
report = tunaeval.run("smoke", client=tunaeval.ScriptedClient([""] * 12), out=None, attempts=1)
try:
    report.to_polars()
except tunaeval.errors.UsageError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "pip install polars" in done.stdout


def test_a_notebook_shows_what_failed_and_what_was_wanted() -> None:
    shown = asked()._repr_html_()  # type: ignore[attr-defined] # `shows` sets it
    assert "Porto" in shown
    assert "weather(city=&#x27;Lisbon&#x27;)" in shown
    assert "weather(city=&#x27;Porto&#x27;)" in shown
    assert "<b>" not in shown
    assert "<th>expected</th><th>got</th>" in shown
    good = asked([CALL % "Lisbon"] * 4)._repr_html_()  # type: ignore[attr-defined] # as above
    assert "4 of 4 passed" in good
    assert "<td>" not in good


def test_a_notebook_shows_a_rankings_counts_and_ties() -> None:
    models = [tunaeval.ScriptedClient([""] * 12) for _ in range(2)]
    matrix = tunaeval.run_matrix("smoke", models=models, out=None, attempts=1)
    for one in (matrix, matrix.ranking):
        shown = one._repr_html_()  # type: ignore[union-attr] # `shows` sets it
        heads = re.findall("<th>(.*?)</th>", shown)
        assert {"passed", "of", "ties"} <= {*heads}
        first = dict(zip(heads, re.findall("<td>(.*?)</td>", shown), strict=False))
        assert (first["passed"], first["of"], first["ties"]) == ("2", "12", "a")


arguments = st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.none()), max_size=3)


@given(st.from_regex("[a-z_]+", fullmatch=True), arguments, st.none() | st.text(min_size=1))
def test_a_call_is_written_for_three_apis(name: str, given: JsonObject, id_: str | None) -> None:
    call = ToolCall(name, given, id_)
    openai, anthropic, google = call.as_openai(), call.as_anthropic(), call.as_gemini()
    function = openai["function"]
    assert (openai["type"], function["name"]) == ("function", name)
    assert json.loads(function["arguments"]) == given
    assert (anthropic["type"], anthropic["name"], anthropic["input"]) == ("tool_use", name, given)
    part = google["functionCall"]
    assert (part["name"], part["args"]) == (name, given)
    ids = [openai["id"], anthropic["id"], part["id"]]
    assert ids == [id_] * 3 if id_ else all(re.fullmatch("[a-zA-Z0-9_-]{8,40}", one) for one in ids)
    message = {"role": "assistant", "content": None, "tool_calls": [openai]}
    known = tunaeval.ToolSpec(name)
    (read,) = tunaeval.parse_message(message, tools=[known]).calls
    assert (read.name, read.arguments, read.id) == (name, given, openai["id"])
    read_back = {
        messages: {"role": "assistant", "content": [anthropic]},
        gemini: {"role": "model", "parts": [google]},
    }
    for its_id, (api, wrapped) in zip(ids[1:], read_back.items(), strict=True):
        (part,) = api.read_message(wrapped).parts
        made = chat_call(part)
        assert (made["id"], made["function"]["name"]) == (its_id, name)
        assert json.loads(made["function"]["arguments"]) == given


def test_a_made_id_is_another_for_each_call() -> None:
    call = ToolCall("ls", {})
    assert call.as_openai()["id"] != call.as_openai()["id"]


def test_dir_names_nothing_that_pydantic_deprecates() -> None:
    report, suite = asked(), tunaeval.load_suite("smoke")
    for one in (report, report.run, report.summary, report.results[0], suite, suite.scenarios[0]):
        names = dir(one)
        with warnings.catch_warnings():
            warnings.simplefilter("error", PydanticDeprecatedSince20)
            warnings.simplefilter("error", DeprecationWarning)
            values = {name: getattr(one, name) for name in names if name != "__signature__"}
        assert not {"dict", "json", "copy", "schema", "parse_obj", "construct"} & {*names}
        assert not [name for name, value in values.items() if hasattr(value, "__deprecated__")]
        assert "model_dump" in names
    assert {"rows", "to_pandas", "passed", "results"} <= {*dir(report)}


def test_reprs_name_what_distinguishes_a_value() -> None:
    assert "hermes" in repr(tunaeval.stream("hermes"))
    assert "auto" in repr(tunaeval.stream())
    assert "hermes" in repr(tunaeval.formats)
    assert "csv" in repr(registries()["writers"])
    with tunaeval.model_endpoint(["x"]) as model:
        assert model.url in repr(model)
    for one in (tunaeval.stream("hermes"), tunaeval.formats, model):
        assert len(repr(one)) <= 2000
        assert " object at 0x" not in repr(one)
