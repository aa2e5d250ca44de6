"""A cache of replies is a convenience: what is wrong with it is said once, and costs no answer."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.faults.runs import suite_file
from tests.runs.whole_runs import Answers
from tunaeval.errors import RecordError
from tunaeval.files.reply_store import FILE, ReplyStore, cache_in, digest_of
from tunaeval.types.exchange import Reply, fault_of
from tunaeval.types.runs import Report

ASKED = digest_of({"a": 1})
REPLY = Reply({"role": "assistant", "content": "Hello."}, "stop", source="text", notes=("odd",))


def model() -> Answers:
    """A model that says hello, and whose name is known before it is asked."""
    client = Answers(lambda _: "Hello.")
    client.model = "tuna-1"
    return client


def cached_run(folder: Path, *, count: int = 3, seconds: float = 30.0, **more: Any) -> Report:
    return tunaeval.run(
        suite_file(folder, count), client=model(), out=None, concurrency=2,
        deadline_seconds=seconds, cache=folder / "kept", **more,
    )  # fmt: skip


def database(*statements: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with closing(sqlite3.connect(path)) as base:
            for statement in statements:
                base.execute(statement)
            base.commit()

    return make


def words(path: Path) -> None:
    path.write_text("no database, but long enough to be one" * 9)


FOREIGN: dict[str, Callable[[Path], None]] = {
    "a table": database("CREATE TABLE theirs (x)"),
    "views alone": database("CREATE VIEW theirs AS SELECT 1"),
    "a table of our name": database("CREATE TABLE replies (asked, reply, at)"),
    "a view of our name": database("CREATE VIEW replies AS SELECT 1 AS asked, 2 AS reply, 3 AS at"),
    "their number": database("PRAGMA application_id = 7"),
    "their version": database("PRAGMA user_version = 3"),
    "no database": words,
}


def warned(caplog: pytest.LogCaptureFixture) -> str:
    """What was warned about, which has to be one thing."""
    (record,) = (one for one in caplog.records if one.levelno >= logging.WARNING)
    return record.getMessage()


@pytest.mark.parametrize("make", FOREIGN.values(), ids=FOREIGN)
def test_a_file_of_others_is_left_as_it_is_and_the_run_goes_on(
    tmp_path: Path, make: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "kept").mkdir()
    make(tmp_path / "kept" / FILE)
    before = {path: path.read_bytes() for path in (tmp_path / "kept").iterdir()}
    report = cached_run(tmp_path)
    assert (report.passed, report.summary.cached_replies) == (3, 0)
    assert {path: path.read_bytes() for path in (tmp_path / "kept").iterdir()} == before
    words = warned(caplog)
    assert f"the kept replies in {str(tmp_path / 'kept' / FILE)!r} cannot be opened" in words
    assert "as without a cache" in words
    with pytest.raises(RecordError):
        ReplyStore(tmp_path / "kept")


@pytest.mark.parametrize("kind", ["a file above it", "a directory", "a pipe", "a device"])
def test_what_is_no_file_is_not_waited_for(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "kept" / FILE
    if kind == "a file above it":
        path.parent.write_text("")
    else:
        path.parent.mkdir()
        match kind:
            case "a directory":
                path.mkdir()
            case "a pipe":
                os.mkfifo(path)
            case _:
                path.symlink_to("/dev/zero")
    assert cached_run(tmp_path).passed == 3
    assert "cannot be opened" in warned(caplog)


def test_the_cells_of_a_matrix_warn_once_together(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "kept").write_text("")
    matrix = tunaeval.run_matrix(
        suite_file(tmp_path, 3), models=[model(), model()], out=None,
        cache=tmp_path / "kept",
    )  # fmt: skip
    assert [report.passed for report in matrix.cells] == [3, 3]
    warned(caplog)


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_cache_that_another_process_holds_makes_no_answer_a_timeout(
    tmp_path: Path, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It is held for longer than the scenarios may take."""
    assert cached_run(tmp_path).summary.cached_replies == 0
    with closing(sqlite3.connect(tmp_path / "kept" / FILE, isolation_level=None)) as other:
        other.execute(f"PRAGMA journal_mode = {mode}")
        other.execute("BEGIN EXCLUSIVE")
        report = cached_run(tmp_path, count=5, seconds=0.5)
        assert (report.passed, report.summary.infrastructure_failures) == (5, 0)
        assert report.summary.cached_replies == (3 if mode == "WAL" else 0)
        assert "locked" in warned(caplog)
    assert cached_run(tmp_path, count=5).summary.cached_replies == 3
    assert cached_run(tmp_path, count=5).summary.cached_replies == 5


