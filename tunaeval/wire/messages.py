"""Anthropic's Messages API.

Format: https://docs.anthropic.com/en/api/messages and .../build-with-claude/streaming
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tunaeval.types.calls import JsonValue

from .chat import error_in
from .endings import finish_of, usage_of
from .fields import get, listed, word
from .parts import Kinds, Wanted, kinds_of, parts_of
from .values import Answer, Api, Fragment, FragmentKind, Message, chat_message, whole_fragments

_RESULTS = (
    "tool_result", "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result",
    "code_execution_tool_result", "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
)  # fmt: skip

KINDS: Kinds = kinds_of({
    "text": {"text": ("text",), "search_result": ("content",)},
    "thought": {"thinking": ("thinking",)},
    "call": {"tool_use": ("name", "input", "id")},
    "hosted": {
        "server_tool_use": ("name", "input", "id"), "mcp_tool_use": ("name", "input", "id"),
    },
    "result": dict.fromkeys(_RESULTS, ("tool_use_id", "content")),
    "media": ("image", "document", "container_upload"),
    "silent": ("redacted_thinking",),
})  # fmt: skip

WANTED: Wanted = {
    "text": {"text": str},
    "thinking": {"thinking": str},
    "tool_use": {"id": str, "name": str, "input": dict},
    "tool_result": {"tool_use_id": str},
    "image": {"source": dict},
    "document": {"source": dict},
}

_OWN = frozenset({"tool_use", "tool_result", "server_tool_use", "redacted_thinking"})
_EVENTS = frozenset({
    "message_start", "message_delta", "message_stop", "content_block_start", "content_block_delta",
    "content_block_stop", "ping",
})  # fmt: skip


def claims(message: object) -> bool:
    """Whether a message has blocks that only this API has."""
    return any(word(get(block, "type")) in _OWN for block in listed(get(message, "content")))


def read_message(message: object, path: str = "") -> Message:
    usage = get(message, "usage")
    return Message(
        word(get(message, "role")),
        tuple(parts_of(get(message, "content"), KINDS, f"{path}/content", WANTED)),
        usage=None if usage is None else usage_of(usage),
        given=message,
    )


def answers(document: Mapping[str, JsonValue]) -> bool:
    kind = document.get("type")
    is_event = isinstance(kind, str) and kind in _EVENTS
    is_whole = "stop_reason" in document or (kind == "message" and "model" in document)
    return is_event or (is_whole and isinstance(document.get("content"), list))


def read_reply(document: Mapping[str, JsonValue]) -> Answer:
    content, reason = document.get("content"), document.get("stop_reason")
    parts = tuple(parts_of(content, KINDS, "/content", WANTED))
    called = any(part.kind == "call" and not part.hosted for part in parts)
    lacks = [] if isinstance(content, list) else ["/content"]
    return Answer(
        chat_message(parts) if isinstance(content, list) else None,
        parts,
        finish=finish_of(reason, called=called),
        reason=reason,
        usage=usage_of(document.get("usage")),
        items=tuple(listed(content)),
        id=document.get("id"),
        model=document.get("model"),
        error=error_in(document),
        missing=(*lacks, *([] if isinstance(reason, str) else ["/stop_reason"])),
    )


_TEXTS: Mapping[str, tuple[FragmentKind, str]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thought", "thinking"),
}
"""For each type of delta, what it adds, and its field."""


def fragments(event: Mapping[str, JsonValue]) -> Iterator[Fragment]:
    """Yield what an event adds, which may also be a whole answer."""
    kind, index = event.get("type"), event.get("index")
    if kind == "message_start":
        yield from _usage(get(event.get("message"), "usage"))
    elif kind == "content_block_start":
        yield from _begun(event.get("content_block"), index)
    elif kind == "content_block_delta":
        yield from _grown(event.get("delta"), index)
    elif kind == "message_delta":
        yield from _usage(event.get("usage"))
        if reason := word(get(event.get("delta"), "stop_reason")):
            yield Fragment("finish", reason)
    elif kind == "message_stop":
        yield Fragment("end")
    elif kind not in _EVENTS:
        yield from whole_fragments(read_reply(event), event.get("usage"))


def _usage(usage: JsonValue) -> Iterator[Fragment]:
    if isinstance(usage, Mapping):
        yield Fragment("usage", value=usage)


def _begun(block: JsonValue, index: JsonValue) -> Iterator[Fragment]:
    """Yield what the start of a block adds: a call's arguments are empty then, or whole."""
    if not isinstance(block, Mapping):
        yield Fragment("odd", f"a block is an object, not {type(block).__name__}")
    elif block.get("type") == "tool_use":
        yield Fragment(
            "call", "", index, block.get("id"), block.get("name"), block.get("input") or None,
            begins=True,
        )  # fmt: skip
    elif text := word(block.get("text")):
        yield Fragment("text", text)
    elif thought := word(block.get("thinking")):
        yield Fragment("thought", thought)


def _grown(delta: JsonValue, index: JsonValue) -> Iterator[Fragment]:
    kind = word(get(delta, "type"))
    if kind in _TEXTS:
        what, field = _TEXTS[kind]
        text = get(delta, field)
        is_text = isinstance(text, str)
        odd = Fragment("odd", f"a {kind} whose {field} is {type(text).__name__}")
        yield Fragment(what, text) if is_text else odd
    elif kind == "input_json_delta":
        yield Fragment("call", "", index, arguments=get(delta, "partial_json"))


MESSAGES = Api("messages", claims, answers, read_message, read_reply, fragments, WANTED)
