"""Sessions of Claude Code, as stored in JSON lines and as printed by `stream-json`.

A line contains one message of Anthropic's API, or part of one: each block of a reply has its own
line, and all share the reply's id. Other lines are about the session. The messages of a sub-agent
are another conversation, which is reported and left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import anthropic
from .fields import get, instant, usage_of, word
from .parts import read_content
from .reading import Reading

_SESSION = ("sessionId", "session_id", "uuid", "parentUuid", "parent_tool_use_id", "leafUuid")
_SILENT = frozenset({
    "ai-title", "attachment", "custom-title", "file-history-snapshot", "last-prompt",
    "permission-mode", "progress", "queue-operation", "stream_event", "summary", "tag",
})  # fmt: skip
"""Types of lines about the session, which contain no message."""


def claims(line: object) -> bool:
    """Whether `line` is from a session: a message, or a line about the session itself."""
    kind = word(get(line, "type"))
    if kind in {"user", "assistant"}:
        return isinstance(get(get(line, "message"), "role"), str)
    is_line = isinstance(line, Mapping) and any(key in line for key in _SESSION)
    return is_line and (kind in _SILENT or kind in {"system", "result"})


def read(line: object, reading: Reading) -> None:
    kind = word(get(line, "type"))
    if kind in {"user", "assistant"}:
        _read_message(line, reading)
    elif kind == "system":
        _read_system(line, reading)
    elif kind == "result":
        _read_end(line, reading)
    elif kind not in _SILENT:
        reading.notice("unknown-part", f"a line of type {kind[:40]!r} is left out")


def _read_message(line: object, reading: Reading) -> None:
    message = get(line, "message")
    if get(line, "isSidechain") is True or get(line, "parent_tool_use_id") is not None:
        reading.notice("side-conversation", "a message of a sub-agent is left out")
        return
    reply = get(message, "id")
    if isinstance(reply, str) and reading.reply == reply:
        if reading.is_reply:  # the message's source is the line of its first call
            reading.proceed()
        read_content(get(message, "content"), anthropic.KINDS, reading)
        return
    hosts = get(line, "isMeta") is True or get(line, "isCompactSummary") is True
    role = "system" if hosts else get(message, "role")
    usage = usage_of(get(message, "usage"), cached=anthropic.CACHED)
    reading.begin(role, usage=usage, at=instant(get(line, "timestamp")))
    if get(line, "isCompactSummary") is True:
        reading.notice("compacted", "earlier messages were replaced by a summary")
    read_content(get(message, "content"), anthropic.KINDS, reading)
    reading.reply = reply if isinstance(reply, str) else None


def _read_system(line: object, reading: Reading) -> None:
    if get(line, "subtype") == "compact_boundary":
        reading.notice("compacted", "earlier messages were replaced by a summary")
    content = get(line, "content")
    if isinstance(content, str) and content:
        reading.begin("system", at=instant(get(line, "timestamp")))
        reading.text(content)


def _read_end(line: object, reading: Reading) -> None:
    if get(line, "is_error") is True:
        words = word(get(line, "subtype")) or "an error"
        reading.notice("failed-run", f"the session ended in an error: {words[:80]}")
