"""Records survive what happens to them: odd text, cuts at any byte, kills, a full disk."""

from __future__ import annotations

import gzip
import json
import math
import os
import random
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tunaeval.errors import RecordError
from tunaeval.files.records import (
    RecordWriter,
    append,
    decode,
    is_beginning,
    read,
    read_document,
    recover,
    replace_document,
    write_document,
)
from tunaeval.limits import TOO_DEEP
from tunaeval.types.json_text import MAX_DEPTH, encode

# Two lone surrogates that make a pair are one character in JSON, so no text here has both.
texts = st.text(st.characters(codec=None, exclude_characters="\udc00", max_codepoint=0xDBFF))
values = st.recursive(
    st.none()
    | st.booleans()
    | texts
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-(10**500), 10**500),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
records = st.dictionaries(texts, values, max_size=4)


@given(record=records)
def test_a_record_is_one_line_and_read_back(record: dict[str, Any]) -> None:
    line = encode(record)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line) == record


def test_a_lone_surrogate_is_kept_as_an_escape() -> None:
    assert encode({"text": "a\ud800"}) == b'{"text":"a\\ud800"}\n'


def test_integers_beyond_64_bits_stay_what_they_are() -> None:
    assert decode(encode({"n": 2**64 + 1})) == {"n": 2**64 + 1}
    assert decode(encode({"n": 2**9000})) == {"n": hex(2**9000)}


def test_what_json_cannot_say_becomes_null() -> None:
    for text in ("", "\ud800"):  # both ways of writing
        assert decode(encode({"x": math.nan, "y": -math.inf, "text": text})) == {
            "x": None,
            "y": None,
            "text": text,
        }


def test_depth_is_capped() -> None:
    deep: Any = "bottom"
    for _ in range(100_000):
        deep = [deep]
    kept = decode(encode({"deep": deep, "beside": 1}))
    assert kept["beside"] == 1
    inner = kept["deep"]
    for _ in range(MAX_DEPTH - 1):
        (inner,) = inner
    assert inner == [TOO_DEEP]


