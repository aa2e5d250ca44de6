"""`tunaeval dataset check` and `filter`: counts with examples, two files that have every row."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.data.rows import HERMES, SHAPES, openai, sharegpt

Tuna = Callable[..., subprocess.CompletedProcess[str]]
EVERY = [row for rows in SHAPES.values() for row in rows]
GOOD = [
    json.loads(json.dumps(row).replace("Oslo?", f"Oslo, {number}?"))
    for number, row in enumerate(EVERY)
]
"""The same conversations with other questions, for these would be duplicates."""
BAD = [
    sharegpt(("human", "a"), ("gpt", HERMES + "<tool_call>{")),
    sharegpt(("human", "b"), ("gpt", HERMES.replace("get_weather", "rm"))),
    {"who": "knows"},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    lines = [json.dumps(row).encode() for row in [*GOOD, *BAD]]
    path.write_bytes(b"\n".join([*lines, b"{ broken"]))
    return path


def test_a_check_counts_with_examples(here: Tuna, file: Path) -> None:
    done = here("dataset", "check", str(file))
    assert f"{len(GOOD) + 4} rows" in done.stdout
    assert ": 4 with findings" in done.stdout
    assert "1 broken-beside-good" in done.stdout
    assert f"row {len(GOOD) + 2}: 'rm' is none of: get_weather" in done.stdout
    assert done.returncode == 1, "two rows cannot be read"


def test_a_check_for_machines_has_the_same(here: Tuna, file: Path) -> None:
    done = here("dataset", "check", str(file), "--json", "--examples", "1")
    found = json.loads(done.stdout)
    assert found["findings"]["unreadable-row"] == 2
    assert [one["row"] for one in found["examples"]["unreadable-row"]] == [len(GOOD) + 3]
    assert found["with_findings"] == 4


def test_only_strict_ends_with_1_for_rows_that_can_be_read(here: Tuna, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps(BAD[0]))
    assert here("dataset", "check", str(path)).returncode == 0
    assert here("dataset", "check", str(path), "--strict").returncode == 1
    allowed = ("--strict", "--allow", "broken-beside-good")
    assert here("dataset", "check", str(path), *allowed).returncode == 0


def test_a_filter_loses_no_row(here: Tuna, file: Path, tmp_path: Path) -> None:
    done = here("dataset", "filter", str(file), "--kept", "kept.jsonl", "--rejected", "bad.jsonl")
    assert done.returncode == 1
    kept = (tmp_path / "kept.jsonl").read_bytes().splitlines()
    rejected = [json.loads(line) for line in (tmp_path / "bad.jsonl").read_text().splitlines()]
    assert kept == file.read_bytes().splitlines()[: len(GOOD)], "byte for byte"
    assert [row["row"] for row in rejected] == [len(GOOD) + n for n in (1, 2, 3, 4)]
    assert [row["data"] for row in rejected] == [*BAD, "{ broken"]
    assert [row["reasons"][0]["code"] for row in rejected] == [
        "broken-beside-good", "unknown-tool", "unreadable-row", "unreadable-row",
    ]  # fmt: skip


def test_rows_of_parquet_are_kept_as_lines(here: Tuna, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    row = openai(tools=json.dumps(openai()["tools"]))
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "in.parquet")
    names = ("--kept", "out/kept.jsonl", "--rejected", "out/bad.jsonl")
    done = here("dataset", "filter", "in.parquet", *names)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((tmp_path / "out/kept.jsonl").read_text())["tools"] == row["tools"]
    assert (tmp_path / "out/bad.jsonl").read_text() == ""


def test_a_parquet_file_that_was_cut_is_no_success(here: Tuna, tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.Table.from_pylist([{"a": 1}] * 100), path)
    path.write_bytes(path.read_bytes()[:-20])
    done = here("dataset", "check", "in.parquet")
    assert done.returncode == 1
    assert "was cut off" in done.stdout


def test_questions_of_a_suite_are_looked_for(here: Tuna, tmp_path: Path) -> None:
    suite = [{"prompt": "How is it?", "expect": {"none": True}}]
    (tmp_path / "suite.json").write_text(json.dumps({"scenarios": suite, "tools": [{"name": "f"}]}))
    (tmp_path / "in.jsonl").write_text(json.dumps(sharegpt(("human", "how is IT?"), ("gpt", "x"))))
    done = here("dataset", "check", "in.jsonl", "--against", "suite.json", "--strict")
    assert done.returncode == 1, done.stderr
    assert "1 contaminated" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "piece"),
    [
        (("check", "none.jsonl"), "none.jsonl' cannot be read"),
        (("check", "in.csv"), "wanted a path that ends in .jsonl"),
        (("check", "x.jsonl", "--allow", "misfits"), "did you mean 'misfit'"),
        (("check", "x.jsonl", "--shape", "xlan"), "did you mean 'xlam'"),
        (("check", "x.jsonl", "--kept", "y"), "check takes neither"),
        (("filter", "x.jsonl", "--kept", "y"), "filter needs --kept FILE and --rejected FILE"),
        (("filter", "x.jsonl", "--kept", "y", "--rejected", "y"), "filter needs"),
        (("check", "x.jsonl", "--against", "nope"), "nope"),
    ],
)
def test_wrong_use_ends_with_2(arguments: tuple[str, ...], piece: str, here: Tuna) -> None:
    done = here("dataset", *arguments)
    assert done.returncode == 2
    assert piece in done.stderr


def test_convert_reads_every_shape(here: Tuna, tmp_path: Path) -> None:
    """Nothing is "without calls": each row is converted, to structured calls and to text."""
    rows = [row for shape, rows in SHAPES.items() if shape != "openai" for row in rows]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = here("convert", "in.jsonl", "--from", "hermes", "--to", "structured", "-o", "out.jsonl")
    assert f"\n{len(rows)} lines: {len(rows)} converted, 0 without" in done.stderr
    assert done.returncode == 0
    for line in (tmp_path / "out.jsonl").read_text().splitlines():
        row = json.loads(line)
        said = row.get("messages") or row.get("completion") or row["chosen"]
        calls = [item for one in said for item in one.get("tool_calls", ())]
        assert len(calls) == 1, row
        assert calls[0]["function"]["arguments"]["city"] == "Oslo"
        assert "from" not in json.dumps(said)
    done = here("convert", "in.jsonl", "--from", "auto", "--to", "glm45", "-o", "out.jsonl")
    assert "0 without calls to convert, 1 left as they were" in done.stderr, done.stderr
    assert done.returncode == 1, "a name with a space cannot be written in this format"
    written = (tmp_path / "out.jsonl").read_text()
    assert written.count("<arg_key>city</arg_key>") == len(rows) - 1


def test_convert_says_which_rows_of_a_shape_it_cannot_read(here: Tuna, tmp_path: Path) -> None:
    bad = sharegpt(("human", "a"), ("function_call", "no call"))
    broken = sharegpt(("human", "a"), ("gpt", HERMES + "<tool_call>{"))
    (tmp_path / "in.jsonl").write_text(f"{json.dumps(bad)}\n{json.dumps(broken)}")
    done = here("convert", "in.jsonl", "--from", "hermes", "--to", "openai", "-o", "out.jsonl")
    assert done.returncode == 1
    assert (
        "line 1 is left as it is: llama-factory: message 1 is a call that is no JSON" in done.stderr
    )
    assert "line 2 is left as it is: sharegpt: " in done.stderr
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "in.jsonl").read_bytes()


def test_a_gate_on_no_rows_is_not_green(here: Tuna, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("\n")
    for strict, code in (((), 0), (("--strict",), 1)):
        done = here("dataset", "check", str(path), *strict)
        assert (done.returncode, done.stdout) == (code, "0 rows (none): 0 with findings\n")
        assert "has no rows, so nothing was checked" in done.stderr


def test_parquet_is_neither_written_nor_converted_line_by_line(here: Tuna, tmp_path: Path) -> None:
    path, kept = tmp_path / "in.parquet", tmp_path / "kept.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    done = here("convert", str(path), "--from", "hermes", "--to", "structured")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is Parquet; wanted JSON lines" in done.stderr
    files = ("--kept", str(kept), "--rejected", str(tmp_path / "r.jsonl"))
    done = here("dataset", "filter", str(path), *files)
    assert (done.returncode, kept.exists()) == (2, False)
    assert "rows are written as JSON lines" in done.stderr
