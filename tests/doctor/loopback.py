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
from tests.doctor.other_apis import Spoil, answer_worded
from tests.doctor.scripted_model import MODELS
from tests.doctor.serving import Served

OWNERS = {"vLLM": "vllm", "SGLang": "sglang", "llama.cpp": "llamacpp"}


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    loopback: Loopback

    def do_GET(self) -> None:
        self.send(self.loopback.get(self.path))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = self.loopback.post(self.path, body, self.headers["Authorization"])
        if reply is None:
            self.close_connection = True
        else:
            self.send(reply)

    def send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body[: reply.cut])
        self.wfile.flush()
        self.close_connection = self.close_connection or reply.cut is not None

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Loopback:
    """One server in a thread of its own. `raw` says whether it gives log-probabilities. It has the
    Responses API and the Messages API if `apis` is given, which spoils their answers.
    """

    def __init__(
        self, defect: str = "", *, seed: int = 0, model: str = "able", raw: bool = True,
        kind: str = "vLLM", key: str | None = None, lives: int = 10_000, busy_every: int = 0,
        plain: bool = False, apis: Spoil | None = None,
    ) -> None:  # fmt: skip
        self.requests: list[tuple[str, Any]] = []
        self.kind, self.key, self.lives, self.busy_every = kind, key, lives, busy_every
        self._apis = apis
        self._served = Served(defect, Random(seed), MODELS[model], raw=raw, plain=plain)
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"loopback": self})
        self._server = _Listener(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def get(self, path: str) -> Reply:
        """The answer to a GET: what there is of its kind's pages."""
        self.requests.append((path, None))
        if path == "/v1/models":
            data = [{"id": "scripted", "object": "model", "owned_by": OWNERS.get(self.kind, "us")}]
            return Reply.json({"object": "list", "data": data})
        if path == "/version" and self.kind == "vLLM":
            return Reply.json({"version": "0.33.0"})
        return Reply.json({"detail": "Not Found"}, 404)

    def post(self, path: str, body: Any, authorization: str | None) -> Reply | None:
        """The answer to a POST; None where the server is dead."""
        with self._lock:
            self.requests.append((path, body))
            count = len(self.requests)
            if count > self.lives:
                return None
            if self.key is not None and authorization != f"Bearer {self.key}":
                return Reply.error(401, f"wrong key: {authorization}")
            if self.busy_every and count % self.busy_every == 0:
                busy = Reply.error(429, "Too many requests")
                return busy._replace(headers={**busy.headers, "Retry-After": "0.01"})
            if path != "/v1/chat/completions":
                if self._apis is None or path not in ("/v1/responses", "/v1/messages"):
                    return Reply.error(404, "Not Found")
                return answer_worded(self._served, path.removeprefix("/v1/"), body, self._apis)
            return answer(self._served, body)

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
