"""The environment's switches: on, off, and a judge whose key is told to nobody but its server."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.faults import CANARY_KEY, Answer, FaultServer, chat
from tests.scoring.sessions import QUERY, VERDICT, messages, read_file
from tunaeval.files import records
from tunaeval.scoring.switches import DEFAULT_MODEL, DEFAULT_URL, Switches
from tunaeval.types.runs import ScoreResult


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


OFF = """\
import sys
before = set(sys.modules)
import tunaeval
switches = tunaeval.from_environment()
recorder = tunaeval.Recorder()
with switches.scoring_session("q") as session:
    assert session.wrap(print) is switches.wrap_tool(print, recorder) is print
    session.messages = [{"role": "user", "content": "q"}]
assert switches.score(session.messages, "q") is None
heavy = ("pydantic", "httpx2", "asyncio", "tenacity", "rich", "tunaeval.data.adapters",
         "tunaeval.scoring.scorers", "tunaeval.scoring.scores", "tunaeval.scoring.judging",
         "tunaeval.clients.openai")
print([name for name in heavy if name in sys.modules])
"""


@pytest.mark.parametrize("word", ["", "false", "no such word"])
def test_off_imports_nothing_and_writes_nothing(word: str, tmp_path: Path) -> None:
    told = {
        "ENABLE_EVALS2": word,
        "EVALS2_OUTPUT_FILE": str(tmp_path / "scores.jsonl"),
        "OPENAI_API_KEY_FOR_SCORING": CANARY_KEY,
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", OFF],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **told}, check=False,
    )  # fmt: skip
    assert done.stdout == "[]\n", done.stderr
    assert list(tmp_path.iterdir()) == []


def at_once(switches: Switches) -> ScoreResult | None:
    return switches.score(messages(), QUERY)


def later(switches: Switches) -> ScoreResult | None:
    return asyncio.run(switches.ascore(messages(), QUERY))


ANSWERS = {
    "a verdict": chat(VERDICT),
    "no verdict": chat("I would rather not."),
    "a refusal": Answer(json.dumps({"error": {"message": f"bad key {CANARY_KEY}"}}).encode(), 401),
    "a redirect": Answer(status=307, headers={"location": f"http://127.0.0.1/?key={CANARY_KEY}"}),
    "no JSON": Answer(b"<html>"),
}


@pytest.mark.parametrize("ask", [at_once, later])
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("handed", [True, False], ids=["a mapping", "the process"])
def test_the_key_goes_to_the_judge_and_nowhere_else(
    *,
    ask: Callable[[Switches], ScoreResult | None],
    answer: str,
    handed: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    out = tmp_path / "scores.jsonl"
    with FaultServer(then=ANSWERS[answer]) as server:
        switches = switched_on(monkeypatch, handed, {
            "ENABLE_EVALS2": "true",
            "OPENAI_API_KEY_FOR_SCORING": CANARY_KEY,
            "OPENAI_MODEL_FOR_SCORING": "m",
            "OPENAI_BASE_URL": server.base_url,
            "EVALS2_OUTPUT_FILE": str(out),
        })  # fmt: skip
        result = ask(switches)
    assert result is not None
    assert {one.headers["authorization"] for one in server.seen} == {f"Bearer {CANARY_KEY}"}
    assert {one.json["model"] for one in server.seen} == {"m"}
    if answer == "a verdict":
        assert result.goal_completion == 0.9
    else:
        assert result.details.outcome == "judge_failure"
        assert result.goal_completion is None
    (record,) = records.read(out)
    assert record["score"] == result.model_dump(mode="json")
    logged = (
        one.getMessage()
        for one in caplog.records
        # httpcore's debugging tells all headers that come, and this redirect has the key in one.
        if not (one.name.startswith("httpcore") and answer == "a redirect")
    )
    for told in (repr(switches), repr(switches.scoring_session(QUERY)), repr(result), *logged):
        assert CANARY_KEY not in told
    assert CANARY_KEY not in out.read_text()


def switched_on(monkeypatch: pytest.MonkeyPatch, handed: bool, told: Mapping[str, str]) -> Switches:
    if handed:
        for name in told:
            monkeypatch.delenv(name, raising=False)
        return tunaeval.from_environment(told)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    return tunaeval.from_environment()
