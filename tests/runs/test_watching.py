"""What is new in a run's files: each result once, however its lines arrive."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.files.locks import DirectoryLock, is_held
from tunaeval.runs.watching import Watch
from tunaeval.types.calls import JsonObject
from tunaeval.types.json_text import encode

RESULTS = st.builds(
    lambda scenario, repeat, ok, outcome: {
        "scenario": scenario, "repeat": repeat, "ok": ok, "outcome": outcome,
    },
    st.sampled_from(["a", "ü", "\ud800", "n" * 300]),
    st.integers(1, 2),
    st.booleans(),
    st.sampled_from(["calls", "no_call", "transport_failure", "judge_failure"]),
)  # fmt: skip


def verdict(row: JsonObject) -> str:
    if row["outcome"] in {"transport_failure", "judge_failure"}:
        return "ERROR"
    return "PASS" if row["ok"] else "FAIL"


@given(rows=st.lists(RESULTS, max_size=6), cuts=st.lists(st.integers(0, 2000), max_size=4))
def test_pieces_of_lines_are_read_as_the_whole(
    tmp_path_factory: pytest.TempPathFactory, rows: list[JsonObject], cuts: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    file, watch = folder / "results.jsonl", Watch(folder)
    text = b"no record\n" + b"".join(map(encode, rows))
    last: dict[tuple[object, object], object] = {}
    start = 0
    for end in sorted({min(cut, len(text)) for cut in cuts} | {len(text)}):
        with file.open("ab") as open_file:
            open_file.write(text[start:end])
        start = end
        for one in watch.news():
            assert set(one) == {"scenario", "repeat", "verdict"}
            last[one["scenario"], one["repeat"]] = one["verdict"]
    assert last == {(row["scenario"], row["repeat"]): verdict(row) for row in rows}
    assert [*watch.news()] == []
    assert watch.state()["done"] == len(last)


def test_a_file_that_is_written_anew_is_read_anew(tmp_path: Path) -> None:
    file, watch = tmp_path / "results.jsonl", Watch(tmp_path)
    file.write_bytes(encode({"scenario": "a", "ok": True}) * 3)
    assert [one["verdict"] for one in watch.news()] == ["PASS"]
    file.write_bytes(encode({"scenario": "b", "ok": False}))
    assert [(one["scenario"], one["verdict"]) for one in watch.news()] == [("b", "FAIL")]
    assert watch.state()["done"] == 1


def test_a_lock_says_whether_a_process_writes(tmp_path: Path) -> None:
    assert not is_held(tmp_path)
    lock = DirectoryLock(tmp_path)
    assert is_held(tmp_path)
    assert is_held(tmp_path), "to look changes nothing"
    holder = json.loads(lock.path.read_text())
    lock.release()
    assert not is_held(tmp_path)
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    for text, held in (
        (json.dumps({**holder, "process": child}), False),
        (json.dumps(holder), False),
        (json.dumps({**holder, "process": 10**30}), False),
        (json.dumps({**holder, "host": "elsewhere"}), True),
        ("no JSON", False),
    ):
        lock.path.write_text(text)
        assert is_held(tmp_path) is held, text
