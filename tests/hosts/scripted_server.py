"""A model endpoint on loopback that says what a script says, as OpenAI's chat completions do.

Whole or streamed, as it is asked; a stream ends in a chunk of usage without choices. What it was
asked is kept. It needs the standard library alone, so that it runs in the environment of any host.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

MODEL = "gpt-4o-scripted"

_USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}


class Call(NamedTuple):
    """A call that the model makes."""

    id: str
    name: str
    arguments: dict[str, Any]


Turn = str | tuple[Call, ...]
"""What the model says once: a text, or calls."""


class Exchange(NamedTuple):
    """What the model was asked, and what it said."""

    request: dict[str, Any]
    reply: dict[str, Any]


class ScriptedModel:
    """The model: its turns still to come, and the exchanges until now."""

    def __init__(self) -> None:
        self.url = ""
        self.turns: deque[Turn] = deque()
        self.exchanges: list[Exchange] = []

    def plays(self, *turns: Turn) -> None:
        """From here on it says this, and remembers nothing."""
        self.turns = deque(turns)
        self.exchanges = []

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Its next message; once the script is over it has nothing to say."""
        turn = self.turns.popleft() if self.turns else "The script is over."
        reply: dict[str, Any] = {"role": "assistant", "content": turn}
        if isinstance(turn, tuple):
            calls = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
                }
                for call in turn
            ]
            reply = {"role": "assistant", "content": None, "tool_calls": calls}
        self.exchanges.append(Exchange(request, reply))
        return reply


@contextmanager
def scripted_model() -> Iterator[ScriptedModel]:
    """The model, served at its `url` until the block ends."""
    model = ScriptedModel()
    handler = type("Handler", (_Handler,), {"model": model})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        model.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ScriptedModel

    def do_GET(self) -> None:
        listed = {"id": MODEL, "object": "model", "created": 0, "owned_by": "nobody"}
        self._send({"object": "list", "data": [listed]})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        request = json.loads(self.rfile.read(length))
        if not self.path.endswith("/chat/completions"):
            self._send({"error": {"message": f"no such path: {self.path}"}}, status=404)
            return
        reply = self.model.answer(request)
        reason = "tool_calls" if reply.get("tool_calls") else "stop"
        if request.get("stream"):
            self._stream(reply, reason)
        else:
            choice = {"index": 0, "message": reply, "finish_reason": reason}
            self._send(_completion("chat.completion", [choice], _USAGE))

    def _send(self, document: dict[str, Any], *, status: int = 200) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, reply: dict[str, Any], reason: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for delta, ending in (*_deltas(reply), ({}, reason)):
            choice = {"index": 0, "delta": delta, "finish_reason": ending}
            self._event(_completion("chat.completion.chunk", [choice]))
        self._event(_completion("chat.completion.chunk", [], _USAGE))
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _event(self, document: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(document)}\n\n".encode())
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Nothing is written to stderr."""


def _completion(
    kind: str, choices: list[dict[str, Any]], usage: dict[str, int] | None = None
) -> dict[str, Any]:
    made = {"id": "chatcmpl-0", "object": kind, "created": 0, "model": MODEL, "choices": choices}
    return made if usage is None else {**made, "usage": usage}


def _deltas(reply: dict[str, Any]) -> Iterator[tuple[dict[str, Any], None]]:
    """A message in pieces: its text cut in two, each call's name, and its arguments cut in two."""
    yield {"role": "assistant", "content": ""}, None
    text = reply["content"] or ""
    for piece in (text[: len(text) // 2], text[len(text) // 2 :]):
        if piece:
            yield {"content": piece}, None
    for index, call in enumerate(reply.get("tool_calls", ())):
        function = call["function"]
        head = {**call, "index": index, "function": {"name": function["name"], "arguments": ""}}
        yield {"tool_calls": [head]}, None
        arguments = function["arguments"]
        for piece in (arguments[:3], arguments[3:]):
            if piece:
                yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, None
