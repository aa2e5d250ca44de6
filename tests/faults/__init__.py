"""A loopback server that plays scripted faults: what it answers, and how it breaks off.

    with FaultServer(Answer(status=503), then=chat("hello")) as server:
        ...  # ask server.base_url; server.seen has the requests that came

It runs in a thread of its own, so that what is tested may be this process or another.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

CANARY_KEY = "sk-canary-7f3a9c51d2e84b60"
"""A key for tests to set and then to look for where it must not be."""


@dataclass(frozen=True)
class Answer:
    """One response. Without faults it is well-formed and comes at once."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds_before: float = 0.0
    seconds_per_byte: float = 0.0
    cut_after: int | None = None
    """Bytes of the body after which the connection is closed, its length announced in full."""
    reset: bool = False
    """Close with a reset (SO_LINGER 0) instead of an orderly end."""
    close: bool = False
    """Close after the response, without saying so before."""
    times: int = 1
    """How often the body is sent: for bodies that are huge."""


@dataclass(frozen=True)
class Seen:
    """One request that came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def completion(message: Mapping[str, Any], finish_reason: str | None = "stop") -> Answer:
    """A chat completion with this message."""
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    body = {"object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}
    return Answer(json.dumps(body).encode(), headers={"content-type": "application/json"})


def chat(content: str) -> Answer:
    """A chat completion that says `content`."""
    return completion({"role": "assistant", "content": content})


class FaultServer:
    """Gives `script`'s answers one after another, then `then` for ever; to a request for which
    `choose` has an answer, that one.
    """

    def __init__(
        self,
        *script: Answer,
        then: Answer | None = None,
        choose: Callable[[Seen], Answer | None] | None = None,
    ) -> None:
        self._script = iter(script)
        self._choose = choose or (lambda _: None)
        self._then = chat("hello") if then is None else then
        self._started = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.seen: list[Seen] = []
        self.connections = 0
        self.open_now = 0
        self.most_open = 0
        self.port = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open_now += 1
        self.most_open = max(self.most_open, self.open_now)
        try:
            while (request := await _read_request(reader)) is not None:
                self.seen.append(request)
                answer = self._choose(request) or next(self._script, self._then)
                if not await _play(answer, writer):
                    break
        except (ConnectionError, asyncio.CancelledError, asyncio.IncompleteReadError):
            pass  # the client went away, or the test is over
        finally:
            self.open_now -= 1
            writer.close()


async def _read_request(reader: asyncio.StreamReader) -> Seen | None:
    first = await reader.readline()
    if not first.strip():
        return None
    method, path, _ = first.decode().split(" ", 2)
    headers = {}
    while line := (await reader.readline()).decode().strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Seen(method, path, headers, body)


async def _play(answer: Answer, writer: asyncio.StreamWriter) -> bool:
    """Send the answer; whether the connection stays open after it."""
    await asyncio.sleep(answer.seconds_before)
    length = str(len(answer.body) * answer.times)
    headers = {"content-length": length, **{k.lower(): v for k, v in answer.headers.items()}}
    lines = [f"HTTP/1.1 {answer.status} Scripted", *(f"{k}: {v}" for k, v in headers.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    body = answer.body if answer.cut_after is None else answer.body[: answer.cut_after]
    if answer.seconds_per_byte:
        for byte in body:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(answer.seconds_per_byte)
    else:
        for _ in range(answer.times):
            writer.write(body)
            await writer.drain()
    if answer.reset:
        await asyncio.sleep(0.05)  # let what was sent arrive first
        raw: socket.socket = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    return not (answer.reset or answer.close or answer.cut_after is not None)
