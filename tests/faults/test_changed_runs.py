"""The law of kept runs: no change of bytes in a run's files makes `--resume` ask again, or count,
what was finished without saying so; and nothing that was finished is deleted on a guess.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

import tunaeval
from tests.cli.conftest import Tuna, ended, here, suite
from tests.faults.runs import small_suite
from tests.runs.whole_runs import ONE, Answers
from tunaeval.errors import RecordError, TunaevalError
from tunaeval.files.records import decode, is_beginning
from tunaeval.files.results import RESULTS_FILE
from tunaeval.parsing.api import parser_for
from tunaeval.runs.runner import SuiteRun
from tunaeval.types.calls import JsonObject
from tunaeval.types.exchange import Request
from tunaeval.types.runs import Suite

__all__ = ["ended", "here", "suite"]

TWICE = replace(ONE, repeats=2, attempts=1)
SCENARIOS, FINISHED = 4, 5


class Counting(Answers):
    """A model that says hello, and whose task is cancelled after so many requests."""

    def __init__(self, last: int = 99, model: str = "tuna-1") -> None:
        super().__init__(lambda _: "Hello.")
        self.places: list[tuple[str, int]] = []
        self.model, self.own, self.last = model, model, last

    async def complete(self, request: Request) -> Any:
        self.places.append((request.scenario, request.repeat))
        if len(self.places) > self.last:
            raise asyncio.CancelledError
        reply = await super().complete(request)
        self.model = self.own
        return reply


@dataclass(frozen=True)
class Kept:
    """A run that ended before its end, as it was found: its suite, and all of its files."""

    suite: Suite
    files: dict[str, bytes]
    finished: dict[tuple[str, int], JsonObject]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("kept")
    asked = small_suite(folder, SCENARIOS)
    run = SuiteRun(asked, Counting(FINISHED), parser_for("auto"), TWICE, directory=folder / "run")
    asyncio.run(run.run())
    files = {path.name: path.read_bytes() for path in (folder / "run").iterdir()}
    rows = [decode(line) for line in files[RESULTS_FILE].splitlines()]
    finished = {(row["scenario"], row["repeat"]): row for row in rows}
    assert len(finished) == FINISHED
    return Kept(asked, files, finished)


Edit = Callable[[bytes], bytes]


def _at(share: float, data: bytes) -> int:
    return int(share * len(data))


def _line(change: Callable[[list[bytes], int], list[bytes]]) -> Callable[[float], Edit]:
    """An edit of one line, which is found by its share of the lines."""

    def edit(share: float) -> Edit:
        def edited(data: bytes) -> bytes:
            rows = data.splitlines(keepends=True)
            return b"".join(change(rows, int(share * len(rows)))) if rows else data

        return edited

    return edit


SHARES = st.floats(0, 1, exclude_max=True)
BYTES = st.binary(min_size=1, max_size=3) | st.sampled_from(
    [b"\n", b"\r", b"\0", b'"', b"}", b"{", b" ", b"0", b"1", b"2", b"3", b'{"scenario":"s0"}\n']
)
WORDS = st.sampled_from(
    [b'"s0"', b'"s1"', b'"repeat":1', b'"repeat":2', b'"ok":true', b'"ok":false', b'"no_call"',
     b'"transport_failure"', b'"schema_version": 1', b'"schema_version": 2', b'"repeats": 1',
     b'"repeats": 2', b'"scenarios": 3', b'"scenarios": 4', b'"scenarios": 9',
     b'"retried_at": []', b'"retried_at": ["x"]', b'"01"', b'"02"', b'"03"', b"tuna-1", b"tuna-2"]
)  # fmt: skip


def flipped(share: float, bit: int) -> Edit:
    def edit(data: bytes) -> bytes:
        at = _at(share, data)
        return data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :]

    return edit


def spliced(share: float, more: bytes, most: float) -> Edit:
    """Some bytes in the place of up to 2,000 others."""

    def edit(data: bytes) -> bytes:
        at = _at(share, data)
        return data[:at] + more + data[at + int(2_000 * most) :]

    return edit


def cut_at_a_line(share: float) -> Edit:
    return lambda data: data[: data.rfind(b"\n", 0, _at(share, data)) + 1]


def blank(rows: list[bytes], at: int) -> list[bytes]:
    return [*rows[:at], b" " * (len(rows[at]) - 1) + b"\n", *rows[at + 1 :]]


EDITS: st.SearchStrategy[Edit] = st.one_of(
    st.builds(flipped, SHARES, st.integers(0, 7)),
    st.builds(spliced, SHARES, BYTES, st.just(0.0)),
    st.builds(spliced, SHARES, BYTES | st.just(b""), st.just(0.0005) | SHARES),
    st.builds(lambda share: lambda data: data[: _at(share, data)], SHARES),
    st.builds(cut_at_a_line, SHARES),
    st.builds(
        lambda between, most: lambda data: data.replace(b"\n", between, most),
        st.sampled_from([b"\r", b"\r\n", b"", b" ", b",", b"\0", b"\n\n"]),
        st.sampled_from([-1, 1, 2]),
    ),
    st.just(lambda data: data.rstrip(b"\n")),
    st.builds(_line(lambda rows, at: [*rows, rows[at]]), SHARES),
    st.builds(_line(lambda rows, at: [*rows[:at], *rows[at + 1 :]]), SHARES),
    st.builds(_line(lambda rows, at: [*rows[at:], *rows[:at]]), SHARES),
    st.builds(_line(blank), SHARES),
    st.builds(lambda old, new: lambda data: data.replace(old, new, 1), WORDS, WORDS),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from([RESULTS_FILE] * 4 + ["run.json", "tools.jsonl"]), edit=EDITS)
@example(name=RESULTS_FILE, edit=lambda data: data.replace(b"\n", b"\r"))
@example(name=RESULTS_FILE, edit=lambda _: b"")
@example(name="run.json", edit=lambda data: data.replace(b'"scenarios": 4', b'"scenarios": 3'))
@example(name="run.json", edit=lambda data: data.replace(b'"scenarios": 4', b'"scenarios": 9'))
def test_no_change_makes_a_run_ask_again_or_count_what_was_finished_in_silence(
    kept: Kept, name: str, edit: Edit, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    edited = edit(kept.files[name])
    with TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        run.mkdir()
        for file, data in {**kept.files, name: edited}.items():
            (run / file).write_bytes(data)
        before = (run / RESULTS_FILE).read_bytes()
        client = Counting()
        try:
            work = SuiteRun(kept.suite, client, parser_for("auto"), TWICE, resume=run)
            report = asyncio.run(work.run())
        except TunaevalError:
            event("refused")
            assert client.places == []
            assert (run / RESULTS_FILE).read_bytes() == before
            return
        after = (run / RESULTS_FILE).read_bytes()
        whole = before if before.endswith(b"\n") else before[: before.rfind(b"\n") + 1]
        tail = before[len(whole) :]
        assert after.startswith(before) or (after.startswith(whole) and is_beginning(tail))
        again = kept.finished.keys() & set(client.places)
        counted = {
            (one.scenario, one.repeat): one.model_dump(mode="json") for one in report.results
        }
        changed = [place for place, row in kept.finished.items() if counted.get(place) != row]
        is_said = bool(caplog.records) or report.summary.doubled_results > 0
        event("said" if is_said else "unchanged")
        assert is_said or not (again or changed), (again, changed)
        assert len(client.places) + len(kept.finished) == 2 * SCENARIOS or is_said


def test_a_result_under_another_scenarios_name_is_refused(kept: Kept, tmp_path: Path) -> None:
    """Also in a run that was killed, and so noted nothing of its results."""
    info = {**json.loads(kept.files["run.json"]), "results_file": None}
    rows = kept.files[RESULTS_FILE].replace(b'"s0","repeat":2', b'"s3","repeat":2')
    files = {**kept.files, "run.json": json.dumps(info).encode(), RESULTS_FILE: rows}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    client = Counting()
    with pytest.raises(RecordError, match=r"'s3' is to the question 'Say 0\.'"):
        SuiteRun(kept.suite, client, parser_for("auto"), TWICE, resume=tmp_path)
    assert client.places == []
    assert (tmp_path / RESULTS_FILE).read_bytes() == rows


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> tuple[Suite, Path]:
    """A suite, and the directory of a matrix of two models that came to its end."""
    folder = tmp_path_factory.mktemp("matrix")
    asked = small_suite(folder, 2)
    done = tunaeval.run_matrix(asked, models=two_models(), out=folder / "runs", attempts=1)
    assert done.directory is not None
    return asked, Path(done.directory)


def two_models() -> list[Counting]:
    return [Counting(), Counting(model="tuna-2")]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edit=EDITS)
@example(edit=lambda data: data.replace(b'"cell": "01"', b'"cell": "03"'))
@example(
    edit=lambda data: (
        data.replace(b"tuna-1", b"tuna-x")
        .replace(b"tuna-2", b"tuna-1")
        .replace(b"tuna-x", b"tuna-2")
    )
)
def test_no_change_of_a_matrix_makes_it_ask_again_in_silence(
    matrix: tuple[Suite, Path], edit: Edit, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    asked, ended = matrix
    with TemporaryDirectory() as folder:
        copy = Path(folder) / ended.name
        shutil.copytree(ended, copy)
        (copy / "matrix.json").write_bytes(edit((ended / "matrix.json").read_bytes()))
        models = two_models()
        try:
            again = tunaeval.run_matrix(asked, models=models, resume=copy, attempts=1)
        except TunaevalError:
            event("refused")
        else:
            assert [report.passed for report in again.cells] == [2, 2]
        assert [model.places for model in models] == [[], []]
        for cell in ("01", "02"):
            kept, now = (one / "cells" / cell / RESULTS_FILE for one in (ended, copy))
            assert now.read_bytes() == kept.read_bytes()


COMMANDS = {
    "show": ("show", "RUN"),
    "report": ("report", "RUN", "--markdown", "-o", "out.md"),
    "compare": ("compare", "RUN", "RUN"),
    "rescore": ("rescore", "RUN", "--out", "again"),
    "resume": ("run", "--resume", "RUN"),
    "replay": ("run", "--suite", "four.json", "--client", "replay", "--recording", "RUN"),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("between", [b"\r", b""], ids=["carriage returns", "nothing"])
def test_results_that_are_joined_are_refused_with_their_bytes_and_number(
    here: Tuna, ended: Path, command: tuple[str, ...], between: bytes
) -> None:
    path = ended / RESULTS_FILE
    joined = path.read_bytes().replace(b"\n", between)
    path.write_bytes(joined)
    done = here(*(str(ended) if word == "RUN" else word for word in command))
    assert done.returncode == 2
    assert (
        f"the line has {len(joined):,} bytes and 4 results in a row, with 0 results" in done.stderr
    )
    assert path.read_bytes() == joined


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_result_that_was_never_finished_is_left_out_and_that_is_said(
    here: Tuna, ended: Path, command: tuple[str, ...]
) -> None:
    path = ended / RESULTS_FILE
    rows = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(rows[:3]) + rows[3][:99])
    done = here(*(str(ended) if word == "RUN" else word for word in command))
    assert (
        "99 bytes, is the beginning of a result and left out, with 3 results before" in done.stderr
    )
    assert ("removed 99 bytes" in done.stderr) is (command == COMMANDS["resume"])
    assert path.read_bytes().startswith(b"".join(rows[:3]))


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_results_that_are_gone_are_said_with_their_bytes_and_number(
    here: Tuna, ended: Path, command: tuple[str, ...]
) -> None:
    path = ended / RESULTS_FILE
    rows = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(rows[:2]))
    done = here(*(str(ended) if word == "RUN" else word for word in command))
    sizes = [sum(map(len, some)) for some in (rows, rows[:2])]
    assert (
        f"was changed since its run ended: it had 4 results in {sizes[0]:,} bytes, and has "
        f"2 lines in {sizes[1]:,} bytes"
    ) in done.stderr


def test_a_run_that_nobody_changed_says_nothing(here: Tuna, ended: Path) -> None:
    for command in COMMANDS.values():
        done = here(*(str(ended) if word == "RUN" else word for word in command))
        assert str(ended / RESULTS_FILE) not in done.stderr


def test_a_run_is_as_readable_as_the_umask_says_and_a_recording_is_its_owners(
    here: Tuna, suite: str, tmp_path: Path, ended: Path
) -> None:
    del ended  # it has left the replies
    mask = os.umask(0o002)
    try:
        here("run", "--suite", suite, "--client", "scripted", "--recording", "replies.jsonl",
             "--attempts", "1", "--quiet", "--out", "more", "--record", "r.jsonl")  # fmt: skip
    finally:
        os.umask(mask)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("more/*/*")}
    assert modes == dict.fromkeys(("run.json", RESULTS_FILE, "tools.jsonl"), 0o664)
    assert stat.S_IMODE((tmp_path / "r.jsonl").stat().st_mode) == 0o600
