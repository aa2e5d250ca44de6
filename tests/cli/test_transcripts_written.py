"""Transcripts become trajectories, and a turn of one becomes a scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.cli.conftest import Tuna
from tests.data.adapters.test_agents import EVENTS, ROLLOUT, lines
from tunaeval.errors import UsageError
from tunaeval.runs.from_transcripts import suite_of_turn

CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
TOOL: dict[str, Any] = {"type": "function", "function": {"name": "read", "parameters": {
    "type": "object", "properties": {"path": {"type": "string"}}}}}  # fmt: skip
ROW: dict[str, Any] = {"tools": [TOOL], "messages": [
    {"role": "system", "content": "You cook."},
    {"role": "user", "content": "Read a."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "text"},
    {"role": "assistant", "content": "It says text."},
]}  # fmt: skip

ASKED = ROW["messages"][:2]
LOST = [*ASKED, {"role": "assistant", "tool_calls": [
    {**CALL, "function": {"name": "read", "arguments": '{"path": "a'}}]}]  # fmt: skip
SILENT = [*ASKED, {"role": "assistant", "content": "", "reasoning_content": "hm"}]


def test_a_message_of_reasoning_alone_is_not_sent(here: Tuna, tmp_path: Path) -> None:
    more = [*SILENT, {"role": "user", "content": "Go on."}, *ROW["messages"][2:]]
    (tmp_path / "row.json").write_text(json.dumps(more))
    done = here("suites", "from-transcript", "row.json", "--turn", "2", "-o", "o.jsonl")
    assert done.returncode == 0, done.stderr
    (scenario,) = tunaeval.load_suite(tmp_path / "o.jsonl").scenarios
    assert [one["role"] for one in scenario.messages] == ["user"]


def test_a_turn_before_a_failure_expects_nothing() -> None:
    failed = {"type": "assistant", "isApiErrorMessage": True, "message": {
        "role": "assistant", "content": [{"type": "text", "text": "API Error: 500"}]}}  # fmt: skip
    said = [("user", "Read a."), ("assistant", "I look.")]
    rows = [{"type": who, "message": {"role": who, "content": text}} for who, text in said]
    read = tunaeval.read_conversation([*rows, failed])
    with pytest.raises(UsageError, match="API Error: 500"):
        suite_of_turn(read, 1, name="s")


def test_transcripts_of_any_shape_become_trajectories(here: Tuna, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(lines(ROLLOUT))
    done = here("convert", "r.jsonl", "--to", "atif", "-o", "t.json")
    assert done.returncode == 0, done.stderr
    assert "(compacted)" in done.stderr
    assert "1 transcript written" in done.stderr
    trajectory = json.loads((tmp_path / "t.json").read_text())
    (step,) = [one for one in trajectory["steps"] if one["source"] == "agent"][:1]
    results = step["observation"]["results"]
    assert [one["source_call_id"] for one in results] == ["call_1", "call_2"]
    atif = pytest.importorskip("atif", reason="needs the package atif, its schema")
    assert atif.Trajectory.model_validate(trajectory)


def test_what_convert_needs_is_said(here: Tuna, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(lines(ROLLOUT))
    assert "--from is missing" in here("convert", "r.jsonl", "--to", "hermes").stderr
    refused = here("convert", "r.jsonl", "--to", "atif", "--from", "codecs").stderr
    assert "did you mean 'codex'" in refused


@pytest.mark.parametrize(("turn", "prompt", "passes"), [(1, "Read a.", CALL), (2, "", None)])
def test_a_turn_becomes_a_scenario_that_is_checked_and_run(
    here: Tuna, tmp_path: Path, turn: int, prompt: str, passes: Any
) -> None:
    (tmp_path / "row.json").write_text(json.dumps(ROW))
    args = ("suites", "from-transcript", "row.json", "--turn", str(turn), "-o", "out.jsonl")
    assert here(*args).returncode == 0
    assert here("suites", "check", "out.jsonl").returncode == 0
    suite = tunaeval.load_suite(tmp_path / "out.jsonl")
    (scenario,) = suite.scenarios
    assert (scenario.prompt, suite.system_prompt, [*suite.tools]) == (prompt, "You cook.", ["read"])
    reply = tunaeval.ToolCall("read", {"path": "a"}) if passes else "It says text."
    with tunaeval.model_endpoint([reply]) as model:
        done = here("run", "--suite", "out.jsonl", "--base-url", model.url, "--client", "openai",
                    "--model", "m", "--out", "run", "--fail-under", "100%")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert model.requests[0].messages[-1]["role"] == ("user" if prompt else "tool")
    again = here(*args)
    assert (again.returncode, "out.jsonl" in again.stderr) == (2, True)


def test_tools_that_no_transcript_describes_are_made_from_its_calls(
    here: Tuna, tmp_path: Path
) -> None:
    (tmp_path / "r.jsonl").write_bytes(lines(ROLLOUT))
    done = here("suites", "from-transcript", "r.jsonl", "--turn", "1", "-o", "out.jsonl")
    assert done.returncode == 0, done.stderr
    suite = tunaeval.load_suite(tmp_path / "out.jsonl")
    assert suite.scenarios[0].prompt == "Fix add() in calc.py"
    assert [call.arguments for call in suite.scenarios[0].expect.calls or ()] == [
        {"cmd": "cat calc.py"}, {"cmd": "cat nosuch.py"},
    ]  # fmt: skip
    assert suite.tools["exec_command"].parameters["properties"] == {"cmd": {}}
    assert here("suites", "check", "out.jsonl").returncode == 0


@pytest.mark.parametrize(
    ("content", "more", "said"),
    [
        (json.dumps(ROW), ("--turn", "9"), "row.json: turn is 9; the transcript has 2 turns"),
        (json.dumps(ROW), (), "give --turn N and -o FILE.jsonl"),
        (f"{json.dumps(ROW)}\n{json.dumps(ROW)}", ("--turn", "1"), "it has 2 transcripts; give"),
        (json.dumps(ROW), ("--turn", "1", "--transcript", "3"), "it has 1 transcript; give"),
        ("\n".join(map(json.dumps, EVENTS)), ("--turn", "1"), "nothing was asked before turn 1"),
        (json.dumps(ROW)[:-9], ("--turn", "1"), "row.json: not JSON"),
        (json.dumps(LOST), ("--turn", "1"), "expected: its call of 'read' cannot be read"),
        (json.dumps(SILENT), ("--turn", "1"), "turn 1 says nothing that can be expected"),
    ],
)
def test_what_is_no_turn_is_said(
    here: Tuna, tmp_path: Path, content: str, more: tuple[str, ...], said: str
) -> None:
    (tmp_path / "row.json").write_text(content)
    done = here("suites", "from-transcript", "row.json", *more, "-o", "out.jsonl")
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "out.jsonl").exists()
