"""What a server said: its body read within limits, and the reply or the failure in it."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import httpx2

from tunaeval.files import records
from tunaeval.parsing.sse import OTHER_CHOICES, first_choice
from tunaeval.types.calls import JsonObject, JsonValue, Source
from tunaeval.types.exchange import Reply
from tunaeval.types.messages import Usage

from .retries import TryFailed

MAX_BODY_BYTES = 16 * 1024 * 1024
"""Of a body, after decoding. A reply of a hundred thousand tokens has less than one."""

ACCEPT_ENCODING = "gzip, deflate"

_GZIP_OR_ZLIB = 47  # window bits that let zlib tell the two apart
_GZIP = b"\x1f\x8b"
_HEAD_BYTES = 2  # which tell all three apart
_QUOTED_CHARACTERS = 200


async def read_body(response: httpx2.Response) -> bytes:
    """Return the decoded body, of which at most the limit is ever kept, however compressed."""
    body = bytearray()
    await read_into(body, response)
    return bytes(body)


async def read_into(body: bytearray, response: httpx2.Response) -> None:
    """Read the decoded body into `body`, which keeps what came before a failure."""
    unpacking = Unpacking(response.headers)
    async for chunk in response.stream:  # type: ignore[union-attr] # async transports give async streams
        body += unpacking.piece(chunk)
    unpacking.end()


class Unpacking:
    """Unpacks a body as it comes, by its headers, and never beyond the limit.

    Packed is one stream, or gzip's several, one after another (RFC 1952, 2.2). What is called
    deflate is a stream of zlib (RFC 9110, 8.4.1.2), or, from some servers, one without its head.

    Raises TryFailed for an encoding that was not asked for, and from `piece` and `end` for a body
    that is not what its headers say, or larger than the limit.
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
        """Decode the next bytes of the body."""
        try:
            piece = chunk if self._encoding == "identity" else self._unpacked(chunk)
        except zlib.error as error:
            raise TryFailed(f"the body is no {self._encoding} ({error})") from None
        self._size += len(piece)
        if self._size > MAX_BODY_BYTES:
            raise TryFailed(f"the body is larger than {MAX_BODY_BYTES:,} bytes", again=False)
        return piece

    def end(self) -> None:
        """Decode what is left at the end of the body."""
        is_whole = self._inflate is not None and self._inflate.eof
        if self._encoding != "identity" and not is_whole:
            raise TryFailed(f"the {self._encoding} body ends in the middle")

    def _unpacked(self, chunk: bytes) -> bytes:
        """Decode up to one byte beyond the limit. Raises zlib.error."""
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
        """Return the window size with which zlib reads a body with this beginning."""
        has_head = head[0] & 0x0F == zlib.DEFLATED and int.from_bytes(head[:2]) % 31 == 0
        is_raw = self._encoding == "deflate" and not has_head and head[:2] != _GZIP
        return -zlib.MAX_WBITS if is_raw else _GZIP_OR_ZLIB


def read_object(body: bytes) -> JsonObject:
    """Return the JSON object in a body."""
    try:
        return records.decode(body)
    except (ValueError, RecursionError):
        pass
    head = body.lstrip()[:100].lower()
    said = body.decode(errors="replace")
    if head.startswith(b"<"):
        kind = "HTML" if b"html" in head else "markup"
        raise TryFailed(f"wanted JSON, found {kind}; is the path of the base URL right?", said=said)
    raise TryFailed("wanted a JSON object, found something else", said=said)


def read_reply(
    answer: JsonObject, *, latency_seconds: float, source: Source | None = None
) -> Reply:
    """Return the reply in a chat completion, with its message as the server gave it."""
    choices = answer.get("choices")
    if choices == []:
        raise TryFailed("the reply has no choices: 'choices' is an empty list")
    choice = first_choice(answer)
    message = choice.get("message")
    if not isinstance(message, dict) or not isinstance(choices, list):
        words = error_words(answer) or f"'choices' is {choices!r}"
        raise TryFailed("wanted a chat completion with a message in 'choices'", said=words)
    reason = choice.get("finish_reason")
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
    """Return the error message of a body, from the places where servers put it."""
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
    """Return the message in the body of an error."""
    try:
        words = error_words(records.decode(body))
    except (ValueError, RecursionError):
        words = None
    return body.decode(errors="replace") if words is None else words


def quoted(words: str) -> str:
    """Return a server's message on one line, shortened and with control characters escaped."""
    if not words.strip():
        return "(nothing)"
    cut = words[:_QUOTED_CHARACTERS]
    return repr(cut) + ("..." if len(cut) < len(words) else "")


def read_usage(usage: JsonValue) -> Usage:
    """Return the token counts of a server; None where they are missing or make no sense."""
    if not isinstance(usage, dict):
        return Usage()
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def _count(value: JsonValue) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if whole else None
