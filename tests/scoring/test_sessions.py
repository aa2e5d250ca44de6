"""A session wraps and scores, and whatever goes wrong in that never reaches the run."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tunaeval import records
from tunaeval.switches import DEFAULT_MODEL, DEFAULT_URL, Switches

QUERY = "What is in a.py?"


def read_file(filepath: str) -> str:
    if filepath == "gone":
        raise FileNotFoundError(filepath)
    return f"contents of {filepath}"


def messages(*, result: str = "contents of a.py") -> list[dict[str, object]]:
    call = {"id": "1", "function": {"name": "read_file", "arguments": '{"filepath": "a.py"}'}}
    return [
        {"role": "user", "content": QUERY},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": result},
        {"role": "assistant", "content": "Contents."},
    ]


def test_what_ran_in_a_session_is_scored_at_its_end() -> None:
    with tunaeval.scoring_session(QUERY) as session:
        assert session.wrap(read_file)("a.py") == "contents of a.py"
        assert session.score is None
        session.messages = messages()
    assert session.score is not None
    assert session.score.details.tool_calls == 1
    assert session.failure is None


def test_what_a_wrapper_saw_counts_and_is_then_forgotten() -> None:
    with tunaeval.scoring_session(QUERY) as session:
        with pytest.raises(FileNotFoundError):
            session.wrap(read_file)("gone")
        session.messages = messages(result="")
    assert session.score is not None
    assert session.score.details.failed_calls == 1
    assert session.recorder.executions == ()


def test_an_asynchronous_run_is_scored_as_well() -> None:
    async def agent() -> tunaeval.ScoringSession:
        async with tunaeval.scoring_session(QUERY) as session:
            session.messages = messages()
        return session

    with tunaeval.scoring_session(QUERY) as session:
        session.messages = messages()
    assert asyncio.run(agent()).score == session.score


def test_a_run_that_fails_is_scored_and_its_exception_passes(tmp_path: Path) -> None:
    out = tmp_path / "new" / "scores.jsonl"
    session = tunaeval.scoring_session(QUERY, out=out)

    def run() -> None:
        with session:
            session.messages = messages()
            raise ZeroDivisionError("by 0")

    with pytest.raises(ZeroDivisionError):
        run()
    assert session.score is not None
    (record,) = records.read(out)
    assert record["query"] == QUERY
    assert record["score"]["weighted_total"] == session.score.weighted_total
    assert record["ended_by"] == "ZeroDivisionError: by 0"
    assert "T" in record["timestamp"]


@pytest.mark.parametrize("given", [None, "no list", [1], [{"content": "no role"}], Iterator])
def test_a_failure_to_score_is_a_record_and_a_warning(
    given: object, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with tunaeval.scoring_session(QUERY, out=tmp_path / "scores.jsonl") as session:
        session.messages = given  # type: ignore[assignment]  # what no host should give
    assert session.score is None
    assert session.failure
    (record,) = records.read(tmp_path / "scores.jsonl")
    assert record["score"] is None
    assert record["failure"] == session.failure
    assert [one.levelno for one in caplog.records] == [logging.WARNING]


def test_an_output_that_cannot_be_written_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    with tunaeval.scoring_session(QUERY, out=tmp_path / "file" / "scores.jsonl") as session:
        session.messages = messages()
    assert session.score is not None
    assert "could not be written" in caplog.text


def test_records_are_appended_behind_a_torn_one(tmp_path: Path) -> None:
    out = tmp_path / "scores.jsonl"
    out.write_bytes(b'{"query": "kept"}\n{"query": "to')
    with tunaeval.scoring_session(QUERY, out=out) as session:
        session.messages = messages()
    assert [json.loads(line)["query"] for line in out.read_text().splitlines()] == ["kept", QUERY]


def test_off_means_not_wrapped_and_not_scored(tmp_path: Path) -> None:
    switches = tunaeval.from_environment({"EVALS2_OUTPUT_FILE": str(tmp_path / "scores.jsonl")})
    assert switches.wrap_tool(read_file, tunaeval.Recorder()) is read_file
    with switches.scoring_session(QUERY) as session:
        assert session.wrap(read_file) is read_file
        session.messages = messages()
    assert session.score is None
    assert switches.score(messages(), QUERY) is None
    assert list(tmp_path.iterdir()) == []


def test_on_means_wrapped_scored_and_written(tmp_path: Path) -> None:
    out = tmp_path / "scores.jsonl"
    switches = tunaeval.from_environment({"ENABLE_EVALS2": "true", "EVALS2_OUTPUT_FILE": str(out)})
    recorder = tunaeval.Recorder()
    assert switches.wrap_tool(read_file, recorder)("a.py") == "contents of a.py"
    assert len(recorder) == 1
    results = [switches.score(messages(), QUERY), asyncio.run(switches.ascore(messages(), QUERY))]
    assert results == [tunaeval.score(messages(), QUERY, preset="evals2")] * 2
    assert len(list(records.read(out))) == 2


@given(st.text())
def test_only_a_word_for_on_switches_on(word: str) -> None:
    on = word.strip().lower() in {"true", "1", "yes", "on"}
    assert tunaeval.from_environment({"ENABLE_EVALS2": word}).enabled == on


def test_the_environment_of_the_process_is_read_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENABLE_EVALS2", raising=False)
    assert tunaeval.from_environment() == Switches()
    monkeypatch.setenv("ENABLE_EVALS2", "TRUE")
    assert tunaeval.from_environment().enabled


def test_a_key_is_what_makes_a_judge() -> None:
    on = {"ENABLE_EVALS2": "1"}
    assert tunaeval.from_environment(on).judge is None
    judge = tunaeval.from_environment({**on, "OPENAI_API_KEY_FOR_SCORING": "k"}).judge
    assert judge is not None
    assert (judge.model, judge.base_url) == (DEFAULT_MODEL, DEFAULT_URL)
    assert "k" not in repr(judge).replace("JudgeModel", "")
