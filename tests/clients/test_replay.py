"""Recordings: what was said once is said again, and nothing else."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tunaeval.clients.replay import ReplayClient, read_recording, write_recording
from tunaeval.errors import ClientSetupError, RecordError, TransportFailure
from tunaeval.files import records
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.messages import Usage
from tunaeval.types.parsing import LEVELS
from tunaeval.types.roles import Client
from tunaeval.types.runs import (
    AttemptRecord,
    Expectation,
    LevelResult,
    RunInfo,
    RunOutcome,
    ScenarioResult,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def run_info(**changes: Any) -> RunInfo:
    given = {
        "run_id": "r1",
        "started_at": "2026-11-21T20:00:00+00:00",
        "suite": "tunacode",
        "suite_digest": "d1",
        "scenarios": 2,
        "client": "llamacpp",
        "model": "SmolLM2",
        "model_details": {"sha256": "b179"},
        "format": "auto",
        "level": "standard",
        "profile": "default",
        "ask": "prompt",
        "repeats": 1,
        "attempts": 2,
        "max_tokens": 300,
        "temperature": 0.0,
        "seed": None,
        "concurrency": 1,
        "deadline_seconds": 30.0,
        "prompt_digest": "p1",
        "versions": {},
    }
    return RunInfo.model_validate({**given, **changes})


def attempt(message: dict[str, Any], outcome: RunOutcome = "no_call") -> AttemptRecord:
    return AttemptRecord(
        message=message,
        finish_reason="stop",
        latency_seconds=1.5,
        prompt_tokens=9,
        completion_tokens=4,
        outcome=outcome,
    )


def result(scenario: str, *attempts: AttemptRecord, repeat: int = 1) -> ScenarioResult:
    return ScenarioResult(
        scenario=scenario,
        repeat=repeat,
        prompt="?",
        expected=Expectation(none=True),
        got=(),
        ok=True,
        first_attempt_ok=True,
        reason="",
        outcome="no_call",
        format=None,
        repairs=(),
        levels={level: LevelResult(ok=True, first_attempt_ok=True) for level in LEVELS},
        attempts=attempts,
        latency_seconds=1.5,
        prompt_tokens=9,
        completion_tokens=4,
    )


RESULTS = (
    result("a", attempt({"content": "one"}), attempt({"content": "two"})),
    result("a", attempt({"content": "again"}), repeat=2),
    result("b", attempt({}, "transport_failure")),
)


@pytest.fixture(params=["file", "directory"])
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The same run, as a recording and as a run directory."""
    if request.param == "file":
        path = tmp_path / "recording.jsonl"
        assert write_recording(path, run_info(), RESULTS) == 3
        return path
    return run_directory(tmp_path, run_info())


def run_directory(path: Path, run: RunInfo) -> Path:
    records.write_document(path / "run.json", run.model_dump(mode="json"))
    with records.RecordWriter(path / "results.jsonl") as writer:
        for row in RESULTS:
            writer.append(row.model_dump(mode="json"))
    return path


def ask(client: ReplayClient, scenario: str, repeat: int = 1, attempt: int = 1) -> Reply:
    request = Request([], scenario=scenario, repeat=repeat, attempt=attempt)
    return asyncio.run(client.complete(request))


def test_it_is_a_client(recorded: Path) -> None:
    assert isinstance(ReplayClient(path=recorded), Client)


@pytest.mark.parametrize(
    ("place", "words"), [(("a", 1, 1), "one"), (("a", 1, 2), "two"), (("a", 2, 1), "again")]
)
def test_a_reply_is_found_by_its_place(
    recorded: Path, place: tuple[str, int, int], words: str
) -> None:
    reply = ask(ReplayClient(path=str(recorded)), *place)
    assert reply == Reply({"content": words}, "stop", Usage(9, 4), latency_seconds=None)


@pytest.mark.parametrize("place", [("a", 1, 3), ("a", 3, 1), ("b", 1, 1), ("c", 1, 1)])
def test_what_was_not_recorded_is_a_failure(recorded: Path, place: tuple[str, int, int]) -> None:
    with pytest.raises(TransportFailure, match="no reply was recorded") as caught:
        ask(ReplayClient(path=recorded), *place)
    assert caught.value.kind == "replay"
    assert repr(place[0]) in str(caught.value)


def test_it_says_that_no_model_was_run(recorded: Path) -> None:
    client = ReplayClient(path=recorded)
    assert client.heading == "recorded outputs of SmolLM2, 2026-11-21; no model was run"
    assert client.model == "SmolLM2"
    assert client.details["sha256"] == "b179"
    assert client.suite_digests == {"tunacode": "d1"}


def test_what_headed_the_recorded_scores_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl"
    write_recording(path, run_info(heading="constrained decoding"), RESULTS)
    assert ReplayClient(path=path).heading.endswith("no model was run; constrained decoding")


def test_a_replay_is_not_recorded_as_if_it_were_new(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="itself a replay"):
        write_recording(tmp_path / "again.jsonl", run_info(client="replay"), RESULTS)
    run_directory(tmp_path, run_info(client="replay"))
    with pytest.raises(RecordError, match="itself a replay"):
        ReplayClient(path=tmp_path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(message=st.dictionaries(st.text(), JSON, max_size=4))
def test_any_message_is_had_back_as_it_was(message: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl"
    path.unlink(missing_ok=True)
    write_recording(path, run_info(), [result("x", attempt(message))])
    assert read_recording(path).replies["x", 1, 1].message == message


def test_a_recording_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl"
    path.write_text("precious")
    with pytest.raises(RecordError, match="exists already"):
        write_recording(path, run_info(), RESULTS)
    assert path.read_text() == "precious"


def _without(path: Path, line: int, field: str) -> None:
    lines = path.read_text().splitlines()
    row = json.loads(lines[line])
    del row[field]
    lines[line] = json.dumps(row)
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("line", "field", "words"),
    [
        (0, "recording", "record 1: 'recording'"),
        (0, "suite_digests", "record 1: 'suite_digests'"),
        (2, "scenario", "record 3: 'scenario'"),
        (1, "message", "record 2: 'message'"),
    ],
)
def test_a_bad_record_is_named(tmp_path: Path, line: int, field: str, words: str) -> None:
    path = tmp_path / "recording.jsonl"
    write_recording(path, run_info(), RESULTS)
    _without(path, line, field)
    with pytest.raises(RecordError, match=words) as caught:
        ReplayClient(path=path)
    assert path.name in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_an_empty_file_is_no_recording(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "recording.jsonl"
    path.write_bytes(content)
    with pytest.raises(RecordError, match="empty"):
        ReplayClient(path=path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="nowhere"):
        ReplayClient(path=tmp_path / "nowhere.jsonl")
    with pytest.raises(ClientSetupError, match="option 'path'"):
        ReplayClient()


def test_an_interrupted_run_is_replayed_as_far_as_it_went(tmp_path: Path) -> None:
    run_directory(tmp_path, run_info())
    with (tmp_path / "results.jsonl").open("a") as journal:
        journal.write('{"scenario": "torn')
    assert len(read_recording(tmp_path).replies) == 3
