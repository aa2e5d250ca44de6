"""A chat completion server: one canned reply, a call of a tool, at once or after a pause."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys

CALL = '<tool_call>\n{"name": "read_file", "arguments": {"filepath": "src/main.py"}}\n</tool_call>'
REPLY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "bench",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": CALL},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
}


class InstantServer(asyncio.Protocol):
    """Answers every whole request at once; reads no more of it than its length."""

    body = json.dumps(REPLY).encode()
    response = (
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
        b"content-length: %d\r\n\r\n%b" % (len(body), body)
    )

    pause_seconds = 0.0
    requests = 0
    """How many whole requests all connections have received."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head = self.received[:end].lower()
            _, _, length = head.partition(b"content-length:")
            whole = end + 4 + (int(length.split(b"\r\n")[0]) if length else 0)
            if len(self.received) < whole:
                return
            self.received = self.received[whole:]
            InstantServer.requests += 1
            if self.pause_seconds:
                asyncio.get_running_loop().call_later(self.pause_seconds, self.answer)
            else:
                self.transport.write(self.response)

    def answer(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(self.response)


async def serve() -> None:
    """Print the port, serve until standard input ends, and print how many requests there were."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(InstantServer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    print(InstantServer.requests, flush=True)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--pause", type=float, default=0.0, help="seconds before each answer")
    InstantServer.pause_seconds = arguments.parse_args().pause
    asyncio.run(serve())
