"""Messages of Vercel's AI SDK: model messages (`tool-call`, `tool-result`), and UI messages, whose
parts (`tool-NAME` and `dynamic-tool`) contain a call and its result.
"""

from __future__ import annotations

from tunaeval.types.calls import JsonValue

from .fields import first, get, identifier, json_words, listed, usage_of, word
from .reading import Reading

_SILENT = frozenset({"step-start", "source-url", "source-document"})
_MEDIA = frozenset({"file", "image"})
_ERRORS = frozenset({"error-text", "error-json", "execution-denied"})
_FAILED = frozenset({"output-error", "output-denied"})
_RAN = frozenset({"output-available", *_FAILED})


def claims(message: object) -> bool:
    """Whether a message is the SDK's. UI messages have their text in `text`, spans in `content`."""
    shown = listed(get(message, "parts"))
    is_page = any(get(one, "type") == "text" and _is_text(get(one, "text")) for one in shown)
    return is_page or any(_is_own(part) for part in _parts(message))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_own(part: object) -> bool:
    kind = word(get(part, "type"))
    is_call = kind in {"tool-call", "tool-result", "tool-error"} or _is_shown(kind)
    return kind == "step-start" or (is_call and get(part, "toolCallId") is not None)


def _is_shown(kind: str) -> bool:
    return kind == "dynamic-tool" or kind.startswith("tool-")


def _parts(message: object) -> list[JsonValue]:
    return listed(first(message, ("content", "parts")))


def read(message: object, reading: Reading) -> None:
    reading.begin(get(message, "role"), usage=usage_of(get(message, "usage")))
    content = get(message, "content")
    if isinstance(content, str):
        reading.text(content)
    for part in _parts(message):
        _read_part(part, word(get(part, "type")), reading)


def _read_part(part: object, kind: str, reading: Reading) -> None:
    known = identifier(get(part, "toolCallId"))
    if kind == "text":
        reading.text(word(get(part, "text")))
    elif kind == "reasoning":
        reading.thought(word(get(part, "text")))
    elif kind == "tool-call":
        reading.call(get(part, "toolName"), first(part, ("input", "args")), known)
    elif kind in {"tool-result", "tool-error"}:
        _read_result(part, known, reading)
    elif _is_shown(kind):
        _read_shown(part, kind, reading)
    elif kind in _MEDIA:
        reading.text(f"[{kind}]")
    elif kind not in _SILENT and not kind.startswith("data-"):
        reading.notice("unknown-part", f"a part of kind {kind[:40]!r} is kept as content")
        reading.text(json_words(part))


def _read_result(part: object, known: str | None, reading: Reading) -> None:
    output = first(part, ("output", "result", "error"))
    kind, failed = word(get(output, "type")), get(part, "isError")
    value = get(output, "value") if kind and get(output, "value") is not None else output
    if kind in _ERRORS or get(part, "type") == "tool-error":
        failed = True
    reading.result(known, _words(value), failed if isinstance(failed, bool) else None)


def _read_shown(part: object, kind: str, reading: Reading) -> None:
    name = get(part, "toolName") if kind == "dynamic-tool" else kind.removeprefix("tool-")
    known, state = identifier(get(part, "toolCallId")), word(get(part, "state"))
    reading.call(name, first(part, ("input", "args", "rawInput")), known)
    if state in _RAN or (not state and get(part, "output") is not None):
        output = first(part, ("errorText", "output"))
        reading.result(known, _words(output), True if state in _FAILED else None)


def _words(value: JsonValue) -> str:
    """Return a text, the joined texts of {"type": "text"} parts, or JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    texts = [get(one, "text") for one in listed(value)]
    plain = [text for text in texts if isinstance(text, str)]
    return "".join(plain) if plain and len(plain) == len(texts) else json_words(value)
