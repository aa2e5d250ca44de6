"""Messages of tinyagent, as objects and dumped.

Its times are not read: most count from the start of a machine, some from the epoch, and no field
says which. Zeros in a provider's usage mean that it is unknown.
"""

from __future__ import annotations

from dataclasses import replace

from tunaeval.types.calls import JsonValue
from tunaeval.types.messages import Usage

from .fields import get, identifier, listed, usage_of
from .parts import Call, Kinds, Media, Text, Thought, read_content
from .reading import Reading

_KINDS: Kinds = {
    "text": Text(("text",)),
    "thinking": Thought(("thinking",)),
    "tool_call": Call("name", "arguments", "id"),
    "image": Media(),
}

_RESULT = "tool_result"
_BROKEN = frozenset({"error", "aborted"})
_INTERRUPTED = "[INTERRUPTED]"


def claims(message: object) -> bool:
    if get(message, "role") == _RESULT:
        return True
    return any(get(part, "type") == "tool_call" for part in listed(get(message, "content")))


def read(message: object, reading: Reading) -> None:
    role = get(message, "role")
    is_error = get(message, "is_error")
    reading.begin(
        "tool" if role == _RESULT else role,
        usage=session_usage(get(message, "usage")),
        tool_call_id=identifier(get(message, "tool_call_id")),
        is_error=is_error if isinstance(is_error, bool) else None,
    )
    content = get(message, "content")
    read_content(content, _KINDS, reading)
    _notice_ending(message, content, reading)


def session_usage(reported: JsonValue) -> Usage | None:
    """Return the usage of a reply or session; all tokens but the output's are the prompt's."""
    usage = usage_of(reported)
    total, completion = get(reported, "total_tokens"), usage.completion_tokens if usage else None
    if usage is None or not isinstance(total, int) or completion is None:
        return usage
    return replace(usage, prompt_tokens=max(usage.prompt_tokens or 0, total - completion))


def _notice_ending(message: object, content: JsonValue, reading: Reading) -> None:
    reason, error = get(message, "stop_reason"), get(message, "error_message")
    parts = [content, *(get(part, "text") for part in listed(content))]
    cut = any(isinstance(text, str) and text.startswith(_INTERRUPTED) for text in parts)
    if cut or reason in _BROKEN or (isinstance(error, str) and error):
        words = error if isinstance(error, str) and error else "it was interrupted"
        reading.notice("failed-reply", f"a reply ended early: {words[:200]}")
