"""Messages of Amazon Bedrock's Converse API: blocks whose only field names their kind."""

from __future__ import annotations

from tunaeval.types.calls import JsonValue

from .fields import first, get, identifier, json_words, listed, usage_of, word
from .reading import Reading

_OWN = ("toolUse", "toolResult", "reasoningContent", "cachePoint", "guardContent")
_MEDIA = ("image", "document", "video", "audio", "s3Location")


def claims(message: object) -> bool:
    blocks = listed(get(message, "content"))
    return any(get(one, "type") is None and first(one, _OWN) is not None for one in blocks)


def read(message: object, reading: Reading) -> None:
    reading.begin(get(message, "role"), usage=usage_of(get(message, "usage")))
    content = get(message, "content")
    for block in [content] if isinstance(content, str) else listed(content):
        _read_block(block, reading)


def _read_block(block: object, reading: Reading) -> None:
    if isinstance(block, str):
        reading.text(block)
    elif isinstance(text := get(block, "text"), str):
        reading.text(text)
    elif (call := get(block, "toolUse")) is not None:
        reading.call(get(call, "name"), get(call, "input"), get(call, "toolUseId"))
    elif (result := get(block, "toolResult")) is not None:
        status = word(get(result, "status"))
        known = identifier(get(result, "toolUseId"))
        reading.result(known, _words(get(result, "content")), status == "error" if status else None)
    elif (thought := get(block, "reasoningContent")) is not None:
        reading.thought(word(get(get(thought, "reasoningText"), "text")))
    elif kind := next((kind for kind in _MEDIA if get(block, kind) is not None), None):
        reading.text(f"[{kind}]")
    elif get(block, "cachePoint") is None:
        reading.notice("unknown-part", "a block of no known field is kept as content")
        reading.text(json_words(block))


def _words(content: JsonValue) -> str:
    """Return a result's content as text: its texts, values as JSON, and media by their kind."""
    if isinstance(content, str):
        return content
    return "".join(_part_text(one) for one in listed(content))


def _part_text(part: object) -> str:
    text = get(part, "text")
    if isinstance(text, str):
        return text
    value = first(part, ("json",))
    kind = next((kind for kind in _MEDIA if get(part, kind) is not None), None)
    return f"[{kind}]" if kind else json_words(part if value is None else value)
