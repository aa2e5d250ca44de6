"""Read a server's response: its body, up to a limit of size, and the reply or the error in it.

A streamed reply is put together from its chunks. The fragments of a call have the same index; a new
id under the same index begins a new call, because some servers give all calls the index 0. A stream
that ends without `[DONE]` and without a finish reason was cut off: that is a failure, not a reply.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress

import httpx2

from tunaeval.files.records import decode
from tunaeval.parsing.sse import OTHER_CHOICES, DataLines, chunk_of, first_choice
from tunaeval.showing import counted
from tunaeval.types.calls import JsonObject, JsonValue, Source
from tunaeval.types.exchange import Reply, Streamed
from tunaeval.types.messages import Usage

from .pace import TryFailed

MAX_BODY_BYTES = 16 * 1024 * 1024
"""The most bytes of a decoded body. A reply of a hundred thousand tokens has less than 1 MiB."""

ACCEPT_ENCODING = "gzip, deflate"

_GZIP_OR_ZLIB = 47  # window bits that let zlib tell the two apart
_GZIP = b"\x1f\x8b"
_HEAD_BYTES = 2  # which tell all three apart


async def read_body(response: httpx2.Response) -> bytes:
    """Return the decoded body. Raises TryFailed if it has more than `MAX_BODY_BYTES`."""
    body = bytearray()
    await read_into(body, response)
    return bytes(body)


async def read_into(body: bytearray, response: httpx2.Response) -> None:
    """Append the decoded body to `body` as it arrives; it keeps what came before a failure."""
    unpacking = Unpacking(response.headers)
    async for chunk in response.stream:  # type: ignore[union-attr] # async transports give async streams
        body += unpacking.piece(chunk)
    unpacking.end()


class Unpacking:
    """Decompresses a body piece by piece, as its headers say, up to `MAX_BODY_BYTES`.

    A compressed body is one stream, or several gzip streams in a row (RFC 1952, 2.2). The encoding
    "deflate" is a zlib stream (RFC 9110, 8.4.1.2), but some servers send one without its header.

    Raises TryFailed for an encoding that was not asked for; `piece` and `end` raise it for a body
    that is not in its encoding, or is larger than the limit.
    """

    def __init__(self, headers: Mapping[str, str]) -> None:
        encoding = headers.get("content-encoding", "identity").strip().lower() or "identity"
        if encoding not in ("identity", "gzip", "x-gzip", "deflate"):
            raise TryFailed(f"the body is encoded as {encoding!r}; wanted {ACCEPT_ENCODING}")
        self._encoding = encoding
        self._inflate: zlib._Decompress | None = None
        self._head = b""
        self._size = 0

    def piece(self, chunk: bytes) -> bytes:
        """Return the next bytes of the body, decoded."""
        try:
            piece = chunk if self._encoding == "identity" else self._unpacked(chunk)
        except zlib.error as error:
            raise TryFailed(f"the body is no {self._encoding} ({error})") from None
        self._size += len(piece)
        if self._size > MAX_BODY_BYTES:
            raise TryFailed(f"the body is larger than {MAX_BODY_BYTES:,} bytes", again=False)
        return piece

    def end(self) -> None:
        """Raise TryFailed if the compressed body that was read is not complete."""
        is_whole = self._inflate is not None and self._inflate.eof
        if self._encoding != "identity" and not is_whole:
            raise TryFailed(f"the {self._encoding} body ends in the middle")

    def _unpacked(self, chunk: bytes) -> bytes:
        """Return `chunk` decompressed, up to one byte beyond the limit. Raises zlib.error."""
        if self._inflate is None:
            self._head, chunk = b"", self._head + chunk
            if len(chunk) < _HEAD_BYTES:
                self._head = chunk
                return b""
            self._inflate = zlib.decompressobj(self._window(chunk))
        unpacked = bytearray()
        while chunk and (left := MAX_BODY_BYTES + 1 - self._size - len(unpacked)) > 0:
            if self._inflate.eof:
                chunk = chunk.lstrip(b"\0")  # what some pad with
                if not chunk:
                    break
                self._inflate = zlib.decompressobj(_GZIP_OR_ZLIB)
            unpacked += self._inflate.decompress(chunk, left)
            chunk = self._inflate.unused_data
        return bytes(unpacked)

    def _window(self, head: bytes) -> int:
        """Return the `wbits` argument with which zlib can read a body that begins with `head`."""
        has_head = head[0] & 0x0F == zlib.DEFLATED and int.from_bytes(head[:2]) % 31 == 0
        is_raw = self._encoding == "deflate" and not has_head and head[:2] != _GZIP
        return -zlib.MAX_WBITS if is_raw else _GZIP_OR_ZLIB


def read_object(body: bytes) -> JsonObject:
    """Return the JSON object in a body. Raises TryFailed if the body is anything else."""
    if (found := _object(body)) is not None:
        return found
    head = body.lstrip()[:100].lower()
    said = body.decode(errors="replace")
    if head.startswith(b"<"):
        kind = "HTML" if b"html" in head else "markup"
        raise TryFailed(f"wanted JSON, found {kind}; is the path of the base URL right?", said=said)
    raise TryFailed("wanted a JSON object, found something else", said=said)


def _object(body: bytes) -> JsonObject | None:
    with suppress(ValueError, RecursionError):
        return decode(body)
    return None


def read_reply(
    answer: JsonObject, *, latency_seconds: float, source: Source | None = None
) -> Reply:
    """Return the reply in a chat completion, its message unchanged. Raises TryFailed if none."""
    choices = answer.get("choices")
    if choices == []:
        raise TryFailed("the reply has no choices: 'choices' is an empty list")
    choice = first_choice(answer)
    message = choice.get("message")
    if not isinstance(message, dict) or not isinstance(choices, list):
        words = error_words(answer) or f"'choices' is {choices!r}"
        raise TryFailed("wanted a chat completion with a message in 'choices'", said=words)
    reason = choice.get("finish_reason")
    if reason == "error" or choice.get("error") or answer.get("error"):
        why = error_words(dict(choice)) or error_words(answer) or "no reason"
        raise TryFailed("the server ended the reply with an error", said=why)
    return Reply(
        message=message,
        finish_reason=reason if isinstance(reason, str) else None,
        usage=read_usage(answer.get("usage")),
        latency_seconds=latency_seconds,
        raw=answer,
        source=source,
        notes=(OTHER_CHOICES,) if len(choices) > 1 else (),
    )


def error_words(answer: JsonObject) -> str | None:
    """Return the error message in a body, from any place where servers put it, or None."""
    match answer:
        case {"error": {"message": str(words)}} | {"error": str(words)}:
            return words
        case {"message": str(words)} | {"detail": str(words)}:
            return words
        case {"error": dict() | list() as words} | {"detail": dict() | list() as words}:
            return repr(words)
        case _:
            return None


def words_of(body: bytes) -> str:
    """Return the error message in a body, or the whole body as text if it has no such message."""
    found = _object(body)
    words = None if found is None else error_words(found)
    return body.decode(errors="replace") if words is None else words


def read_usage(usage: JsonValue) -> Usage:
    """Return the token counts that a server reported; one that is missing or invalid is None."""
    if not isinstance(usage, dict):
        return Usage()
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def _count(value: JsonValue) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if whole else None


_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")


async def read_whole(
    response: httpx2.Response, *, seconds: Callable[[], float], source: Source | None
) -> Reply:
    """Return the reply in a response of plain JSON, as `read_stream` does for a stream."""
    answer = read_object(await read_body(response))
    return read_reply(answer, latency_seconds=seconds(), source=source)


async def read_stream(
    response: httpx2.Response, *, seconds: Callable[[], float], source: Source | None
) -> Reply:
    """Return the reply in a response of server-sent events, or of plain JSON from a server that
    does not stream. `seconds` returns the time since the request was sent. Raises TryFailed.
    """
    unpacking, lines = Unpacking(response.headers), DataLines()
    gathered, body = Gathered(seconds), bytearray()
    async for chunk in response.stream:  # type: ignore[union-attr] # async transports give async streams
        piece = unpacking.piece(chunk)
        if not gathered.begun:
            body += piece
        for data in lines.feed(piece):
            gathered.take(data)
    unpacking.end()
    for data in lines.end():
        gathered.take(data)
    if lines.others and not gathered.begun:
        return read_reply(read_object(bytes(body)), latency_seconds=seconds(), source=source)
    return gathered.reply(source)


class Gathered:
    """A streamed reply, put together from its events as they arrive."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._texts: dict[str, list[str]] = {}
        self._calls: dict[tuple[int, int], JsonObject] = {}
        self._latest: dict[int, tuple[int, int]] = {}
        self._usage = Usage()
        self._finish: str | None = None
        self._final: JsonObject | None = None
        self._first: float | None = None
        self._done = self._has_others = False
        self._data = ""
        self._pieces = self._repeats = 0
        self.begun = False
        """Whether an event has come."""

    def take(self, data: str) -> None:
        """Add the data of one event. Raises TryFailed if it is an error, or not a chunk of JSON."""
        self.begun = True
        if data == "[DONE]":
            self._done = True
            return
        try:
            chunk = chunk_of(data)
        except (ValueError, RecursionError):
            raise TryFailed("wanted a chunk of JSON in the stream", said=data) from None
        if not isinstance(chunk, dict):
            raise TryFailed("wanted a chunk of JSON in the stream", said=data)
        if chunk.get("error"):
            raise TryFailed("the stream ended in an error", said=error_words(chunk) or data)
        if chunk.get("usage"):
            self._usage = read_usage(chunk["usage"])
        choices, before = chunk.get("choices"), self._pieces
        for choice in choices if isinstance(choices, list) else ():
            if not isinstance(choice, dict):
                continue
            if choice.get("index"):
                self._has_others = True
            else:
                self._choice(choice)
        self._repeats += data == self._data and self._pieces > before
        self._data = data

    def _choice(self, choice: JsonObject) -> None:
        if isinstance(reason := choice.get("finish_reason"), str):
            self._finish = reason
        if isinstance(message := choice.get("message"), dict):
            self._final = message
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return
        for name in _TEXTS:
            if isinstance(text := delta.get(name), str) and text:
                self._texts.setdefault(name, []).append(text)
                self._came()
        fragments = delta.get("tool_calls")
        for place, fragment in enumerate(fragments if isinstance(fragments, list) else ()):
            if isinstance(fragment, dict):
                self._fragment(fragment, place)
                self._came()

    def _came(self) -> None:
        self._pieces += 1
        if self._first is None:
            self._first = self._seconds()

    def _fragment(self, fragment: JsonObject, place: int) -> None:
        index = fragment.get("index")
        index = index if isinstance(index, int) else place
        call_id = fragment.get("id") or None
        key = self._latest.get(index)
        known = None if key is None else self._calls[key]
        if key is None or known is None or (call_id and known["id"] and call_id != known["id"]):
            key = (index, len(self._calls))
            known = {"id": None, "type": "function", "function": {"name": "", "arguments": ""}}
            self._calls[key], self._latest[index] = known, key
        known["id"] = known["id"] or call_id
        function = fragment.get("function")
        if not isinstance(function, Mapping):
            return
        for name in ("name", "arguments"):
            text = function.get(name)
            if name == "name" and text == known["function"][name]:
                continue  # a name that comes whole again is no longer for it
            if isinstance(text, str) and isinstance(known["function"][name], str):
                known["function"][name] += text
            elif text:
                known["function"][name] = text

    def reply(self, source: Source | None) -> Reply:
        """Return the whole reply. Raises TryFailed if the stream was cut or gave nothing."""
        if not (self._done or self._finish):
            raise TryFailed("the stream ended without [DONE] and without a finish reason")
        if self._first is None and self._final is None and self._finish is None:
            raise TryFailed("the stream has no choices")
        if self._finish == "error":
            raise TryFailed("the server ended the reply with an error")
        seconds, texts = self._seconds(), {key: "".join(text) for key, text in self._texts.items()}
        message: JsonObject = {"role": "assistant", "content": None, **texts}
        if self._calls:
            message["tool_calls"] = [self._calls[key] for key in sorted(self._calls)]
        notes = tuple(self._notes(message))
        return Reply(
            message=message if self._first is not None or self._final is None else self._final,
            finish_reason=self._finish,
            usage=self._usage,
            latency_seconds=seconds,
            source=source,
            streamed=Streamed(self._first, self._rate(seconds), notes),
        )

    def _rate(self, seconds: float) -> float | None:
        tokens = self._usage.completion_tokens
        if tokens is None or tokens < 2 or self._first is None or seconds <= self._first:
            return None
        return (tokens - 1) / (seconds - self._first)

    def _notes(self, message: JsonObject) -> list[str]:
        """Return one sentence for each oddity of the stream, such as events that came twice."""
        notes = [OTHER_CHOICES] if self._has_others else []
        if self._repeats:
            how_many, are = counted(self._repeats, "event"), "is" if self._repeats == 1 else "are"
            notes.append(
                f"{how_many} {are} the same, byte for byte, as the one before, and all count: "
                "a proxy repeats them, or the model wrote the same again"
            )
        if list(self._calls) != sorted(self._calls):
            notes.append("the calls did not come in the order of their indices")
        if len({index for index, _ in self._calls}) < len(self._calls):
            notes.append("several calls have one index")
        if self._final is not None and self._first is not None:
            streamed, whole = _calls_of(message), _calls_of(self._final)
            if streamed != whole:
                notes.append(
                    f"the stream has the calls {streamed!r:.200}, the final message {whole!r:.200}"
                )
        return notes


def _calls_of(message: JsonObject) -> list[tuple[JsonValue, JsonValue]]:
    """Return the name and the arguments of each call; arguments that are JSON text are decoded."""
    calls = message.get("tool_calls")
    return [
        (function.get("name"), _read(function.get("arguments")))
        for call in (calls if isinstance(calls, list) else ())
        if isinstance(call, dict) and isinstance(function := call.get("function"), dict)
    ]


def _read(arguments: JsonValue) -> JsonValue:
    found = _object(arguments.encode(errors="replace")) if isinstance(arguments, str) else None
    return arguments if found is None else found
