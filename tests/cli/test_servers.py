"""`tunaeval run` against three servers over HTTP: llama.cpp's, fakellm, and one that fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.faults import Answer, FaultServer, chat
from tests.servers import fakellm, llama_server
from tunaeval.clients.llamacpp import LlamaCppClient

Tuna = Callable[..., CompletedProcess[str]]
MISSING = LlamaCppClient.available()

RULES = """
version: 1
rules:
  - name: status
    when: {messages_contain: "git status"}
    respond:
      tool_calls: [{name: bash, arguments: {command: "git status --short"}}]
  - name: others
    when: {messages_contain: ""}
    respond: {content: "I would rather not."}
"""


def summary(done: CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def results(directory: Path) -> Sequence[Any]:
    (file,) = directory.glob("runs/*/results.jsonl")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def ask(tuna: Tuna, url: str, *more: str) -> CompletedProcess[str]:
    server = ("--client", "openai", "--base-url", url)
    return tuna("run", "--suite", "tunacode", *server, "--json", "--quiet", *more)


@pytest.mark.local
@pytest.mark.skipif(MISSING is not None, reason=MISSING or "it is here")
def test_llama_cpp_answers_over_http(here: Tuna, tmp_path: Path) -> None:
    with llama_server() as url:
        few = ("--limit", "1", "--max-tokens", "16", "--attempts", "1", "--timeout", "300")
        done = ask(here, url, *few, "--tools", "prompt")
    assert summary(done)["summary"]["infrastructure_failures"] == 0
    for result in results(tmp_path):
        assert result["attempts"][0]["completion_tokens"] > 0


@pytest.mark.skipif(find_spec("fakellm") is None, reason="fakellm is not installed")
def test_fakellm_answers_the_whole_suite(here: Tuna, tmp_path: Path) -> None:
    with fakellm(RULES, tmp_path) as url:
        told = summary(ask(here, url))
    calls = [result for result in results(tmp_path) if result["got"]]
    assert [call["name"] for result in calls for call in result["got"]].count("bash") == len(calls)
    assert told["summary"]["infrastructure_failures"] == 0
    assert told["summary"]["outcomes"]["no_call"] + len(calls) == told["summary"]["scenarios"]
    assert {result["format"] for result in calls} == {"structured"}


def test_a_server_that_fails_now_and_then_is_outlasted(here: Tuna, tmp_path: Path) -> None:
    call = '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>'
    faults = [
        Answer(status=503),
        Answer(status=429, headers={"Retry-After": "0.01"}),
        Answer(b'{"choices"', cut_after=4),
        Answer(b"x" * 50, cut_after=10, reset=True),
    ]
    with FaultServer(*faults, then=chat(call)) as server:
        done = ask(here, server.base_url, "--model", "m", "--limit", "6", "--concurrency", "1")
    assert summary(done)["summary"]["infrastructure_failures"] == 0
    told = results(tmp_path)
    assert len(told) == 6
    assert sum(attempt["retries"] for result in told for attempt in result["attempts"]) == 4
    assert all(result["got"][0]["arguments"] == {"command": "ls"} for result in told)


def test_a_server_of_nonsense_is_counted_as_such(here: Tuna, tmp_path: Path) -> None:
    with FaultServer(then=Answer(b"<html>Welcome</html>")) as server:
        done = ask(here, server.base_url, "--model", "m", "--limit", "2")
    assert done.returncode == 2
    assert {result["outcome"] for result in results(tmp_path)} == {"transport_failure"}
