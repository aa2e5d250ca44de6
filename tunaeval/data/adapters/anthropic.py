"""Messages of Anthropic's API: content in blocks, with tool results in the user's messages."""

from __future__ import annotations

from .fields import get, listed, usage_of, word
from .parts import Call, Kinds, Media, Result, Silent, Text, Thought, read_content
from .reading import Reading

CACHED = ("cache_creation_input_tokens", "cache_read_input_tokens")
_RESULT = Result("tool_use_id", ("content",))

KINDS: Kinds = {
    "text": Text(("text",)),
    "thinking": Thought(("thinking",)),
    "redacted_thinking": Silent(),
    "tool_use": Call("name", "input", "id"),
    "server_tool_use": Call("name", "input", "id"),
    "mcp_tool_use": Call("name", "input", "id"),
    "tool_result": _RESULT,
    "mcp_tool_result": _RESULT,
    "web_search_tool_result": _RESULT,
    "web_fetch_tool_result": _RESULT,
    "code_execution_tool_result": _RESULT,
    "bash_code_execution_tool_result": _RESULT,
    "text_editor_code_execution_tool_result": _RESULT,
    "image": Media(),
    "document": Media(),
    "container_upload": Media(),
    "search_result": Text(("content",)),
}

_OWN = frozenset({"tool_use", "tool_result", "server_tool_use", "redacted_thinking"})


def claims(message: object) -> bool:
    blocks = listed(get(message, "content"))
    return any(word(get(block, "type")) in _OWN for block in blocks)


def read(message: object, reading: Reading) -> None:
    reading.begin(get(message, "role"), usage=usage_of(get(message, "usage"), cached=CACHED))
    read_content(get(message, "content"), KINDS, reading)
