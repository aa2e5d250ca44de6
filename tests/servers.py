"""Servers that others wrote, started for a test and stopped after it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from tunaeval.clients.llamacpp import find_weights


@contextmanager
def fakellm(rules: str, directory: Path) -> Iterator[str]:
    """fakellm from PyPI, answering by `rules` (YAML); its base URL."""
    file = directory / "rules.yaml"
    file.write_text(rules)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    code = "from fakellm.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", "--port", str(port), "--config", str(file)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_until_it_listens(port, server)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


def _wait_until_it_listens(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        assert server.poll() is None, "fakellm ended"
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("fakellm did not start within 30 s")


@contextmanager
def llama_server(context: int = 4096, chat_template: str | None = None) -> Iterator[str]:
    """llama.cpp's own server with the embedded weights, as anyone could run it; its base URL.

    `chat_template` is Jinja text in place of the weights' own.
    """
    script = files("tunaeval.clients").joinpath("llama_server.py")
    options = {
        "model_file": str(find_weights(None).path),
        "alias": "local",
        "context": context,
        "slots": 1,
        "threads": 2,
        "chat_template": chat_template,
    }
    command = [sys.executable, str(script), json.dumps(options)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            address = server.stdout.readline().strip()
            assert address, "the server did not start"
            yield f"{address}/v1"
        finally:
            server.stdin.close()
            server.wait(10)
