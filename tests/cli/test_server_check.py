"""From a run to the doctor: one line where a run's calls look like the server's fault."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.doctor.loopback import Loopback
from tests.faults import Answer, FaultServer, chat, completion

Tuna = Callable[..., CompletedProcess[str]]


def call(name: str, arguments: str) -> Answer:
    function = {"name": name, "arguments": arguments}
    made = {"id": "call_1", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [made]}
    return completion(message, "tool_calls")


def asked(here: Tuna, server: FaultServer, suite: str) -> str:
    options = ("--suite", suite, "--attempts", "1", "--quiet", "--concurrency", "1")
    done = here("run", "--base-url", server.base_url, "--model", "m", *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_leaked_calls_name_the_doctor(here: Tuna, suite: str) -> None:
    text = '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>'
    with FaultServer(then=chat(text)) as server:
        said = asked(here, server, suite)
        assert f"Ask it: tunaeval doctor --base-url {server.base_url} --model m" in said
    assert "calls left in the text (4 scenarios)" in said
    assert said.count("tunaeval doctor") == 1


def test_invalid_arguments_beside_tool_calls_name_the_doctor(here: Tuna, suite: str) -> None:
    with FaultServer(then=call("bash", '{"command": "ls')) as server:
        said = asked(here, server, suite)
    assert "invalid arguments beside the finish reason tool_calls (4 scenarios)" in said


@pytest.mark.parametrize("text", [None, "", "Let me look."])
def test_the_finish_reason_tool_calls_without_a_call_names_the_doctor(
    here: Tuna, suite: str, text: str | None
) -> None:
    lost = completion({"role": "assistant", "content": text}, "tool_calls")
    with FaultServer(call("bash", '{"command": "ls"}'), then=lost) as server:
        said = asked(here, server, suite)
        assert f"Ask it: tunaeval doctor --base-url {server.base_url} --model m" in said
    assert "the finish reason tool_calls without a call (3 scenarios)" in said


def test_an_error_that_says_that_calls_are_lost_names_the_doctor(here: Tuna, suite: str) -> None:
    words = "the reply says finish_reason 'tool_calls' and sends no call"
    error = Answer(json.dumps({"error": {"message": words}}).encode(), 400)
    with FaultServer(call("bash", '{"command": "ls"}'), error, then=chat("Hi.")) as server:
        options = ("--suite", suite, "--attempts", "1", "--quiet", "--concurrency", "1")
        said = here("run", "--base-url", server.base_url, "--model", "m", *options).stdout
    assert "the finish reason tool_calls without a call (1 scenario)" in said


def test_calls_from_two_sources_name_the_doctor(here: Tuna, suite: str) -> None:
    text = '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>'
    with FaultServer(call("bash", '{"command": "ls"}'), then=chat(text)) as server:
        said = asked(here, server, suite)
    assert "calls from two sources (3 scenarios)" in said


def test_sound_calls_say_nothing_of_it(here: Tuna, suite: str) -> None:
    with FaultServer(then=call("bash", '{"command": "ls"}')) as server:
        assert "doctor" not in asked(here, server, suite)


def verdict(directory: Path) -> Any:
    (file,) = directory.glob("runs/*/run.json")
    return json.loads(file.read_text("utf-8"))["server_check"]


def test_the_server_is_checked_first_where_that_is_asked_for(
    here: Tuna, suite: str, tmp_path: Path
) -> None:
    with Loopback("stream-empty-arguments") as server:
        options = ("--suite", suite, "--check-server", "--quiet", "--attempts", "1")
        done = here("run", "--base-url", server.base_url, "--model", "scripted", *options)
    assert done.returncode == 0, done.stderr
    assert "the server's check: no-arguments, stream-as-whole; tunaeval doctor" in done.stderr
    kept = verdict(tmp_path)
    assert kept == {"exit": 1, "server": "vLLM", "faults": ["no-arguments", "stream-as-whole"]}


def test_the_check_sends_the_key_of_the_run(
    here: Tuna, suite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another server's key would else be sent to this one."""
    monkeypatch.setenv("OWN_KEY", "key-of-this-server")
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-another-server")
    with FaultServer(then=chat("Hi.")) as server:
        here(
            "run", "--suite", suite, "--base-url", server.base_url, "--model", "m", "--quiet",
            "--key-variable", "OWN_KEY", "--check-server", "--attempts", "1",
        )  # fmt: skip
        sent = {one.headers.get("authorization") for one in server.seen}
    assert sent == {"Bearer key-of-this-server"}


def test_a_client_without_a_server_cannot_be_checked(here: Tuna, tmp_path: Path) -> None:
    (tmp_path / "said.jsonl").write_text('"no"\n')
    done = here("run", "--client", "scripted", "--recording", "said.jsonl", "--check-server")
    assert done.returncode == 2
    assert "needs a server to examine" in done.stderr
