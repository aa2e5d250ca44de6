"""Read a server's response: its body, up to a limit of size, and the reply or the error in it.

What servers of any API send is read by `tunaeval.wire`, whole and streamed. A stream that ends
without `[DONE]` and without a finish reason was cut off: that is a failure, not a reply.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress

import httpx2

from tunaeval.files.records import decode
from tunaeval.parsing.message import OTHER_CHOICES
from tunaeval.showing import counted
from tunaeval.types.calls import JsonObject, JsonValue, Source
from tunaeval.types.exchange import Reply, Streamed
from tunaeval.wire.apis import APIS, recognised
from tunaeval.wire.assembler import Assembler
from tunaeval.wire.endings import error_words
from tunaeval.wire.events import DataLines

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
    words = body.decode(errors="replace")
    if head.startswith(b"<"):
        kind = "HTML" if b"html" in head else "markup"
        raise TryFailed(
            f"wanted JSON, found {kind}; is the path of the base URL right?", words=words
        )
    raise TryFailed("wanted a JSON object, found something else", words=words)


def _object(body: bytes) -> JsonObject | None:
    with suppress(ValueError, RecursionError):
        return decode(body)
    return None


def read_reply(
    answer: JsonObject, *, latency_seconds: float, source: Source | None = None
) -> Reply:
    """Return the reply in a whole answer; the message of a chat completion is unchanged. Raises
    TryFailed if there is none.
    """
    choices = answer.get("choices")
    if choices == []:
        raise TryFailed("the reply has no choices: 'choices' is an empty list")
    found = (recognised(answer) or APIS["chat"]).read_reply(answer)
    if found.message is None:
        words = found.error or error_words(answer) or f"'choices' is {choices!r}"
        raise TryFailed("wanted a chat completion with a message in 'choices'", words=words)
    if found.error is not None or found.reason == "error":
        raise TryFailed(
            "the server ended the reply with an error", words=found.error or "no reason"
        )
    return Reply(
        message=found.message,
        finish_reason=found.finish,
        usage=found.usage,
        latency_seconds=latency_seconds,
        raw=answer,
        source=source,
        notes=(OTHER_CHOICES,) if found.has_others else (),
    )


def words_of(body: bytes) -> str:
    """Return the error message in a body, or the whole body as text if it has no such message."""
    found = _object(body)
    words = None if found is None else error_words(found)
    return body.decode(errors="replace") if words is None else words


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
        self._answer = Assembler()
        self._first: float | None = None
        self._data = self._odd = ""
        self._repeats = 0

    @property
    def begun(self) -> bool:
        """Whether an event has come."""
        return self._answer.begun

    def take(self, data: str) -> None:
        """Add the data of one event."""
        added = self._answer.data(data)
        odd = next((one.text for one in added if one.kind in {"odd", "error"}), "")
        self._odd = self._odd or odd
        if added and self._first is None and self._answer.is_streamed:
            self._first = self._seconds()
        self._repeats += data == self._data and bool(added)
        self._data = data

    def reply(self, source: Source | None) -> Reply:
        """Return the whole reply. Raises TryFailed if the stream was cut or gave nothing, or if an
        event that cannot be read may have had a call, or a part of one.
        """
        answer, seconds = self._answer, self._seconds()
        answer.end()
        if answer.failed:
            raise TryFailed("the stream ended in an error", words=answer.fault.removeprefix(": "))
        if not answer.ended:
            raise TryFailed("the stream ended without [DONE] and without a finish reason")
        if self._odd and not (answer.calls and all(call.complete for call in answer.calls)):
            raise TryFailed("wanted a chunk that can be read in the stream", words=self._odd)
        if self._first is None and answer.final is None and answer.finish is None:
            raise TryFailed("the stream has no choices")
        message = answer.message()
        return Reply(
            message=message,
            finish_reason=answer.finish,
            usage=answer.usage,
            latency_seconds=seconds,
            source=source,
            streamed=Streamed(self._first, self._rate(seconds), tuple(self._notes(message))),
        )

    def _rate(self, seconds: float) -> float | None:
        tokens = self._answer.usage.completion_tokens
        if tokens is None or tokens < 2 or self._first is None or seconds <= self._first:
            return None
        return (tokens - 1) / (seconds - self._first)

    def _notes(self, message: JsonObject) -> list[str]:
        """Return one sentence for each oddity of the stream, such as events that came twice."""
        answer = self._answer
        notes = [OTHER_CHOICES] if answer.has_others else []
        if self._odd:
            notes.append(f"an event of the stream cannot be read: {self._odd}")
        if self._repeats:
            how_many, are = counted(self._repeats, "event"), "is" if self._repeats == 1 else "are"
            notes.append(
                f"{how_many} {are} the same, byte for byte, as the one before, and all count: "
                "a proxy repeats them, or the model wrote the same again"
            )
        numbers = [call.number for call in answer.ordered()]
        if numbers != sorted(numbers):
            notes.append("the calls did not come in the order of their indices")
        notes += answer.oddities.values()
        if answer.final is not None and answer.is_streamed:
            streamed, whole = _calls_of(message), _calls_of(answer.final)
            if streamed != whole:
                notes.append(
                    f"the stream has the calls {streamed!r:.200}, the final message {whole!r:.200}"
                )
        return notes


def _calls_of(message: JsonObject) -> list[tuple[JsonValue, JsonValue]]:
    """Return the name and the arguments of each call; arguments that are JSON text are decoded."""
    calls = message.get("tool_calls")
    return [
        (function.get("name"), _read_arguments(function.get("arguments")))
        for call in (calls if isinstance(calls, list) else ())
        if isinstance(call, dict) and isinstance(function := call.get("function"), dict)
    ]


def _read_arguments(arguments: JsonValue) -> JsonValue:
    found = _object(arguments.encode(errors="replace")) if isinstance(arguments, str) else None
    return arguments if found is None else found
