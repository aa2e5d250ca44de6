"""A key, looked for in all that a run writes at the most talkative setting: it is nowhere."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

import tunaeval
from tests.cli.conftest import environment
from tests.faults import CANARY_KEY, Answer, FaultServer, Seen, chat, completion
from tests.faults.runs import prompt_of, suite_file

PASSWORD = CANARY_KEY[::-1].replace("-", "x")
SECRETS = (CANARY_KEY, PASSWORD)

DEBUG = """
import faulthandler, logging, sys
faulthandler.enable()
logging.basicConfig(level=logging.DEBUG, filename="debug.log", force=True)
from tunaeval.cli import main
sys.exit(main(sys.argv[1:]))
"""
ECHO = json.dumps({"error": {"message": f"Incorrect API key provided: {CANARY_KEY}."}}).encode()


def spellings(secret: str) -> set[bytes]:
    """How a text may be written so that its reader has the secret again."""
    plain = secret.encode()
    words = {
        plain,
        quote(secret, safe="").encode(),
        b64encode(plain).rstrip(b"="),
        plain.hex().encode(),
    }
    return words | {plain[:12], b64encode(b"Bearer " + plain).rstrip(b"=")[:20]}


def hits(folder: Path) -> list[str]:
    """Each file below that holds a secret in some spelling."""
    wanted = {word for secret in SECRETS for word in spellings(secret)}
    return [
        f"{path.relative_to(folder)}: {word!r}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for word in wanted
        if word in path.read_bytes()
    ]


def echoing(seen: Seen) -> Answer | None:
    """Faults of all kinds, each of which gives back what it was sent."""
    sent = seen.headers.get("authorization", "").encode()
    headers = {"x-request-key": sent.decode(), "set-cookie": f"key={sent.decode()}"}
    answers = {
        "Say 0.": Answer(ECHO, status=400, headers=headers),
        "Say 1.": Answer(b"<html>" + sent, headers=headers),
        "Say 2.": Answer(b'{"choices": ' + sent, headers=headers),
        "Say 3.": Answer(ECHO, status=403, headers=headers),
        "Say 4.": Answer(b"{}", status=307, headers={"location": f"http://h/?key={CANARY_KEY}"}),
        "Say 5.": Answer(sent * 3, cut_after=20, reset=True),
        "Say 6.": Answer(ECHO, headers=headers),
    }
    return answers.get(prompt_of(seen))


def command(folder: Path, *words: object, **variables: str) -> int:
    """The command in a process of its own; what it says goes into files beside the others."""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", DEBUG, *map(str, words)],
        capture_output=True, cwd=folder, check=False, timeout=90,
        env={**environment(), "TUNAEVAL_API_KEY": CANARY_KEY, "HTTPX_LOG_LEVEL": "trace",
             **variables},
    )  # fmt: skip
    name = f"said-{len(list(folder.glob('said-*')))}"
    (folder / name).write_bytes(done.stdout + done.stderr)
    assert b"Traceback" not in done.stderr
    return done.returncode


def test_a_key_is_nowhere_in_what_a_run_writes(tmp_path: Path) -> None:
    suite = suite_file(tmp_path, 10)
    with FaultServer(choose=echoing) as server:
        code = command(
            tmp_path, "run", "--suite", suite, "--base-url", server.base_url, "--model", "m",
            "--timeout", 3, "--attempts", 1, "--out", "runs", "--record", "recording.jsonl",
            "--report", "r.html", "--report", "r.xml", "--report", "r.csv", "--report", "r.md",
            "--report", "r.json",
        )  # fmt: skip
    assert code == 0
    sent = [seen.headers.get("authorization") for seen in server.seen]
    assert set(sent) == {f"Bearer {CANARY_KEY}"}
    (run,) = (tmp_path / "runs").iterdir()
    for words in (["show", run, "--scenario", "s0"], ["report", run, "--github"], ["rescore", run]):
        command(tmp_path, *words)
    written = {path.suffix for path in tmp_path.rglob("*")}
    assert {".html", ".xml", ".csv", ".md", ".json", ".jsonl", ".log"} <= written
    assert "Connection reset by peer" in (tmp_path / "debug.log").read_text()
    assert "(the key)" in (run / "results.jsonl").read_text()
    assert hits(tmp_path) == []


def test_a_key_in_an_address_is_refused_or_nowhere(tmp_path: Path) -> None:
    suite = suite_file(tmp_path, 8)
    with FaultServer(choose=echoing) as server:
        there = server.base_url.removeprefix("http://")
        refused = command(
            tmp_path, "run", "--suite", suite, "--model", "m", "--base-url",
            f"http://user:{PASSWORD}@{there}", "--out", "runs",
        )  # fmt: skip
        assert refused == 2
        assert server.seen == []
        command(
            tmp_path, "run", "--suite", suite, "--model", "m", "--timeout", 3, "--base-url",
            f"{server.base_url}?key={PASSWORD}", "--out", "runs", "--report", "r.html",
        )  # fmt: skip
    assert f"key={PASSWORD}" in server.seen[0].path
    assert (tmp_path / "r.html").exists()
    assert hits(tmp_path) == []


def test_a_key_is_in_no_cassette(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TUNAEVAL_API_KEY", CANARY_KEY)
    caplog.set_level(logging.DEBUG)
    suite, cassette = suite_file(tmp_path, 3), tmp_path / "cassette.json"
    with (
        FaultServer(then=chat("hello")) as server,
        tunaeval.model_endpoint(upstream=server.base_url, cassette=cassette, record=True) as model,
    ):
        tunaeval.run(suite, client="openai", base_url=model.url, model="m", out=tmp_path / "runs")
    assert server.seen[0].headers["authorization"] == f"Bearer {CANARY_KEY}"
    assert cassette.exists()
    assert hits(tmp_path) == []
    assert CANARY_KEY[:12] not in caplog.text


KINDS = {
    "github": f"github_pat_11CANARY0_{'c4n4ryK1nd' * 5}",
    "classic": f"ghp_{'c4n4ryK1nd' * 4}",
    "aws": "AKIAC4N4RYC4N4RYC4N4",
    "slack": "xoxb-1234-5678-c4n4ryK1nd",
    "google": f"AIza{'c4n4ryK1nd' * 4}",
    "token": f"eyJhbGci{'c4n4ryK1nd' * 2}.eyJzdWIi{'c4n4ryK1nd' * 2}.{'c4n4ryK1nd' * 3}",
    "pem": f"-----BEGIN PRIVATE KEY-----\n{'c4n4ryK1nd' * 6}\n-----END PRIVATE KEY-----",
    "address": f"postgres://who:{'c4n4ryK1nd'}@db.test/x",
    "long": f"sk-proj-{'c4n4ryK1nd' * 16}",
}
"""A canary of each kind that is known by how it looks."""
NAMED = {
    "CANARY_PASS": "plain-canary-of-a-PASS",
    "CANARY_PAT": "plain-canary-of-a-PAT",
    "CANARY_KEY_ID": "plain-canary-of-a-KEY-ID",
    "CANARY_TOKEN": "plain-canary-of-a-TOKEN" * 4,
    "CANARY_DSN": "https://plain-canary-of-a-DSN@h.test",
}
"""And of each kind that is known by the name of a variable."""
MARKS = ("c4n4ryK1nd", "C4N4RYC4N4", "plain-canary")
SENT = {"x-goog-api-key": "plain-canary-google", "private-token": "plain-canary-private"}


def leaks(folder: Path) -> list[str]:
    """Each file below that has a part of one of these canaries, in some spelling of it."""
    wanted = [*MARKS, *(b64encode(one.encode()).decode()[:12] for one in SENT.values())]
    return [
        f"{path.relative_to(folder)}: {mark}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for mark in wanted
        if mark.encode() in path.read_bytes()
    ]


def leaking(seen: Seen) -> Answer:
    """A model that writes every canary: in its words, as arguments and as the name of a tool."""
    every = [*KINDS.values(), *NAMED.values()]
    number = int(prompt_of(seen).split()[1].rstrip("."))
    one = every[number % len(every)]
    call = {"name": "read_file", "arguments": json.dumps({"filepath": one, f"x {one}": [one]})}
    other = {"name": one, "arguments": f"{{broken {one}"}
    calls = [
        {"id": f"c{at}", "type": "function", "function": what}
        for at, what in enumerate((call, other))
    ]
    return completion(
        {"role": "assistant", "content": f"It is:\n{one}", "tool_calls": calls,
         "reasoning_content": f"They gave me {one}"}, "tool_calls",
    )  # fmt: skip


def leaky_suite(folder: Path) -> Path:
    """A suite whose prompts, expectations and tools have the canaries, too."""
    every = [*KINDS.values(), *NAMED.values()]
    rows = [
        {"id": f"s{n}", "prompt": f"Say {n}. {one}", "expected_tool": "read_file",
         "expected_args": {"filepath": f"{one} or another"}}
        for n, one in enumerate(every)
    ]  # fmt: skip
    path = folder / "leaky.json"
    suite = {"name": "leaky", "catalogue": "tunacode-2025-12", "tools": ["read_file"]}
    path.write_text(json.dumps({**suite, "scenarios": rows}))
    return path


def test_no_canary_of_any_kind_is_in_what_a_run_writes(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with FaultServer(choose=leaking) as server:
        code = command(
            work, "run", "--suite", leaky_suite(tmp_path), "--base-url", server.base_url, "--model",
            "m", "--out", "runs", "--record", "recording.jsonl", "--report", "r.html", "--report",
            "r.xml", "--report", "r.csv", "--report", "r.md", "--report", "r.json", **NAMED,
        )  # fmt: skip
    assert code == 0
    (run,) = (work / "runs").iterdir()
    for words in (["show", run, "--scenario", "s0"], ["show", run], ["report", run, "--github"],
                  ["rescore", run], ["run", "--client", "replay", "--recording", "recording.jsonl",
                   "--suite", tmp_path / "leaky.json"]):  # fmt: skip
        command(work, *words, **NAMED)
    assert len(list(work.rglob("results.jsonl"))) >= 2
    assert leaks(work) == []


def test_no_canary_of_any_kind_is_in_a_cassette(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name, value in NAMED.items():
        monkeypatch.setenv(name, value)
    caplog.set_level(logging.DEBUG)
    every = [*KINDS.values(), *NAMED.values(), *SENT.values()]
    cassette, logged = tmp_path / "cassette.jsonl", tmp_path / "debug.log"
    script: Any = [tunaeval.ToolCall("bash", {"command": "; ".join(every), every[0]: every})]
    asked = {"model": "m", "messages": [{"role": "user", "content": "\n".join(every)}]}
    with tunaeval.model_endpoint(script) as upstream:
        address = upstream.url.replace("://", "://plain-canary-user:plain-canary-word@")
        with tunaeval.model_endpoint(upstream=address, cassette=cassette, record=True) as model:
            url = f"{model.url}/chat/completions"
            assert httpx2.post(url, json=asked, headers=SENT).status_code == 200
    logged.write_text(caplog.text)
    assert cassette.exists()
    assert leaks(tmp_path) == []


def test_no_canary_of_any_kind_is_in_a_file_of_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in NAMED.items():
        monkeypatch.setenv(name, value)
    every = [*KINDS.values(), *NAMED.values()]
    for one in every:
        with tunaeval.scoring_session(f"Use {one}", out=tmp_path / "scores.jsonl") as session:
            call = {"id": "c", "type": "function", "function": {"name": one, "arguments": one}}
            said = {
                "role": "assistant",
                "content": f"Done. {one}",
                "tool_calls": [call, call, call],
            }
            session.messages = [{"role": "user", "content": one}, said]
    assert len(tunaeval.read_scores(tmp_path / "scores.jsonl")) == len(every)
    assert leaks(tmp_path) == []


def test_a_secret_is_found_where_there_is_one(tmp_path: Path) -> None:
    """Else the tests above would pass whatever was written."""
    for name, word in zip("abcd", sorted(spellings(CANARY_KEY)), strict=False):
        (tmp_path / name).write_bytes(b"x" + word + b"x")
    assert {hit[0] for hit in hits(tmp_path)} == set("abcd")
    every = (*KINDS.values(), *NAMED.values(), *SENT.values())
    for number, one in enumerate(every):
        (tmp_path / f"e{number}").write_text(json.dumps(f"x{one}x"))
    assert len(leaks(tmp_path)) == len(every)
