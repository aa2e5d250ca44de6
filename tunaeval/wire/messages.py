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
from .values import Answer, Api, Fragment, Message, chat_message

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
    is_whole = kind == "message" or "stop_reason" in document
    return is_event or (is_whole and isinstance(document.get("content"), list))


def read_reply(document: Mapping[str, JsonValue]) -> Answer:
    content, reason = document.get("content"), document.get("stop_reason")
    parts = tuple(parts_of(content, KINDS, "/content", WANTED))
    called = any(part.kind == "call" and not part.hosted for part in parts)
    lacks = [] if isinstance(content, list) else ["/content"]
    return Answer(
        chat_message(parts),
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


def fragments(event: Mapping[str, JsonValue]) -> Iterator[Fragment]:
    raise NotImplementedError


MESSAGES = Api("messages", claims, answers, read_message, read_reply, fragments, WANTED)
