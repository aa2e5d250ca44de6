"""Agents of six hosts answer, raise and ask alike with wrapped tools, and what ran is recorded."""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from typing import Any

import pytest

from tests.hosts.environments import ROOT, hosts, interpreter

pytestmark = pytest.mark.hosts

HOSTS = hosts()
AGENTS = [name for name in HOSTS if name not in {"inspect", "refused"}]

EXECUTED = {
    "answers": [("call_a", "assumed")],
    "raises": [("call_c", "exception")],
    "fails by its text": [("call_d", "")],
    "in parallel": [("call_a", "assumed"), ("call_b", "assumed")],
    "unknown": [],
    "one after another": [("call_a", "assumed"), ("call_d", ""), ("call_b", "assumed")],
}
"""For each case the calls that are run, and why they are thought to have succeeded or failed."""

PATHS = {"call_a": "a.txt", "call_b": "b.txt"}
FAILED_BY_TEXT = {"error-prefix", "exit-code"}

PLAIN = {"call_d"}
WITHOUT_ID = {
    "pydantic-ai": PLAIN,
    "langgraph": PLAIN,
    "openai-agents": PLAIN,
    "smolagents": {"call_a", "call_b", "call_c", "call_d"},
}
"""The calls whose ids do not reach the tool: a function that was wrapped alone, or smolagents."""

ENDS_IN_A_CALL = {"smolagents"}


@cache
def report(name: str) -> Any:
    """What the program of a host prints."""
    host = HOSTS[name]
    python = interpreter(host)
    if python is None:
        pytest.skip(f"not installed; python tests/hosts/environments.py {name}")
    environment = {key: value for key, value in os.environ.items() if "_proxy" not in key.lower()}
    environment |= {"PYTHONPATH": str(ROOT), "OPENAI_AGENTS_DISABLE_TRACING": "1"}
    done = subprocess.run(
        [python, str(ROOT / "tests" / "hosts" / "programs" / host.program)],
        capture_output=True, text=True, env=environment, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", AGENTS)
def test_a_wrapped_agent_answers_raises_and_asks_as_the_bare_one(name: str) -> None:
    bare, wrapped = report(name)["bare"], report(name)["wrapped"]
    assert list(bare) == list(wrapped) == list(EXECUTED)
    for case in bare:
        for what in ("answer", "exception", "requests"):
            assert bare[case][what] == wrapped[case][what], case
        assert bare[case]["answer"] == "Done." or bare[case]["exception"], case
        assert bare[case]["requests"], case


@pytest.mark.parametrize("name", AGENTS)
def test_each_run_of_a_tool_is_recorded_with_its_call_and_its_time(name: str) -> None:
    for case, wanted in EXECUTED.items():
        runs = sorted(report(name)["wrapped"][case]["executions"], key=_path)
        listed = sorted(wanted, key=lambda one: PATHS.get(one[0], one[0]))
        assert [run["is_timed"] for run in runs] == [True] * len(listed), case
        for run, (call_id, reason) in zip(runs, listed, strict=True):
            assert run["call_id"] == (None if call_id in WITHOUT_ID.get(name, ()) else call_id)
            assert run["reason"] == reason or (not reason and run["reason"] in FAILED_BY_TEXT)
            assert run["ok"] == (reason == "assumed")
        assert not report(name)["bare"][case]["executions"]


@pytest.mark.parametrize("name", AGENTS)
def test_what_was_recorded_is_joined_with_the_messages(name: str) -> None:
    for case, wanted in EXECUTED.items():
        score = report(name)["wrapped"][case]["score"]
        if wanted:
            assert score["tool_calls"] == len(wanted) + (name in ENDS_IN_A_CALL), case
            assert score["failed_calls"] == sum(reason != "assumed" for _, reason in wanted), case
        assert "without a call" not in score["reasoning"], case


def _path(run: dict[str, Any]) -> str:
    """The file of a run that succeeds, by which the two of a batch are known."""
    path: str = run["arguments"].get("path") or run["arguments"].get("filepath") or ""
    return path if path in PATHS.values() else "call"


REFUSED = {
    "anthropic": "Anthropic's SDK",
    "anthropic, later": "Anthropic's SDK",
    "google-adk": "Google ADK",
    "mcp": "MCP",
    "inspect": "Inspect",
    "pydantic-ai toolset": "pydantic-ai",
}


@pytest.mark.parametrize("tool", REFUSED)
def test_a_real_tool_is_refused_and_what_to_wrap_instead_works(tool: str) -> None:
    found = report("refused")[tool]
    assert (
        f"of {REFUSED[tool]}, which is not wrapped as it is; wrap the function" in found["refusal"]
    )
    assert found["looks_alike"], "a model sees the same tool"
    assert found["answers"][0] == found["answers"][1]
    assert found["runs"] == [["read", True]]
    assert found["is_refused_again"]


@pytest.mark.parametrize("tool", ["mcp, described", "inspect, what makes it"])
def test_what_only_describes_or_makes_a_tool_is_refused(tool: str) -> None:
    assert "which is not wrapped as it is" in report("refused")[tool]["refusal"]