def test_the_event_loop_goes_on_while_the_cache_waits(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The lock is released by the loop itself: if that waited, the reply would not be kept."""

    async def work() -> Reply | None:
        cache = cache_in(tmp_path)
        assert await cache.get(ASKED) is None
        with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            put = asyncio.ensure_future(cache.put(ASKED, REPLY))
            for _ in range(3):
                await asyncio.sleep(0)
            assert not put.done()
            other.execute("ROLLBACK")
        await put
        found = await cache.get(ASKED)
        await cache.aclose()
        return found

    found = asyncio.run(work())
    assert found is not None
    assert (found.message, found.notes) == (REPLY.message, REPLY.notes)
    assert not caplog.records


FULL = """
import resource, signal, sys
sys.dont_write_bytecode = True  # half a file of byte code would break all that come later
from pathlib import Path
from tests.files.test_reply_cache import cached_run
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
report = cached_run(Path(sys.argv[1]), count=int(sys.argv[3]), attempts=1)
print(report.passed, report.summary.cached_replies)
"""


def test_a_full_disk_costs_no_answer_and_what_is_kept_is_used(tmp_path: Path) -> None:
    assert cached_run(tmp_path).summary.cached_replies == 0
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path), "36000", "12"],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.stdout == "12 3\n"
    assert done.stderr.count("cannot be written") == 1
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        with ReplyStore(tmp_path / "kept") as store:
            store.put(ASKED, REPLY)
            modes = {
                path.name: stat.S_IMODE(path.stat().st_mode) for path in store.path.parent.iterdir()
            }
    finally:
        os.umask(mask)
    assert modes == dict.fromkeys((FILE, f"{FILE}-wal", f"{FILE}-shm"), 0o600)


RECORD = {"message": {"content": "Hello."}, "finish_reason": "stop", "prompt_tokens": 1,
          "completion_tokens": 2, "source": "text", "notes": []}  # fmt: skip
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.floats(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=3,
)
damaged_rows = (
    st.binary() | st.text() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
) | (
    st.dictionaries(st.sampled_from(tuple(RECORD)), json_values, min_size=1).map(
        lambda changed: json.dumps({**RECORD, **changed}).encode()
    )
)  # fmt: skip


@pytest.fixture(scope="module")
def opened() -> Iterator[tuple[ReplyStore, sqlite3.Connection]]:
    with TemporaryDirectory() as folder, ReplyStore(folder) as store:
        store.put(ASKED, REPLY)
        with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
            other.execute("PRAGMA synchronous = OFF")
            yield store, other


@given(reply=damaged_rows, at=st.text() | st.binary() | st.integers(0, 9))
def test_a_damaged_row_is_a_miss_and_never_a_damaged_reply(
    opened: tuple[ReplyStore, sqlite3.Connection], reply: Any, at: Any
) -> None:
    store, other = opened
    other.execute("UPDATE replies SET reply = ?, at = ?", (reply, at))
    other.execute("UPDATE replies SET at = CAST(at AS TEXT) WHERE typeof(at) = 'blob'")
    found = store.get(ASKED)
    assert found is None or fault_of(found) is None


@pytest.mark.parametrize(
    "changed",
    [{"message": None}, {"message": {"content": 5}}, {"finish_reason": 3}, {"source": "air"},
     {"prompt_tokens": "1"}, {"completion_tokens": 0.5}, {"notes": 7}, {"notes": [None]}],
)  # fmt: skip
def test_a_damaged_row_costs_one_request_and_no_run(
    tmp_path: Path, changed: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    cached_run(tmp_path)
    with closing(sqlite3.connect(tmp_path / "kept" / FILE)) as base:
        row = json.dumps({**RECORD, **changed})
        base.execute(
            "UPDATE replies SET reply = ? WHERE asked IN (SELECT asked FROM replies LIMIT 1)",
            (row,),
        )
        base.commit()
    report = cached_run(tmp_path)
    assert (report.passed, report.summary.cached_replies) == (3, 2)
    assert cached_run(tmp_path).summary.cached_replies == 3
    assert not caplog.records