def test_a_programmers_object_is_refused() -> None:
    with pytest.raises(TypeError, match=r"not \w*Path"):
        encode({"x": Path()})


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(written=st.lists(records, min_size=1, max_size=4))
def test_a_file_cut_at_any_byte_keeps_every_whole_record(
    tmp_path: Path, written: list[dict[str, Any]]
) -> None:
    path = tmp_path / "records.jsonl"
    lines = [encode(record) for record in written]
    whole = b"".join(lines)
    ends = [sum(map(len, lines[: count + 1])) for count in range(len(lines))]
    for cut in range(0, len(whole) + 1, 1 + len(whole) // 200):
        path.write_bytes(whole[:cut])
        # A record without its newline is whole.
        kept = written[: sum(end - 1 <= cut for end in ends)]
        assert list(read(path)) == kept
        torn = recover(path)
        assert torn == max(0, cut - (ends[len(kept) - 1] if kept else 0))
        assert list(read(path)) == kept
        assert recover(path) == 0
        with RecordWriter(path) as writer:
            writer.append({"next": 1})
        assert list(read(path)) == [*kept, {"next": 1}]


def test_a_writer_recovers_a_torn_tail_first(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":"' + b"x" * 200_000)
    with RecordWriter(path) as writer:
        assert writer.recovered == 200_006
        writer.append({"c": 3})
    assert list(read(path)) == [{"a": 1}, {"c": 3}]


@given(record=records, other=records, share=st.floats(0, 1, exclude_max=True))
def test_only_the_beginning_of_one_record_is_taken_for_one(
    record: dict[str, Any], other: dict[str, Any], share: float
) -> None:
    line, more = encode(record), encode(other)
    part = line[:-1][: 1 + int(share * (len(line) - 2))]
    assert is_beginning(part) is (part != line[:-1])
    for joined in (line[:-1] + more, line[:-1] + b"\r" + part, b"\0" + part, part + b"\0" + part):
        assert not is_beginning(joined)
    assert not any(is_beginning(part + end) for end in (b"\n", b"\r", b"\n" + part))


@pytest.mark.parametrize("between", [b"\r", b"", b" ", b"\0", b","])
def test_records_that_are_joined_are_not_removed(
    tmp_path: Path, between: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever reads or writes the file says how many bytes and records are on which line."""
    path = tmp_path / "r.jsonl"
    joined = between.join(encode({"n": n, "text": "x" * 50})[:-1] for n in range(20)) + between
    path.write_bytes(b'{"a":1}\n' + joined)
    for use in (
        lambda: list(read(path)),
        lambda: RecordWriter(path),
        lambda: append(path, {"n": 1}),
    ):
        with pytest.raises(RecordError, match=rf"line 2: .* has {len(joined):,} bytes") as refused:
            use()
        assert "20 records in a row, with 1 record before" in str(refused.value)
        assert path.read_bytes() == b'{"a":1}\n' + joined
    assert not caplog.records


def test_a_beginning_of_a_record_is_left_out_and_removed_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":2}\n{"c": "\xc3')
    assert list(read(path)) == [{"a": 1}, {"b": 2}]
    append(path, {"d": 4})
    left_out, removed = (record.getMessage() for record in caplog.records)
    assert (
        "the last line, 8 bytes, is the beginning of a record and left out, with 2 records"
        in left_out
    )
    assert "r.jsonl: removed 8 bytes" in removed
    assert path.read_bytes() == b'{"a":1}\n{"b":2}\n{"d":4}\n'


@pytest.mark.parametrize("torn", [b'{"b":', b'{"b":[1,', b'{"b":{"c":1}', b'{"b"'])
def test_a_torn_line_in_the_middle_hides_no_record_behind_it(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"a":1}\n' + torn + b'\n{"c":3}\n')
    with pytest.raises(RecordError, match=r"line 2: .* 0 records in a row, with 1 record before"):
        list(read(path))


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"a":1}\n\nnonsense\n{"b":2}\n')
    records_read = read(path)
    assert next(records_read) == {"a": 1}
    with pytest.raises(RecordError, match=r"r\.jsonl, line 3: wanted a JSON object .*nonsense"):
        next(records_read)


@pytest.mark.parametrize("line", ["[1]", "3", "null", "[" * 5000, '{"a":1}{"b":2}'])
def test_only_objects_are_records(tmp_path: Path, line: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(RecordError, match="line 1"):
        list(read(path))


def test_reading_takes_constant_memory(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    line = encode({"text": "x" * 1000})
    path.write_bytes(line * 5000)
    tracemalloc.start()
    try:
        assert sum(1 for _ in read(path)) == 5000
        assert tracemalloc.get_traced_memory()[1] < 1_000_000  # the file has 5 MB
    finally:
        tracemalloc.stop()


def test_a_directory_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="one of its parents is a file"):
        RecordWriter(tmp_path / "file" / "r.jsonl")
    with pytest.raises(RecordError, match=r": Is a directory; choose another path$"):
        RecordWriter(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_directory_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(RecordError, match="choose a directory that can be written to"):
            RecordWriter(tmp_path / "r.jsonl")
    finally:
        tmp_path.chmod(0o755)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="No such file"):
        list(read(tmp_path / "r.jsonl"))


FULL = """
import resource, signal, sys
sys.dont_write_bytecode = True  # half a file of byte code would break all that come later
from pathlib import Path
from tunaeval.errors import RecordError
from tunaeval.files.records import RecordWriter
resource.setrlimit(resource.RLIMIT_FSIZE, (20_500, 20_500))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
writer = RecordWriter(Path(sys.argv[1]))
try:
    for n in range(1000):
        writer.append({"n": n, "text": "x" * 999})
except RecordError as error:
    print(n, error)
"""


def test_a_full_disk_leaves_no_half_record(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    count, message = done.stdout.split(" ", 1)
    assert "everything before this record is whole" in message
    assert path.read_bytes().endswith(b"\n")
    assert [record["n"] for record in read(path)] == list(range(int(count)))


KILLED = """
import sys
from pathlib import Path
from tunaeval.files.records import RecordWriter
writer = RecordWriter(Path(sys.argv[1]))
for n in range(10**9):
    writer.append({"n": n, "text": "x" * (n % 40_000)})
    sys.stdout.write(f"{n}\\n")
    sys.stdout.flush()
"""


def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    for kill in range(5):
        path = tmp_path / f"{kill}.jsonl"
        with subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(random.uniform(0, 0.05))
            writer.send_signal(signal.SIGKILL)
            acknowledged = 1 + writer.stdout.read().count("\n")
        recover(path)
        kept = [record["n"] for record in read(path)]
        assert kept == list(range(len(kept)))
        assert acknowledged <= len(kept) <= acknowledged + 1


def test_a_document_is_written_once_and_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_document(path, {"a": "\ud800", "n": 2**70})
    with pytest.raises(RecordError, match="it exists already"):
        write_document(path, {})
    assert read_document(path) == {"a": "\ud800", "n": 2**70}
    replace_document(path, {"b": 2})
    assert json.loads(path.read_text()) == {"b": 2}
    assert list(tmp_path.iterdir()) == [path]


def test_a_broken_document_is_told(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"a": ')
    with pytest.raises(RecordError, match="wanted one JSON object"):
        read_document(path)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (b"\x7fELF\x02\x01\0\0", "bytes that are no text"),
        (gzip.compress(b'{"a": 1}\n', mtime=0), "bytes that are no text"),
        ('{"a": "é"}'.encode("latin-1"), "codec can't decode byte"),
        (b"[1, 2", "Expecting"),
        (b'{"a": "\x01"}', "control character"),
    ],
    ids=["program", "gzip", "latin-1", "cut", "control"],
)
def test_a_binary_file_is_named_as_what_it_is(tmp_path: Path, found: bytes, words: str) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(found + b"\n")
    for reading in (read_document, lambda path: list(read(path))):
        with pytest.raises(RecordError, match=words):
            reading(path)


def test_plain_records_are_written_as_orjson_writes_them() -> None:
    record = {"a": [1, 2.5, "ü", None, True, {"b": ()}]}
    assert encode(record) == orjson.dumps(record) + b"\n"
