"""A command run as its users run it, a suite of its own, and a small real server to ask."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import tunaeval
from tunaeval.cli import main

ROOT = Path(tunaeval.__file__).parent.parent
"""Where the package is that the tests import: a command run by them is of the same."""

SCENARIOS = [
    {"id": "read", "prompt": "Read a.txt.", "expected_tool": "read_file",
     "expected_args": {"filepath": "a.txt"}},
    {"id": "list", "prompt": "List src.", "expected_tool": "list_dir",
     "expected_args": {"directory": "src"}},
    {"id": "hello", "prompt": "Say hello.", "expected_tool": None},
    {"id": "run", "prompt": "Run ls.", "expected_tool": "bash", "expected_args": {"command": "ls"}},
]  # fmt: skip
ANSWERS = {
    "Read a.txt.": '<tools>{"name": "read_file", "arguments": {"filepath": "a.txt"}}</tools>',
    "List src.": '<tool_call>{"name": "bash", "arguments": {"command": "ls src"}}</tool_call>',
    "Say hello.": "Hello!",
    "Run ls.": "\x1b[31mI cannot.\u202e",
}

Tuna = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def tuna(tmp_path: Path) -> Tuna:
    """Runs `tunaeval` in an empty directory, without keys in its environment."""

    def run(
        *arguments: str, stdin: bytes = b"", path: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "tunaeval", *arguments],
            input=stdin,
            capture_output=True,
            cwd=tmp_path,
            env=environment(path),
            timeout=60,
            check=False,
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    return run


def environment(path: Path | None = None) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if "OPENAI" not in key}
    places = [str(path)] if path else []
    return {
        **kept,
        "PYTHONIOENCODING": "utf-8",
        "PYTHONPATH": os.pathsep.join([*places, str(ROOT)]),
    }


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Tuna:
    """As `tuna`, but in this process, which is quicker."""
    monkeypatch.chdir(tmp_path)
    keys = ("TUNAEVAL_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "TUNAEVAL_MODEL_FILE")
    for key in (*keys, "COLUMNS"):
        monkeypatch.delenv(key, raising=False)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        code = main(arguments)
        said = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, said.out, said.err)

    return run


@pytest.fixture
def suite(tmp_path: Path) -> str:
    """A suite of four: a server that answers `ANSWERS` passes two of them."""
    (tmp_path / "four.json").write_text(json.dumps({"name": "four", "scenarios": SCENARIOS}))
    return "four.json"


@pytest.fixture
def ended(here: Tuna, suite: str, tmp_path: Path) -> Path:
    """A run of these four that came to its end."""
    replies = "".join(json.dumps(text) + "\n" for text in ANSWERS.values())
    (tmp_path / "replies.jsonl").write_text(replies)
    done = here("run", "--suite", suite, "--client", "scripted", "--recording", "replies.jsonl",
                "--attempts", "1", "--concurrency", "1", "--quiet")  # fmt: skip
    assert done.returncode == 0, done.stderr
    (found,) = (tmp_path / "runs").iterdir()
    return found


class _Listener(ThreadingHTTPServer):
    """Says nothing of a client that left, as an interrupted run does: what it said would be
    read as the words of whatever test runs then.
    """

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # socketserver names a private type


class Server:
    """Chat completions on loopback. `status` and `body`, when set, answer every request;
    requests after the first `patience` wait, once `stuck` is set, until the server closes.
    """

    def __init__(self) -> None:
        self.status, self.body = 200, b""
        self.keys: list[str | None] = []
        self.patience = 1_000
        self.stuck, self._closed = threading.Event(), threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._answer({"object": "list", "data": [{"id": "tiny"}]})

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.keys.append(self.headers["Authorization"])
                if len(server.keys) > server.patience:
                    server.stuck.set()
                    server._closed.wait(20)
                self._answer(_completion(request))

            def _answer(self, value: object) -> None:
                body = server.body or json.dumps(value).encode()
                self.send_response(server.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = _Listener(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        self._closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _completion(request: dict[str, list[dict[str, str]]]) -> object:
    asked = next(m["content"] for m in request["messages"] if m["role"] == "user")
    message = {"role": "assistant", "content": ANSWERS[asked]}
    return {
        "model": "tiny",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    }


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()
