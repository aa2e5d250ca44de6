"""A key, looked for in all that a run writes at the most talkative setting: it is nowhere."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from urllib.parse import quote

import pytest

import tunaeval
from tests.cli.conftest import environment
from tests.faults import CANARY_KEY, Answer, FaultServer, Seen, chat
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


def command(folder: Path, *words: object) -> int:
    """The command in a process of its own; what it says goes into files beside the others."""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", DEBUG, *map(str, words)],
        capture_output=True, cwd=folder, check=False, timeout=90,
        env={**environment(), "TUNAEVAL_API_KEY": CANARY_KEY, "HTTPX_LOG_LEVEL": "trace"},
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


def test_a_secret_is_found_where_there_is_one(tmp_path: Path) -> None:
    """Else the tests above would pass whatever was written."""
    for name, word in zip("abcd", sorted(spellings(CANARY_KEY)), strict=False):
        (tmp_path / name).write_bytes(b"x" + word + b"x")
    assert {hit[0] for hit in hits(tmp_path)} == set("abcd")
