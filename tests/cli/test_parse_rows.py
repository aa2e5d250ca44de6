"""JSON lines of any number: packed or not, over several processes, and no line is lost."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.cli.conftest import ROOT, Tuna
from tunaeval.cli.parse import RESULT_KEYS, ReadingSetting, chunks_of, reading, result_object
from tunaeval.files.packed_files import LONGEST

CALL = '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>'
BROKEN = "<tool_call>{]</tool_call>"
TEXTS = [CALL, CALL.replace('"', "'"), "prose", BROKEN, CALL[:40], "", "\ud800é"]
SETTING = ReadingSetting("auto", None, "standard", None, as_json=True)

zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {"id": f"r{number}", "text": TEXTS[number % len(TEXTS)], "score": number / 7}
        for number in range(count)
    ]


def written(records: list[Any]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def read(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".jsonl": bytes,
    ".jsonl.gz": gzip.compress,
    ".jsonl.zst": lambda data: zstandard.ZstdCompressor().compress(data),
}
UNPACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".jsonl": bytes,
    ".jsonl.gz": gzip.decompress,
    ".jsonl.zst": lambda data: zstandard.ZstdDecompressor().stream_reader(data).read(),
}


@given(texts=st.lists(st.text(max_size=20) | st.sampled_from(TEXTS), max_size=12))
def test_a_row_says_what_parse_says_of_its_text(texts: list[str]) -> None:
    lines = [json.dumps({"text": text, "id": number}).encode() for number, text in enumerate(texts)]
    answer = reading(SETTING)((1, lines))
    assert answer.rows == len(texts)
    for number, (text, line) in enumerate(zip(texts, read(answer.written), strict=True)):
        wanted = json.loads(json.dumps(result_object(tunaeval.parse(text))))
        assert line == {"line": number + 1, "id": number, **wanted}


@given(lines=st.lists(st.binary(max_size=30), max_size=12))
def test_no_line_raises_and_none_is_lost(lines: list[bytes]) -> None:
    lines = [line.replace(b"\n", b"") for line in lines]
    answer = reading(SETTING)((1, lines))
    blank = sum(not line.strip() for line in lines)
    assert answer.rows + len(answer.bad) + blank == len(lines)
    assert len(answer.written.splitlines()) == answer.rows


@given(st.lists(st.binary(max_size=2000).map(lambda line: line * 50), max_size=700))
def test_chunks_are_all_the_lines_in_order(lines: list[bytes]) -> None:
    found = list(chunks_of(iter(lines)))
    assert [line for _, chunk in found for line in chunk] == lines
    assert [number for number, _ in found] == [
        1 + sum(len(chunk) for _, chunk in found[:at]) for at in range(len(found))
    ]


@pytest.mark.parametrize("suffix_out", PACKERS)
@pytest.mark.parametrize("suffix_in", PACKERS)
def test_packed_files_go_in_and_out(
    tuna: Tuna, tmp_path: Path, suffix_in: str, suffix_out: str
) -> None:
    (tmp_path / f"in{suffix_in}").write_bytes(PACKERS[suffix_in](written(rows(20))))
    done = tuna("parse", f"in{suffix_in}", "--out", f"out{suffix_out}")
    assert done.returncode == 0, done.stderr
    found = read(UNPACKERS[suffix_out]((tmp_path / f"out{suffix_out}").read_bytes()))
    assert [row["id"] for row in found] == [f"r{number}" for number in range(20)]
    assert "20 rows in" in done.stderr
    assert "calls 6, malformed 3, truncated 3" in done.stderr


@pytest.mark.parametrize("suffix", [".jsonl.gz", ".jsonl.zst"])
def test_what_was_packed_in_two_pieces_is_read_whole(tuna: Tuna, suffix: str) -> None:
    two = PACKERS[suffix](written(rows(3))) + PACKERS[suffix](written(rows(2)))
    done = tuna("parse", "--jsonl", "--json", stdin=two)
    assert len(done.stdout.splitlines()) == 5


@pytest.mark.parametrize(
    "packed",
    [
        PACKERS[".jsonl.gz"](b'{"text": ""}\n' * 9)[:-9],
        PACKERS[".jsonl.zst"](b'{"text": "a"}\n' * 9)[:-3],
        b"\x28\xb5\x2f\xfdxx",
        b"\x28\xb5\x2f\xfd" + b"\xff" * 99,
    ],
    ids=["gzip cut", "zstd cut", "zstd begun", "no zstd"],
)
def test_a_packed_file_that_is_broken_is_named(tuna: Tuna, tmp_path: Path, packed: bytes) -> None:
    (tmp_path / "in.jsonl").write_bytes(packed)
    done = tuna("parse", "in.jsonl", "--json", "-o", "out.jsonl")
    assert done.returncode == 2
    assert "'in.jsonl' cannot be" in done.stderr
    assert not (tmp_path / "out.jsonl").exists(), "half of the results would look like all"


def test_several_processes_say_the_same_in_the_same_order(tuna: Tuna, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(written(rows(1500)))
    one = tuna("parse", "in.jsonl", "--json")
    several = tuna("parse", "in.jsonl", "--json", "--workers", "2")
    assert one.stdout == several.stdout
    assert len(one.stdout.splitlines()) == 1500
    words = tuna("parse", "in.jsonl", "--workers", "2").stdout
    assert words == tuna("parse", "in.jsonl").stdout
    assert words.count("line ") >= 1500


def test_bad_lines_are_kept_aside_and_counted(tuna: Tuna, tmp_path: Path) -> None:
    lines = written(rows(4)).splitlines()
    lines[1:1] = [b"{broken", b'{"no": "text"}', b"\xff\xfe", b"[1]", b"", b"7"]
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(lines))
    done = tuna("parse", "in.jsonl", "-o", "out.jsonl")
    assert done.returncode == 1
    assert "4 rows" in done.stderr
    assert "5 bad lines" in done.stderr
    kept = read((tmp_path / "out.jsonl.bad.jsonl").read_bytes())
    assert [row["line"] for row in kept] == [2, 3, 4, 5, 7]
    assert kept[0]["text"] == "{broken"
    assert [row["line"] for row in read((tmp_path / "out.jsonl").read_bytes())] == [1, 8, 9, 10]
    strict = tuna("parse", "in.jsonl", "-o", "strict.jsonl", "--strict")
    assert strict.returncode == 2
    assert "line 2" in strict.stderr
    assert not (tmp_path / "strict.jsonl").exists()


@pytest.mark.parametrize("out", ["in.jsonl", "./in.jsonl", "link.jsonl"])
def test_the_file_that_is_read_is_not_written_over(tuna: Tuna, tmp_path: Path, out: str) -> None:
    """Results do not hold the texts, so these would be gone."""
    (tmp_path / "in.jsonl").write_bytes(written(rows(3)))
    (tmp_path / "link.jsonl").symlink_to("in.jsonl")
    done = tuna("parse", "in.jsonl", "-o", out)
    assert done.returncode == 2
    assert f"--out '{out}' is the input file" in done.stderr
    assert (tmp_path / "in.jsonl").read_bytes() == written(rows(3))


def test_a_field_is_read_by_its_name(tuna: Tuna) -> None:
    record = {"answer": CALL, "text": "not this", "id": 3}
    done = tuna("parse", "--jsonl", "--json", "--field", "answer", stdin=written([record]))
    (row,) = read(done.stdout.encode())
    assert (row["outcome"], row["text"], row["id"]) == ("calls", "not this", 3)
    done = tuna("parse", "--jsonl", "--json", "--field", "answr", stdin=written([record]))
    assert done.returncode == 1
    assert "in the field 'answr'" in done.stderr


def test_fields_that_are_called_as_ours_are_kept_apart(tuna: Tuna) -> None:
    record = {"text": CALL, **{key: f"my {key}" for key in RESULT_KEYS}}
    (row,) = read(tuna("parse", "--jsonl", "--json", stdin=written([record])).stdout.encode())
    assert row["row"] == {key: f"my {key}" for key in RESULT_KEYS}
    assert row["calls"][0]["name"] == "bash"


def test_what_json_can_hardly_say_is_kept(tuna: Tuna) -> None:
    lines = b'{"text": "\\ud800", "id": 123456789012345678901234567890}\n'
    (row,) = read(tuna("parse", "--jsonl", "--json", stdin=lines).stdout.encode())
    assert row["id"] == 123456789012345678901234567890
    assert row["content"] == "\ud800"


@pytest.mark.parametrize(
    "options", [["--workers", "2"], ["--field", "x"], ["-o", "x"], ["--strict"]]
)
def test_options_of_lines_are_refused_of_a_text(tuna: Tuna, options: list[str]) -> None:
    done = tuna("parse", "--json", *options, stdin=b"text")
    assert done.returncode == 2
    assert "give --jsonl" in done.stderr


def test_a_line_that_never_ends_takes_no_memory_beyond_its_limit(
    tuna: Tuna, tmp_path: Path
) -> None:
    with (tmp_path / "in.jsonl").open("wb") as file:
        file.write(b'{"text": "')
        file.truncate(LONGEST + 1000)
        file.seek(0, os.SEEK_END)
        file.write(b'"}\n{"text": "fine"}\n')
    done = tuna("parse", "in.jsonl", "--json")
    assert done.returncode == 1
    assert "longer than" in done.stderr
    assert [row["line"] for row in read(done.stdout.encode())] == [2]


PEAK = """\
import sys
from tunaeval.cli import main
main(sys.argv[1:])
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for its peak")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Ten times the rows, 76 MB more, take at most 25 MB more."""
    line = written([{"text": "prose " * 700, "id": 1}])
    peaks = []
    for count in (2_000, 20_000):
        file = tmp_path / f"{count}.jsonl"
        file.write_bytes(line * count)
        done = subprocess.run(
            [sys.executable, "-c", PEAK, "parse", str(file), "-o", f"{file}.out"],
            capture_output=True, text=True, check=True, cwd=ROOT,
        )  # fmt: skip
        peaks.append(int(done.stdout))
    assert peaks[1] < peaks[0] + 25_000


def test_a_directory_is_no_place_for_results(here: Tuna, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"text": "Hi."}\n')
    (tmp_path / "there").mkdir()
    done = here("parse", "rows.jsonl", "--out", "there")
    assert done.returncode == 2
    assert "'there' cannot be written: it is a directory; name a file in it" in done.stderr
    assert "report" not in done.stderr
    assert here("parse", "rows.jsonl", "--out", "new/there/out.jsonl").returncode == 0
    assert (tmp_path / "new" / "there" / "out.jsonl").exists()
