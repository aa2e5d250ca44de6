"""What a server said: its body read within limits, and the reply or the failure in it."""

from __future__ import annotations

import zlib

import httpx

from tunaeval import records
from tunaeval.types import JsonObject, JsonValue, Reply, Source, Usage

from ._retries import TryFailed

MAX_BODY_BYTES = 16 * 1024 * 1024
"""Of a body, after decoding. A reply of a hundred thousand tokens has less than one."""

ACCEPT_ENCODING = "gzip, deflate"

_GZIP_OR_ZLIB = 47  # window bits that let zlib tell the two apart
_QUOTED_CHARACTERS = 200


async def read_body(response: httpx.Response) -> bytes:
    """The decoded body; it is never kept beyond the limit, however well it was compressed."""
    body = bytearray()
    await read_into(body, response)
    return bytes(body)


async def read_into(body: bytearray, response: httpx.Response) -> None:
    """The same into `body`, which has what came also where the rest failed."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise TryFailed(f"the body is encoded as {encoding!r}; wanted {ACCEPT_ENCODING}")
    members = None if encoding in ("identity", "") else _Members()
    async for chunk in response.stream:  # type: ignore[union-attr] # async transports give async streams
        try:
            if members is None:
                body += chunk
            else:
                members.add(chunk, body)
        except zlib.error as error:
            raise TryFailed(f"the body is no {encoding} ({error})") from None
        if len(body) > MAX_BODY_BYTES:
            raise TryFailed(f"the body is larger than {MAX_BODY_BYTES:,} bytes", again=False)
    if members is not None and not members.is_whole:
        raise TryFailed(f"the {encoding} body ends in the middle")


class _Members:
    """What is packed: one stream, or gzip's several, one after another (RFC 1952, 2.2)."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(_GZIP_OR_ZLIB)

    @property
    def is_whole(self) -> bool:
        return self._inflate.eof

    def add(self, chunk: bytes, body: bytearray) -> None:
        """Unpack what came, up to a byte beyond the limit. Raises zlib.error."""
        while chunk and len(body) <= MAX_BODY_BYTES:
            if self._inflate.eof:
                chunk = chunk.lstrip(b"\0")  # what some pad with
                if not chunk:
                    return
                self._inflate = zlib.decompressobj(_GZIP_OR_ZLIB)
            body += self._inflate.decompress(chunk, MAX_BODY_BYTES + 1 - len(body))
            chunk = self._inflate.unused_data


def read_object(body: bytes) -> JsonObject:
    """The JSON object that a body is."""
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
    """The reply in a chat completion; its message is left as the server gave it."""
    choices = answer.get("choices")
    match choices:
        case [{"message": dict(message), **rest}, *_]:
            reason = rest.get("finish_reason")
        case []:
            raise TryFailed("the reply has no choices: 'choices' is an empty list")
        case _:
            words = error_words(answer) or f"'choices' is {choices!r}"
            raise TryFailed("wanted a chat completion with a message in 'choices'", said=words)
    return Reply(
        message=message,
        finish_reason=reason if isinstance(reason, str) else None,
        usage=read_usage(answer.get("usage")),
        latency_seconds=latency_seconds,
        raw=answer,
        source=source,
    )


def error_words(answer: JsonObject) -> str | None:
    """What a server says is wrong, in the places where servers say it."""
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
    """What a server says in the body of an error."""
    try:
        words = error_words(records.decode(body))
    except (ValueError, RecursionError):
        words = None
    return body.decode(errors="replace") if words is None else words


def quoted(words: str) -> str:
    """A server's words on one line: cut, and with control characters escaped."""
    if not words.strip():
        return "(nothing)"
    cut = words[:_QUOTED_CHARACTERS]
    return repr(cut) + ("..." if len(cut) < len(words) else "")


def read_usage(usage: JsonValue) -> Usage:
    """How many tokens a server counted; None where it says nothing that makes sense."""
    if not isinstance(usage, dict):
        return Usage()
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def _count(value: JsonValue) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if whole else None
