"""`tunaeval doctor` as its users run it: shapes of the report, exit codes, foreign words."""

from __future__ import annotations

import json
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from tests.doctor.loopback import Loopback
from tests.faults import CANARY_KEY, Answer, FaultServer
from tunaeval.doctor.checks import GROUPS

Tuna = Callable[..., CompletedProcess[str]]


def test_json_has_server_findings_and_exit(here: Tuna) -> None:
    with Loopback("stream-empty-arguments", seed=1) as server:
        done = here("doctor", "--base-url", server.base_url, "--json", "--quiet")
    told = json.loads(done.stdout)
    assert done.returncode == told["exit"] == 1
    assert (told["server"]["name"], told["server"]["version"]) == ("vLLM", "0.33.0")
    first = told["findings"][0]
    assert first.keys() == {"id", "check", "group", "verdict", "evidence", "remedy"}
    assert first["id"] == "no-arguments/streamed/empty-arguments"
    assert told["schema"] == 1
    assert told["server"]["answers_as"] == "scripted"
    assert told["settings"]["repeats"] == 3
    assert 0 < told["seconds"] < 600
    assert told["started_at"].endswith("+00:00")
    assert (first["check"], first["group"], first["verdict"]) == ("no-arguments", "calls", "server")
    assert '{"name": "ping", "arguments": {}}' in first["evidence"]["raw"]
    assert first["evidence"]["api"]["tool_calls"][0]["arguments"] == ""
    assert first["evidence"]["reads"]["calls"][0]["arguments"] == {}
    assert first["remedy"]
    assert done.stderr == ""


def test_a_sound_server_exits_with_0(tuna: Tuna) -> None:
    with Loopback() as server:
        done = tuna("doctor", "--base-url", server.base_url, "--model", "scripted", "--quick")
    assert done.returncode == 0, done.stdout
    assert "nothing is wrong with the server's tool calling (exit 0)" in done.stdout
    assert "one call, streamed: 200" in done.stderr, "progress"


def test_the_console_shows_raw_text_spans_and_the_remedy(here: Tuna) -> None:
    with Loopback("no-parser") as server:
        done = here("doctor", "--base-url", server.base_url, "--only", "calls", "--quiet")
    lines = done.stdout.splitlines()
    raw = next(number for number, line in enumerate(lines) if line.startswith("  raw "))
    assert "<tool_call>\\n{" in lines[raw]
    marked = lines[raw + 1]
    span = lines[raw][marked.index("^") : marked.rindex("^") + 1]
    assert span.startswith('{"name": "get_weather"')
    assert "--enable-auto-tool-choice --tool-call-parser hermes" in done.stdout
    same = [line for line in lines if line.startswith("SERVER  the same fault as")]
    assert len(same) == 1
    assert "calls / no-arguments/streamed/calls-in-content" in same[0]


def test_markdown_is_for_an_issue(here: Tuna) -> None:
    with Loopback("index-always-0") as server:
        done = here("doctor", "--base-url", server.base_url, "--markdown", "--quiet")
    assert done.returncode == 1
    assert done.stdout.startswith("# Tool calling of `vLLM`: the server is at fault\n")
    assert "## server: stream / `stream-fragments`" in done.stdout


def test_what_a_server_says_is_shown_and_not_obeyed(here: Tuna) -> None:
    said = b'{"error": {"message": "\\u001b[31m<b>|`no`\\u202e"}}'
    with FaultServer(then=Answer(said, 500)) as server:
        for shape in ((), ("--markdown",)):
            done = here(
                "doctor", "--base-url", server.base_url, "--quiet", "--only", "reach", *shape
            )
            assert "\x1b" not in done.stdout
            assert "\u202e" not in done.stdout
            assert "\\x1b[31m" in done.stdout


def test_the_key_is_in_no_report(here: Tuna, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUNAEVAL_API_KEY", CANARY_KEY)
    with Loopback(key="another") as server:
        for shape in ("--json", "--markdown", "--quiet"):
            done = here("doctor", "--base-url", server.base_url, shape)
            assert done.returncode == 2
            assert CANARY_KEY not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--only", "call"), "or 'calls' or"),
        (("--skip", "value"), "did you mean 'value-closers'"),
        (("--only", "calls", "--skip", "calls"), "no check is left"),
        (("--repeats", "0"), "wanted a whole number, 1 or more"),
        (("--json", "--markdown"), "not allowed with"),
    ],
)
def test_wrong_use_is_said(here: Tuna, arguments: tuple[str, ...], words: str) -> None:
    done = here("doctor", "--base-url", "http://127.0.0.1:9/v1", *arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_of_a_dead_address_no_check_is_listed(here: Tuna) -> None:
    done = here("doctor", "--base-url", "http://127.0.0.1:9/v1")
    assert (done.returncode, done.stderr) == (2, "")
    assert "stopped: no connection" in done.stdout
    assert len(done.stdout.splitlines()) < 9


def test_help_names_every_group(here: Tuna) -> None:
    words = " ".join(here("doctor", "--help").stdout.split())
    assert f"one group of checks: {', '.join(GROUPS)}" in words


def test_more_repeats_give_narrower_rates(here: Tuna) -> None:
    with Loopback() as server:
        url = ("doctor", "--base-url", server.base_url, "--json", "--quiet", "--only", "stability")
        few, many = (
            json.loads(here(*url, "--repeats", count).stdout)["rates"]["given as written"]
            for count in ("1", "12")
        )
    assert (few["total"], many["total"]) == (10, 120)
    assert many["low"] > few["low"]
