"""The Converse API of Amazon's Bedrock, whose blocks have their kind as their only key.

Format: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tunaeval.types.calls import JsonValue

from .endings import usage_of
from .fields import first, get, json_words, listed, word
from .parts import Kinds, kinds_of, part_of
from .values import Answer, Api, Fragment, Message, Part, answer_of, whole_fragments

KINDS: Kinds = kinds_of({
    "text": {"text": ("text",), "json": ("text",)},
    "thought": {"reasoningContent": ("text",)},
    "call": {"toolUse": ("name", "input", "toolUseId")},
    "result": {"toolResult": ("toolUseId", "content")},
    "media": ("image", "document", "video", "audio", "s3Location"),
    "silent": ("cachePoint",),
})  # fmt: skip
_OWN = ("toolUse", "toolResult", "reasoningContent", "cachePoint", "guardContent")


def claims(message: object) -> bool:
    blocks = listed(get(message, "content"))
    return any(get(one, "type") is None and first(one, _OWN) is not None for one in blocks)


def read_message(message: object, path: str = "") -> Message:
    usage, content = get(message, "usage"), get(message, "content")
    return Message(
        word(get(message, "role")),
        tuple(blocks_of(content, f"{path}/content")),
        usage=None if usage is None else usage_of(usage),
        given=message,
    )


def blocks_of(content: JsonValue, path: str) -> Iterator[Part]:
    """Yield the blocks of a message's content as parts."""
    if isinstance(content, str):
        yield Part("text", content, given=content, path=path)
    for index, block in enumerate(listed(content)):
        here = f"{path}/{index}"
        typed = None if block is None else _typed(block)
        kind = word(get(typed, "type"))
        known = part_of(typed, kind, KINDS.get(kind), KINDS, path=here)
        yield Part("silent", path=here) if block is None else known
    if not isinstance(content, str | list | tuple | None):
        yield Part("text", json_words(content), given=content, path=path)


def _typed(block: object) -> JsonValue:
    """Return a block with its kind as its type, and with the fields inside it."""
    kind = next((kind for kind in KINDS if get(block, kind) is not None), None)
    inner = None if kind is None else get(block, kind)
    match kind:
        case None:
            return block
        case "text" | "json":
            return {"type": kind, "text": inner if isinstance(inner, str) else json_words(inner)}
        case "reasoningContent":
            return {"type": kind, "text": get(get(inner, "reasoningText"), "text")}
    fields = {key: get(inner, key) for key in ("name", "input", "toolUseId", "status")}
    content = get(inner, "content")
    typed = content if isinstance(content, str) else [*map(_typed, listed(content))]
    return {"type": kind, **fields, "content": typed}


def answers(document: Mapping[str, JsonValue]) -> bool:
    return isinstance(get(document.get("output"), "message"), Mapping)


def read_reply(document: Mapping[str, JsonValue]) -> Answer:
    content = get(get(document.get("output"), "message"), "content")
    where = "/output/message/content"
    parts = blocks_of(content, where)
    return answer_of(document, content, parts, document.get("stopReason"), (where, "/stopReason"))


def fragments(document: Mapping[str, JsonValue]) -> Iterator[Fragment]:
    """Yield what a whole answer adds; streams of this API are no server-sent events."""
    return whole_fragments(read_reply(document), document)


CONVERSE = Api("converse", claims, answers, read_message, read_reply, fragments)
