"""How a server is reached, by options of `run` and `doctor`: what goes there, and what is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tuna
from tests.clients.networks import Authority, Proxy, authority, listening, proxied, serve_good
from tests.faults import CANARY_KEY, Answer, FaultServer, chat
from tests.faults.runs import suite_file

__all__ = ["authority"]  # a fixture

HEADER = f"X-Gateway-Key: {CANARY_KEY}"


def hits(folder: Path) -> list[Path]:
    """The files in which the canary or a part of it is."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if CANARY_KEY[:12].encode() in path.read_bytes()]


def test_a_run_sends_headers_through_a_proxy_and_keeps_no_secret(
    here: Tuna, tmp_path: Path
) -> None:
    suite, proxy = suite_file(tmp_path, 3), Proxy(user=f"me:{CANARY_KEY}")
    echo = Answer(CANARY_KEY.encode() + b" was sent", status=400)
    with (
        FaultServer(echo, then=chat(f"You sent {CANARY_KEY}.")) as server,
        proxied(proxy) as address,
    ):
        own = address.replace("//", f"//me:{CANARY_KEY}@")
        done = here(
            "run", "--suite", str(suite), "--base-url", server.base_url, "--model", "m", "--quiet",
            "--header", HEADER, "--header", "X-Team: blue", "--proxy", own, "--report", "r.html",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(proxy.seen) >= 3
    assert server.seen[0].headers["x-gateway-key"] == CANARY_KEY
    assert server.seen[0].headers["x-team"] == "blue"
    assert CANARY_KEY[:12] not in done.stdout + done.stderr
    assert hits(tmp_path) == []
    [kept] = (tmp_path / "runs").iterdir()
    options = json.loads((kept / "run.json").read_text())["options"]
    assert options["header"] == ["X-Gateway-Key: <key>", "X-Team: <key>"]
    assert options["proxy"] == address.replace("//", "//<key>@")


def test_a_run_that_goes_on_wants_its_secrets_again(here: Tuna, tmp_path: Path) -> None:
    suite = suite_file(tmp_path, 3)
    with FaultServer() as server:
        where = ("--base-url", server.base_url, "--model", "m")
        here("run", "--suite", str(suite), *where, "--header", HEADER)
        [kept] = (tmp_path / "runs").iterdir()
        results = kept / "results.jsonl"
        results.write_bytes(b"".join(results.read_bytes().splitlines(keepends=True)[:1]))
        refused = here("run", "--resume", str(kept))
        asked = len(server.seen)
        done = here("run", "--resume", str(kept), "--header", HEADER)
    assert refused.returncode == 2
    assert (
        "started with --header 'X-Gateway-Key: <key>', and its secrets were not" in refused.stderr
    )
    assert done.returncode == 0, done.stderr
    assert [seen.headers["x-gateway-key"] for seen in server.seen[asked:]] == [CANARY_KEY] * 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--header", CANARY_KEY], "--header has no colon; wanted --header 'NAME: VALUE'"),
        (["--header", HEADER, "--header", HEADER], "--header 'X-Gateway-Key' is given twice"),
        (["--ca", "nowhere.pem"], "--ca 'nowhere.pem') cannot be read: No such file"),
        (["--cert-key", "key.pem"], "name its file with 'cert' (--cert FILE)"),
        (["--proxy", f"me:{CANARY_KEY}@h:port"], "cannot be read; wanted a URL such as"),
    ],
)
@pytest.mark.parametrize("command", ["run", "doctor"])
def test_options_that_cannot_be_are_refused_in_a_sentence(
    here: Tuna, tmp_path: Path, command: str, options: list[str], words: str
) -> None:
    suite = ["--suite", str(suite_file(tmp_path, 1))] if command == "run" else []
    done = here(command, *suite, "--base-url", "https://127.0.0.1:9/v1", *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert CANARY_KEY[:12] not in done.stdout + done.stderr


def test_an_agent_is_not_asked_by_options_that_it_does_not_get(here: Tuna, tmp_path: Path) -> None:
    suite = str(suite_file(tmp_path, 1))
    done = here("run", "--suite", suite, "--client", "command:true", "--proxy", "http://h:1")
    assert done.returncode == 2
    assert "takes no --proxy; set $HTTPS_PROXY" in done.stderr


def test_the_options_may_be_in_a_file_and_are_shown_without_secrets(
    here: Tuna, tmp_path: Path
) -> None:
    (tmp_path / "tunaeval.toml").write_text(
        f'[run]\nheader = ["{HEADER}"]\nproxy = "http://me:{CANARY_KEY}@h:1"\nhttp2 = true\n'
    )
    done = here("run", "--show-config")
    assert "X-Gateway-Key: <key>" in done.stdout
    assert "http://<key>@h:1" in done.stdout
    assert CANARY_KEY[:12] not in done.stdout + done.stderr


def test_the_doctor_reaches_a_server_as_a_run_does(here: Tuna, authority: Authority) -> None:
    proxy = Proxy()
    with listening(serve_good, authority.tls(wants_certificate=True)) as port:
        url = f"https://localhost:{port}/v1"
        with proxied(proxy) as address:
            done = here(
                "doctor", "--base-url", url, "--quick", "--quiet", "--only", "reach",
                "--ca", authority.ca, "--cert", authority.cert, "--cert-key", authority.key,
                "--proxy", address,
            )  # fmt: skip
            refused = here("doctor", "--base-url", url, "--quick", "--quiet", "--only", "reach")
    assert proxy.seen[0] == f"CONNECT localhost:{port}"
    assert "not trusted" not in done.stdout + done.stderr
    assert refused.returncode == 2
    assert "its certificate is not trusted" in refused.stdout
