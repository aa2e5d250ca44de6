"""A second model server, written apart from the first: sockets by hand, habits as data.

    with OtherServer(Habits(chunks="one", usage="asked")) as url: ...

`Habits` are what sound servers differ in; none of them is a fault. A defect is a function from
`other_defects` that spoils a sound answer, or the request, or the bytes of a stream.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self

from tests.doctor.other_wire import Habits, Message, events, whole
from tests.doctor.other_words import FORMATS, pieces, said

Body = dict[str, Any]
Reply = tuple[int, bytes, str]
_KNOWN = frozenset(
    ("model", "messages", "tools", "tool_choice", "parallel_tool_calls", "max_tokens")
) | {"temperature", "stream", "stream_options"}
_ENDING = "<|im_end|>"


@dataclass
class Defect:
    """One way to be wrong: each part is nothing unless it is given."""

    name: str = ""
    message: Callable[[Message, Body], None] = lambda _message, _body: None
    refuse: Callable[[Body], tuple[int, str] | None] = lambda _: None
    frames: Callable[[list[Any]], list[Any]] = lambda frames: frames
    body: Callable[[Body], Body] = lambda body: body
    prompt: Callable[[Body], Body] = lambda body: body
    wire: Callable[[bytes], bytes] = lambda data: data
    checks: tuple[str, ...] = ()
    verdict: Literal["server", "note"] = "server"
    blind: bool = True
    """Whether it is found without the raw text, too."""
    thinks: bool = False


@dataclass
class OtherServer:
    """One server on loopback in a thread with a loop of its own."""

    habits: Habits = field(default_factory=Habits)
    defect: Defect = field(default_factory=Defect)
    seen: list[tuple[str, Body | None]] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        starting = asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._server = self._loop.run_until_complete(starting)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                first, *lines = head.decode().split("\r\n")
                headers = {k.lower(): v.strip() for k, _, v in (x.partition(":") for x in lines)}
                data = await reader.readexactly(int(headers.get("content-length", 0)))
                await asyncio.sleep(self.habits.seconds)
                path = first.split(" ")[1]
                body = json.loads(data) if data else None
                self.seen.append((path, body))
                self._send(writer, *self._reply(path, body, headers))
                await writer.drain()
                if self.habits.transfer == "close":
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    def _send(self, writer: asyncio.StreamWriter, status: int, data: bytes, kind: str) -> None:
        version = "1.0" if self.habits.transfer == "close" else "1.1"
        writer.write(f"HTTP/{version} {status} Said\r\nContent-Type: {kind}\r\n".encode())
        if self.habits.transfer == "close":
            writer.write(b"\r\n" + data)
        elif self.habits.transfer == "chunked":
            writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
            for start in range(0, len(data), 700):
                part = data[start : start + 700]
                writer.write(b"%x\r\n%b\r\n" % (len(part), part))
            writer.write(b"0\r\n\r\n")
        else:
            writer.write(f"Content-Length: {len(data)}\r\n\r\n".encode() + data)

    def _reply(self, path: str, body: Body | None, headers: Mapping[str, str]) -> Reply:
        habits = self.habits
        if habits.key and headers.get("authorization") != f"Bearer {habits.key}":
            return _as_json({"error": {"message": "Unauthorized", "type": "auth"}}, 401)
        if path == "/v1/models" and habits.models != "none":
            listed = [{"id": "scripted", "object": "model", "owned_by": habits.owner}]
            return _as_json({"object": "list", "data": listed if habits.models == "one" else []})
        if path == "/detokenize" and habits.raw in ("token_ids", "sglext") and body:
            text = "".join(map(chr, body["tokens"]))
            return _as_json({"prompt" if habits.raw == "token_ids" else "text": text})
        if path != "/v1/chat/completions" or body is None:
            return _as_json({"detail": "Not Found"}, 404)
        return self._complete(body)

    def _complete(self, body: Body) -> Reply:
        habits, defect = self.habits, self.defect
        refused = self._refused(body) or defect.refuse(body)
        if refused is not None:
            status, words = refused
            return _as_json({"error": {"message": words, "code": status}}, status)
        message = self._message(defect.body(body))
        seen = defect.prompt(body)
        message.prompt_tokens = habits.count(seen)
        message.prompt = json.dumps([seen["messages"], seen.get("tools")])
        defect.message(message, body)
        if not body.get("stream"):
            return 200, defect.wire(json.dumps(whole(message, habits, body)).encode()), _JSON
        frames = defect.frames(list(events(message, habits, body)))
        return 200, defect.wire(_written(frames, habits)), "text/event-stream"

    def _refused(self, body: Body) -> tuple[int, str] | None:
        habits = self.habits
        known = _KNOWN | habits.fields
        unknown = next((key for key in body if key not in known), None)
        if habits.strict and unknown:
            return 400, f"Unrecognized request argument supplied: {unknown}"
        if habits.usage == "refused" and "stream_options" in body:
            return 422, "stream_options: extra fields are not permitted"
        if habits.models == "one" and body.get("model") != "scripted":
            return 404, f"model {body.get('model')!r} is not here"
        if body.get("tool_choice") not in (None, "auto", "none", "required") and isinstance(
            body["tool_choice"], str
        ):
            return 400, "tool_choice is invalid"
        return None

    def _message(self, body: Body) -> Message:
        """What a sound server makes of what the model writes."""
        calls = said(body)
        form = FORMATS[self.habits.form]
        text = form(calls) if calls else "Hello! How can I help you today?"
        thought = "The user wants something." if self.defect.thinks or self.habits.thinks else ""
        raw = f"<think>\n{thought}\n</think>\n\n{text}" if thought else text
        most = int(body.get("max_tokens", 10_000))
        tokens = pieces(text)
        if len(tokens) > most:
            return self._cut("".join(tokens[:most]), calls, most)
        return Message(
            raw + _ENDING, None if calls else text, thought, calls,
            "tool_calls" if calls else "stop", len(pieces(raw)) + 1,
        )  # fmt: skip

    def _cut(self, text: str, calls: list[Any], most: int) -> Message:
        """What max_tokens leaves: an open call, its markup, or nothing; never a whole one."""
        if not calls:
            return Message(text, text, "", [], "length", most)
        how = self.habits.cut
        name = calls[0][0]
        left = [(name, '{"path": "a.')] if how == "open" else []
        return Message(text, text if how == "markup" else None, "", left, "length", most)


_JSON = "application/json"


def _as_json(value: object, status: int = 200) -> Reply:
    return status, json.dumps(value).encode(), _JSON


def _written(frames: Iterable[Any], habits: Habits) -> bytes:
    """Frames as bytes: values as JSON, texts as they are."""
    said: list[str] = []
    for number, one in enumerate(frames):
        if habits.comments and number % 3 == 0:
            said.append(": ping\n\n")
        data = one if isinstance(one, str) else json.dumps(one, ensure_ascii=habits.ascii)
        said.append(f"data: {data}\n\n")
    return "".join(said).encode()
