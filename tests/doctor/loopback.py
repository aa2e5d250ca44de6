"""A model server on loopback whose tool calling is right, or wrong in one way that was chosen.

    with Loopback(defect="index-always-0", seed=7) as server:
        ...  # examine server.base_url; server.requests counts what came

It answers as servers do on the wire: whole, or as server-sent events whose cuts, line ends, ids and
habits come from the seed. Every habit that a sound server may have is among them.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from types import TracebackType
from typing import Any, Self

from tests.doctor.answering import Reply, answer
from tests.doctor.scripted_model import MODELS
from tests.doctor.serving import Served

OWNERS = {"vLLM": "vllm", "SGLang": "sglang", "llama.cpp": "llamacpp"}


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


class Loopback:
    """One server in a thread of its own. `raw` says whether it gives log-probabilities."""

    def __init__(
        self, defect: str = "", *, seed: int = 0, model: str = "able", raw: bool = True,
        kind: str = "vLLM", key: str | None = None,
    ) -> None:  # fmt: skip
        self.requests: list[tuple[str, Any]] = []
        served = Served(defect, Random(seed), MODELS[model], raw=raw)
        owner, keep, lock = OWNERS.get(kind, "someone"), self.requests, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                keep.append((self.path, None))
                if self.path == "/v1/models":
                    data = [{"id": "scripted", "object": "model", "owned_by": owner}]
                    self.send(Reply.json({"object": "list", "data": data}))
                elif self.path == "/version" and kind == "vLLM":
                    self.send(Reply.json({"version": "0.33.0"}))
                else:
                    self.send(Reply.json({"detail": "Not Found"}, 404))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                keep.append((self.path, body))
                if key is not None and self.headers["Authorization"] != f"Bearer {key}":
                    words = f"wrong key: {self.headers['Authorization']}"
                    self.send(Reply.json({"error": {"message": words}}, 401))
                    return
                with lock:
                    reply = answer(served, body)
                self.send(reply)

            def send(self, reply: Reply) -> None:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)
                self.wfile.flush()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = _Listener(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
