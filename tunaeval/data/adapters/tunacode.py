"""Session files of the TunaCode agent, of both its generations.

Both have the version number 1. They differ in their messages, which are pydantic-ai's before
February 2026 and tinyagent's since, and in the names of their totals.
"""

from __future__ import annotations

from dataclasses import replace

from tunaeval.types.conversations import Conversation, Notice

from .fields import get, listed, word
from .shapes import SHAPES, read_messages, shape_of
from .tinyagent import session_usage

_OWN = ("session_total_usage", "working_directory", "current_model", "project_id")


def is_session(thing: object) -> bool:
    is_ours = get(thing, "session_id") is not None and any(get(thing, key) for key in _OWN)
    return is_ours and isinstance(get(thing, "messages"), list | tuple)


def read_session(session: object) -> Conversation:
    """Return the conversation of a session."""
    messages = listed(get(session, "messages"))
    shape = shape_of(messages)
    # Messages of text alone look like chat completions, except for tinyagent's times.
    shape = SHAPES["tinyagent"] if shape.name == "openai-chat" else shape
    given = read_messages(messages, shape)
    compacted = get(session, "compaction")
    notice = Notice("compacted", "the session keeps a summary of earlier messages", None)
    return replace(
        given,
        shape="tunacode",
        warnings=(*given.warnings, *([notice] if compacted else [])),
        usage=session_usage(get(session, "session_total_usage")),
        name=word(get(session, "session_id")),
    )
